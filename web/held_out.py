"""What learned edits do to words that they were not learned from, computed beside the pages."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.refine.held_out import HeldOut, held_out, learned_steps
from morphgraph.refine.learning import has_seen
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web.jobs import done_beside
from web.state import Session


@dataclass(frozen=True)
class LearnedEdits:
    """Edits that were learned from the open reference.

    ``held_out``: their scores on words held out; None where they are not known, because of what
    ``said`` says, or yet.
    """

    held_out: HeldOut | None = None
    said: str = ""


def is_learned(tokeniser: BpeTokeniser, benchmark: Benchmark) -> bool:
    """Return whether edits of a tokeniser were learned from a reference."""
    return has_seen(tokeniser, benchmark) or bool(learned_steps(tokeniser, benchmark))


def learned_edits(current: Session) -> LearnedEdits | None:
    """Return what is known of edits that were learned from the reference; None if none were.

    It is computed beside the page, not while ReBPE runs; `redraw_when_known` waits for it.
    """
    study = current.study
    tokeniser, benchmark = study.tokeniser, study.benchmark
    if not is_learned(tokeniser, benchmark):
        return None
    if current.asked:
        return LearnedEdits()
    state, question = current.state(), "held out"
    known = study.cache.known(state, question, None)
    if known is None:
        now = tokeniser.copy()  # edits go on meanwhile

        def make() -> LearnedEdits:
            try:
                return LearnedEdits(held_out(now, benchmark))
            except MorphGraphError as error:
                return LearnedEdits(said=str(error))

        work = done_beside((state, question), lambda: study.cache.get(state, question, make))
        known = work.result() if work.done() else LearnedEdits()
    return known


def redraw_when_known(current: Session) -> None:
    """Redraw the page once held-out scores are computed, if they are being computed."""

    def look() -> None:
        found = learned_edits(current)
        if found is None or found.held_out or found.said:
            st.rerun()

    how: dict[str, Any] = {"run_every": 0.3}
    st.fragment(look, **how)()
