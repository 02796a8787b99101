"""Cuts as flat arrays, against lists of lists."""

from itertools import accumulate, pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from morphgraph.score.cuts import Cuts, sums_by_word

Segments = list[tuple[str, ...] | None]

SEGMENTED = st.lists(
    st.none() | st.lists(st.text("aä😀", min_size=1, max_size=4), max_size=5).map(tuple),
    max_size=8,
)
PLACES = st.lists(st.lists(st.integers(1, 12), max_size=9), max_size=8)


def plain(segments: tuple[str, ...] | None) -> list[int]:
    """The cuts of one word."""
    return list(accumulate(map(len, segments or ())))[:-1]


def by_word(cuts: Cuts) -> list[list[int]]:
    """The positions of each word."""
    return [cuts.positions[start:end].tolist() for start, end in pairwise(cuts.offsets)]


def at(places: list[list[int]]) -> Cuts:
    """Cuts from a list of positions for each word, in any order."""
    flat = [(word, place) for word, found in enumerate(places) for place in found]
    flat.reverse()
    words = np.array([word for word, _ in flat], np.int64)
    return Cuts.at(words, np.array([place for _, place in flat], np.int64), len(places))


@given(SEGMENTED)
@example([])
@example([None])
@example([()])
@example([None, ("a",), (), ("a", "b"), None])
def test_of_segments(segmentations: Segments) -> None:
    cuts = Cuts.of(segmentations)
    assert len(cuts) == len(segmentations)
    assert by_word(cuts) == [plain(segments) for segments in segmentations]
    assert cuts.counts.tolist() == [len(plain(segments)) for segments in segmentations]
    assert cuts.positions.dtype == cuts.offsets.dtype == np.int64
    assert cuts.offsets[0] == 0


def test_by_hand() -> None:
    cuts = Cuts.of([("un", "do", "ing"), ("dog",), None, ("a", "b", "c", "d")])
    assert cuts.positions.tolist() == [2, 4, 1, 2, 3]
    assert cuts.offsets.tolist() == [0, 2, 2, 2, 5]
    assert cuts.keys.tolist() == [2, 4, 3 * 2**32 + 1, 3 * 2**32 + 2, 3 * 2**32 + 3]


@given(PLACES)
def test_at_places_in_any_order(places: list[list[int]]) -> None:
    cuts = at(places)
    assert len(cuts) == len(places)
    assert by_word(cuts) == [sorted(set(found)) for found in places]
    expected = [(word << 32) + place for word, row in enumerate(by_word(cuts)) for place in row]
    assert cuts.keys.tolist() == expected == sorted(expected)


@given(PLACES, st.data())
def test_shared_is_the_intersection(one: list[list[int]], data: st.DataObject) -> None:
    drawn = st.lists(st.integers(1, 12), max_size=9)
    other = [data.draw(drawn) for _ in one]
    mine, theirs = at(one), at(other)
    both = [sorted(set(a) & set(b)) for a, b in zip(one, other, strict=True)]
    assert mine.shared(theirs).tolist() == [len(row) for row in both]
    assert theirs.shared(mine).tolist() == [len(row) for row in both]
    assert mine.are_in(theirs).tolist() == [
        place in b for a, b in zip(one, other, strict=True) for place in sorted(set(a))
    ]


@given(SEGMENTED)
def test_the_same_from_segments_and_places(segmentations: Segments) -> None:
    one = Cuts.of(segmentations)
    other = at([plain(segments) for segments in segmentations])
    assert one.positions.tolist() == other.positions.tolist()
    assert one.offsets.tolist() == other.offsets.tolist()


@given(st.lists(st.lists(st.integers(-5, 5) | st.booleans(), max_size=5), max_size=8))
def test_sums(rows: list[list[int]]) -> None:
    flat = np.array([value for row in rows for value in row], np.int64)
    offsets = np.array([0, *accumulate(map(len, rows))], np.int64)
    assert sums_by_word(flat, offsets).tolist() == [sum(row) for row in rows]


def test_sums_of_flags_do_not_overflow() -> None:
    assert sums_by_word(np.ones(1000, bool), np.array([0, 999, 999, 1000])).tolist() == [999, 0, 1]
    assert sums_by_word(np.full(300, 1, np.int8), np.array([0, 300])).tolist() == [300]
