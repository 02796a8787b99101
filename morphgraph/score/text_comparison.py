"""Two segmenters on the same texts: which tokens become others, and how often."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.encoding import batches_of
from morphgraph.tokeniser.words import INSIDE_CHARACTER, UNKNOWN

Ints = npt.NDArray[np.int64]
Replacement = tuple[tuple[int, ...], tuple[int, ...]]
"""The ids of some tokens before, and of those in their place after."""

_APART = re.compile(r"(?<=\S)(?= \S)")
"""Where texts are cut: before a lone space."""
_PROBES = (
    *("", "a", "1", ".", "_", "中", "ا", "ก", "😀", "½", "▁", "\u0301", "\u200d"),
    *("Aé", "don't", "'s", "12345", "/…", "a\u0301"),
)
"""Characters of all kinds that patterns tell apart."""


class ComparedTexts(NamedTuple):
    """How tokens differ.

    ``emitted``: how often each of a segmenter's own types is a token. ``is_changed``: whether the
    ids of each text change. ``changes``: how often tokens become others between two places where
    both end one. ``examples``: the first text with each of them, and what of this is cut alone.
    """

    emitted: tuple[Ints, Ints]
    is_changed: npt.NDArray[np.bool_]
    changes: Counter[Replacement]
    examples: dict[Replacement, tuple[int, str]]


def compare_tokens(
    both: Sequence[Segmenter], ids: Sequence[Ints], texts: Sequence[str]
) -> ComparedTexts:
    """Compare the tokens of texts, each distinct word once where words can be segmented alone.

    ``ids``: those of each segmenter's types, -1 for none.
    """
    apart = all(map(words_stand_alone, both))
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    flat, ends = array("i"), [0]
    for text in texts:
        flat.extend(map(numbers.__getitem__, _APART.split(text) if apart else [text]))
        ends.append(len(flat))
    parts, places = np.array([*numbers], object), np.frombuffer(flat, np.int32)
    often, is_changed = np.bincount(places), np.zeros(len(parts), bool)
    # A part has the next number where it first occurs.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(places), prepend=-1))
    first = np.searchsorted(ends, first, side="right") - 1
    emitted = np.zeros(len(ids[0]), np.int64), np.zeros(len(ids[1]), np.int64)
    changes, examples = Counter[Replacement](), dict[Replacement, tuple[int, str]]()
    is_spaced = np.array([part.startswith(" ") for part in parts])
    for spaced in (True, False):  # most of them first
        chosen = np.flatnonzero(is_spaced == spaced)
        for batch in batches_of([part[spaced:] for part in parts[chosen]]):
            some = chosen[batch]
            last = np.cumsum([len(part) + 1 for part in parts[some]])
            cut = zip(both, ids, strict=True)
            sides = [_tokens(*each, parts[some], last, spaced=spaced) for each in cut]
            for side, total in zip(sides, emitted, strict=True):
                times = often[some[np.searchsorted(last, side.ends)]]
                total += np.bincount(side.types, times, len(total)).astype(np.int64)
            for place, change in _changes(sides[0], sides[1], last):
                number = some[place]
                is_changed[number] = True
                changes[change] += int(often[number])
                example = int(first[number]), parts[number]
                examples[change] = min(example, examples.get(change, example))
    changed_texts = np.logical_or.reduceat(is_changed[places], ends[:-1])
    return ComparedTexts(emitted, changed_texts, changes, examples)


def words_stand_alone(segmenter: Segmenter) -> bool:
    """Return whether texts have the same tokens if they are cut before lone spaces.

    >>> from morphgraph.formats.loading import load_tokeniser
    >>> from morphgraph.segment.bte import Bte
    >>> words_stand_alone(Bte(load_tokeniser("demo:en")))
    True
    """
    prepared = segmenter.preprocessor
    spaces = {" ", prepared.space} - {""}
    reaching = (t.rstrip or spaces & {*t.content.lstrip()} for t in prepared.added)
    if not prepared.is_known or any(reaching):
        return False

    def pieces(text: str) -> list[list[str]]:
        return [[character for character, *_ in piece] for piece in prepared.pieces(text)]

    return all(
        pieces(f"{one} {other}") == pieces(one) + pieces(f" {other}")
        for one in _PROBES[1:]
        for other in _PROBES
    )


class _Tokens(NamedTuple):
    """Tokens of parts of texts; ``is_whole``: no character goes on where they end."""

    types: npt.NDArray[np.int32]
    ids: Ints
    ends: Ints
    is_whole: npt.NDArray[np.bool_]


def _tokens(
    segmenter: Segmenter, ids: Ints, parts: Iterable[str], last: Ints, *, spaced: bool
) -> _Tokens:
    """Segment parts, ``spaced`` if they begin with a space; each ends at one of ``last``."""
    running = spaced and segmenter.preprocessor.leading_space  # encoded faster than bare
    words = segmenter.encode([part[running:] for part in parts], bare=not running)
    token_at = segmenter.segment(words).token_at
    at = np.flatnonzero((token_at >= 0) & (token_at != UNKNOWN))
    at = at[ids[token_at[at]] >= 0]
    types, owner = token_at[at], words.word_of_atom[at]
    ends = last[owner] + words.spans[1][at] - words.character_offsets[owner + 1]
    return _Tokens(types, ids[types], ends, words.gap_position[at] != INSIDE_CHARACTER)


def _changes(one: _Tokens, other: _Tokens, last: Ints) -> Iterator[tuple[int, Replacement]]:
    """Yield the tokens with other ids between two ends that both have, and in which part."""
    shared = np.intersect1d(one.ends[one.is_whole], other.ends[other.is_whole])
    shared = np.union1d(shared, last)
    where = [np.searchsorted(shared, side.ends) for side in (one, other)]
    sizes = [np.bincount(each, minlength=len(shared)) for each in where]
    is_changed = sizes[0] != sizes[1]
    alike = [~is_changed[each] for each in where]
    is_changed[where[0][alike[0]][one.ids[alike[0]] != other.ids[alike[1]]]] = True
    ends = [np.append(0, np.cumsum(each)).tolist() for each in sizes]
    before, after = one.ids.tolist(), other.ids.tolist()
    numbers = np.flatnonzero(is_changed)
    parts = np.searchsorted(last, shared[numbers]).tolist()
    for n, part in zip(numbers.tolist(), parts, strict=True):
        one_span, other_span = (slice(each[n], each[n + 1]) for each in ends)
        yield part, (tuple(before[one_span]), tuple(after[other_span]))
