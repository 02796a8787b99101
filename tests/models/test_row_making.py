"""Rows copied and made, held against the same in plain Python."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.models import rows as row_making
from morphgraph.models.checkpoint import NewTensor, read_safetensors, write_safetensors
from morphgraph.models.rows import COPIED, FILLER, MADE, MadeRows, RowSources, check_floats

OLD, COLUMNS = 6, 3
ROWS = st.lists(
    st.one_of(
        st.tuples(st.just(COPIED), st.lists(st.integers(0, OLD - 1), min_size=1, max_size=1)),
        st.tuples(st.just(MADE), st.lists(st.integers(0, OLD - 1), max_size=4)),
        st.tuples(st.just(FILLER), st.just([])),
    ),
    min_size=1,
    max_size=20,
)


def stored(path: Path, bits: np.ndarray[Any, Any], dtype: str) -> Any:
    write_safetensors(path, [NewTensor("w", dtype, bits.shape, lambda: iter([bits]))], {})
    return read_safetensors(path)[1][0]


def sources(rows: list[tuple[int, list[int]]], used: list[int]) -> RowSources:
    return RowSources(
        np.array([kind for kind, _ in rows], np.int8),
        np.append(0, np.cumsum([len(ids) for _, ids in rows])),
        np.array([number for _, ids in rows for number in ids], np.int64),
        np.array(used),
    )


def to_floats(bits: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    if dtype == "BF16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view(np.float16 if dtype == "F16" else np.float32).astype(np.float32)


def nearest_bf16(value: float) -> int:
    """By trying both neighbours; of two as near, the even one."""
    low = int(np.float32(value).view(np.uint32)) >> 16
    both = [low, low + 1]
    far = [abs(float(to_floats(np.array([n], np.uint16), "BF16")[0]) - value) for n in both]
    return min(both, key=lambda n: (far[n - low], n % 2))


def expected(old: Any, rows: list[tuple[int, list[int]]], used: list[int], init: str) -> Any:
    made = []
    for kind, ids in rows:
        if kind == MADE and init == "zeros":
            made.append(np.zeros(COLUMNS))
        else:
            made.append(np.mean(old[ids or used].astype(np.float64), axis=0))
    return np.array(made)


@examples(100)
@given(
    ROWS, st.sampled_from(["F32", "F16", "BF16"]), st.sampled_from(["mean", "zeros"]), st.integers()
)
def test_rows_are_as_by_hand(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, dtype: str, init: Any, seed: int
) -> None:
    random = np.random.default_rng(abs(seed))
    values = random.normal(size=(OLD, COLUMNS)).astype(np.float32)
    bits = values.view(np.uint32) if dtype == "F32" else values.astype(np.float16).view(np.uint16)
    if dtype == "BF16":
        bits = (values.view(np.uint32) >> 16).astype(np.uint16)
    old, used = to_floats(bits, dtype), [0, 2, 3]
    tensor = stored(tmp_path_factory.mktemp("w") / "w", bits, dtype)
    made = MadeRows(tensor, OLD, sources(rows, used), init)
    found = np.concatenate(list(made.chunks())).view(bits.dtype)
    wanted = expected(old, rows, used, init)
    for number, (kind, ids) in enumerate(rows):
        if kind == COPIED:
            np.testing.assert_array_equal(found[number], bits[ids[0]])
        near = {"F32": 1e-6, "F16": 2e-3, "BF16": 2e-2}[dtype]
        np.testing.assert_allclose(to_floats(found[number], dtype), wanted[number], near, near)


@given(st.floats(-(2.0**100), 2.0**100, width=32))
def test_bfloat16_is_rounded_to_the_nearest(value: float) -> None:
    found = row_making._bytes(np.array([[value]], np.float32), "BF16").view(np.uint16)
    assert found.item() == nearest_bf16(value)


def test_what_is_copied_keeps_every_bit(tmp_path: Path) -> None:
    """Not a number, infinity, the smallest numbers and −0 are no exception."""
    bits = np.array([[0x7FC1, 0x7F80, 0x0001], [0x8000, 0xFF80, 0xFFFF]], np.uint16)
    for dtype in ("F16", "BF16"):
        tensor = stored(tmp_path / dtype, bits, dtype)
        rows = MadeRows(tensor, 2, sources([(COPIED, [1]), (COPIED, [0])], [0, 1]))
        found = np.concatenate(list(rows.chunks())).view(np.uint16)
        np.testing.assert_array_equal(found, bits[::-1])


def test_blocks_are_the_whole_whatever_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(1).normal(size=(OLD, COLUMNS)).astype(np.float32)
    tensor = stored(tmp_path / "w", values, "F32")
    rows = [(MADE, [0, 1, 2]), (COPIED, [4]), (FILLER, []), (MADE, []), (MADE, [5, 5])] * 3
    for init in ("mean", "zeros", "normal"):
        made = MadeRows(tensor, OLD, sources(rows, [0, 1, 2, 3]), init, seed=3)
        whole = np.concatenate(list(made.chunks()))
        with monkeypatch.context() as patched:
            patched.setattr(row_making, "BUFFER", 30)
            made = MadeRows(tensor, OLD, sources(rows, [0, 1, 2, 3]), init, seed=3)
            blocks = list(made.chunks())
        assert len(blocks) > 5
        np.testing.assert_array_equal(np.concatenate(blocks), whole)


def test_normal_rows_have_the_moments_of_the_old_ones(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal([5, -1, 0], [1, 3, 0.1], (500, 3)).astype(np.float32)
    values[400:] = 1000  # padding, which counts for nothing
    tensor = stored(tmp_path / "w", values, "F32")
    plan = sources([(MADE, [0])] * 4000, list(range(400)))
    drawn = [
        np.concatenate(list(MadeRows(tensor, 500, plan, "normal", seed).chunks())).view(np.float32)
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    np.testing.assert_allclose(drawn[0].mean(axis=0), values[:400].mean(axis=0), atol=0.2)
    np.testing.assert_allclose(drawn[0].std(axis=0), values[:400].std(axis=0), rtol=0.1)


def test_rows_that_are_not_finite_are_left_out_of_the_moments(tmp_path: Path) -> None:
    init: Any
    values = np.array([[1, 2, 3], [np.nan, 0, 0], [0, np.inf, 0], [3, 4, 5]], np.float32)
    tensor = stored(tmp_path / "w", values, "F32")
    for init, used in (("normal", [0, 1, 2, 3]), ("mean", [0, 1, 3])):
        rows = MadeRows(tensor, 4, sources([(MADE, [0]), (FILLER, [])], used), init)
        found = np.concatenate(list(rows.chunks())).view(np.float32)
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found[1], [2, 3, 4])
    with pytest.raises(MorphGraphError, match="no row of the tensor “w” has finite numbers"):
        list(MadeRows(tensor, 4, sources([(FILLER, [])], [1, 2])).chunks())


def test_quantised_numbers_are_refused(tmp_path: Path) -> None:
    tensor = stored(tmp_path / "w", np.zeros((2, 2), np.int8), "I8")
    with pytest.raises(MorphGraphError, match=r"“w” is of I8.*not quantised"):
        check_floats(tensor)
