"""The files of a model's folder that are neither its weights nor its configuration."""

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
"""What an exported tokeniser's class is in, the second until version 0.1."""
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
"""How the names of files end that hold weights, in whatever form."""


def tokeniser_contents(folder: Path) -> dict[str, bytes]:
    """The files of a tokeniser's folder by name, such that `AutoTokenizer` loads them.

    Where ``tokenizer_config.json`` is missing, it is made. `FileFormatError` for what it could not
    load.
    """
    if not folder.is_dir():
        problem = "this is not a folder"
        fix = "Give the folder of a tokeniser, such as morphgraph export writes."
        raise FileFormatError(str(folder), "", problem, fix)
    found = {
        path.name: read_bytes(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.stat().st_size and _goes_along(path, {_README, *_MODEL_FILES})
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
    """A tokeniser's files, with settings that go with the model rather than with a vocabulary.

    These are how long a text may be, on which side it is padded or cut, how a conversation is
    written, and the roles of special tokens that are types of the new tokeniser, too; what that one
    says itself comes first.
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
    """Files of a model that go along to another tokeniser, and those that do not.

    What stays are the old tokeniser's files, weights in other forms, all that is hidden, and the
    checkpoints of a training.
    """
    goes: list[str] = []
    stays: list[str] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and str(name) not in _MODEL_FILES:
            is_hidden = any(part.startswith((".", "checkpoint-")) for part in name.parts)
            is_old = len(name.parts) == 1 and path.name in _TOKENISER_FILES
            takes = _goes_along(path, ()) and not is_hidden and not is_old
            (goes if takes else stays).append(str(name))
    return goes, stays


def _goes_along(path: Path, apart: Collection[str]) -> bool:
    return not (path.name.startswith(".") or path.suffix in _WEIGHTS or path.name in apart)


def check_new_folder(folder: Path, hint: str = "") -> None:
    """Refuse a place that something is in already."""
    with writing(folder, hint):
        is_new = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not is_new:
        what = "the folder is not empty" if folder.is_dir() else "this is a file"
        raise MorphGraphError(f"{folder}: {what}. Choose another place{hint}.")
