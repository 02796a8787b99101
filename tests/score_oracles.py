"""What scores ought to be, written as plainly as possible, in fractions.

A word is a string, a token a span (start, end) of its units: characters, or the bytes of a
byte-level tokeniser. Nothing here is fast, and nothing here imports the library.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from oracles import boundaries


class Found(NamedTuple):
    """What a tokeniser makes of one word."""

    cuts: list[int]
    pieces: list[str]
    left_out: int
    tokens: int
    inside: int
    alone: int = 0


class Judged(NamedTuple):
    """A word with what was found in it, its weight, its gold (or None), its source's morphemes."""

    word: str
    found: Found
    weight: Fraction
    gold: Sequence[str] | None
    source: Sequence[str] | None


def spans(tokens, marker=""):
    """Where tokens lie that cover a whole word, and how many are nothing but its marker.

    >>> spans(["▁", "un", "do"], "▁"), spans(["▁un", "do"], "▁"), spans(["un", "##do"])
    (([(0, 2), (2, 4)], 1), ([(0, 2), (2, 4)], 0), ([(0, 2), (2, 6)], 0))
    """
    found, alone, at = [], 0, 0
    for number, token in enumerate(tokens):
        body = token.removeprefix(marker) if number == 0 else token
        if not body:
            alone += 1
            continue
        found.append((at, at + len(body)))
        at += len(body)
    return found, alone


def outcome(word, tokens, alone=0, *, byte_level=False):
    """Cuts and all else of a word, from the spans of its tokens; ``alone``: tokens without any.

    >>> outcome("undo", [(0, 2)])
    Found(cuts=[2], pieces=['un'], left_out=2, tokens=1, inside=0, alone=0)
    >>> outcome("bär", [(0, 2), (2, 4)], byte_level=True)
    Found(cuts=[], pieces=['bär'], left_out=0, tokens=2, inside=1, alone=0)
    """
    owner = [i for i, c in enumerate(word) for _ in (c.encode() if byte_level else "x")]
    token_of = [None] * len(owner)
    for number, (start, end) in enumerate(tokens):
        token_of[start:end] = [number] * (end - start)
    cuts, inside = [], 0
    for unit in range(1, len(owner)):
        if token_of[unit - 1] != token_of[unit]:
            if owner[unit - 1] == owner[unit]:
                inside += 1
            else:
                cuts.append(owner[unit])
    covered = {owner[unit] for unit in range(len(owner)) if token_of[unit] is not None}
    places = [0, *cuts, len(word)]
    pieces = [
        word[start:end] for start, end in pairwise(places) if covered & set(range(start, end))
    ]
    return Found(cuts, pieces, len(word) - len(covered), len(tokens) + alone, inside, alone)


def common(one, other):
    """Length of the longest common subsequence.

    >>> common(["un", "do", "able"], ["un", "a", "able"])
    2
    """

    @cache
    def of(i, j):
        if i == len(one) or j == len(other):
            return 0
        if one[i] == other[j]:
            return 1 + of(i + 1, j + 1)
        return max(of(i + 1, j), of(i, j + 1))

    return of(0, 0)


def edits(one, other):
    """Levenshtein distance of lists of strings, with a separator between each two.

    >>> edits(["dog", "s"], ["dogs"]), edits(["dogs"], []), edits(["do", "gs"], ["dog", "s"])
    (1, 4, 2)
    """
    a = [c for string in one for c in (*string, None)][:-1]
    b = [c for string in other for c in (*string, None)][:-1]

    @cache
    def of(i, j):
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j
        same = int(a[i] != b[j])
        return min(same + of(i + 1, j + 1), 1 + of(i + 1, j), 1 + of(i, j + 1))

    return of(0, 0)


def scores(words):
    """Every score by name; None where it is undefined."""
    known = [word for word in words if word.gold is not None]

    def total(number):
        return sum((w.weight * Fraction(number(w)) for w in known), Fraction())

    def ratio(part, whole):
        return total(part) / total(whole) if total(whole) else None

    def mean(of, where):
        return ratio(lambda w: of(w) if where(w) else 0, lambda w: bool(where(w)))

    def cut(w):
        return set(w.found.cuts)

    def gold(w):
        return boundaries(w.gold or ())

    def hits(w):
        return len(cut(w) & gold(w))

    def both(w):
        return len(cut(w)) + len(gold(w))

    def pieces(w):
        return len(w.found.pieces)

    def morphs(w):
        return len(w.gold or ())

    def shared(w):
        return common(w.gold or (), w.found.pieces)

    def several(w):
        return w.found.tokens - w.found.alone > 1

    def precision(w):
        return Fraction(hits(w), len(cut(w)) or 1)

    def recall(w):
        return Fraction(hits(w), len(gold(w)))

    found = {
        "precision": ratio(hits, lambda w: len(cut(w))),
        "recall": ratio(hits, lambda w: len(gold(w))),
        "f1": ratio(lambda w: 2 * hits(w), both) if total(lambda w: len(gold(w))) else None,
        "macro_precision": mean(lambda w: Fraction(hits(w), len(cut(w))), cut),
        "macro_recall": mean(lambda w: Fraction(hits(w), len(gold(w))), gold),
        "macro_f1": mean(lambda w: Fraction(2 * hits(w), both(w)), gold),
        "exact": ratio(lambda w: cut(w) == gold(w), lambda w: 1),
        "over": ratio(lambda w: bool(cut(w) - gold(w)), lambda w: 1),
        "under": ratio(lambda w: bool(gold(w) - cut(w)), lambda w: 1),
        "morph_precision": ratio(shared, pieces),
        "morph_recall": ratio(shared, morphs),
        "morph_f1": ratio(lambda w: 2 * shared(w), lambda w: pieces(w) + morphs(w)),
        "distance": ratio(lambda w: edits(w.gold or (), w.found.pieces), lambda w: 1),
        "fertility": ratio(lambda w: w.found.tokens, lambda w: 1),
        "characters": ratio(lambda w: len(w.word) - w.found.left_out, lambda w: w.found.tokens),
        "left_out": ratio(lambda w: w.found.left_out, lambda w: len(w.word)),
        "inside": ratio(lambda w: w.found.inside, lambda w: 1),
        "morphscore": ratio(
            lambda w: several(w) and len(gold(w)) == 1 and gold(w) <= cut(w),
            lambda w: several(w) and len(gold(w)) == 1,
        ),
        "morphscore_precision": mean(precision, lambda w: gold(w) and several(w)),
        "morphscore_recall": mean(recall, lambda w: gold(w) and several(w)),
        "morphscore_precision_all": mean(
            lambda w: precision(w) if several(w) else Fraction(1), gold
        ),
        "morphscore_recall_all": mean(lambda w: recall(w) if several(w) else Fraction(1), gold),
    }
    return found | _against_the_source(known, ratio)


def _against_the_source(known, ratio):
    names = [f"morpheme_{name}" for name in ("precision", "recall", "f1", "distance")]
    if any(w.source is None for w in known):
        return dict.fromkeys(names)

    def source(w):
        return w.source or ()

    def shared(w):
        return common(source(w), w.found.pieces)

    values = [
        ratio(shared, lambda w: len(w.found.pieces)),
        ratio(shared, lambda w: len(source(w))),
        ratio(lambda w: 2 * shared(w), lambda w: len(w.found.pieces) + len(source(w))),
        ratio(lambda w: edits(source(w), w.found.pieces), lambda w: 1),
    ]
    return dict(zip(names, values, strict=True))
