"""Rows copied and made, held against the same in plain Python."""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from morphgraph_models import rows as row_making
from morphgraph_models.checkpoint import NewTensor, read_safetensors, write_safetensors
from morphgraph_models.rows import COPIED, FILLER, MADE, RowPlan, VocabularyMatrix, made_rows
from morphgraph_models.settings import RowInit, RowSettings

OLD, COLUMNS = 6, 3
CHARACTERS = (1, 3, 2, 5, 1, 4)
"""Of the text of each old type."""
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


def made(
    tensor: Any,
    rows: list[tuple[int, list[int]]],
    used: list[int],
    init: Any = "mean",
    seed: int = 0,
    role: Any = "input",
    norm: Any = None,
) -> list[np.ndarray[Any, Any]]:
    """The new rows in blocks."""
    listed = [number for _, ids in rows for number in ids]
    sources = (
        np.array([kind for kind, _ in rows], np.int8),
        np.append(0, np.cumsum([len(ids) for _, ids in rows])),
        np.array(listed, np.int64),
        np.array([CHARACTERS[number] for number in listed], np.float32),
        np.array(used),
    )
    plan = RowPlan((), {}, {}, (), {}, *sources)
    settings = RowSettings(init=init, seed=seed, norm=norm)
    return list(made_rows(VocabularyMatrix(tensor, role), tensor.shape[0], plan, settings))


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
    return np.array(
        [
            np.zeros(COLUMNS)
            if kind == MADE and init == "zeros"
            else np.average(
                old[ids or used].astype(np.float64),
                axis=0,
                weights=[CHARACTERS[n] for n in ids] if ids and init == "length" else None,
            )
            for kind, ids in rows
        ]
    )


@examples(100)
@given(
    ROWS,
    st.sampled_from(["F32", "F16", "BF16"]),
    st.sampled_from(["mean", "length", "zeros"]),
    st.integers(),
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
    found = np.concatenate(made(tensor, rows, used, init)).view(bits.dtype)
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
        found = np.concatenate(made(tensor, [(COPIED, [1]), (COPIED, [0])], [0, 1]))
        np.testing.assert_array_equal(found.view(np.uint16), bits[::-1])


def test_blocks_are_the_whole_whatever_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(1).normal(size=(OLD, COLUMNS)).astype(np.float32)
    tensor = stored(tmp_path / "w", values, "F32")
    rows = [(MADE, [0, 1, 2]), (COPIED, [4]), (FILLER, []), (MADE, []), (MADE, [5, 5])] * 3
    for init in get_args(RowInit):
        given = (tensor, rows, [0, 1, 2, 3], init, 3, "input", "median")
        whole = np.concatenate(made(*given)).view(np.float32)
        with monkeypatch.context() as patched:
            patched.setattr(row_making, "BUFFER", 30)
            blocks = made(*given)
        assert len(blocks) > 5
        np.testing.assert_allclose(np.concatenate(blocks).view(np.float32), whole, rtol=1e-6)


@pytest.mark.parametrize("init", ["normal", "hewitt"])
def test_drawn_rows_have_the_moments_of_the_old_ones(tmp_path: Path, init: str) -> None:
    """`hewitt` has their covariance, here of rank 2; `normal` only its diagonal."""
    free = np.random.default_rng(1).normal(size=(500, 2))
    values = (free @ [[1, 2, 0], [-0.5, 1, 0.1]] + [5, -1, 0]).astype(np.float32)
    values[400:] = 1000  # padding, which counts for nothing
    tensor = stored(tmp_path / "w", values, "F32")
    rows, used = [(MADE, [0])] * 20_000, list(range(400))
    drawn = [
        np.concatenate(made(tensor, rows, used, init, seed, role)).view(np.float32)
        for seed, role in ((1, "input"), (1, "input"), (2, "input"), (1, "output"))
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert not np.array_equal(drawn[0], drawn[3])
    expected = np.cov(values[:400].T, bias=True)
    if init == "normal":
        expected = np.diag(np.diag(expected))
    for each in drawn[1:]:
        np.testing.assert_allclose(each.mean(axis=0), values[:400].mean(axis=0), atol=0.05)
        np.testing.assert_allclose(np.cov(each.T), expected, rtol=0.05, atol=0.05)
    if init == "hewitt":  # draws leave the plane of the old rows by what rounding does
        normal = np.linalg.svd(values[:400] - values[:400].mean(axis=0))[2][2]
        off = (drawn[0] - values[:400].mean(axis=0)) @ normal
        assert np.abs(off).max() < 1e-5


def test_fewer_rows_than_columns_or_one_alone_can_be_drawn_from(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(OLD, 40)).astype(np.float32)
    tensor = stored(tmp_path / "w", values, "F32")
    found = np.concatenate(made(tensor, [(MADE, [])] * 50, [0, 3, 4], "hewitt")).view(np.float32)
    centred = found - values[[0, 3, 4]].mean(axis=0)
    assert np.linalg.matrix_rank(centred, 1e-3) == 2
    found = np.concatenate(made(tensor, [(MADE, [])] * 50, [2], "hewitt")).view(np.float32)
    np.testing.assert_allclose(found, np.tile(values[2], (50, 1)), rtol=1e-5)


def test_new_input_rows_are_scaled_to_the_median_norm(tmp_path: Path) -> None:
    """Copied rows, fillers and output rows are not, and zeros have no direction."""
    values = np.array([[3, 4], [0, 1], [6, 8], [0, np.nan], [90, 0], [0, 0]], np.float32)
    tensor = stored(tmp_path / "w", values, "F32")
    rows = [(MADE, [0, 1]), (COPIED, [2]), (FILLER, []), (MADE, [5])]
    used = [0, 1, 2, 3]  # norms 5, 1 and 10
    for role, first in (
        ("input", [1.5 * 5 / 8.5**0.5, 2.5 * 5 / 8.5**0.5]),
        ("output", [1.5, 2.5]),
    ):
        found = np.concatenate(made(tensor, rows, used, role=role, norm="median"))
        expected = np.array([first, [6, 8], [3, 13 / 3], [0, 0]], np.float32)
        np.testing.assert_allclose(found.view(np.float32), expected, rtol=1e-6)


def test_rows_that_are_not_finite_are_left_out_of_the_moments(tmp_path: Path) -> None:
    values = np.array([[1, 2, 3], [np.nan, 0, 0], [0, np.inf, 0], [3, 4, 5]], np.float32)
    tensor = stored(tmp_path / "w", values, "F32")
    for init, used in (("normal", [0, 1, 2, 3]), ("mean", [0, 1, 3])):
        found = np.concatenate(made(tensor, [(MADE, [0]), (FILLER, [])], used, init))
        found = found.view(np.float32)
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found[1], [2, 3, 4])
    with refused():
        made(tensor, [(FILLER, [])], [1, 2])
