"""The view of languages: methods on several references."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.draw.score_charts import heat_map
from morphgraph.reference.predictions import Predictions
from morphgraph.tables.scores import scores_table
from web import choosing
from web import widgets as ui
from web.compare.figures import How, MethodScores, compare_methods
from web.compare.references import OPEN, choose_references, gold_set_of, remove_reference
from web.jobs import Waiting
from web.state import Session


def languages_view(
    current: Session, compared: MethodScores, way: How, left: DeltaGenerator, table: DeltaGenerator
) -> None:
    """Show all methods by F1 on each reference."""
    waiting = Waiting(st.empty(), remove_reference)
    with left:
        names = choose_references(current)
    scores = []
    for name in names:
        one = _on(current, compared, name, way, waiting)
        if one is not None:
            scores.append(one)
    waiting.clear()
    if not scores:
        st.info("Choose references to put side by side.")
        return
    labels = [compared.labels[place] for place in compared.order]
    values = [[_f1(one, label) for label in labels] for one in scores]
    ui.chart(heat_map([one.words for one in scores], labels, values), "languages")
    st.caption("F1 % of each method on each reference.")
    make = partial(scores_table, [one.table for one in scores])
    with st.expander("As a table, with intervals and tests"):
        ui.show_report(make(), 20, key="scores")
    with table:
        ui.table_downloads(make, "scores", "All intervals, p-values and signatures.")


def _on(
    current: Session, compared: MethodScores, name: str, way: How, waiting: Waiting
) -> MethodScores | None:
    """Return methods on one reference; a file with segmentations is of the open one only."""
    if name == OPEN:
        return compared
    picked = [one for one in compared.picked if not isinstance(one.made, Predictions)]
    opened = gold_set_of(current, name, waiting, way[1])
    scored = choosing.unseen_words(current, picked, opened)
    return compare_methods(current, picked, scored, waiting.do, way, about=name)


def _f1(one: MethodScores, label: str) -> float:
    return one.scores(one.labels.index(label), "f1").value if label in one.labels else float("nan")
