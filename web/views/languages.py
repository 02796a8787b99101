"""One tokeniser on all references that are on this machine: a heat map, a table, blame."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.api.blamed import LanguageBlame
from morphgraph.core.cache import Same
from morphgraph.core.text import counted
from morphgraph.draw.score_charts import HeatColumn, heat_map
from morphgraph.reference import catalogue
from morphgraph.reference.readers import read_reference
from morphgraph.refine import LEAST_JOINS
from morphgraph.refine.blame_by_language import blame_by_language, encoded_outcomes
from morphgraph.score.by_language import LANGUAGE_METRICS, labels_of, rows_by_language
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.score.outcome import Outcome, outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.model import Table, value_text
from morphgraph.tables.scores import languages_table
from morphgraph.tables.writing import frame_csv
from web import widgets as ui
from web.jobs import Tell, Waiting
from web.sources import references_there
from web.state import Session

_COLLECTION, _NONE = "languages_of", ""
_MOST_MERGES = 200


class ByLanguage(NamedTuple):
    """What is shown of a tokeniser on several languages.

    ``blame``: merges by the spread of their blame, where it merges; ``judged``: how many there are.
    """

    table: Table
    blame: LanguageBlame | None
    judged: int


def languages(
    current: Session, segmenters: Mapping[str, Segmenter], scope: Scope, weighting: Weighting
) -> None:
    """Choose a tokeniser and a collection of references that are there, and show it on these.

    In the page's fragment, not in one of its own, which could not be run again from inside that.
    """
    there = [catalogue.find_source(name) for name in references_there()]
    if not segmenters or not there:
        st.info(
            "No public reference is on this machine. Download some below, under *Public "
            "references*, or name a folder that has them in `MORPHGRAPH_DATA`."
            if segmenters
            else "Choose at least one method."
        )
        return
    sizes = Counter(source.title for source in there)
    titles = [title for title, _ in sizes.most_common()]
    left, middle, right = st.columns([3, 4, 3], vertical_alignment="bottom")
    label = ui.choice(left.selectbox, "Tokeniser", segmenters, key="languages_tokeniser")
    title = ui.choice(
        middle.selectbox,
        "Public references on this machine",
        [*titles, _NONE],
        key=_COLLECTION,
        format_func=lambda one: f"{one} ({sizes[one]:,})" if one else "none",
    )
    offered = {s.name: s.language_names for s in there if s.title == title}
    with right.popover("Languages", icon=":material/translate:", disabled=not offered):
        names = ui.choice(
            st.pills,
            "Languages",
            offered,
            key=f"languages {title}",
            first=list(offered),
            selection_mode="multi",
            format_func=lambda name: offered.get(name, name),
        )
    waiting = Waiting(st.empty(), lambda _: ui.set_value(_COLLECTION, _NONE))
    opened = _opened(current, names)
    if not names:
        st.info("Choose public references to put side by side.")
        return
    segmenter = segmenters[label]
    base = segmenter.tokeniser and segmenter.tokeniser.numbered
    key: tuple[Hashable, ...] = ("languages", Same(segmenter), base, *names, scope, weighting)
    key += () if opened is None else (Same(opened.reference),)
    make = partial(_make, segmenter, label, names, opened, scope, weighting)
    with ui.attempt():
        do = partial(waiting.do, key, f"{label} on {counted(len(names), 'reference')}", make)
        found = current.once(key, do)
        waiting.clear()
        _show(found, segmenter.name)


def _opened(current: Session, names: Sequence[str]) -> GoldSet | None:
    """The open reference, if it has gold and is not among the chosen ones."""
    known = current.study.benchmark
    is_chosen = known.reference.name in {f"catalogue:{name}" for name in names}
    return known if known.reference.has_gold and not is_chosen else None


def _make(
    segmenter: Segmenter,
    label: str,
    names: Sequence[str],
    opened: GoldSet | None,
    scope: Scope,
    weighting: Weighting,
    tell: Tell,
) -> ByLanguage:
    outcomes: list[Outcome] = []
    if opened is not None:
        known = (opened.reference, opened.frequencies, opened.frequency_source)
        outcomes.append(outcome_of(segmenter, GoldSet.of(*known), label))
    for number, name in enumerate(names):
        language = catalogue.find_source(name).language_names
        tell(number / (len(names) + 1), f"{label} cuts the words of {language}")
        gold_set = GoldSet.of(read_reference(f"catalogue:{name}"))
        outcomes.append(outcome_of(segmenter, gold_set, label))
    tell(len(names) / (len(names) + 1), "Intervals and blame")
    tables = []
    for one in outcomes:
        over = weighting if weighting in one.gold_set.weightings else "types"
        tables.append(ScoreTable([one], scope, over, LANGUAGE_METRICS))
    rows = rows_by_language(tables)
    labels = labels_of(rows)
    blame, judged = None, 0
    by_name = encoded_outcomes(labels, [row.table.outcomes[0] for row in rows])  # type: ignore[misc]
    if len(by_name) > 1:
        blamed = blame_by_language(by_name, scope=scope)
        judged = len(blamed.order())
        assert segmenter.editable is not None
        signatures = tuple(row.table.signature for row in rows)
        blame = LanguageBlame(segmenter.editable, blamed, signatures)
    return ByLanguage(languages_table(rows), blame, judged)


def _heat(table: Table) -> Iterator[HeatColumn]:
    for place, column in enumerate(table.columns):
        if column.form != "count" and column.key != "precision":
            values: list[Any] = [row.cells[place].value for row in table.rows]
            written = [value_text(column.form, value) for value in values]
            yield HeatColumn(column.title, values, written)


def _show(found: ByLanguage, name: str) -> None:
    names = [row.names for row in found.table.rows]
    labels = [f"{label} ({script})" if label != script else label for label, script in names]
    ui.chart(heat_map(labels, list(_heat(found.table))), "languages")
    st.caption(
        "The highest F1 first; each column has a colour of its own, stronger where the number is "
        "higher. Cut nowhere: words that are one token."
    )
    for note in found.table.notes:
        st.warning(ui.plain(note))
    with st.expander("As a table, with 95 % intervals"):
        ui.show_model(found.table, 20, key="languages table")
        ui.table_downloads(
            found.table, "languages", "The table above with the signature of every row."
        )
    st.subheader("Wrong in one language, right in another")
    if found.blame is None:
        st.info(f"{ui.plain(name)} has no merges of its own to blame, or there is one language.")
        return
    if not found.judged:
        st.info(f"No merge has {LEAST_JOINS} joins or more in two of these languages.")
        return
    blame = found.blame
    table = blame.table(limit=_MOST_MERGES)
    ui.show_model(table, 12, key="blame by language")
    st.caption(
        f"{counted(found.judged, 'merge')} with {LEAST_JOINS} joins or more in two languages, "
        f"those first whose blame differs most. {' '.join(table.notes)}"
    )
    ui.downloads({"blame-by-language.csv": lambda: frame_csv(blame.to_frame(limit=_MOST_MERGES))})
