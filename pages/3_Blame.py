"""Which merges close gold boundaries, and what a threshold would remove."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.draw.charts import (
    blame_by_rank,
    blame_histogram,
    blame_scatter,
    worst_merges,
)
from morphgraph.refine.blame import Blame, blame_table
from morphgraph.refine.knockout import ThresholdPoint, best_point, candidate_types, threshold_curve
from morphgraph.score.gold_set import Scope, Weighting
from web.bootstrap import start
from web.components.curve import threshold_line
from web.edits import knock_out_all, look_at, never_formed_note, show_message
from web.reopening import keep_session
from web.scoreboard import score_metrics
from web.state import Session
from web.text import code
from web.widgets import choice, chosen_row, set_value, value_now

_SCOPE, _WEIGHTING, _TAB = "blame scope", "blame weighting", "blame tab"


@st.fragment
def blame_dashboard(current: Session) -> None:
    """Show the page; a fragment, so that a threshold takes effect at once."""
    study = current.study
    scope, weighting = _blame_settings(current)
    score_metrics(current, "blame", scope, weighting)
    blamed = study.blame(weighting, scope)
    table = current.once(
        ("blame table", scope, weighting), lambda: blame_table(study.tokeniser, blamed)
    )
    points = current.once(
        ("curve", scope, weighting),
        lambda: threshold_curve(
            study.tokeniser, study.benchmark, blamed, scope=scope, weighting=weighting
        ),
    )
    threshold = _threshold(current, blamed, points, scope, weighting)
    keep_session(current)
    show_message(current)
    never_formed_note(current)
    # Only the open tab, as dragging redraws it for each threshold.
    names = ["Who is to blame", "Table of merges", "More charts"]
    culprits, merges, more = st.tabs(names, on_change="rerun", key=_TAB)
    with culprits:
        if culprits.open:
            left, right = st.columns(2)
            left.plotly_chart(worst_merges(table, threshold), key="worst merges")
            right.plotly_chart(blame_histogram(table, threshold), key="blame histogram")
    with merges:
        if merges.open:
            _merge_table(current, table, threshold, f"{scope} {weighting}")
    with more:
        if more.open:
            _more_charts(current, table, threshold)


def _more_charts(current: Session, table: pd.DataFrame, threshold: float) -> None:
    st.plotly_chart(blame_by_rank(table, threshold), key="blame by rank")
    event: Any = st.plotly_chart(
        blame_scatter(table, threshold),
        key=f"blame scatter {current.study_number}",
        on_select="rerun",
        selection_mode="points",
    )
    chosen = event.selection.points if event else []
    if chosen:
        _offer(current, int(chosen[0]["customdata"][0]))
    else:
        st.caption("Click a point to choose its merge.")


def _blame_settings(current: Session) -> tuple[Scope, Weighting]:
    """Return the chosen settings, as far as the reference supports them."""
    benchmark = current.study.benchmark
    scope: Scope = value_now(_SCOPE, "morphemic")
    weighting: Weighting = value_now(_WEIGHTING, "types")
    return (
        scope if benchmark.reference.has_whole_words else "morphemic",
        weighting if weighting in benchmark.weightings else "types",
    )


def _settings(current: Session) -> None:
    benchmark = current.study.benchmark
    if benchmark.reference.has_whole_words:
        choice(
            st.segmented_control,
            "Gold boundaries",
            ["morphemic", "whole-word"],
            key=_SCOPE,
            required=True,
        )
    if "tokens" in benchmark.weightings:
        choice(
            st.segmented_control,
            "Each word counts",
            ["types", "tokens"],
            key=_WEIGHTING,
            required=True,
            format_func=lambda name: "once" if name == "types" else "by its frequency",
        )


def _threshold(
    current: Session,
    blamed: Blame,
    points: Sequence[ThresholdPoint],
    scope: Scope,
    weighting: Weighting,
) -> float:
    """Show the threshold on a curve of its effects, with its knockout; return its value."""
    study = current.study
    _follow_threshold(current)
    best = best_point(points)
    heading, settings, use, go = st.columns([4, 2.3, 2.3, 3], vertical_alignment="center")
    heading.subheader("How much blame is too much?", anchor=False)
    if study.benchmark.reference.has_whole_words or "tokens" in study.benchmark.weightings:
        with settings.popover("Settings", icon=":material/tune:", width="stretch"):
            _settings(current)
    use.button(
        "Use the best",
        width="stretch",
        disabled=best is None,
        on_click=set_value,
        args=("threshold", best.threshold if best else 0.5),
    )
    threshold: float = value_now("threshold", 0.5)
    types = candidate_types(study.tokeniser, blamed, threshold)
    go.button(
        f"Knock out all {len(types):,}",
        type="primary",
        icon=":material/content_cut:",
        width="stretch",
        disabled=not types,
        on_click=knock_out_all,
        args=(current, types),
        help="One edit, which Undo takes back.",
    )
    threshold_line(
        points,
        threshold,
        study.now.score(scope, weighting).f1,
        key="threshold curve",
        on_choose=lambda chosen: set_value("threshold", chosen),
    )
    if study.graph.history and types:
        st.caption(
            "After a knockout its words are made by other merges, so merges that were applied "
            "rightly before may then be to blame."
        )
    return threshold


def _follow_threshold(current: Session) -> None:
    """Synchronise the threshold with the address, which wins on arrival."""
    now = f"{value_now('threshold', 0.5):.2f}"

    def read(asked: str) -> str:
        return f"{max(0.01, float(asked)):.2f}" if re.fullmatch(r"0\.\d\d", asked) else now

    asked = current.address.follow("threshold", now, reads=read, step=False)
    if asked != now:
        set_value("threshold", float(asked))


def _merge_table(current: Session, table: pd.DataFrame, threshold: float, settings: str) -> None:
    only = st.toggle("Only merges at or above the threshold", key="only candidates")
    # The selection is a row number, which must not outlive the rows.
    state = f"{current.study_number} {current.study.graph.state} {settings}"
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
            "N": st.column_config.NumberColumn(
                "joins", help="N: gaps that the merge closed.", format="localized"
            ),
            "B": st.column_config.NumberColumn(
                "wrong joins", help="B: those of them on a gold boundary.", format="localized"
            ),
            "R": st.column_config.ProgressColumn(
                "blame",
                help="R = B ÷ N.",
                min_value=0,
                max_value=1,
                format="percent",
                color="orange",
            ),
        },
    )
    st.caption(f"{counted(len(shown), 'merge')}; blame is empty where a merge was never applied.")
    if row is not None:
        _offer(current, int(shown.iloc[row]["merge_id"]))


def _offer(current: Session, merge: int) -> None:
    """Describe the chosen merge, and offer to open it in the graph."""
    graph = current.study.graph
    if not graph.has_merge(merge):
        return
    name = graph.describe(merge, current.study.tokeniser.readable_types)
    left, right = st.columns([5, 3], vertical_alignment="center")
    left.write(code(shortened(name, 200)))
    if right.button("Show it in the graph", icon=":material/hub:", key=f"show {merge}"):
        look_at(current, graph.merge(merge).result)
        st.switch_page("pages/1_Merge_graph.py")


blame_dashboard(start("Blame"))
