"""How a word is segmented: merge trees now and before edits, and by other methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, shortened
from morphgraph.draw.gold_tree import gold_trees
from morphgraph.draw.merge_tree import MergeTree, describe_in_study, describe_tree
from morphgraph.score.boundaries import boundary_positions
from morphgraph.score.comparison import Comparison
from morphgraph.tokeniser.preprocess import shown_token
from web.components import OnClicks, tree_picture
from web.state import Session
from web.widgets import PROGRESS, attempt, code, show_table

MARKS = (
    "Marks: **|** split on a gold boundary; **·** split inside a morph; **‿** gold boundary closed"
)
NamedState = tuple[str, int]
"""A title, and the number of edits of the graph."""
_SAMPLES = 200
_SHOWN = 12


def word_trees(
    current: Session,
    word: str,
    key: str,
    states: Sequence[NamedState] = (),
    on_event: OnClicks | None = None,
    **how: Any,
) -> list[MergeTree]:
    """Show a word's trees in several states of the graph, by default now, on one axis.

    A text in the reference is treated as its word. ``on_event``, ``how``: see `tree_picture`.
    Returns the trees; none, and a message, if the word cannot be encoded.
    """
    with attempt():
        trees = _trees_of(current, word, states or [("", len(current.study.graph.history))])
        if trees[0].leaves:
            name = file_name(trees[0].word)
            drawn = [*trees, *gold_trees(current.study, trees[0])]
            tree_picture(drawn, key=key, file_name=name, on_event=on_event, **how)
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


def one_cell(current: Session, comparison: Comparison, row: int, column: int) -> None:
    """Show a word's tokens by one method, and its merge tree, samples or events."""
    text, segmenter = comparison.texts[row], comparison.segmenters[column]
    cell, name = comparison.rows[row].cells[column], comparison.labels[column]
    st.subheader(f"{name}: {code(shortened(text, 80))}", anchor=False)
    st.write(" ".join(code(shortened(token)) for token in cell.tokens) or "no tokens")
    tokeniser = segmenter.tokeniser
    if segmenter.explained_by == "samples":
        _samples(segmenter, text)
    elif segmenter.explained_by == "events":
        _events(segmenter, text)
    elif segmenter.explained_by == "decomposition":
        _decomposed(segmenter, text)
    elif tokeniser is None:
        return
    elif tokeniser.numbered == current.study.tokeniser.numbered:
        word_trees(current, text, "compare tree", [(name, len(current.study.graph.history))])
    else:  # a tokeniser that is not open: without blame
        words, gold = tokeniser.encode([text]), comparison.rows[row].gold
        gaps = None
        if gold is not None:
            wanted = set(boundary_positions(gold))
            gaps = {gap for gap, place in enumerate(words.gap_position.tolist()) if place in wanted}
        tree = describe_tree(tokeniser, words, 0, graph=tokeniser.graph, gold=gaps, title=name)
        tree_picture([tree], key="compare tree", file_name=file_name(text))


def _samples(segmenter: Any, text: str) -> None:
    words = segmenter.encode([text])
    counts = Counter(
        " ".join(map(shown_token, segmenter.token_texts(sample, 0)))
        for sample in segmenter.samples(words, _SAMPLES)
    )
    frame = pd.DataFrame(counts.most_common(_SHOWN), columns=["segmentation", "share"])
    frame["share"] /= _SAMPLES
    show_table(frame, column_config={"share": PROGRESS("share", min_value=0, max_value=1)})
    rest = len(counts) - _SHOWN
    more = "; " + counted(rest, "more is rarer", "more are rarer") if rest > 0 else ""
    st.caption(f"{_SAMPLES} samples, {len(counts):,} different{more}")


def _events(segmenter: Any, text: str) -> None:
    names = segmenter.types
    performed = segmenter.events_of(segmenter.encode([text]), 0)

    def spelled(types: tuple[int, ...], sign: str) -> str:
        return shortened(sign.join(names[type_] for type_ in types), 200)

    show_table(
        {
            "event": [entry.number for entry in performed],
            "kind": [entry.event.kind for entry in performed],
            "parts": [spelled(entry.event.parts, " + ") for entry in performed],
            "type": [names[entry.event.type] for entry in performed],
            "tokens after it": [spelled(entry.tokens, " ") for entry in performed],
        }
    )


def _decomposed(segmenter: Any, text: str) -> None:
    names = segmenter.types
    entries = segmenter.decomposed(segmenter.encode([text]), 0)
    if not entries:
        st.caption("No token of this word was taken apart.")
        return
    into = [" + ".join(names[part] for part in entry.parts) for entry in entries]
    show_table({"taken apart": [names[entry.type] for entry in entries], "into": into})
