"""A model's folder: its configuration and its weights in safetensors, one file or several."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import check_is_there, parse_json, read_bytes
from morphgraph.core.text import shortened
from morphgraph.models.safetensors_files import (
    NewTensor,
    StoredTensor,
    pickled,
    read_safetensors,
    write_safetensors,
)

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
