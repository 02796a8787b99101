"""Continued training: new types from counted words, by merges after all that a tokeniser has.

Source: Purason et al. 2025, arXiv 2512.03989.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.formats.hugging_face import removed_ids
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.kernels import Int32, Int64
from morphgraph.segment.training import check_total, counted_words
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Words


def extend(
    tokeniser: BpeTokeniser,
    counts: Mapping[str, int] | WordCounts,
    add: int,
    *,
    replace: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Change:
    """Add types in place as `preview_extend`; they get ids after all others.

    ``replace``: they get those of types that edits removed first; `MorphGraphError` if none are.
    """
    if replace and not removed_ids(tokeniser):
        raise MorphGraphError(
            "No ids are free to be used again. Prune the tokeniser first, or replay the recipe of "
            "that on it."
        )
    change = tokeniser.graph.apply(preview_extend(tokeniser, counts, add, progress))
    tokeniser.id_choice = "reuse" if replace else "keep"
    return change


def preview_extend(
    tokeniser: BpeTokeniser,
    counts: Mapping[str, int] | WordCounts,
    add: int,
    progress: Callable[[float], None] | None = None,
) -> Change:
    """Compute ``add`` new types, fewer if no pairs are left, without adding them.

    Each step merges the pair of tokens with the highest count, of several the first by code point
    of the left, then of the right one. A type that is there and gets another merge is not counted.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("abcd", ["a", "b", "c", "d", "ab"], ["ab"])
    >>> preview_extend(tokeniser, {"abcab": 2, "abd": 1}, 2).step["merges"]
    [['ab', 'c'], ['abc', 'ab']]
    """
    from morphgraph.kernels.merge_training import learn_events

    if add < 1:
        raise MorphGraphError(f"{add:,} types cannot be added. Give 1 or more.")
    if not isinstance(counts, WordCounts):
        counts = WordCounts.from_mapping(counts)
    words, numbers = counted_words(counts)
    encoded, graph = tokeniser.encode(list(words)), tokeniser.graph
    begins = np.zeros(len(encoded.atoms) + 1, bool)
    begins[encoded.piece_offsets] = True
    pairs: list[tuple[str, str]] = []
    while True:
        change = graph.preview_anneal(pairs)
        left = add - len(change.added_types)
        if not left:
            return change
        after = graph.after(change)
        token_at = segment(after, encoded).token_at
        packed, types = pack_tokens(after, encoded, token_at, begins, numbers)
        limit = len(types) + left
        rows, _ = learn_events(packed, len(types), limit, progress=progress, texts=types)
        if not len(rows):
            return change
        for one, other, _ in rows.tolist():
            pairs.append((types[one], types[other]))
            types.append(types[one] + types[other])
            # Nothing formed it, but now merges of old ranks apply to it.
            if types[-1] in graph and graph.users(graph.ids[types[-1]]):
                break


def pack_tokens(
    graph: MergeGraph,
    words: Words,
    token_at: npt.NDArray[np.int32],
    begins: npt.NDArray[np.bool_],
    numbers: Int64,
) -> tuple[Int32, list[str]]:
    """Return the pieces of counted words, packed for training, and the types of their tokens.

    ``token_at``: the type of each atom that ends a token, else below 0; ``begins``: whether a piece
    begins at each atom, and one more; an unknown character is one of its own. ``numbers``: counts
    of the words. The types are in the order of their text.
    """
    from morphgraph.kernels.training_tables import append_words, room_for_words

    ends = np.flatnonzero(token_at >= 0)
    tokens, firsts = token_at[ends], np.append(0, ends + 1)
    alone = (tokens == UNKNOWN) | np.isin(ends, list(words.unknown))
    begins = begins[firsts]
    begins[:-1] |= alone
    begins[1:] |= alone
    places = np.flatnonzero(begins)
    lengths = np.diff(places)
    weights = numbers[words.word_of_atom[firsts[places[:-1]]]]
    check_total(lengths, weights)
    paired = lengths > 1
    kept = tokens[np.repeat(paired, lengths)]
    types = sorted(np.unique(kept).tolist(), key=graph.types.__getitem__)
    order = np.zeros(len(graph.types), np.int32)
    order[types] = np.arange(len(types))
    lengths, weights = lengths[paired], weights[paired]
    packed = room_for_words(lengths)
    append_words(packed, 0, order[kept], lengths, weights)
    return packed, [graph.types[number] for number in types]
