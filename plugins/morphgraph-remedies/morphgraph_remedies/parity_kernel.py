"""Parity-aware BPE: one list of merges for several languages, each chosen in the one behind.

The training words of each language have tables of their own, and so have those of each development
text; only the types are shared. A merge is made in all of them. Which pair is next is asked of one.
Merges of all languages together come first, by the kernel of BPE.

As in BPE, a merge always makes a new type (`kernels.merge_training`): that does not depend on
how merges are chosen, only on that each is made wherever its pair is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.kernels import Int32
from morphgraph.kernels.compiling import kernel
from morphgraph.kernels.merge_training import (
    has_room,
    initial_pairs,
    initial_types,
    learn_events,
    merge_words,
    more_pairs,
    more_types,
    next_row,
    refilled,
    scratch_for,
    share_of_work,
)
from morphgraph.kernels.training_tables import (
    HEADER,
    LINE,
    SCALARS,
    Scalars,
    Scratch,
    Types,
    count_of,
    row_of,
    type_made,
)

MERGES_PER_CALL = 25
"""The merges before progress is reported again."""

_NO_EVENTS = np.empty((2, 3), np.int32)


@kernel
def merge_in_text(words, pairs, types, scratch, state, events, left, right, new, asked):
    """Merge (left, right) → new in a text; return how often, −1 if there is no room yet.

    The queue of a text that is not ``asked`` for pairs stays empty.
    """
    row = row_of(pairs.table, (np.int64(left) << 32) | np.int64(right))
    count = pairs.table[row, 1]
    if pairs.table[row, 0] == -1 or count == 0:
        return 0
    state.types = new
    gains = 2 * min(count, words.shape[0])
    if not has_room(pairs, types, events, state, 2 * (new + 1), gains, 0):
        return -1
    head = pairs.heads[row]
    merged = merge_words(words, pairs, types, scratch, state, (left, right, new), row, head)
    if not asked:
        state.heap = 0
        state.low = 0
    return merged


@kernel
def copy_merged(before, merged, after):
    """Copy words as they are after merges, which left each where it was.

    Returns the place after them, and how many tokens the merges have saved.
    """
    word = 0
    at = 0
    saved = np.int64(0)
    while before[word] != 0:
        used = HEADER + merged[word]
        after[at : at + used] = merged[word : word + used]
        saved += count_of(before, word) * (before[word] - merged[word])
        at += used
        word += HEADER + before[word]
    after[at : at + LINE] = 0
    return at, saved


class _Text:
    """The packed words of a text, its pairs, and how many tokens it has."""

    def __init__(self, words: Int32, tokens: int, types: Types, asked: bool = True) -> None:
        self.words, self.tokens, self.asked = words, tokens, asked
        self.state: Scalars = np.zeros(1, SCALARS).view(np.recarray)[0]
        self.pairs = initial_pairs(words, self.state, removing=True)
        if not asked:
            self.state.low = 0
        elif self.state.low:
            self.pairs = refilled(self.pairs, types, self.state)

    def best(self, types: Types) -> tuple[int, int, int]:
        """Return the most frequent pair and its count; a count of 0 if there is none."""
        state = self.state
        while True:
            table, _, heap, low, *_ = self.pairs
            row = next_row(table, heap, low, types, state)
            if row >= 0:
                pair, count = table[row].tolist()
                return pair >> 32, pair & 0xFFFFFFFF, count
            if state.heap > 0:
                state.more_pairs = 1
                self.pairs = more_pairs(self.pairs, state)
            elif state.low > 0:
                self.pairs = refilled(self.pairs, types, state)
            else:
                return 0, 0, 0

    def merge(self, types: Types, scratch: Scratch, left: int, right: int, new: int) -> None:
        """Merge a pair into a type in all words."""
        state, arguments = self.state, (_NO_EVENTS, left, right, new, self.asked)
        while (
            merged := merge_in_text(self.words, self.pairs, types, scratch, state, *arguments)
        ) < 0:
            self.pairs = more_pairs(self.pairs, state)
        self.tokens -= merged


def learn_parity(
    training: Sequence[Int32],
    training_tokens: Sequence[int],
    development: Sequence[Int32],
    development_tokens: Sequence[int],
    atoms: Sequence[str],
    type_limit: int,
    *,
    minimum_count: int,
    global_merges: int = 0,
    window: int = 0,
    alpha: float = 2.0,
    progress: Callable[[float], None] | None = None,
    enough: Callable[[], bool] | None = None,
) -> Int32:
    """Train on the packed words of several languages; return the merges (left, right, result).

    ``training`` and ``development`` come from `append_words`, one for each language, and are used
    as working space; the latter may be empty. The tokens are those of all their words before the
    first merge, with the words that have one atom. The language of a step is the one whose
    development text has the most tokens; without such texts, the one with the fewest atoms per
    token in training; the first of equals. Its most frequent pair is merged in all, of several the
    last by code point of the left, then of the right type; if its count is below ``minimum_count``,
    training ends. The first ``global_merges`` steps take the pair that is most frequent in all
    languages together. With a ``window``, a language is passed over while its share of the last so
    many choices is above ``alpha`` ÷ languages (+ 1 with global merges). ``progress`` and
    ``enough``: as in `learn_events`. Source: Foroutan et al. 2025.
    """
    longest = max(map(len, (*training, *development)))
    if sum(map(len, training)) > 2**31 - 1:
        raise MorphGraphError("The words have more than 2³¹ characters. Leave out rare words.")
    merges = max(min(type_limit - len(atoms), sum(map(len, training))), 0)
    shared: Scalars = np.zeros(1, SCALARS).view(np.recarray)[0]
    shared.atoms = len(atoms)
    types = initial_types(len(atoms), merges + 64, shared, atoms, order=-1)
    rows: list[tuple[int, int, int]] = []
    texts = [*zip(training, training_tokens, strict=True)]
    if global_merges:
        words = np.concatenate([*(each[:-LINE] for each in training), np.zeros(LINE, np.int32)])
        first, part = min(global_merges, merges), share_of_work(global_merges, merges)
        found, _ = learn_events(
            words,
            len(atoms),
            len(atoms) + first,
            minimum_count=minimum_count,
            progress=None if progress is None else lambda share: progress(share * part),
            enough=enough,
            texts=atoms,
            order=-1,
        )
        rows = [(left, right, new) for left, right, new in found.tolist()]
        if len(rows) < first:
            merges = len(rows)
        at = 0
        for number, (before, tokens) in enumerate(texts):
            after = np.empty_like(before)
            used, saved = copy_merged(before, words[at:], after)
            texts[number] = after[: used + LINE], tokens - saved
            at += len(before) - LINE
    measured = [
        _Text(words, tokens, types, asked=False)
        for words, tokens in zip(development, development_tokens, strict=True)
    ]
    scratch = scratch_for(len(types.counts), 2 * longest)
    last: deque[int] = deque(maxlen=window)
    most = alpha / (len(texts) + bool(global_merges))

    def behind(number: int) -> float:
        if measured:
            return measured[number].tokens
        return -training_tokens[number] / languages[number].tokens

    def chosen() -> int:
        numbers = list(range(len(languages)))
        fair = [n for n in numbers if not window or last.count(n) / window <= most]
        return max(fair or numbers, key=behind)

    def merge(left: int, right: int, among: Sequence[_Text]) -> int:
        nonlocal types
        shared.more_atoms = length_of(types, left) + length_of(types, right)
        types = more_types(types, shared)
        new = int(type_made(types, shared, left, right))
        for text in among:
            text.merge(types, scratch, left, right, new)
        return new

    for left, right, _ in rows:
        merge(left, right, measured)
    languages = [_Text(words, tokens, types) for words, tokens in texts]  # their types are known
    while len(rows) < merges:
        if len(rows) % MERGES_PER_CALL == 0:
            if progress is not None:
                progress(share_of_work(len(rows), merges))
            if enough is not None and enough():
                break
        number = chosen()
        left, right, count = languages[number].best(types)
        if count < max(minimum_count, 1):
            break
        last.append(number)
        rows.append((left, right, merge(left, right, [*languages, *measured])))
    if progress is not None:
        progress(1.0)
    return np.array(rows, np.int32).reshape(-1, 3)


def length_of(types: Types, number: int) -> int:
    """Return how many characters a type has."""
    return int(types.spelled[number] - (types.spelled[number - 1] if number else 0))
