"""Kernels of words: alignment against the dynamic program as docs/how/alignment.md words it, and
sequences of strings against rapidfuzz.
"""

import numpy as np
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq, Levenshtein

from morphgraph.kernels.alignment import align
from morphgraph.score.metrics import edit_distances, longest_common
from morphgraph.score.outcome import Strings


def oracle(word, morphemes):
    """Segments as (start, source): all offers in order, a later one wins if strictly better."""
    n, m = len(word), len(morphemes)
    best = {(0, k): (0, None) for k in range(m + 1)}

    def offer(cell, score, origin):
        if cell not in best or score > best[cell][0]:
            best[cell] = (score, origin)

    for i in range(n + 1):
        for k in range(m + 1):
            if (i, k) not in best:
                continue
            score = best[i, k][0]
            if k < m:
                for length in range(len(morphemes[k]) + 1):
                    if word[i:].startswith(morphemes[k][:length]):
                        offer((i + length, k + 1), score + length, (i, k))
                for j in range(i + 1, n + 1):
                    offer((j, k), score, (i, k))
            elif i < n:
                offer((n, m), score, (i, k))
    row = max((k for k in range(m + 1) if (n, k) in best), key=lambda k: (best[n, k][0], k))
    cell, segments = (n, row), []
    while best[cell][1] is not None:
        before = best[cell][1]
        if before[1] != cell[1] and before[0] != cell[0]:
            segments.insert(0, (before[0], before[1]))
        cell = before
    if n and (not segments or segments[0][0] > 0):
        segments.insert(0, (0, -1))
    return segments


def run(batch):
    """The kernel on a batch of (word, morphemes) over strings."""

    def points(strings):
        return np.array([ord(c) for s in strings for c in s], np.int32)

    def offsets(lengths):
        return np.cumsum([0, *lengths]).astype(np.int64)

    words = [word for word, _ in batch]
    flat = [part for _, parts in batch for part in parts]
    firsts = offsets([len(parts) for _, parts in batch])
    starts, sources, sizes = align(
        points(words),
        offsets([len(w) for w in words]),
        points(flat),
        offsets([len(p) for p in flat]),
        firsts,
    )
    assert starts.dtype == sources.dtype == sizes.dtype == np.int32
    result = []
    for e in range(len(batch)):
        slot, size = firsts[e] + e, sizes[e]
        both = zip(starts[slot : slot + size], sources[slot : slot + size], strict=True)
        result.append([(int(a), int(b)) for a, b in both])
    return result


letters = st.sampled_from("aab")
batches = st.lists(
    st.tuples(st.text(letters, max_size=9), st.lists(st.text(letters, max_size=5), max_size=5)),
    max_size=4,
)


@examples(600)
@given(batches)
def test_equals_the_plain_dynamic_program(batch):
    assert run(batch) == [oracle(word, parts) for word, parts in batch]


def test_hand_derived():
    # subsid|is|ed: 6 + 2 + 2 of 10 characters; nothing of y
    assert run([("subsidised", ["subside", "y", "ise", "ed"])]) == [[(0, 0), (6, 2), (8, 3)]]
    # élégance = elegan? No: the second morpheme wants the n, and both give 8 of 8 with elega|nce.
    assert run([("elegance", ["elegant", "nce"])]) == [[(0, 0), (5, 1)]]
    # x is skipped at the start, and z belongs to the morph on its left
    assert run([("xabzc", ["ab", "c"])]) == [[(0, -1), (1, 0), (4, 1)]]
    # nothing matches at all
    assert run([("xyz", ["ab"])]) == [[(0, -1)]]
    assert run([("xyz", [])]) == [[(0, -1)]]


SEPARATOR = "\N{NULL}"

FEW = st.lists(st.lists(st.text("ab", max_size=3), max_size=5), min_size=1, max_size=5)
# Astral and composed characters, and half of a surrogate pair; no separator.
ANY = st.lists(
    st.lists(st.text(st.sampled_from("aäß\u0301字😀\U0010ffff\ud83d\x01"), max_size=8), max_size=8),
    min_size=1,
    max_size=4,
)


@st.composite
def pairs(draw):
    """Two lists of strings for each of some words; often some are the same in both."""
    one = draw(FEW | ANY)
    other = draw(FEW | ANY)
    count = min(len(one), len(other))
    for number in range(count):
        if one[number] and draw(st.booleans()):
            other[number] = draw(st.lists(st.sampled_from(one[number]), max_size=8))
    return one[:count], other[:count]


def lcs(one, other):
    return longest_common(Strings.of(one), Strings.of(other)).tolist()


def distances(one, other):
    return edit_distances(Strings.of(one), Strings.of(other)).tolist()


@examples(400)
@given(pairs())
@example(([[]], [[]]))
@example(([[""]], [[]]))
@example(([["", ""]], [[""]]))
@example(([["a"], []], [[], ["b", "b"]]))
def test_as_rapidfuzz(drawn):
    one, other = drawn
    assert lcs(one, other) == [LCSseq.similarity(a, b) for a, b in zip(one, other, strict=True)]
    assert distances(one, other) == [
        Levenshtein.distance([*SEPARATOR.join(a)], [*SEPARATOR.join(b)])
        for a, b in zip(one, other, strict=True)
    ]
    assert lcs(other, one) == lcs(one, other)
    assert distances(other, one) == distances(one, other)


BY_HAND = [
    (["un", "do", "able"], ["un", "do", "able"], 3, 0),
    (["un", "do", "able"], ["undo", "able"], 1, 1),  # one separator goes
    (["dog", "s"], ["dogs"], 0, 1),
    (["dog", "s"], [], 0, 5),  # d o g | s
    ([], [], 0, 0),
    ([], [""], 0, 0),  # a separator stands between two strings only
    (["", ""], [""], 1, 1),
    (["a", "b", "c"], ["c", "a", "b"], 2, 3),  # a|b|c to c|a|b: three letters change
    (["ab", "ab"], ["ab"], 1, 3),
    (["subside", "ise", "ed"], ["subsid", "is", "ed"], 1, 2),
    (["a"], ["b"], 0, 1),
]


def test_words_do_not_see_each_other():
    one = [row[0] for row in BY_HAND]
    other = [row[1] for row in BY_HAND]
    assert lcs(one, other) == [row[2] for row in BY_HAND]
    assert distances(one, other) == [row[3] for row in BY_HAND]
    assert lcs([], []) == distances([], []) == []


def test_a_separator_equals_no_character():
    every = [chr(point) for point in (0, 1, 0x2C, 0xFFFF, 0x10FFFF)]
    assert distances([["a", "b"]] * 5, [["a" + c + "b"] for c in every]) == [1] * 5
