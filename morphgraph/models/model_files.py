"""The files of a model's folder other than weights and configuration."""

import json
from collections.abc import Collection
from pathlib import Path

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import parse_json, read_bytes, writing
from morphgraph.models.checkpoint import CONFIG, GENERATION_CONFIG, INDEX
from morphgraph.tokeniser.export_settings import kept_settings, source_settings
from morphgraph.tokeniser.export_texts import FILES, transformers_config

_README = "README.md"
_CODE = frozenset({"tokenization_morphgraph.py", "tokenization_bte.py"})
"""The modules of an exported tokeniser's class; the second was used until version 0.1."""
_TOKENISER_FILES = (
    (frozenset(FILES) - {_README})
    | _CODE
    | {
        "added_tokens.json",
        "sentencepiece.bpe.model",
        "source.spm",
        "special_tokens_map.json",
        "spiece.model",
        "target.spm",
        "tokenizer.model",
        "vocab.json",
        "vocab.txt",
    }
)
_LAYOUTS = ("tokenizer.json", "tokeniser.bte.json", "tokeniser.method.json")
_MODEL_FILES = frozenset({CONFIG, GENERATION_CONFIG, INDEX})
_WEIGHTS = (
    *(".bin", ".ckpt", ".gguf", ".h5", ".msgpack", ".onnx", ".onnx_data", ".ot", ".pkl", ".pt"),
    *(".pth", ".safetensors", ".tflite"),
)
"""Suffixes of files that hold weights, in any format."""


def tokeniser_contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a tokeniser's folder by name, ready for `AutoTokenizer`.

    A missing ``tokenizer_config.json`` is generated. Raises `FileFormatError` if it cannot be
    loaded.
    """
    if not folder.is_dir():
        problem = "this is not a folder"
        fix = "Give the folder of a tokeniser, such as morphgraph export writes."
        raise FileFormatError(str(folder), "", problem, fix)
    found = {
        path.name: read_bytes(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.stat().st_size and _is_copied(path, {_README, *_MODEL_FILES})
    }
    whole = "tokenizer.json"
    if "tokeniser.bte.json" in found and not {whole, *_CODE} & found.keys():
        raise FileFormatError(
            str(folder),
            "",
            "transformers needs code beside tokeniser.bte.json, which is not there",
            "Export it first: morphgraph export --tokenizer FOLDER --out ANOTHER.",
        )
    if whole in found and "tokenizer_config.json" not in found:
        document = parse_json(found[whole], str(folder / whole))
        settings = source_settings(folder)
        config = transformers_config(document, own_class=False, settings=settings)
        found["tokenizer_config.json"] = json.dumps(config, ensure_ascii=False, indent=1).encode()
    return found


def with_kept_settings(contents: dict[str, bytes], model: Path) -> dict[str, bytes]:
    """Return a tokeniser's files with the settings that belong to the model added.

    These are the maximum length, the sides of padding and truncation, the chat template, and the
    roles of special tokens that the new tokeniser also has; its own settings take precedence.
    """
    name = "tokenizer_config.json"
    layout = next((file for file in _LAYOUTS if file in contents), None)
    if name not in contents or layout is None:
        return contents
    new, document = (parse_json(contents[file], file) for file in (name, layout))
    if not isinstance(new, dict):
        return contents
    settings = kept_settings(source_settings(model), document) | new
    if settings == new:
        return contents
    return {**contents, name: json.dumps(settings, ensure_ascii=False, indent=1).encode()}


def other_files(folder: Path) -> tuple[list[str], list[str]]:
    """List the files to copy along with another tokeniser, and those to leave out.

    Left out are the old tokeniser's files, weights in other formats, hidden files and training
    checkpoints.
    """
    goes: list[str] = []
    stays: list[str] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and str(name) not in _MODEL_FILES:
            is_hidden = any(part.startswith((".", "checkpoint-")) for part in name.parts)
            is_old = len(name.parts) == 1 and path.name in _TOKENISER_FILES
            takes = _is_copied(path, ()) and not is_hidden and not is_old
            (goes if takes else stays).append(str(name))
    return goes, stays


def _is_copied(path: Path, apart: Collection[str]) -> bool:
    return not (path.name.startswith(".") or path.suffix in _WEIGHTS or path.name in apart)


def check_new_folder(folder: Path, hint: str = "") -> None:
    """Refuse a path that already exists."""
    with writing(folder, hint):
        is_new = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not is_new:
        what = "the folder is not empty" if folder.is_dir() else "this is a file"
        raise MorphGraphError(f"{folder}: {what}. Choose another place{hint}.")
