"""One cell of the comparison: how a method came to cut a word as it does."""

from collections import Counter

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.draw.merge_tree import describe_tree
from morphgraph.score.boundaries import boundary_positions
from morphgraph.score.comparison import Comparison
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.picky import Picky
from morphgraph.segment.trimmed import Demolishing
from web.components.tree import tree_picture
from web.session import Session
from web.text import code
from web.views.trees import file_name, word_trees

_SAMPLES = 200


def one_cell(current: Session, comparison: Comparison, row: int, column: int) -> None:
    """The tokens of one word by one method, and its merge tree, samples or events."""
    text, segmenter = comparison.texts[row], comparison.segmenters[column]
    cell = comparison.rows[row].cells[column]
    name = comparison.labels[column]
    st.subheader(f"{name}: {code(shortened(text, 80))}", anchor=False)
    st.write(" ".join(code(shortened(token)) for token in cell.tokens) or "no tokens")
    if isinstance(segmenter, Dropout):
        _samples(segmenter, text)
    elif isinstance(segmenter, Picky):
        _events(segmenter, text)
    elif isinstance(segmenter, Demolishing):
        _demolished(segmenter, text)
    elif isinstance(segmenter, Bte) and segmenter.tokeniser is current.study.tokeniser:
        word_trees(current, text, [(name, current.study.graph)], "compare tree")
    elif isinstance(segmenter, Bte):
        _tree(segmenter, text, comparison.rows[row].gold, name)


def _tree(segmenter: Bte, text: str, gold: tuple[str, ...] | None, title: str) -> None:
    """The merge tree of a word by a tokeniser that is not the open one; without blame."""
    tokeniser = segmenter.tokeniser
    words = tokeniser.encode([text])
    gaps = None
    if gold is not None:
        wanted = set(boundary_positions(gold))
        gaps = {gap for gap, place in enumerate(words.gap_position.tolist()) if place in wanted}
    tree = describe_tree(tokeniser, words, 0, graph=tokeniser.graph, gold=gaps, title=title)
    tree_picture([tree], key="compare tree", file_name=file_name(text))


def _samples(segmenter: Dropout, text: str) -> None:
    """How often each segmentation of a word comes out."""
    words = segmenter.encode([text])
    found = Counter(
        " ".join(segmenter.token_text(words, atom, token) for atom, token in sample.token_ends(0))
        for sample in segmenter.samples(words, _SAMPLES)
    )
    st.dataframe(
        pd.DataFrame(
            {
                "segmentation": [tokens for tokens, _ in found.most_common(12)],
                "share": [count / _SAMPLES for _, count in found.most_common(12)],
            }
        ),
        hide_index=True,
        column_config={"share": st.column_config.ProgressColumn("share", min_value=0, max_value=1)},
    )
    rest = len(found) - 12
    more = "; " + counted(rest, "more is rarer", "more are rarer") if rest > 0 else ""
    st.caption(f"{_SAMPLES} samples, {len(found):,} different{more}")


def _events(segmenter: Picky, text: str) -> None:
    """The merge and split events that were performed on a word, in order."""
    names = segmenter.types
    performed = segmenter.events_of(segmenter.encode([text]), 0)

    def spelled(types: tuple[int, ...], sign: str) -> str:
        return shortened(sign.join(names[type_] for type_ in types), 200)

    st.dataframe(
        pd.DataFrame(
            {
                "event": [entry.number for entry in performed],
                "kind": [entry.event.kind for entry in performed],
                "parts": [spelled(entry.event.parts, " + ") for entry in performed],
                "type": [names[entry.event.type] for entry in performed],
                "tokens after it": [spelled(entry.tokens, " ") for entry in performed],
            }
        ),
        hide_index=True,
    )


def _demolished(segmenter: Demolishing, text: str) -> None:
    """The tokens that were taken apart again."""
    names = segmenter.types
    found = segmenter.demolished(segmenter.encode([text]), 0)
    if not found:
        st.caption("No token of this word was taken apart.")
        return
    st.dataframe(
        pd.DataFrame(
            {
                "taken apart": [names[entry.type] for entry in found],
                "into": [" + ".join(names[part] for part in entry.parts) for entry in found],
            }
        ),
        hide_index=True,
    )
