"""How a word is segmented: merge trees now and before edits, and by other methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import pandas as pd
import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, shortened
from morphgraph.draw.merge_tree import MergeTree, describe_in_study, describe_tree
from morphgraph.refine.study import Study, StudyState
from morphgraph.score.boundaries import boundary_positions
from morphgraph.score.comparison import Comparison
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.preprocess import shown_token
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web.components import Click, tree_picture
from web.state import Session
from web.text import code
from web.widgets import attempt, set_value, show_table

Since = Literal["last", "start"]
NamedState = tuple[str, int]
"""A title, and the number of edits of the graph."""
_SAMPLES = 200
_SHOWN = 12
_BEFORE = {"last": "before the last edit", "start": "before any edit"}


def word_trees(
    current: Session,
    word: int | str,
    states: Sequence[NamedState],
    key: str,
    on_event: Callable[[list[Click]], None] | None = None,
    **how: Any,
) -> list[MergeTree]:
    """Show a word's trees in several states of the graph, on one axis, with titles.

    ``word``: the number of a word of the reference, or any text; a text in the reference is treated
    as its word. ``on_event``, ``how``: see `tree_picture`. Returns the trees; none, and a message,
    if the word cannot be encoded.
    """
    trees: list[MergeTree] = []
    with attempt():
        trees = trees_of(current, word, states)
        if not trees[0].leaves:
            st.info("The tokeniser's normaliser leaves nothing of this word.")
            return []
        name = file_name(trees[0].word)
        tree_picture(trees, key=key, file_name=name, on_event=on_event, **how)
    return trees


def now(current: Session) -> list[NamedState]:
    """Return the present state only."""
    return [("", len(current.study.graph.history))]


def before_and_after(current: Session, word: int | str, since: Since = "last") -> list[NamedState]:
    """Return the states to compare for a word: one if nothing has changed for it."""
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
    current: Session, word: int | str, states: Sequence[NamedState], *, with_blame: bool = True
) -> list[MergeTree]:
    """Return a word's trees in several states; `MorphGraphError` if it cannot be encoded."""
    study = current.study
    return [
        describe_in_study(
            study,
            word,
            study.blame(state=_state_after(study, edits)) if with_blame else None,
            graph=current.graph_after(edits),
            title=title,
        )
        for title, edits in states
    ]


def _state_after(study: Study, edits: int) -> StudyState:
    return study.state_after(edits) if edits else study.start


def file_name(word: str) -> str:
    """Return a picture's file name without characters that file systems reject.

    >>> file_name("a/b c"), file_name("Übung")
    ('merge-tree-a_b_c', 'merge-tree-Übung')
    """
    return "merge-tree-" + "".join(c if c.isalnum() else "_" for c in word)[:40]


def open_in_merge_tree(current: Session, word: str) -> None:
    """Open a word on the page of merge trees."""
    set_value(word_key(current), word)
    st.switch_page("pages/2_Merge_tree.py")


def word_key(current: Session) -> str:
    """Return the key of the word on that page."""
    return f"tree word {current.study_number}"


# ------------------------------------------------------------------------------------- others


def one_cell(current: Session, comparison: Comparison, row: int, column: int) -> None:
    """Show a word's tokens by one method, and its merge tree, samples or events."""
    text, segmenter = comparison.texts[row], comparison.segmenters[column]
    cell = comparison.rows[row].cells[column]
    name = comparison.labels[column]
    st.subheader(f"{name}: {code(shortened(text, 80))}", anchor=False)
    st.write(" ".join(code(shortened(token)) for token in cell.tokens) or "no tokens")
    tokeniser = segmenter.tokeniser
    if (how := segmenter.explained_by) in _EXPLAINED:
        _EXPLAINED[how](segmenter, text)
    elif tokeniser is None:
        return
    elif tokeniser.numbered == current.study.tokeniser.numbered:
        edits = len(current.study.graph.history)
        word_trees(current, text, [(name, edits)], "compare tree")
    else:
        _tree(tokeniser, text, comparison.rows[row].gold, name)


def _tree(tokeniser: BpeTokeniser, text: str, gold: tuple[str, ...] | None, title: str) -> None:
    """Show a word's merge tree by a tokeniser that is not open, without blame."""
    words = tokeniser.encode([text])
    gaps = None
    if gold is not None:
        wanted = set(boundary_positions(gold))
        gaps = {gap for gap, place in enumerate(words.gap_position.tolist()) if place in wanted}
    tree = describe_tree(tokeniser, words, 0, graph=tokeniser.graph, gold=gaps, title=title)
    tree_picture([tree], key="compare tree", file_name=file_name(text))


def _samples(segmenter: Segmenter, text: str) -> None:
    """Show the frequency of each sampled segmentation of a word."""
    words = segmenter.encode([text])
    found = Counter(
        " ".join(shown_token(segmenter.token_text(words, *end)) for end in sample.token_ends(0))
        for sample in segmenter.samples(words, _SAMPLES)
    )
    frame = pd.DataFrame(found.most_common(_SHOWN), columns=["segmentation", "share"])
    frame["share"] /= _SAMPLES
    show_table(
        frame,
        column_config={"share": st.column_config.ProgressColumn("share", min_value=0, max_value=1)},
    )
    rest = len(found) - _SHOWN
    more = "; " + counted(rest, "more is rarer", "more are rarer") if rest > 0 else ""
    st.caption(f"{_SAMPLES} samples, {len(found):,} different{more}")


def _events(segmenter: Any, text: str) -> None:
    """Show the merge and split events of a word, in order."""
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
    """Show the tokens that were decomposed."""
    names = segmenter.types
    found = segmenter.decomposed(segmenter.encode([text]), 0)
    if not found:
        st.caption("No token of this word was taken apart.")
        return
    show_table(
        {
            "taken apart": [names[entry.type] for entry in found],
            "into": [" + ".join(names[part] for part in entry.parts) for entry in found],
        }
    )


_EXPLAINED: Mapping[str | None, Callable[[Any, str], None]] = {
    "samples": _samples,
    "events": _events,
    "decomposition": _decomposed,
}
"""How to show a method's segmentation if merges do not explain it (`Segmenter.explained_by`)."""
