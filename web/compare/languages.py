"""The view of languages: methods, or one of them in detail, on several references."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.api.blamed import LanguageBlame
from morphgraph.core.cache import Same
from morphgraph.core.text import counted, percent
from morphgraph.draw.score_charts import HeatColumn, heat_map
from morphgraph.reference.predictions import Predictions
from morphgraph.refine import LEAST_JOINS
from morphgraph.refine.blame_by_language import blame_by_language, encoded_outcomes
from morphgraph.score.by_language import LANGUAGE_METRICS, labels_of, rows_by_language
from morphgraph.score.gold_set import Scope
from morphgraph.score.table import ScoreTable
from morphgraph.tables.model import Table, value_text
from morphgraph.tables.scores import languages_table, scores_table
from morphgraph.tables.writing import frame_csv
from web import choosing
from web import widgets as ui
from web.choosing import PickedMethod
from web.compare.figures import How, MethodScores, compare_methods
from web.compare.references import OPEN, choose_references, gold_set_of, remove_reference
from web.jobs import Tell, Waiting
from web.state import Session

_ALL = "All methods"
_MOST_MERGES = 200


class ByLanguage(NamedTuple):
    """A method on several languages.

    ``blame``: merges by the spread of their blame, where it merges; ``judged``: how many there are.
    """

    table: Table
    blame: LanguageBlame | None
    judged: int


def languages_view(
    current: Session, compared: MethodScores, how: How, left: DeltaGenerator, table: DeltaGenerator
) -> None:
    """Show all methods by F1 on each reference, or one method in detail."""
    waiting = Waiting(st.empty(), remove_reference)
    with left:
        labels = [compared.labels[place] for place in compared.order]
        shown = ui.choice(
            st.selectbox,
            "Method",
            [_ALL, *labels],
            key="languages_method",
            label_visibility="collapsed",
            width=200,
        )
        names = choose_references(current, waiting)
    picked = list(compared.picked)
    if shown != _ALL:
        picked = [picked[compared.labels.index(shown)]]
    found = []
    for name in names:
        one = _on(current, compared, name, picked, how, waiting)
        if one is not None:
            found.append(one)
    waiting.clear()
    if not found:
        st.info("Choose references to put side by side.")
    elif shown == _ALL:
        _all_methods(found, labels, table)
    else:
        key = ("languages", *(Same(one) for one in found), shown)
        do = partial(waiting.do, key, "Blame by language", partial(_detail, found, compared.scope))
        detail = current.once(key, do, of_files=True)
        waiting.clear()
        _one_method(detail, shown, table)


def _on(
    current: Session,
    compared: MethodScores,
    name: str,
    picked: Sequence[PickedMethod],
    how: How,
    waiting: Waiting,
) -> MethodScores | None:
    """Return methods on one reference; a file with segmentations is of the open one only."""
    if name == OPEN and len(picked) == len(compared.picked):
        return compared
    scored = compared.scored
    if name != OPEN:
        picked = [one for one in picked if not isinstance(one.made, Predictions)]
        opened = gold_set_of(current, name, waiting, how[1])
        scored = choosing.unseen_words(current, picked, opened)
    return compare_methods(current, picked, scored, waiting, how, about=name)


def _all_methods(
    found: Sequence[MethodScores], labels: Sequence[str], table: DeltaGenerator
) -> None:
    columns = []
    for label in labels:
        values = [_f1(one, label) for one in found]
        columns.append(HeatColumn(label, values, [percent(value) for value in values]))
    ui.chart(heat_map([one.words for one in found], columns, one_scale=True), "languages")
    st.caption("F1 % of each method on each reference; choose one method for all that is known.")
    make = partial(scores_table, [one.table for one in found])
    with st.expander("As a table, with intervals and tests"):
        ui.show_report(make(), 20, key="scores")
    with table:
        ui.table_downloads(make, "scores", "All intervals, p-values and signatures.")


def _f1(one: MethodScores, label: str) -> float:
    return one.scores(one.labels.index(label), "f1").value if label in one.labels else float("nan")


def _detail(found: Sequence[MethodScores], scope: Scope, tell: Tell) -> ByLanguage:
    """Return one method's scores by language, and its blame, if it merges."""
    tables = [ScoreTable([one.outcomes[0]], scope, one.over, LANGUAGE_METRICS) for one in found]
    rows = rows_by_language(tables)
    labels = labels_of(rows)
    tell(0.5)
    outcomes: list[Any] = [row.table.outcomes[0] for row in rows]
    by_name = encoded_outcomes(labels, outcomes)
    if len(by_name) < 2:
        return ByLanguage(languages_table(rows), None, 0)
    blamed = blame_by_language(by_name, scope=scope)
    segmenter = found[0].outcomes[0].segmenter
    assert segmenter is not None and segmenter.editable is not None
    signatures = tuple(row.table.signature for row in rows)
    blame = LanguageBlame(segmenter.editable, blamed, signatures)
    return ByLanguage(languages_table(rows), blame, len(blamed.order()))


def _one_method(found: ByLanguage, name: str, table: DeltaGenerator) -> None:
    rows = [row.names for row in found.table.rows]
    labels = [f"{label} ({script})" if label != script else label for label, script in rows]
    columns = []
    for place, column in enumerate(found.table.columns):
        if column.form != "count" and column.key != "precision":
            values: list[Any] = [row.cells[place].value for row in found.table.rows]
            texts = [value_text(column.form, value) for value in values]
            columns.append(HeatColumn(column.title, values, texts))
    ui.chart(heat_map(labels, columns), "languages")
    st.caption(
        "The highest F1 first; each column has a colour of its own, stronger where the number is "
        "higher. Cut nowhere: words that are one token."
    )
    for note in found.table.notes:
        st.warning(ui.plain(note))
    with st.expander("As a table, with 95 % intervals"):
        ui.show_model(found.table, 20, key="languages table")
    with table:
        ui.table_downloads(lambda: found.table, "languages", "With the signature of every row.")
    st.subheader("Wrong in one language, right in another", anchor=False)
    if found.blame is None:
        st.info(f"{ui.plain(name)} has no merges of its own to blame, or there is one language.")
    elif not found.judged:
        st.info(f"No merge has {LEAST_JOINS} joins or more in two of these languages.")
    else:
        blame = found.blame
        merges = blame.table(limit=_MOST_MERGES)
        ui.show_model(merges, 12, key="blame by language")
        st.caption(
            f"{counted(found.judged, 'merge')} with {LEAST_JOINS} joins or more in two languages, "
            f"those first whose blame differs most. {' '.join(merges.notes)}"
        )
        csv = partial(blame.to_frame, limit=_MOST_MERGES)
        ui.downloads({"blame-by-language.csv": lambda: frame_csv(csv())})
