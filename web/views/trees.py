"""Merge trees of words: of the present state, and before and after edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.draw.merge_tree import MergeTree, describe_tree
from morphgraph.refine.study import Study, StudyState
from morphgraph.tokeniser.words import Words
from web.components import Click, tree_picture
from web.session import Session
from web.widgets import attempt, set_value

Since = Literal["last", "start"]
State = tuple[str, int]
"""A title, and after how many edits of the graph."""
_BEFORE = {"last": "before the last edit", "start": "before any edit"}


def word_trees(
    current: Session,
    word: int | str,
    states: Sequence[State],
    key: str,
    on_event: Callable[[list[Click]], None] | None = None,
    reveal: int = 0,
) -> list[MergeTree]:
    """Show the trees of a word in several states of the graph, side by side with their titles.

    ``word``: the number of a word of the reference, or any text; a text that is a word of the
    reference counts as that. ``on_event``, ``reveal``: see `tree_picture`. Returns the trees; none,
    and a message, if the word cannot be encoded.
    """
    trees: list[MergeTree] = []
    with attempt():
        trees = trees_of(current, word, states)
        if not trees[0].leaves:
            st.info("The tokeniser's normaliser leaves nothing of this word.")
            return []
        name = file_name(trees[0].word)
        tree_picture(trees, key=key, file_name=name, on_event=on_event, reveal=reveal)
    return trees


def now(current: Session) -> list[State]:
    """The present state alone."""
    return [("", len(current.study.graph.history))]


def before_and_after(current: Session, word: int | str, since: Since = "last") -> list[State]:
    """The states to compare for a word: one only without edits, or if its merges are the same."""
    edits = len(current.study.graph.history)
    if not edits:
        return now(current)
    states = [(_BEFORE[since], 0 if since == "start" else edits - 1), ("now", edits)]
    try:
        before, after = trees_of(current, word, states, with_blame=False)
    except MorphGraphError:
        return now(current)
    if replace(before, title="") == replace(after, title=""):
        return [(f"now, and {_BEFORE[since]}", edits)]
    return states


def trees_of(
    current: Session, word: int | str, states: Sequence[State], *, with_blame: bool = True
) -> list[MergeTree]:
    """The trees of a word in several states; `MorphGraphError` if it cannot be encoded."""
    study = current.study
    number = number_of(study, word) if isinstance(word, str) else word
    words: Words = study.benchmark.words
    gold: set[int] | None = None
    if number is None:
        words, number = study.tokeniser.encode([str(word)]), 0
    else:
        start, end = (int(offset) for offset in words.word_offsets[number : number + 2])
        gold = {int(gap) for gap in study.benchmark.morphemic.boundary[start:end].nonzero()[0]}
    return [
        describe_tree(
            study.tokeniser,
            words,
            number,
            graph=current.graph_after(edits),
            blame=study.blame(state=_state_after(study, edits)) if with_blame else None,
            gold=gold,
            title=title,
        )
        for title, edits in states
    ]


def _state_after(study: Study, edits: int) -> StudyState:
    return study.state_after(edits) if edits else study.start


def number_of(study: Study, text: str) -> int | None:
    """The number of a word in the reference, or None."""
    texts = study.benchmark.words.texts
    return texts.index(text) if text in texts else None


def file_name(word: str) -> str:
    """The name of a picture's file, without characters that file systems mind.

    >>> file_name("a/b c"), file_name("Übung")
    ('merge-tree-a_b_c', 'merge-tree-Übung')
    """
    return "merge-tree-" + "".join(c if c.isalnum() else "_" for c in word)[:40]


def open_in_merge_tree(current: Session, word: str) -> None:
    """Go to the page of merge trees with a word."""
    set_value(word_key(current), word)
    st.switch_page("pages/2_Merge_tree.py")


def word_key(current: Session) -> str:
    """The key of the word on that page."""
    return f"tree word {current.study_number}"
