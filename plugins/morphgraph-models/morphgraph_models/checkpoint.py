"""A model's folder: its configuration and its weights in safetensors, one file or several.

A safetensors file is eight bytes with the length of its header, the header in JSON, and the
tensors' bytes. The library checks it; here, no tensor is read before it is needed, and copies pass
through a small buffer, which the library has no way to do.
"""

import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import parse_json, read_bytes
from morphgraph.core.text import shortened
from morphgraph.formats.hub import check_is_here

CONFIG, GENERATION_CONFIG = "config.json", "generation_config.json"
ONE_FILE, INDEX = "model.safetensors", "model.safetensors.index.json"
BUFFER = 1 << 19
"""Bytes held in memory while a tensor is copied or made: few enough for the caches."""
_NO_PICKLES = (
    "Pickled weights, such as pytorch_model.bin, can run code when read. Load the model in "
    "transformers and save it again: save_pretrained writes model.safetensors."
)
_DAMAGED = "Download or save the file again."


@dataclass(frozen=True)
class Tensor:
    """A tensor: ``dtype`` as the format names it, such as ``BF16``."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def bits(self) -> int:
        """The size of a number, which its type's name has: 16 for BF16, 8 for F8_E4M3 and BOOL."""
        digits = re.search(r"\d+", self.dtype)
        return int(digits[0]) if digits else 8

    @property
    def bytes_(self) -> int:
        """Its size in bytes."""
        return math.prod(self.shape) * self.bits // 8


@dataclass(frozen=True)
class StoredTensor(Tensor):
    """A tensor and its location in a file; ``start``: the offset of its first byte."""

    path: Path
    start: int

    def chunks(self) -> Iterator[memoryview]:
        """Yield its bytes in pieces; each is valid until the next is requested."""
        left = self.bytes_
        buffer = memoryview(bytearray(min(BUFFER, left)))
        with self.path.open("rb", buffering=0) as file:
            file.seek(self.start)
            while left:
                count = file.readinto(buffer[:left])
                if not count:
                    problem = f"it ends within the tensor “{self.name}”"
                    raise FileFormatError(str(self.path), "", problem, _DAMAGED)
                left -= count
                yield buffer[:count]

    def row_bytes(self, rows: int) -> npt.NDArray[np.uint8]:
        """Map its bytes into memory as uint8 (``rows``, bytes of a row)."""
        shape = (rows, self.bytes_ // rows)
        return np.memmap(self.path, np.uint8, "r", offset=self.start, shape=shape)


@dataclass(frozen=True)
class NewTensor(Tensor):
    """A tensor to write: ``chunks`` yields its bytes, or arrays of them, in pieces."""

    chunks: Callable[[], Iterator[Any]]


WeightFile = tuple[dict[str, str], list[StoredTensor]]
"""The metadata of a file, and its tensors in byte order."""


@dataclass(frozen=True)
class Checkpoint:
    """A model's folder, with only the headers of its weight ``files`` read.

    ``config`` and ``generation_config``: the contents of those files; the second may be absent.
    ``index``: the file that maps tensors to weight files when there are several.
    """

    folder: Path
    config: dict[str, Any]
    generation_config: dict[str, Any] | None
    files: Mapping[str, WeightFile]
    index: dict[str, Any] | None = None

    def tensors(self) -> Iterator[StoredTensor]:
        """All tensors, file by file."""
        for _, tensors in self.files.values():
            yield from tensors

    def write(self, folder: Path, changed: Mapping[str, NewTensor]) -> None:
        """Write the weights to another folder, with some tensors replaced."""
        total = 0
        for name, (metadata, stored) in self.files.items():
            tensors = [changed.get(tensor.name, tensor) for tensor in stored]
            write_safetensors(folder / name, tensors, metadata)
            total += sum(tensor.bytes_ for tensor in tensors)
        if self.index is not None:
            # Other counts, such as the number of parameters, would no longer be true.
            index = {**self.index, "metadata": {"total_size": total}}
            (folder / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")


def read_checkpoint(source: str | os.PathLike[str]) -> Checkpoint:
    """Read the checkpoint in a model's folder.

    Raises `FileFormatError` for a folder without ``config.json`` or weights, a damaged file, or an
    index that does not match its files.
    """
    check_is_here(
        source,
        "Download the model, or save it with "
        f'AutoModel.from_pretrained("{source}").save_pretrained("folder"), and give the path of '
        "that folder.",
    )
    folder = Path(source)
    one, index_path = folder / ONE_FILE, folder / INDEX
    if not folder.is_dir():
        problem, fix = "there is no such folder", "Check the path."
        raise FileFormatError(str(folder), "", problem, fix)
    if one.is_file() == index_path.is_file():
        problem, fix = f"there is neither {ONE_FILE} nor {INDEX}", _NO_PICKLES
        if one.is_file():
            problem = f"{ONE_FILE} and {INDEX} are both there, and either has the weights"
            fix = "Remove the one that is outdated."
        raise FileFormatError(str(folder), "", problem, fix)
    config, generation = read_config(folder / CONFIG), folder / GENERATION_CONFIG
    generation_config = read_config(generation) if generation.is_file() else None
    if one.is_file():
        return Checkpoint(folder, config, generation_config, {ONE_FILE: read_safetensors(one)})
    index = read_config(index_path)
    return Checkpoint(folder, config, generation_config, _shards(index, index_path), index)


def read_config(path: Path) -> dict[str, Any]:
    """Return a model's configuration, or the index of its files."""
    document = parse_json(read_bytes(path), str(path))
    if not isinstance(document, dict):
        raise FileFormatError(str(path), "", "it is not an object", "Save the model again.")
    return document


def _shards(index: Mapping[str, Any], path: Path) -> dict[str, WeightFile]:
    listed = index.get("weight_map")

    def wrong(place: str, problem: str) -> FileFormatError:
        return FileFormatError(str(path), place, problem, "Download or save all files again.")

    if not isinstance(listed, dict) or not listed:
        raise wrong("field weight_map", "it lists no tensors")
    for name, file in listed.items():
        if not isinstance(file, str) or Path(file).name != file or file in ("", ".", ".."):
            problem = f"{shortened(repr(file))} is not the name of a file beside it"
            raise wrong(f"tensor “{name}”", problem)
    names = dict.fromkeys(listed.values())
    files = {name: read_safetensors(path.parent / name) for name in names}
    stored = {(each.name, file) for file, (_, tensors) in files.items() for each in tensors}
    for name, file in sorted(stored ^ listed.items()):
        raise wrong(f"tensor “{name}”", f"{file} has it, or the index says so, but not both")
    return files


# ----------------------------------------------------------------------------------- safetensors


def read_safetensors(path: Path) -> WeightFile:
    """Return a file's metadata and its tensors in byte order, reading only the header.

    Raises `FileFormatError` for a file that the library refuses, such as pickled weights.
    """
    try:
        with path.open("rb") as file, safe_open(path, "np") as sound:
            metadata = sound.metadata() or {}
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
    except OSError as error:
        problem = (error.strerror or "it cannot be read").lower()
        fix = "Check the path and its permissions."
        raise FileFormatError(str(path), "", problem, fix) from error
    except SafetensorError as error:
        raise FileFormatError(str(path), "", f"it is damaged ({error})", _DAMAGED) from error
    header.pop("__metadata__", None)
    tensors = [
        StoredTensor(name, entry["dtype"], tuple(entry["shape"]), path, 8 + length + start)
        for name, entry in header.items()
        for start, _ in [entry["data_offsets"]]
    ]
    return metadata, sorted(tensors, key=lambda tensor: (tensor.start, tensor.bytes_))


def write_safetensors(
    path: Path, tensors: Sequence[StoredTensor | NewTensor], metadata: Mapping[str, str]
) -> None:
    """Write tensors to a new file, those with the widest numbers first."""
    ordered = sorted(tensors, key=lambda tensor: -tensor.bits)
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for tensor in ordered:
        ends = [at, at := at + tensor.bytes_]
        header[tensor.name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": ends}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb", buffering=0) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in ordered:
            start = file.tell()
            for chunk in tensor.chunks():
                view = memoryview(chunk).cast("B")
                while view:
                    view = view[file.write(view) :]
            assert file.tell() == start + tensor.bytes_, tensor.name
