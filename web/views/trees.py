"""How a word is segmented: merge trees now and before edits, and by other methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.draw.gold_tree import gold_trees
from morphgraph.draw.merge_tree import MergeTree, describe_in_study
from web.components import OnClicks, tree_picture
from web.state import Session
from web.widgets import attempt

MARKS = (
    "Marks: **|** split on a gold boundary; **·** split inside a morph; **‿** gold boundary closed"
)
NamedState = tuple[str, int]
"""A title, and the number of edits of the graph."""


def word_trees(
    current: Session,
    word: str,
    key: str,
    states: Sequence[NamedState] = (),
    on_event: OnClicks | None = None,
    **options: Any,
) -> list[MergeTree]:
    """Show a word's trees in several states of the graph, by default now, on one axis.

    A text in the reference is treated as its word. ``on_event``, ``options``: see `tree_picture`.
    Returns the trees; none, and a message, if the word cannot be encoded.
    """
    with attempt():
        trees = _trees_of(current, word, states or [("", len(current.study.graph.history))])
        if trees[0].leaves:
            name = file_name(trees[0].word)
            drawn = [*trees, *gold_trees(current.study, trees[0])]
            tree_picture(drawn, key=key, file_name=name, on_event=on_event, **options)
            return trees
        st.info(
            "The tokeniser leaves nothing of this word: its normaliser removes all characters, or "
            "none is in the alphabet."
        )
    return []


def before_and_after(current: Session, word: str, title: str, before: int) -> list[NamedState]:
    """Return a state and the present one, for a word: one if nothing has changed for it."""
    edits = len(current.study.graph.history)
    states = [(title, before), ("now", edits)]
    try:
        first, last = _trees_of(current, word, states, with_blame=False)
    except MorphGraphError:
        return []
    is_same = replace(first, title="") == replace(last, title="")
    return [(f"now, and {title}", edits)] if is_same else states


def _trees_of(
    current: Session, word: str, states: Sequence[NamedState], *, with_blame: bool = True
) -> list[MergeTree]:
    study, trees = current.study, []
    for title, edits in states:
        state = study.state_after(edits) if edits else study.start
        blamed = study.blame(state=state) if with_blame and study.has_blame else None
        graph = current.graph_after(edits)
        trees.append(describe_in_study(study, word, blamed, graph=graph, title=title))
    return trees


def file_name(word: str) -> str:
    """Return a picture's file name without characters that file systems reject.

    >>> file_name("a/b c"), file_name("Übung")
    ('merge-tree-a_b_c', 'merge-tree-Übung')
    """
    return "merge-tree-" + "".join(c if c.isalnum() else "_" for c in word)[:40]
