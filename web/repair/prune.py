"""Prune to a size: the types that are needed least go, and nothing else changes."""

from typing import Any

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.refine.pruning import preview_prune
from web import widgets as ui
from web.inputs import offer_frequencies
from web.repair.ahead import Offer, ahead_of, offer
from web.state import Session

_ORDERS = {
    "leaf-frequency": "rare types that no other is made of",
    "merge-based": "types rarely used, in merges or as tokens",
    "last": "the last types that no other is made of",
}


def show_prune(current: Session) -> None:
    """Show the size to reach, what would come of it, and the button."""
    study, corpus = current.study, current.corpus()
    counts = None if corpus is None else corpus.counts
    top = st.container()
    if counts is None:
        offer_frequencies(current, "Measure the use of types by")
    size = study.tokeniser.vocabulary_size
    most = sum(map(study.graph.is_removable, study.graph.type_ids()))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        options: dict[str, Any] = {"step": 100, "width": 180}
        options |= {"key": f"prune size {current.study_number}"}
        options["first"] = max(size - most, 100 * ((size - 1) // 100) - 400)
        if ui.value_now(options["key"], 0) > size:
            ui.set_value(options["key"], size)
        target = int(ui.setting(st.number_input, "Types to keep", size - most, size, **options))
        orders = _ORDERS if counts is not None else ["last"]
        options = {"format_func": _ORDERS.__getitem__, "key": "prune_by", "width": 340}
        by = ui.choice(st.selectbox, "First to go", orders, **options)

    def made() -> Offer:
        with st.spinner("Looking for the types that are needed least…"):
            change = preview_prune(study.tokeniser, size - target, by, counts)
            notes = []
            if corpus is not None:
                tokens = study.tokens_per_word(corpus.counts, change)
                shorter = f"{study.tokens_per_word(corpus.counts):.3f} → {tokens:.3f}"
                notes = [f"In {corpus.name}: {shorter} tokens per word"]
            removed = len(change.removed_types)
            goes = f"{counted(removed, 'type goes', 'types go')}: {size:,} → {target:,}."
            return Offer("Prune", removed, goes, notes, [change.step], ahead_of(current, change))

    with ui.attempt():
        outcome = current.once(("prune", by, target), made)
        offer(current, "How small may it become?", "content_cut", outcome, top)
