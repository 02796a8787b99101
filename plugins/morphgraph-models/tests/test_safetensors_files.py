"""Safetensors as they are checked, streamed and written, beside the `safetensors` library."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from safetensors.numpy import load_file, save, save_file

from morphgraph.core.errors import FileFormatError
from morphgraph_models.checkpoint import NewTensor, read_safetensors, write_safetensors

KINDS = {"F32": np.float32, "F16": np.float16, "I64": np.int64, "U8": np.uint8}
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
TENSORS = st.dictionaries(
    st.text(min_size=1, max_size=5), st.tuples(st.sampled_from(sorted(KINDS)), SHAPES), max_size=5
)


def filled(kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    return random.integers(0, 100, shape).astype(KINDS[kind])


@examples(100)
@given(TENSORS)
def test_reads_what_the_library_writes_and_the_library_what_it_writes(
    tmp_path_factory: pytest.TempPathFactory, kinds: dict[str, tuple[str, tuple[int, ...]]]
) -> None:
    folder = tmp_path_factory.mktemp("files")
    arrays = {name: filled(*kind, n) for n, (name, kind) in enumerate(kinds.items())}
    save_file(arrays, folder / "theirs", {"format": "np"})
    metadata, tensors = read_safetensors(folder / "theirs")
    assert metadata == {"format": "np"}
    assert {each.name: (each.dtype, each.shape) for each in tensors} == kinds
    for each in tensors:
        assert b"".join(each.chunks()) == arrays[each.name].tobytes()
    write_safetensors(folder / "ours", tensors, metadata)
    found = load_file(folder / "ours")
    assert found.keys() == arrays.keys()
    for name, array in found.items():
        assert array.dtype == arrays[name].dtype
        np.testing.assert_array_equal(array, arrays[name])


@pytest.mark.parametrize("length", [640, 896, 1152, 1408])
def test_a_header_of_any_length_is_no_pickle(tmp_path: Path, length: int) -> None:
    """These lengths begin with the two bytes that pickled weights begin with."""
    path = tmp_path / "model.safetensors"
    array = np.arange(6, dtype=np.float32)
    text = "x" * (length - len(json.dumps({"__metadata__": {"a": ""}, "w": entry(0, 24, [6])})) - 1)
    header = {"__metadata__": {"a": text}, "w": entry(0, 24, [6], "F32")}
    path.write_bytes(damaged(header, array.tobytes()))
    assert path.read_bytes()[:8] == length.to_bytes(8, "little")
    assert path.read_bytes()[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
    np.testing.assert_array_equal(load_file(path)["w"], array)
    metadata, tensors = read_safetensors(path)
    assert (metadata, [each.name for each in tensors]) == ({"a": text}, ["w"])
    for left in (100, 8):
        path.write_bytes(path.read_bytes()[:left])
        with refused(FileFormatError):
            read_safetensors(path)


def test_each_tensor_begins_where_its_numbers_may(tmp_path: Path) -> None:
    """Whatever the order and sizes, as libraries that map files into memory need it."""
    tensors = [
        NewTensor(name, kind, shape, lambda size=size: iter([bytes(size)]))
        for name, kind, shape, size in (("h", "BF16", (3,), 6), ("f", "F32", (1, 3), 12))
    ]
    write_safetensors(tmp_path / "x", tensors, {})
    _, found = read_safetensors(tmp_path / "x")
    assert [(each.name, each.start % 4) for each in found] == [("f", 0), ("h", 0)]


def damaged(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(start: int, end: int, shape: list[int], dtype: str = "U8") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


DAMAGED = {
    "header too small": b"\0\0\0",
    "header too large": damaged({}, length=123_456_789_012),
    "invalid header length": damaged({}, length=90),
    "key must be a string": damaged(b"{a}"),
    "invalid type: sequence": damaged([1]),
    "expected a string": damaged({"__metadata__": {"a": 1}}),
    "missing field `shape`": damaged({"a": {"dtype": "U8"}}),
    "integer `-1`": damaged({"a": entry(0, -1, [1])}),
    "unknown variant `Q7`": damaged({"a": entry(0, 1, [1], "Q7")}, b"0"),
    "invalid shape": damaged({"a": entry(0, 23, [2, 3], "F32")}, bytes(23)),
    "offset for tensor `b`": damaged({"a": entry(0, 2, [2]), "b": entry(1, 3, [2])}, bytes(3)),
    "tensor `b`": damaged({"a": entry(0, 2, [2]), "b": entry(3, 4, [1])}, bytes(4)),
    "not fully covered": damaged({"a": entry(0, 9, [9])}, bytes(8)),
    "incomplete metadata": damaged({"a": entry(0, 1, [1])}, bytes(4)),
    # Pickled weights, as zip archives or not; the third, by its first bytes, has a header.
    "it is damaged (": b"PK\x03\x04" + bytes(40),
    "header": b"\x80\x02}q\x00." + bytes(40),
    "invalid JSON": struct.pack("<Q", 640) + b"N." + bytes(2000),
}


@pytest.mark.parametrize("problem", DAMAGED)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, problem: str) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(DAMAGED[problem])
    with refused(FileFormatError):
        read_safetensors(path)


@examples(400)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=3))
def test_any_damage_is_seen_or_does_no_harm(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]]
) -> None:
    """A changed file is refused by an error of the library's, or has tensors inside its bounds."""
    path = tmp_path_factory.mktemp("files") / "model.safetensors"
    arrays = {"a": np.arange(5, dtype=np.float32), "b": np.zeros((2, 2), np.float16)}
    data = bytearray(save(arrays, {"format": "pt"}))
    for place, byte in changes:
        data[place % len(data)] = byte
    path.write_bytes(data)
    try:
        _, tensors = read_safetensors(path)
    except FileFormatError:
        return
    assert sum(len(b"".join(each.chunks())) for each in tensors) == 28
