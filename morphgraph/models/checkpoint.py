"""A model's folder: its configuration and its weights in safetensors, one file or several.

Tensors are read and streamed with numpy alone, and none before it is needed.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import check_is_there, parse_json, read_bytes
from morphgraph.core.text import counted, shortened

MOST_HEADER = 100_000_000
"""The longest header that the format allows, in bytes."""
BUFFER = 1 << 19
"""Bytes held in memory while a tensor is copied or made: few enough for the caches."""

_BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("BOOL", "I8", "U8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 8),
    **dict.fromkeys(("F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}
_PICKLED = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_DAMAGED = "Download or save the file again."


@dataclass(frozen=True)
class StoredTensor:
    """A tensor and its location in a file.

    ``dtype``: as the format names it, such as ``BF16``. ``start``: the offset of its first byte.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    path: Path
    start: int

    @property
    def bytes_(self) -> int:
        """Its size in bytes."""
        return math.prod(self.shape) * _BITS[self.dtype] // 8

    def chunks(self) -> Iterator[memoryview]:
        """Yield its bytes in pieces; each is valid until the next is requested."""
        left = self.bytes_
        buffer = memoryview(bytearray(min(BUFFER, left)))
        with self.path.open("rb", buffering=0) as file:
            file.seek(self.start)
            while left:
                found = file.readinto(buffer[:left])
                if not found:
                    problem = f"it ends within the tensor “{self.name}”"
                    raise FileFormatError(str(self.path), "", problem, _DAMAGED)
                left -= found
                yield buffer[:found]

    def row_bytes(self, rows: int) -> npt.NDArray[np.uint8]:
        """Map its bytes into memory as uint8 (``rows``, bytes of a row)."""
        shape = (rows, self.bytes_ // rows)
        return np.memmap(self.path, np.uint8, "r", offset=self.start, shape=shape)


@dataclass(frozen=True)
class NewTensor:
    """A tensor to write: ``chunks`` yields its bytes, or arrays of them, in pieces."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    chunks: Callable[[], Iterator[Any]]

    @property
    def bytes_(self) -> int:
        """Its size in bytes."""
        return math.prod(self.shape) * _BITS[self.dtype] // 8


def read_safetensors(path: Path) -> tuple[dict[str, str], list[StoredTensor]]:
    """Return a file's metadata and its tensors in byte order, reading only the header.

    Raises `FileFormatError` for pickled weights, a file of the wrong length, an invalid or too long
    header, and tensors that overlap, leave a gap or lie outside the file.
    """
    name = str(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            first = file.read(8)
            length = struct.unpack("<Q", first)[0] if len(first) == 8 else 0
            is_length = 2 <= length <= MOST_HEADER
            header = file.read(min(length, size)) if is_length else b""
    except OSError as error:
        problem = (error.strerror or "it cannot be read").lower()
        raise FileFormatError(name, "", problem, "Check the path and its permissions.") from error
    # A length may look like the start of a pickle, but no pickle has a JSON object after it.
    if first.startswith(_PICKLED) and not (is_length and header[:1] in (b"", b"{")):
        raise pickled(path)
    if len(first) < 8:
        raise FileFormatError(name, "", f"it has only {counted(size, 'byte')}", _DAMAGED)
    if len(header) < length or not is_length:
        problem = f"its header would have {length:,} bytes, in a file of {size:,}"
        if is_length:
            problem = f"it is cut off within its header of {length:,} bytes"
        raise FileFormatError(name, "the first 8 bytes", problem, _DAMAGED)
    document = parse_json(header, f"{name}, header")
    if not isinstance(document, dict):
        raise FileFormatError(name, "header", "it is not an object", _DAMAGED)
    metadata = document.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict) or not all(type(v) is str for v in metadata.values()):
        raise FileFormatError(name, "header, __metadata__", "it holds no texts", _DAMAGED)
    tensors = [_stored(text, entry, path, 8 + length) for text, entry in document.items()]
    tensors.sort(key=lambda tensor: (tensor.start, tensor.bytes_))
    _check_places(tensors, name, 8 + length, size)
    return metadata, tensors


def pickled(path: Path) -> FileFormatError:
    """Return the error for pickled weights, which are never opened."""
    return FileFormatError(
        str(path),
        "",
        "these are pickled weights, which can run code when they are read",
        "Load the model in transformers and save it again: save_pretrained writes "
        "model.safetensors.",
    )


def _stored(name: str, entry: Any, path: Path, data: int) -> StoredTensor:
    place = f"tensor “{shortened(name, 80)}”"
    values: dict[str, Any] = entry if isinstance(entry, dict) else {}
    dtype: Any = values.get("dtype")
    shape: Any = values.get("shape")
    ends: Any = values.get("data_offsets")
    problem = ""
    if not _are_sizes(shape) or not _are_sizes(ends) or len(ends) != 2:
        problem = "dtype, shape and data_offsets of a tensor are expected here"
    elif not isinstance(dtype, str) or dtype not in _BITS:
        problem = f"its numbers are of an unknown kind, {shortened(repr(dtype))}"
    elif 8 * (ends[1] - ends[0]) != math.prod(shape) * _BITS[dtype]:
        shown = " × ".join(map(str, shape)) or "one number"
        problem = f"{shown} of {dtype} do not take {ends[1] - ends[0]:,} bytes"
    if problem:
        raise FileFormatError(str(path), place, problem, _DAMAGED)
    return StoredTensor(name, dtype, tuple(shape), path, data + ends[0])


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 1 << 60 for n in value)


def _check_places(tensors: Sequence[StoredTensor], name: str, start: int, size: int) -> None:
    at = start
    for tensor in tensors:
        if tensor.start != at:
            what = "overlaps the one before it" if tensor.start < at else "comes behind a gap"
            raise FileFormatError(name, f"tensor “{tensor.name}”", f"it {what}", _DAMAGED)
        at += tensor.bytes_
        if at > size:
            problem = f"the file is cut off: it has {size:,} bytes, the tensor ends at {at:,}"
            raise FileFormatError(name, f"tensor “{tensor.name}”", problem, _DAMAGED)
    if at < size:
        problem = f"there are {counted(size - at, 'byte')} behind its last tensor"
        raise FileFormatError(name, "", problem, _DAMAGED)


def write_safetensors(
    path: Path, tensors: Sequence[StoredTensor | NewTensor], metadata: Mapping[str, str]
) -> None:
    """Write tensors to a new file, those with the widest numbers first."""
    ordered = sorted(tensors, key=lambda tensor: -_BITS[tensor.dtype])
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for tensor in ordered:
        ends = [at, at := at + tensor.bytes_]
        header[tensor.name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": ends}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb", buffering=0) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in ordered:
            start = file.tell()
            for chunk in tensor.chunks():
                view = memoryview(chunk).cast("B")
                while view:
                    view = view[file.write(view) :]
            assert file.tell() == start + tensor.bytes_, tensor.name


CONFIG, GENERATION_CONFIG = "config.json", "generation_config.json"
ONE_FILE, INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


@dataclass(frozen=True)
class WeightFile:
    """A weight file of a checkpoint: its name, metadata and tensors in file order."""

    name: str
    metadata: Mapping[str, str]
    tensors: tuple[StoredTensor, ...]


@dataclass(frozen=True)
class Checkpoint:
    """A model's folder, with only the headers of its weight files read.

    ``config`` and ``generation_config``: the contents of those files; the second may be absent.
    ``index``: the file that maps tensors to weight files when there are several.
    """

    folder: Path
    config: dict[str, Any]
    generation_config: dict[str, Any] | None
    files: tuple[WeightFile, ...]
    index: dict[str, Any] | None = None

    def tensors(self) -> Iterator[StoredTensor]:
        """All tensors, file by file."""
        for file in self.files:
            yield from file.tensors

    def write(self, folder: Path, changed: Mapping[str, NewTensor]) -> None:
        """Write the weights to another folder, with some tensors replaced."""
        total = 0
        for file in self.files:
            tensors = [changed.get(tensor.name, tensor) for tensor in file.tensors]
            write_safetensors(folder / file.name, tensors, file.metadata)
            total += sum(tensor.bytes_ for tensor in tensors)
        if self.index is not None:
            # Other counts, such as the number of parameters, would no longer be true.
            index = {**self.index, "metadata": {"total_size": total}}
            (folder / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")


def read_checkpoint(source: str | Path) -> Checkpoint:
    """Read the checkpoint in a model's folder.

    Raises `FileFormatError` for a folder without ``config.json`` or weights, pickled weights, a
    damaged file, or an index that does not match its files.
    """
    check_is_there(
        source,
        "Download the model, or save it with "
        f'AutoModel.from_pretrained("{source}").save_pretrained("folder"), and give the path of '
        "that folder.",
    )
    folder = Path(source)
    if folder.is_file():
        if any(folder.match(pattern) for pattern in _PICKLES):
            raise pickled(folder)
        raise FileFormatError(str(folder), "", "it is a file", "Name the folder that it is in.")
    if not folder.is_dir():
        raise FileFormatError(str(folder), "", "there is no such folder", "Check the path.")
    one, index_path = folder / ONE_FILE, folder / INDEX
    if one.is_file() and index_path.is_file():
        problem = f"{ONE_FILE} and {INDEX} are both there, and either has the weights"
        raise FileFormatError(str(folder), "", problem, "Remove the one that is outdated.")
    if not one.is_file() and not index_path.is_file():
        for pattern in _PICKLES:
            for path in sorted(folder.glob(pattern)):
                raise pickled(path)
        problem = f"there is neither {ONE_FILE} nor {INDEX}"
        raise FileFormatError(str(folder), "", problem, "Name the folder of a model.")
    config = _object(folder / CONFIG)
    generation = folder / GENERATION_CONFIG
    generation_config = _object(generation) if generation.is_file() else None
    if one.is_file():
        return Checkpoint(folder, config, generation_config, (_weights(one),))
    index = _object(index_path)
    return Checkpoint(folder, config, generation_config, _shards(index, index_path), index)


def _object(path: Path) -> dict[str, Any]:
    document = parse_json(read_bytes(path), str(path))
    if not isinstance(document, dict):
        raise FileFormatError(str(path), "", "it is not an object", "Save the model again.")
    for field, value in _numbers(document):
        # A limit may be infinite, an id may not.
        if math.isnan(value) or (math.isinf(value) and field.endswith("_id")):
            shown = json.dumps(value)
            raise FileFormatError(
                str(path), f"field {field}", f"{shown} is not a number there", "Correct it."
            )
    return document


def _numbers(value: Any, field: str = "") -> Iterator[tuple[str, float]]:
    """Yield the floats of a configuration with the names of their fields."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{field}.{key}" if field else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, field)
    elif isinstance(value, float):
        yield field, value


def _weights(path: Path) -> WeightFile:
    metadata, tensors = read_safetensors(path)
    return WeightFile(path.name, metadata, tuple(tensors))


def _shards(index: Mapping[str, Any], path: Path) -> tuple[WeightFile, ...]:
    listed = index.get("weight_map")
    fix = "Download or save all files again."
    if not isinstance(listed, dict) or not listed:
        raise FileFormatError(str(path), "field weight_map", "it lists no tensors", fix)
    for name, file in listed.items():
        if not isinstance(file, str) or Path(file).name != file or file in ("", ".", ".."):
            problem = f"{shortened(repr(file))} is not the name of a file beside it"
            raise FileFormatError(str(path), f"tensor “{name}”", problem, fix)
    files = tuple(_weights(path.parent / name) for name in dict.fromkeys(listed.values()))
    found = [(tensor.name, file.name) for file in files for tensor in file.tensors]
    for name, file in found:
        if listed.get(name) != file:
            problem = f"it is in {file}, but the index says {listed.get(name, 'nothing of it')}"
            raise FileFormatError(str(path), f"tensor “{name}”", problem, fix)
    missing = sorted(listed.keys() - dict(found).keys())
    if missing:
        problem = f"{listed[missing[0]]} does not have it"
        raise FileFormatError(str(path), f"tensor “{missing[0]}”", problem, fix)
    return files
