"""Merge trees of words: of the present state, and before and after edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal
from weakref import ReferenceType, WeakKeyDictionary, ref

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.draw.merge_tree import MergeTree, describe_tree
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.blame import Blame, blame
from morphgraph.refine.study import Study, StudyState
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.words import Words
from web.components.graph import Click
from web.components.tree import tree_picture
from web.inputs import attempt
from web.session import Session

Since = Literal["last", "start"]
NamedGraph = tuple[str, MergeGraph]
_BEFORE = {"last": "before the last edit", "start": "before any edit"}
_earlier: WeakKeyDictionary[MergeGraph, dict[Since, tuple[int, MergeGraph]]] = WeakKeyDictionary()
_blames: WeakKeyDictionary[MergeGraph, tuple[ReferenceType[Benchmark], int, Blame]] = (
    WeakKeyDictionary()
)


def word_trees(
    current: Session,
    word: int | str,
    states: Sequence[NamedGraph],
    key: str,
    on_event: Callable[[list[Click]], None] | None = None,
    reveal: int = 0,
) -> list[MergeTree]:
    """Show the trees of a word in several states of the graph, side by side with their titles.

    ``word``: the number of a word of the reference, or any text; a text that is a word of the
    reference counts as that. ``states``: titles, and graphs that have the open tokeniser's types.
    ``on_event``, ``reveal``: see `tree_picture`. Returns the trees; none, and a message, if the
    word cannot be encoded.
    """
    trees: list[MergeTree] = []

    def make() -> None:
        trees.extend(trees_of(current.study, word, states))

    if not attempt(make):
        return []
    if not trees or not trees[0].leaves:
        st.info("The tokeniser's normaliser leaves nothing of this word.")
        return []
    name = file_name(trees[0].word)
    tree_picture(trees, key=key, file_name=name, on_event=on_event, reveal=reveal)
    return trees


def word_tree_now(current: Session, word: int | str, key: str) -> list[MergeTree]:
    """Show the tree of a word in the present state."""
    return word_trees(current, word, [("", current.study.graph)], key)


def word_tree_changes(
    current: Session,
    word: int | str,
    key: str,
    since: Since = "last",
    on_event: Callable[[list[Click]], None] | None = None,
    reveal: int = 0,
) -> list[MergeTree]:
    """Show the tree of a word before and after edits; once, where they changed nothing in it."""
    states = before_and_after(current.study, word, since)
    return word_trees(current, word, states, key, on_event, reveal)


def before_and_after(study: Study, word: int | str, since: Since) -> list[NamedGraph]:
    """The states to compare for a word: one only without edits, or if its merges are the same."""
    if not study.graph.history:
        return [("", study.graph)]
    states = [(_BEFORE[since], earlier_graph(study.graph, since)), ("now", study.graph)]
    try:
        before, after = trees_of(study, word, states, with_blame=False)
    except MorphGraphError:
        return [("", study.graph)]
    if replace(before, title="") == replace(after, title=""):
        return [(f"now, and {_BEFORE[since]}", study.graph)]
    return states


def trees_of(
    study: Study, word: int | str, states: Sequence[NamedGraph], *, with_blame: bool = True
) -> list[MergeTree]:
    """The trees of a word in several states; `MorphGraphError` if it cannot be encoded."""
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
            graph=graph,
            blame=_blame_of(study, graph) if with_blame else None,
            gold=gold,
            title=title,
        )
        for title, graph in states
    ]


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


def earlier_graph(graph: MergeGraph, since: Since) -> MergeGraph:
    """The graph before the last edit or before any; made once for each state."""
    kept = _earlier.setdefault(graph, {})
    wanted = 0 if since == "start" else graph.revision
    if since not in kept or kept[since][0] != wanted:
        kept[since] = (wanted, graph.original() if since == "start" else graph.before_last())
    return kept[since][1]


def _blame_of(study: Study, graph: MergeGraph) -> Blame:
    """The blame of all merges in a state; known already, or computed once."""
    if graph is study.graph:
        return study.blame()
    benchmark = study.benchmark
    known = _blames.get(graph)
    if known is None or known[0]() is not benchmark or known[1] != graph.revision:
        state = _state_of(study, graph)
        segmentation = state.segmentation if state else segment(graph, benchmark.words)
        known = (ref(benchmark), graph.revision, blame(benchmark, segmentation))
        _blames[graph] = known
    return known[2]


def _state_of(study: Study, graph: MergeGraph) -> StudyState | None:
    """The study's own record of a state, where it surely has one."""
    kept = _earlier.get(study.graph, {})
    if "start" in kept and kept["start"][1] is graph:
        return study.start
    if "last" in kept and kept["last"] == (study.graph.revision, graph):
        return study.before_last
    return None


def open_in_merge_tree(current: Session, word: str) -> None:
    """Go to this page with a word."""
    for key in (word_key(current), f"kept {word_key(current)}"):
        st.session_state[key] = word
    st.switch_page("pages/2_Merge_tree.py")


def word_key(current: Session) -> str:
    return f"tree word {current.study_number}"
