"""The bar on top of every page: the pages, what is open, the field that finds, F1, undo, redo."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.glossary import GLOSSARY
from morphgraph.core.text import count_text, counted, percent
from morphgraph.score.boundaries import BoundaryScore
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.score.metrics import METRICS
from morphgraph.segment.bte import Bte
from web.aside import Scored, scored_words
from web.choosing import kept_words
from web.drawer import drawer_button
from web.opening import what_is_open
from web.sharing import follow_edits
from web.state import Session
from web.views.palette import offer_palette
from web.widgets import button

PAGES = {
    "Workbench": ("app.py", ":material/construction:"),
    "Repair": ("pages/1_Repair.py", ":material/auto_fix_high:"),
    "Compare": ("pages/2_Compare.py", ":material/compare_arrows:"),
    "Build": ("pages/3_Build.py", ":material/model_training:"),
}
"""The pages, each with its file and icon."""


def show_bar(current: Session, title: str) -> None:
    """Show what no edit changes: the pages, what is open, the field that finds, the drawer."""
    row: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "gap": "small"}
    with st.container(key="bar", **row):
        with st.container(key="tabs", width="content", **row):
            for name, (page, icon) in PAGES.items():
                with st.container(key=f"tab{'-here' * (title == name)} {name}", width="content"):
                    st.page_link(page, label=name, icon=icon)
        with st.container(key="what-is-open", width="content", **row):
            what_is_open(current)
        offer_palette(current, {name: page for name, (page, _) in PAGES.items()}, title)
        drawer_button(current, title)


def numbers(place: str) -> DeltaGenerator:
    """Return the container of the numbers; it keeps what it showed where nothing is drawn in it."""
    row: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall"}
    return st.container(key=f"numbers-{place}", **row)


def score_metrics(
    current: Session,
    place: str,
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    *,
    learning: bool = False,
) -> None:
    """Show the numbers of the bar: F1, what is behind it, undo and redo; ``place``: the page.

    A page's fragment calls it, so that they follow an edit. ``learning``: the page learns, so that
    figures are over the words kept aside already.
    """
    has_gold = current.study.benchmark.reference.has_gold
    words = scored_words(current, learning=learning and has_gold)
    with numbers(place):
        _f1(current, words, scope, weighting, place)
        for label, keys in (("Undo", "Ctrl+Z"), ("Redo", "Ctrl+Shift+Z")):
            name = label.lower()
            edits = getattr(current.study.graph, {"undo": "history", "redo": "undone"}[name])
            options: dict[str, Any] = {"key": f"{name} {place}", "type": "tertiary"}
            options |= {"help": f"{label} an edit: {len(edits):,} to {name}", "shortcut": keys}
            button(label, name, getattr(current, name), disabled=not edits, **options)
        follow_edits(current)


def _f1(current: Session, words: Scored, scope: Scope, weighting: Weighting, place: str) -> None:
    """Show F1 with the words that it is on; a click shows what else is measured."""
    study = current.study
    reference, graph = study.benchmark.reference, study.graph
    now = study.score(words.part, scope, weighting)
    start = study.score(words.part, scope, weighting, edits=0)
    everything = f"all {counted(len(reference), 'word')}" if reference.has_gold else "no reference"
    on = f"on the {words.said}" if words.part is not None else words.said and f"on {words.said}"
    gain = 100 * (now.f1 - start.f1) if graph.history else 0.0
    kind = ", silver" if reference.is_silver else ", partial gold" * bool(reference.partial_note)
    value = percent(now.f1) if reference.has_gold else "–"
    label = f":small[F1 % {on or everything}{kind}] **{value}**"
    if gain:  # not where it is undefined
        label += f" :{'green' if gain > 0 else 'red'}-badge[{gain:+.2f}]" if gain == gain else ""
    tip = "All scores, and how they are computed"
    with st.popover(label, type="tertiary", key=f"f1 {place}", help=tip):
        if reference.partial_note:
            st.caption(reference.partial_note)
        with st.container(horizontal=True, gap="medium"):
            _figures(current, now, start, words)
        if reference.has_gold:
            _what_is_counted(current, now, words)


def _figures(current: Session, now: BoundaryScore, start: BoundaryScore, words: Scored) -> None:
    study = current.study
    has_gold, is_edited = study.benchmark.reference.has_gold, bool(study.graph.history)
    for name in ("f1", "precision", "recall"):
        label, meaning = f"{METRICS[name].title} %", METRICS[name].meaning
        share, before = getattr(now, name), getattr(start, name)
        gain, value = 100 * (share - before), percent(share) if has_gold else "–"
        meaning += "" if has_gold else " It needs a reference."
        options: dict[str, Any] = {"help": f"{words.help} {meaning}".strip(), "width": "content"}
        options["delta"] = f"{gain:+.2f}" if is_edited and gain == gain else None
        options["delta_color"] = "normal" if gain else "off"
        st.metric(label, value, **options)
    size, before_size = study.tokeniser.vocabulary_size, study.graph.loaded_size
    delta = f"{size - before_size:+,}" if is_edited else None
    tip = GLOSSARY["vocabulary"].meaning
    st.metric("Types", f"{size:,}", delta, delta_color="off", help=tip, width="content")


def _what_is_counted(current: Session, score: BoundaryScore, words: Scored) -> None:
    study, part = current.study, words.part
    gold_set = kept_words(current, study.benchmark, part)
    gold = counted(score.relevant, "gold boundary", "gold boundaries")
    right = f"{count_text(score.true_positives)} right of {counted(score.predicted, 'split')}"
    on = f"{words.said}: " if words.said else ""
    st.caption(f"{on}{score.scope} boundaries over word {score.weighting}: {right}, {gold}")
    if words.is_learned and part is not None:
        seen = study.score(part.other, score.scope, score.weighting)
        st.caption(f"F1 {percent(seen.f1)} on the words learned from.")
    st.markdown("**Signature**")
    tokenised = Bte(study.tokeniser).signature()
    signature = gold_set.signature_of(tokenised, scores=f"{score.scope} {score.weighting}")
    st.code(signature, language=None, wrap_lines=True)
    st.caption("All that these scores depend on. Cite it, so that others can reproduce them.")
