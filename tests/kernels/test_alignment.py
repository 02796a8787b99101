"""The alignment kernel against the dynamic program as docs/references.md words it."""

import numpy as np
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.kernels.words import align


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


def test_an_empty_batch():
    assert run([]) == []
