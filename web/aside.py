"""Which words figures are over: all, until something is learned; then those kept aside."""

from dataclasses import dataclass

import streamlit as st

from morphgraph.core.glossary import GLOSSARY, glossed
from morphgraph.core.text import counted
from morphgraph.reference.families import Part
from morphgraph.refine.learning import kept_from, sources_in
from morphgraph.score import SHARE_KEPT
from morphgraph.score.boundaries import Benchmark
from morphgraph.tables.model import HELD_IN_NOTE
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web.state import Session
from web.widgets import setting, value_now


@dataclass(frozen=True)
class Scored:
    """The words that figures are over.

    ``part``: those kept aside; None for all. ``is_learned``: whether edits were learned from gold;
    ``said`` describes the words: "" for all of which none was, or will be, learned from.
    """

    part: Part | None
    is_learned: bool
    said: str = ""

    @property
    def help(self) -> str:
        """What to know of figures over these words."""
        if self.part is not None:
            share = f"{100 * self.part.share:g} %"
            return f"On {self.said} ({share}): {GLOSSARY['kept aside'].meaning}"
        return HELD_IN_NOTE if self.said else ""


def scored_words(
    current: Session, *, learning: bool = False, of: BpeTokeniser | None = None
) -> Scored:
    """Return which words figures are over; ``learning``: also before anything is learned."""
    tokeniser, benchmark = of or current.study.tokeniser, current.study.benchmark
    is_learned = bool(sources_in(tokeniser, benchmark))
    part = kept_from(tokeniser, benchmark) if is_learned else None
    share = value_now("holdout", SHARE_KEPT)
    if learning and not is_learned and benchmark.keeps(share):
        part = Part("kept", share, 0, "families")
    if part is None:
        return Scored(None, is_learned, "words learned from" if is_learned or learning else "")
    number = current.once(("kept", part), lambda: int(benchmark.mask(part).sum()), of_files=True)
    return Scored(part, is_learned, f"{counted(number, 'word')} kept aside")


def sides(current: Session) -> tuple[Benchmark, Benchmark]:
    """Return what is learned from, and what is kept aside and scored: all for both without it."""
    benchmark = current.study.benchmark
    part = scored_words(current, learning=True).part
    if part is None:
        return benchmark, benchmark
    key = ("sides", part, benchmark.alphabet)
    return current.once(key, lambda: benchmark.split(*part[1:]), of_files=True)


def share_field(current: Session, *, disabled: bool = False) -> None:
    """Choose the share of the words that is kept aside; what was learned before has decided it."""
    is_learned = scored_words(current).is_learned
    tip = f"{glossed('kept aside')} {glossed('family')} 0 learns from all, and scores on the same."
    setting(
        st.number_input,
        "Share of words kept aside",
        key="holdout",
        first=SHARE_KEPT,
        min_value=0.0,
        max_value=0.9,
        step=0.05,
        width=220,
        disabled=disabled or is_learned,
        help="Edits were learned with this share. Undo them to change it." if is_learned else tip,
    )
