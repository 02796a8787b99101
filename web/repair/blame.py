"""Knock out by blame: how often a merge may be wrong, and what would come of it."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.draw.blame_spread import BlameSpread
from morphgraph.refine import KnockoutSettings
from morphgraph.refine.blame import Blame
from morphgraph.refine.knockout import (
    ThresholdPoint,
    candidate_types,
    decided_threshold,
    segment_without,
    threshold_curve,
)
from morphgraph.refine.outlook import Outlook
from morphgraph.tokeniser.merging import segment
from web import edits
from web import widgets as ui
from web.aside import scored_words, share_field, sides
from web.choosing import scope_and_weighting, scoring_now
from web.components import blame_spread, threshold_line
from web.repair.ahead import Ahead, ask_and_do, words_ahead
from web.state import Session

_TYPE = "type chosen on Repair"


class _Curve(NamedTuple):
    """Scores by threshold on the words kept aside, and on those learned from; the best one."""

    points: Sequence[ThresholdPoint]
    learned: Sequence[ThresholdPoint]
    best: float | None
    spread: BlameSpread


def blame_settings(current: Session) -> None:
    """Choose what is scored, and which words are kept aside."""
    scope_and_weighting("blame", current.study.benchmark)
    share_field(current)


def show_blame(current: Session) -> None:
    """Show the question, the curve to drag along, and what follows it."""
    if (chosen := st.session_state.pop(_TYPE, None)) is not None:
        edits.open_in_graph(current, chosen)
    study = current.study
    scope, weighting = scoring_now("blame", study.benchmark)
    words = scored_words(current, learning=True)
    threshold = _threshold_now(current)
    blamed, curve, ahead = look_ahead(current, threshold)
    over: Any = {"scope": scope, "weighting": weighting}
    types = candidate_types(study.tokeniser, blamed, threshold)
    settings = KnockoutSettings(threshold=threshold, **over)
    act = partial(edits.knock_out_all, current, settings) if types else None
    label = f"Knock out {counted(len(types), 'type')}"
    ask_and_do("How often may a merge be wrong?", label, "content_cut", act)
    threshold_line(
        curve.points,
        threshold,
        study.score(words.part, **over).f1,
        learned=curve.learned if words.part else (),
        ahead={"gain": ahead.gain, "sign": ahead.sign, "rest": ahead.rest},
        best=curve.best,
        key="threshold curve",
        on_choose=partial(ui.set_value, "threshold"),
    )
    left, right = st.columns([5, 7], gap="medium")
    with left:
        words_ahead(ahead)
    with right:
        choose = partial(st.session_state.__setitem__, _TYPE)
        blame_spread(curve.spread, threshold, key="blame spread", on_choose=choose)


def look_ahead(current: Session, threshold: float = 0.5) -> tuple[Blame, _Curve, Ahead]:
    """Return who is to blame, what would come of each threshold, and the words of this one."""
    study = current.study
    scope, weighting = scoring_now("blame", study.benchmark)
    words, (rest, kept) = scored_words(current, learning=True), sides(current)
    blamed = study.blame(weighting, scope, part=words.part and words.part.other)
    over: Any = {"scope": scope, "weighting": weighting}

    def made() -> _Curve:
        points, learned = (
            threshold_curve(study.tokeniser, each, blamed, **over) for each in (kept, rest)
        )
        best = decided_threshold(study.tokeniser, rest, **over)
        return _Curve(points, learned, best, BlameSpread.of(study.tokeniser, blamed))

    curve = current.once(("blame and its curve", words.part, scope, weighting), made)
    types = candidate_types(study.tokeniser, blamed, threshold)

    def to_come() -> Ahead:
        after = segment_without(study.tokeniser, kept, blamed, threshold)
        before = segment(study.tokeniser.graph, kept.words)
        return Ahead.of(Outlook(kept, before, after, scope, weighting), words.said)

    key = ("knockout ahead", words.part, scope, weighting, len(types))
    return blamed, curve, current.once(key, to_come)


def _threshold_now(current: Session) -> float:
    """Return the chosen threshold, which the address follows."""
    threshold: float = ui.value_now("threshold", 0.5)
    now = f"{threshold:.2f}"

    def read(asked: str) -> str:
        return f"{max(0.01, float(asked)):.2f}" if re.fullmatch(r"0\.\d\d", asked) else now

    asked = current.address.follow("threshold", now, reads=read, step=False)
    if asked != now:
        ui.set_value("threshold", float(asked))
    return float(asked)
