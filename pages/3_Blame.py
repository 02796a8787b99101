"""Which merges close gold boundaries, and what a threshold would remove."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.draw.charts import blame_histogram, worst_merges
from morphgraph.refine import KnockoutSettings
from morphgraph.refine.blame import Blame, blame_table
from morphgraph.refine.knockout import (
    ThresholdPoint,
    candidate_types,
    decided_threshold,
    threshold_curve,
)
from web import edits
from web import widgets as ui
from web.aside import scored_words, share_field, sides
from web.bootstrap import score_metrics, start
from web.choosing import scope_and_weighting, scoring_now
from web.components import threshold_line
from web.state import Session, keep_session
from web.tape import tape
from web.views.without_gold import needs_gold


class _Curve(NamedTuple):
    """Scores by threshold on the words kept aside, and on those learned from; the best one."""

    points: Sequence[ThresholdPoint]
    learned: Sequence[ThresholdPoint]
    best: float | None


@st.fragment
def blame_dashboard(current: Session) -> None:
    """Show the page; a fragment, so that a threshold takes effect at once."""
    if not current.study.has_blame:
        score_metrics(current, "blame")
        needs_gold(current, "Blame needs")
        return
    study, gold = current.study, current.study.benchmark
    scope, weighting = scoring_now("blame", gold)
    score_metrics(current, "blame", scope, weighting, learning=True)
    words = scored_words(current, learning=True)
    blamed = study.blame(weighting, scope, part=words.part and words.part.other)
    options: dict[str, Any] = {"scope": scope, "weighting": weighting}

    def made() -> tuple[pd.DataFrame, _Curve]:
        rest, kept = sides(current)
        points, learned = (
            threshold_curve(study.tokeniser, each, blamed, **options) for each in (kept, rest)
        )
        best = decided_threshold(study.tokeniser, rest, **options)
        return blame_table(study.tokeniser, blamed), _Curve(points, learned, best)

    table, curve = current.once(("blame and its curve", words.part, scope, weighting), made)
    threshold = _threshold(current, blamed, curve, options)
    keep_session(current)
    edits.show_message(current)
    edits.never_formed_note(current)
    edits.several_words_note(current)
    shown = {
        "Who is to blame": lambda: _culprits(table, threshold),
        "Table of merges": lambda: _merge_table(current, table, threshold, f"{scope} {weighting}"),
    }
    ui.tabs(shown, key="blame tab")
    tape(current)


def _culprits(table: pd.DataFrame, threshold: float) -> None:
    if table["R"].isna().all():
        st.info("No merge closes a gap of these words, so none is to blame.")
        return
    none = f"No merge is to blame at {threshold:.2f}: lower the threshold."
    left, right = st.columns(2)
    with left:
        ui.chart(worst_merges(table, threshold), "worst merges", empty=none)
    with right:
        ui.chart(blame_histogram(table, threshold), "blame histogram")


def _threshold(
    current: Session,
    blamed: Blame,
    curve: _Curve,
    how: Mapping[str, Any],
) -> float:
    study = current.study
    words, best = scored_words(current, learning=True), curve.best
    threshold: float = ui.value_now("threshold", 0.5)
    now = f"{threshold:.2f}"

    def read(asked: str) -> str:
        return f"{max(0.01, float(asked)):.2f}" if re.fullmatch(r"0\.\d\d", asked) else now

    choose = partial(ui.set_value, "threshold")
    asked = current.address.follow("threshold", now, reads=read, step=False)
    if asked != now:
        threshold = float(asked)
        choose(threshold)
    heading, chosen, use, go = st.columns([5, 1.8, 2.4, 2.5], vertical_alignment="center")
    heading.subheader("How much blame is too much?", anchor=False)
    with chosen.popover("Settings", icon=":material/tune:", width="stretch"):
        scope_and_weighting("blame", study.benchmark)
        share_field(current)
    types = candidate_types(study.tokeniser, blamed, threshold)
    with use:
        tip = "An eighth of the words learned from decides; none of those kept aside does."
        least = threshold if best is None else best
        shared: dict[str, Any] = {"width": "stretch", "disabled": best is None, "help": tip}
        ui.button("Use the suggested one", "", choose, least, **shared)
    with go:
        label, tip = f"Knock out all {len(types):,}", "One edit, which Undo takes back."
        shared = {"primary": True, "width": "stretch", "help": tip, "disabled": not types}
        settings = KnockoutSettings(threshold=threshold, **how)
        ui.button(label, "content_cut", edits.knock_out_all, current, settings, **shared)
    f1 = study.score(words.part, **how).f1
    threshold_line(
        curve.points,
        threshold,
        f1,
        learned=curve.learned if words.part else (),
        on=words.said,
        best=best,
        key="threshold curve",
        on_choose=choose,
    )
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
    blame: dict[str, Any] = {"min_value": 0, "max_value": 1, "format": "percent"}
    row = ui.chosen_row(
        shown,
        height=460,
        key=f"merges {state} {only} {threshold if only else ''}",
        column_order=["rank", "type", "merge", "parts", "N", "B", "R"],
        column_config={
            "rank": ui.NUMBER("rank", format="localized"),
            "N": ui.NUMBER("joins", help=joins, format="localized"),
            "B": ui.NUMBER("wrong joins", help=wrong, format="localized"),
            "R": ui.PROGRESS("blame", help="R = B ÷ N.", color="orange", **blame),
        },
    )
    st.caption(f"{counted(len(shown), 'merge')}; blame is n/a where a merge was never applied.")
    if row is not None:
        _offer(current, int(shown.iloc[row]["merge_id"]))


def _offer(current: Session, merge: int) -> None:
    graph = current.study.graph
    if not graph.has_merge(merge):
        return
    name = graph.describe(merge, current.study.tokeniser.readable_types)
    edits.offer_to_open(current, graph.merge(merge).result, shortened(name, 200))


blame_dashboard(start("Blame"))
