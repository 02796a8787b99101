"""The view of errors: scores by the length, frequency or formation of words, or by boundary."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.draw import score_charts as charts
from morphgraph.score.breakdowns import BREAKDOWNS, GROUPINGS, Breakdown, break_down
from morphgraph.score.metrics import METRICS
from morphgraph.tables.scores import breakdown_table
from web import widgets as ui
from web.compare.figures import MethodScores
from web.state import Session

if TYPE_CHECKING:
    import plotly.graph_objects as go

_METRICS = ("f1", "precision", "recall", "exact")
_NOTES = {
    "boundaries": "Recall of morph boundaries: behind a prefix, before a suffix, at an interfix or "
    "hyphen, or between the parts of a compound. A wrong split belongs to no kind, so there is no "
    "precision.",
    "affixes": "Recall of the boundaries of the most frequent affixes, as the gold names them.",
}


def where_view(
    current: Session, compared: MethodScores, left: DeltaGenerator, table: DeltaGenerator
) -> None:
    """Show scores of groups of words by all methods."""
    with left:
        by = ui.segments(
            "By",
            [*GROUPINGS, *_NOTES],
            key="breakdown_by",
            first="length",
            format_func=str.capitalize,
            label_visibility="collapsed",
        )
        metric = "recall"
        if by in GROUPINGS:
            metric = ui.choice(
                st.selectbox,
                "Score",
                _METRICS,
                key="breakdown_metric",
                format_func=lambda name: METRICS[name].title,
                label_visibility="collapsed",
                width=150,
            )
    outcomes = [compared.outcomes[place] for place in compared.order]
    if by == "frequency" and compared.scored.frequencies is None:
        st.info("Choose word frequencies in the bar, in the menu of the reference.")
        return
    settings = (by, metric, compared.scope, compared.weighting)

    def make() -> "tuple[Breakdown, go.Figure | None]":
        result = break_down(outcomes, *settings)
        names, sizes = [name for name, _ in result.groups], [size for _, size in result.groups]
        bars = {
            label: [charts.Mark(one.value, one.interval.low, one.interval.high) for one in row]
            for label, row in zip(result.labels, result.rows, strict=True)
        }
        title = METRICS[result.metric].title
        return result, charts.breakdown(names, sizes, bars, title) if names else None

    key = ("breakdown", *settings, *map(Same, outcomes))
    result, figure = current.once(key, make, of_files=True)
    st.caption(f"{BREAKDOWNS[by]}, over {compared.which}. {_NOTES.get(by, '')}")
    if figure is None:
        st.info("This reference does not record it.")
        return
    ui.chart(figure, f"breakdown {result.by}")
    with st.expander("As a table, with 95 % intervals"):
        ui.show_report(breakdown_table(result), key="breakdown")
    with table:
        tip = "A row for each group of words."
        ui.table_downloads(partial(breakdown_table, result), "breakdown", tip)
