"""Which merges close gold boundaries, and what a threshold would remove."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.draw.charts import blame_by_rank, blame_histogram, blame_scatter, worst_merges
from morphgraph.refine.blame import Blame, blame_table
from morphgraph.refine.knockout import ThresholdPoint, best_point, candidate_types, threshold_curve
from morphgraph.score.gold_set import Scope, Weighting
from web import edits
from web.bootstrap import score_metrics, start
from web.components import threshold_line
from web.state import Session, keep_session
from web.widgets import NUMBER, chosen_row, code, segments, set_value, value_now

_SCOPE, _WEIGHTING = "blame scope", "blame weighting"


@st.fragment
def blame_dashboard(current: Session) -> None:
    """Show the page; a fragment, so that a threshold takes effect at once."""
    study, gold = current.study, current.study.benchmark
    # The chosen settings, as far as the reference supports them.
    scope: Scope = value_now(_SCOPE, "morphemic")
    weighting: Weighting = value_now(_WEIGHTING, "types")
    scope = scope if gold.reference.has_whole_words else "morphemic"
    weighting = weighting if weighting in gold.weightings else "types"
    score_metrics(current, "blame", scope, weighting)
    blamed = study.blame(weighting, scope)

    def curve() -> list[ThresholdPoint]:
        how: dict[str, Any] = {"scope": scope, "weighting": weighting}
        return list(threshold_curve(study.tokeniser, gold, blamed, **how))

    table = current.once(
        ("blame table", scope, weighting), lambda: blame_table(study.tokeniser, blamed)
    )
    points = current.once(("curve", scope, weighting), curve)
    threshold = _threshold(current, blamed, points, study.now.score(scope, weighting).f1)
    keep_session(current)
    edits.show_message(current)
    edits.never_formed_note(current)
    # Only the open tab, as dragging redraws it for each threshold.
    names = ["Who is to blame", "Table of merges", "More charts"]
    culprits, merges, more = st.tabs(names, on_change="rerun", key="blame tab")
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


def _threshold(
    current: Session, blamed: Blame, points: Sequence[ThresholdPoint], f1: float
) -> float:
    study, gold = current.study, current.study.benchmark
    now = f"{value_now('threshold', 0.5):.2f}"

    def read(asked: str) -> str:
        return f"{max(0.01, float(asked)):.2f}" if re.fullmatch(r"0\.\d\d", asked) else now

    def choose(chosen: float) -> None:
        set_value("threshold", chosen)

    asked = current.address.follow("threshold", now, reads=read, step=False)
    if asked != now:
        choose(float(asked))
    best = best_point(points)
    heading, settings, use, go = st.columns([4, 2.3, 2.3, 3], vertical_alignment="center")
    heading.subheader("How much blame is too much?", anchor=False)
    if gold.reference.has_whole_words or "tokens" in gold.weightings:
        with settings.popover("Settings", icon=":material/tune:", width="stretch"):
            if gold.reference.has_whole_words:
                segments("Gold boundaries", ["morphemic", "whole-word"], key=_SCOPE)
            if "tokens" in gold.weightings:
                said = {"types": "once", "tokens": "by its frequency"}
                segments("Each word counts", said, key=_WEIGHTING, format_func=said.__getitem__)
    use.button(
        "Use the best",
        width="stretch",
        disabled=best is None,
        on_click=choose,
        args=(best.threshold if best else 0.5,),
    )
    threshold: float = value_now("threshold", 0.5)
    types = candidate_types(study.tokeniser, blamed, threshold)
    go.button(
        f"Knock out all {len(types):,}",
        type="primary",
        icon=":material/content_cut:",
        width="stretch",
        disabled=not types,
        on_click=edits.knock_out_all,
        args=(current, types),
        help="One edit, which Undo takes back.",
    )
    threshold_line(points, threshold, f1, key="threshold curve", on_choose=choose)
    if study.graph.history and types:
        st.caption(
            "After a knockout its words are made by other merges, so merges that were applied "
            "rightly before may then be to blame."
        )
    return threshold


def _merge_table(current: Session, table: pd.DataFrame, threshold: float, settings: str) -> None:
    only = st.toggle("Only merges at or above the threshold", key="only candidates")
    # The selection is a row number, which must not outlive the rows.
    state = f"{current.study_number} {current.study.graph.state} {settings}"
    shown = table[table["R"] >= threshold] if only else table
    shown = shown.sort_values(["R", "B", "rank"], ascending=[False, False, True])
    joins, wrong = "N: gaps that the merge closed.", "B: those of them on a gold boundary."
    row = chosen_row(
        shown,
        height=460,
        key=f"merges {state} {only} {threshold if only else ''}",
        column_order=["rank", "type", "merge", "parts", "N", "B", "R"],
        column_config={
            "rank": NUMBER("rank", format="localized"),
            "N": NUMBER("joins", help=joins, format="localized"),
            "B": NUMBER("wrong joins", help=wrong, format="localized"),
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
    graph = current.study.graph
    if not graph.has_merge(merge):
        return
    name = graph.describe(merge, current.study.tokeniser.readable_types)
    left, right = st.columns([5, 3], vertical_alignment="center")
    left.write(code(shortened(name, 200)))
    if right.button("Show it in the graph", icon=":material/hub:", key=f"show {merge}"):
        edits.open_in_graph(current, graph.merge(merge).result)


blame_dashboard(start("Blame"))
