"""New types, from counted words or another tokeniser, by merges after all that a tokeniser has.

Source: Purason et al. 2025, arXiv 2512.03989; Delobelle et al. 2022, arXiv 2211.08192.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import inf

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.formats.hugging_face import removed_ids
from morphgraph.graph.atoms import TypeAtoms
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.kernels import Int32, Int64
from morphgraph.segment.training import check_total, counted_words
from morphgraph.tokeniser.merging import segment, segment_merging, words_of_atoms
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Words


def extend(
    tokeniser: BpeTokeniser,
    source: Mapping[str, int] | WordCounts | BpeTokeniser,
    add: int | None = None,
    *,
    replace: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Change:
    """Add types in place as `preview_extend`, or `preview_append`; they get ids after all others.

    ``add``: how many, which counts need. ``replace``: they get the ids of types that edits removed
    first; `MorphGraphError` if none are.
    """
    _check_free(tokeniser, replace)
    if isinstance(source, BpeTokeniser):
        change = preview_append(tokeniser, source)
    elif add is None:
        raise MorphGraphError("Training on word counts needs a number of types to add. Give one.")
    else:
        change = preview_extend(tokeniser, source, add, progress)
    return add_types(tokeniser, change, replace)


def add_types(tokeniser: BpeTokeniser, change: Change, replace: bool = False) -> Change:
    """Add types in place; ``replace``: as for `extend`."""
    _check_free(tokeniser, replace)
    tokeniser.id_choice = "reuse" if replace else "keep"
    return tokeniser.graph.apply(change)


def _check_free(tokeniser: BpeTokeniser, replace: bool) -> None:
    if replace and not removed_ids(tokeniser):
        raise MorphGraphError(
            "No ids can be reused. Prune the tokeniser first, or replay a recipe of pruning on it."
        )


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


def preview_words(tokeniser: BpeTokeniser, words: Sequence[str]) -> tuple[Change, dict[str, str]]:
    """Compute what makes each word one token, without adding it, and why some words cannot be.

    Words are as in running text. Those that share pairs of tokens share new types, as the most
    frequent pair of all is merged first.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("abc", ["a", "b", "c", "ab"], ["ab"])
    >>> change, why = preview_words(tokeniser, ["abc", "abcc", "ab", "abx"])
    >>> change.step["merges"], why
    ([['ab', 'c'], ['abc', 'c']], {'abx': 'has “x”, which is not an atom'})
    """
    words = list(dict.fromkeys(word for word in words if word.strip()))
    encoded, graph, why = tokeniser.encode(words), tokeniser.graph, dict[str, str]()
    missing, cut = set(tokeniser.missing_atoms(words)), segment(graph, encoded)
    for number, word in enumerate(words):
        first, end = encoded.word_offsets[number : number + 2]
        bounds = encoded.piece_offsets[slice(*np.searchsorted(encoded.piece_offsets, (first, end)))]
        if odd := sorted(missing.intersection(word)):
            why[word] = f"has “{odd[0]}”, which is not an atom"
        elif len(bounds) > 1:
            texts = [graph.types[atom] for atom in encoded.atoms[first:end].tolist()]
            starts = (bounds - first).tolist()
            pieces = map("".join, (texts[a:b] for a, b in pairwise([*starts, len(texts)])))
            why[word] = f"is cut before any merge: {' '.join(map(tokeniser.readable, pieces))}"
    counts = {
        word: 1
        for number, word in enumerate(words)
        if word not in why and len(cut.tokens(number)) > 1
    }
    if not counts:
        return graph.preview_anneal([]), why
    return preview_extend(tokeniser, counts, len(encoded.atoms)), why


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


# ------------------------------------------------------------------------------ of another one


def preview_append(tokeniser: BpeTokeniser, other: BpeTokeniser) -> Change:
    """Compute what adds the types of another tokeniser, without adding them.

    Its atoms come first, then, in its order, what its merges make. Each such type is formed of the
    tokens that its string has until then, which need not be those of the other: merges that come
    first may take some apart. Where there are more than two, pair merges lead to it, preferably by
    types of the other. So every added type is reached, and words change only where one applies.
    Special tokens and types that no merge makes are left out. `MorphGraphError` if the two spell
    words otherwise.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> one = tokeniser_of_types("one", ["a", "b", "c", "bc"], ["bc"])
    >>> other = tokeniser_of_types("other", [*"abcd", "ab", "abc"], ["ab", ("ab", "c")])
    >>> preview_append(one, other).step
    {'edit': 'anneal', 'merges': [['a', 'b'], ['a', 'bc']], 'atoms': ['d']}
    """
    _check_spelling(tokeniser, other)
    graph, theirs, known = tokeniser.graph, other.graph, TypeAtoms()
    results = dict.fromkeys(merge.result for merge in theirs.merges().values())
    atoms = [theirs.types[n] for n in theirs.type_ids() if n not in results]
    atoms = [text for text in atoms if other.is_atom_text(text) and text not in other.special]
    lacking = [text for text in atoms if text not in graph]
    usable = {*lacking, *(graph.types[n] for n in graph.type_ids() if not graph.incoming(n))}
    spelt = {
        theirs.types[n]: [theirs.types[atom] for atom in known.of(theirs, [n])]
        for n in results
        if theirs.types[n] not in tokeniser.special
    }
    spelt = {text: each for text, each in spelt.items() if usable.issuperset(each)}
    pairs: list[tuple[str, str]] = []
    while True:
        change = graph.preview_anneal(pairs, lacking)
        after, is_old = graph.after(change), False
        ids = [[after.ids[atom] for atom in each] for each in spelt.values()]
        segmentation = segment_merging(after, words_of_atoms([*spelt], ids))
        ranks: dict[tuple[str, str], int] = {}
        for number in range(len(spelt)):
            tokens = [after.types[token] for _, token in segmentation.token_ends(number)]
            while len(tokens := _merged(tokens, ranks)) > 1 and not is_old:
                named = (pair for pair in pairwise(tokens) if "".join(pair) in spelt)
                pair = next(named, (tokens[0], tokens[1]))
                pairs.append(pair)
                ranks[pair] = len(ranks)
                # Nothing formed it, but now merges of old ranks apply to it.
                is_old = "".join(pair) in after and bool(after.users(after.ids["".join(pair)]))
            if is_old:
                break
        else:
            return graph.preview_anneal(pairs, lacking)


def _merged(tokens: list[str], ranks: Mapping[tuple[str, str], int]) -> list[str]:
    """Apply pair merges to tokens."""
    while len(tokens) > 1:
        best = min(pairwise(tokens), key=lambda pair: ranks.get(pair, inf))
        if best not in ranks:
            break
        at = [*pairwise(tokens)].index(best)
        tokens = [*tokens[:at], "".join(best), *tokens[at + 2 :]]
    return tokens


_PROBE = " Bad Häuser, 12"


def _check_spelling(tokeniser: BpeTokeniser, other: BpeTokeniser) -> None:
    """Refuse a tokeniser that prepares words otherwise, so that its types are other strings."""
    ways = []
    for each in (tokeniser, other):
        pieces = each.preprocessor.pieces(_PROBE)
        text = "".join(character for piece in pieces for character, *_ in piece)
        ways.append(f"“{text}”" + f" with “{each.suffix}” at the end of words" * bool(each.suffix))
    if ways[0] != ways[1]:
        raise MorphGraphError(
            f"{other.name} spells words differently from {tokeniser.name}: “{_PROBE}” is {ways[1]} "
            f"instead of {ways[0]}. Choose one that prepares text alike, such as one trained with "
            "the same pipeline."
        )
