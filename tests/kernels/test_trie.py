"""The trie itself, and what its kernels do on arrays made by hand."""

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.kernels import trie

Path = tuple[int, ...]
PATHS = st.dictionaries(
    st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple), st.integers(0, 1)),
    st.integers(0, 100),
    min_size=1,
    max_size=40,
)


def build(entries: dict[tuple[Path, int], int]) -> tuple[npt.NDArray[np.int64], ...]:
    """The trie of paths with a form, to types, over four atoms."""
    offsets = np.zeros(len(entries) + 1, np.int64)
    np.cumsum([len(path) for path, _ in entries], out=offsets[1:])
    atoms = np.array([atom for path, _ in entries for atom in path], np.int32)
    types = np.array(list(entries.values()), np.int32)
    forms = np.array([form for _, form in entries], np.int64)
    found: tuple[npt.NDArray[np.int64], ...] = trie.build_trie(atoms, offsets, types, forms, 4)
    return found


@given(PATHS, st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6).map(tuple)))
def test_every_path_is_found_and_no_other(
    entries: dict[tuple[Path, int], int], others: list[Path]
) -> None:
    table, root, ends, longest = build(entries)
    paths = {path for path, _ in entries}
    assert longest == max(map(len, paths))
    for path in {*paths, *others}:
        state, flags = 0, 0
        for atom in path:
            value = trie._step(table, root, np.int64(state), np.int32(atom))
            if value == trie.ABSENT:
                state = flags = 0
                break
            state, flags = int(value) >> 2, int(value) & 3
        for form in (0, 1):
            expected = entries.get((path, form), trie.ABSENT)
            assert (ends[state, form] if state else trie.ABSENT) == expected
            assert bool(flags & (1 + form)) == ((path, form) in entries)


def test_keeping_the_longest_tokens_leftmost_first() -> None:
    offsets = np.array([0, 7], np.int64)
    # Lengths 2 (one of them a marker), 1 (in no token), 2, 2.
    markers = np.array([1, 0, 0, 0, 0, 0, 0], np.uint8)
    for by_length, count, expected in [
        (True, 1, [-2, -2, -2, -1, 6, -2, -2]),
        (True, 2, [-2, -2, -2, -1, 6, -1, 7]),
        (False, 1, [-1, 5, -2, -2, -2, -2, -2]),
        (False, 2, [-1, 5, -2, -1, 6, -2, -2]),
        (True, 3, [-1, 5, -2, -1, 6, -1, 7]),
    ]:
        token_at = np.array([-1, 5, -2, -1, 6, -1, 7], np.int32)
        closed_by = np.where(token_at == -1, 1, -1).astype(np.int32)
        trie.keep_tokens(offsets, markers, count, by_length, closed_by, token_at)
        assert token_at.tolist() == expected
        assert ((closed_by >= 0) == (token_at == -1)).all()
