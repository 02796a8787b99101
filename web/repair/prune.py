"""Prune to a size: the types that are needed least go, and nothing else changes."""

from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.graph.merge_table import Change
from morphgraph.refine.pruning import preview_prune
from web import widgets as ui
from web.edits import make as make_edit
from web.inputs import frequency_choice, offer_frequencies
from web.repair.ahead import Ahead, ahead_of, ask_and_do, say_ahead, words_ahead
from web.state import Session

_ORDERS = {
    "leaf-frequency": "rare types that no other is made of",
    "merge-based": "types rarely used, in merges or as tokens",
    "last": "the last types that no other is made of",
}


class _Pruning(NamedTuple):
    """What would go, what comes of it, and the tokens per word of the corpus."""

    change: Change
    ahead: Ahead
    corpus: str


def prune_settings(current: Session) -> None:
    """Choose the word counts that say what is needed."""
    if current.corpus() is None:  # then they are offered beside
        st.caption("Choose word counts first.")
    else:
        frequency_choice(current)


def show_prune(current: Session) -> None:
    """Show the size to reach, what would come of it, and the button."""
    study, corpus = current.study, current.corpus()
    counts = None if corpus is None else corpus.counts
    top = st.container()
    if counts is None:
        offer_frequencies(current, "How much types are needed is told by")
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

    def made() -> _Pruning:
        with st.spinner("Looking for the types that are needed least…"):
            change = preview_prune(study.tokeniser, size - target, by, counts)
            said = ""
            if counts is not None:
                tokens = study.tokens_per_word(counts), study.tokens_per_word(counts, change)
                said = " → ".join(f"{value:.3f}" for value in tokens)
            return _Pruning(change, ahead_of(current, change), said)

    with ui.attempt():
        found = current.once(("prune", by, target), made)
        removed = len(found.change.removed_types)
        act = partial(make_edit, current, [found.change.step]) if removed else None
        with top:
            label = f"Prune {counted(removed, 'type')}"
            ask_and_do("How small may it become?", label, "content_cut", act)
            say_ahead(
                f"{counted(removed, 'type goes', 'types go')}: {size:,} → {target:,}.", found.ahead
            )
        if found.corpus:
            name = ui.plain(corpus.name if corpus else "")
            st.caption(f"In {name}: {found.corpus} tokens per word.")
        words_ahead(found.ahead, "words pruned", "420px")
