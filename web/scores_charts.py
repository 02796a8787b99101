"""The pictures of a table of scores: dumbbells, radar, differences; to be saved as SVG or PNG."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from morphgraph.draw.score_charts import (
    Difference,
    Dumbbell,
    Spread,
    difference_forest,
    dumbbells,
    radar,
)
from morphgraph.score.metrics import METRICS
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate, ScoreTable
from web.session import Session, remembered

if TYPE_CHECKING:
    import plotly.graph_objects as go

_DUMBBELLS, _RADAR, _DIFFERENCES = "precision, recall, F1", "radar", "differences"
_BASIC = ("precision", "recall", "f1")
_NOWHERE = Spread(float("nan"))


def picture_config(name: str) -> dict[str, Any]:
    """How a figure is saved by the camera in its corner: as what was chosen, twice as sharp."""
    kind = st.session_state.get("kept picture_format", "svg")
    return {
        "displaylogo": False,
        "toImageButtonOptions": {"format": kind, "filename": name, "scale": 2},
    }


@st.fragment
def pictures(current: Session, tables: Sequence[ScoreTable]) -> None:
    """One picture of the scores, for each reference."""
    tested = any(table.baseline is not None and len(table.outcomes) > 1 for table in tables)
    kinds = [_DUMBBELLS, _RADAR, *([_DIFFERENCES] if tested else [])]
    left, middle, right = st.columns([5, 3, 2], vertical_alignment="bottom")
    with left, remembered(scores_picture=_DUMBBELLS):
        if st.session_state["scores_picture"] not in kinds:
            st.session_state["scores_picture"] = _DUMBBELLS
        kind = st.segmented_control("Picture", kinds, key="scores_picture", required=True)
    metric = "f1"
    if kind == _DIFFERENCES:
        shares = [name for name in tables[0].metrics if METRICS[name].unit]
        metric = middle.selectbox(
            "Score",
            shares or ["f1"],
            index=shares.index("f1") if "f1" in shares else 0,
            format_func=lambda name: METRICS[name].title,
            key=f"difference of {' '.join(shares)}",
        )
    with right, remembered(picture_format="svg"):
        st.segmented_control(
            "Saved as",
            ["svg", "png"],
            key="picture_format",
            required=True,
            format_func=str.upper,
            help="The camera in the corner of a figure saves it.",
        )
    for number, table in enumerate(tables):
        if table.gold_set is None:
            continue
        if len(tables) > 1:
            st.caption(f"`{table.gold_set.reference.name}`")
        key = ("picture", id(table), kind, metric)
        figure = current.once(key, partial(_figure, table, kind or _DUMBBELLS, metric))
        if figure is None:
            st.info("Choose at least three scores in %, for the corners of the radar.")
            continue
        st.plotly_chart(figure, key=f"scores picture {number}", config=picture_config("scores"))


def _figure(table: ScoreTable, kind: str, metric: str) -> "go.Figure | None":
    if kind == _RADAR:
        return _radar(table)
    if kind == _DIFFERENCES and metric in table.metrics and table.baseline is not None:
        return _differences(table, metric, table.baseline)
    rows = []
    for number, label in enumerate(table.labels):
        if table.scope == "morphemic" and number in _gold(table):
            continue  # 100 % of everything
        found = table.of(number, _BASIC)
        rows.append(Dumbbell(label, *(_spread(found.get(name)) for name in _BASIC)))
    return dumbbells(rows)


def _gold(table: ScoreTable) -> set[int]:
    """The rows of the gold itself."""
    return {n for n, o in enumerate(table.outcomes) if isinstance(o, Outcome) and o.is_gold}


def _spread(estimate: Estimate | None) -> Spread:
    if estimate is None:
        return _NOWHERE
    return Spread(estimate.value, estimate.interval.low, estimate.interval.high)


def _radar(table: ScoreTable) -> "go.Figure | None":
    shares = [name for name in table.metrics if METRICS[name].unit and METRICS[name].better]
    known = [n for n, found in enumerate(table.estimates) if found is not None]
    known = [n for n in known if n not in _gold(table)]
    if len(shares) < 3 or not known:
        return None
    estimates = [table.of(number, shares) for number in known]
    return radar(
        [table.labels[number] for number in known],
        [METRICS[name].title for name in shares],
        [[found[name].value for name in shares] for found in estimates],
        [METRICS[name].better for name in shares],
    )


def _differences(table: ScoreTable, metric: str, baseline: int) -> "go.Figure":
    intervals = table.differences(metric)
    base = table.of(baseline, [metric]).get(metric)
    start = np.nan if base is None else base.value
    rows = []
    for number, label in enumerate(table.labels):
        found = table.of(number, [metric]).get(metric)
        if number == baseline or number in _gold(table):
            continue
        value = np.nan if found is None else found.value - start
        low, high = intervals[number].low, intervals[number].high
        rows.append(Difference(label, Spread(value, low, high), found.mark if found else ""))
    return difference_forest(rows, table.labels[baseline])
