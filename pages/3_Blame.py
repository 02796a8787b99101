"""Which merges close gold boundaries, and what a threshold would remove."""

from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, percent, shortened
from morphgraph.draw.charts import blame_by_rank, blame_histogram, blame_scatter, threshold_curves
from morphgraph.refine.blame import Blame, blame_table
from morphgraph.refine.knockout import candidate_types
from morphgraph.refine.threshold_curve import threshold_curve
from morphgraph.score.gold_set import Scope, Weighting
from web.bootstrap import start
from web.edits import knock_out_all, look_at, show_message
from web.reopening import keep_session
from web.scoreboard import score_metrics
from web.session import Session
from web.text import code
from web.widgets import chosen_row, remembered


@st.fragment
def blame_dashboard(current: Session) -> None:
    """The whole page; a fragment, so that the slider moves at once."""
    study = current.study
    scope, weighting = _what_to_blame_by(current)
    score_metrics(current, "blame", scope, weighting)
    blamed = study.blame(weighting, scope)
    table = current.once(
        ("blame table", scope, weighting), lambda: blame_table(study.tokeniser, blamed)
    )
    threshold = _threshold(current, blamed)
    keep_session(current)
    show_message()
    overview, merges, curve = st.tabs(["Distributions", "Table of merges", "Curve over thresholds"])
    with overview:
        left, right = st.columns(2)
        left.plotly_chart(blame_histogram(table, threshold), key="blame histogram")
        right.plotly_chart(blame_by_rank(table, threshold), key="blame by rank")
        event: Any = st.plotly_chart(
            blame_scatter(table, threshold),
            key=f"blame scatter {current.study_number}",
            on_select="rerun",
            selection_mode="points",
        )
        points = event.selection.points if event else []
        if points:
            _offer(current, int(points[0]["customdata"][0]))
        else:
            st.caption("Click a point to choose its merge.")
    with merges:
        _merge_table(current, table, threshold, f"{scope} {weighting}")
    with curve:
        _curve(current, blamed, scope, weighting, threshold)


def _what_to_blame_by(current: Session) -> tuple[Scope, Weighting]:
    benchmark = current.study.benchmark
    left, right, _ = st.columns([2, 2, 5])
    scope: Scope = "morphemic"
    weighting: Weighting = "types"
    if benchmark.reference.has_whole_words:
        picked = left.segmented_control(
            "Gold boundaries", ["morphemic", "whole-word"], default="morphemic", required=True
        )
        scope = "whole-word" if picked == "whole-word" else "morphemic"
    if "tokens" in benchmark.weightings:
        picked = right.segmented_control(
            "Each word counts",
            ["types", "tokens"],
            default="types",
            required=True,
            format_func=lambda name: "once" if name == "types" else "by its frequency",
        )
        weighting = "tokens" if picked == "tokens" else "types"
    return scope, weighting


def _threshold(current: Session, blamed: Blame) -> float:
    study = current.study
    slider, numbers, button = st.columns([4, 5, 3], vertical_alignment="center")
    with remembered(threshold=0.5):
        threshold: float = slider.slider(
            "Knock out merges with R of at least", 0.01, 0.99, step=0.01, key="threshold"
        )
    positions = blamed.candidates(threshold)
    types = candidate_types(study.tokeniser, blamed, threshold)
    total = max(1, len(blamed.arrays))
    go = "goes" if len(positions) == 1 else "go"
    numbers.markdown(
        f"**{len(positions):,}** of {counted(total, 'merge')} {go} "
        f"({len(positions) / total:.1%})  \n"
        f"effective dropout rate **{percent(blamed.dropout_rate(positions))} %** of all joins"
    )
    button.button(
        f"Knock out all {len(types):,}",
        type="primary",
        icon=":material/content_cut:",
        width="stretch",
        disabled=not types,
        on_click=knock_out_all,
        args=(current, types),
        help="One edit, which Undo takes back.",
    )
    return threshold


def _merge_table(current: Session, table: pd.DataFrame, threshold: float, settings: str) -> None:
    only = st.toggle("Only merges at or above the threshold", key="only candidates")
    # A selected row is a number: it must not outlive the rows that it was chosen among.
    state = f"{current.study_number} {current.study.graph.recipe_checksum()} {settings}"
    shown = table[table["R"] >= threshold] if only else table
    shown = shown.sort_values(
        ["R", "B", "rank"], ascending=[False, False, True], na_position="last"
    )
    row = chosen_row(
        shown,
        height=460,
        key=f"merges {state} {only} {threshold if only else ''}",
        column_order=["rank", "type", "merge", "parts", "N", "B", "R"],
        column_config={
            "rank": st.column_config.NumberColumn("rank", format="localized"),
            "N": st.column_config.NumberColumn("N", help="Joins closed.", format="localized"),
            "B": st.column_config.NumberColumn(
                "B", help="Of these on a gold boundary.", format="localized"
            ),
            "R": st.column_config.ProgressColumn(
                "R = B ÷ N", min_value=0, max_value=1, format="%.3f", color="orange"
            ),
        },
    )
    st.caption(f"{counted(len(shown), 'merge')}; R is empty where a merge was never applied.")
    if row is not None:
        _offer(current, int(shown.iloc[row]["merge_id"]))


def _offer(current: Session, merge: int) -> None:
    """A merge was chosen: say which, and offer to look at it in the graph."""
    graph = current.study.graph
    if not graph.has_merge(merge):
        return
    name = graph.describe(merge, current.study.tokeniser.readable_types)
    left, right = st.columns([5, 3], vertical_alignment="center")
    left.write(code(shortened(name, 200)))
    if right.button("Show it in the graph", icon=":material/hub:", key=f"show {merge}"):
        look_at(current, graph.merge(merge).result)
        st.switch_page("pages/1_Merge_graph.py")


def _curve(
    current: Session, blamed: Blame, scope: Scope, weighting: Weighting, threshold: float
) -> None:
    study = current.study
    key = ("curve", study.graph.recipe_checksum(), scope, weighting)
    if key not in current.computed:
        place = st.empty()
        with place.container():
            st.write("Scores after knocking out, for the 99 thresholds from 0.01 to 0.99.")
            asked = st.button("Compute the curve", icon=":material/show_chart:")
        if not asked:
            return
        bar = place.progress(0.0, "Knocking out and scoring…")

        def advance(share: float) -> None:
            bar.progress(share, "Knocking out and scoring…")

        current.computed[key] = threshold_curve(
            study.tokeniser,
            study.benchmark,
            blamed,
            scope=scope,
            weighting=weighting,
            progress=advance,
        )
        place.empty()
    points = current.computed[key]
    st.plotly_chart(threshold_curves(points, threshold), key="threshold curve")
    defined = [point for point in points if point.f1 == point.f1]
    if defined:
        best = max(defined, key=lambda point: point.f1)
        st.caption(
            f"Highest F1: {percent(best.f1)} % at a threshold of {best.threshold:.2f}, "
            f"with {counted(best.removed, 'type')} removed"
        )


blame_dashboard(start("Blame"))
