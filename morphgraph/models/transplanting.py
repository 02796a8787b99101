"""Transplant a model to another tokeniser: copy the rows of kept types, make the others."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morphgraph.core.errors import FileFormatError, MorphGraphError, check_choice
from morphgraph.core.files import new_folder, parse_json, read_bytes, writing
from morphgraph.core.text import counted, shortened
from morphgraph.formats.export_files import (
    FILES,
    kept_settings,
    source_settings,
    transformers_config,
)
from morphgraph.models.checkpoint import (
    CONFIG,
    GENERATION_CONFIG,
    INDEX,
    Checkpoint,
    NewTensor,
    read_checkpoint,
)
from morphgraph.models.model_vocabulary import ModelVocabulary, read_model_vocabulary
from morphgraph.models.rows import (
    ROW_INITS,
    MadeRows,
    MatrixRole,
    RowInit,
    RowPlan,
    VocabularyMatrix,
    check_floats,
    check_rows,
    plan_rows,
    vocabulary_matrices,
)

_LISTS = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids")
_POSITIONS_FROM_PADDING = (
    *("camembert", "data2vec-text", "esm", "ibert", "longformer", "luke", "mpnet", "roberta"),
    *("roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)
"""Models that number positions starting after their padding id."""


@dataclass(frozen=True)
class ConfigChange:
    """A configuration field whose value changes."""

    file: str
    field: str
    before: Any
    after: Any


def with_new_ids(
    config: Mapping[str, Any],
    file: str,
    new_id: Callable[[str, int], int | None],
    rows: tuple[int, int],
) -> tuple[dict[str, Any], list[ConfigChange]]:
    """Return a configuration for another vocabulary, and the changes made.

    ``new_id`` maps a field and an old id to the new id; None sets the field to null, or removes the
    id from a list. ``rows``: the number of ids before and after. Nested parts are changed too; a
    negative id stands for none.
    """
    changes: list[ConfigChange] = []

    def mapped(field: str, value: Any) -> Any:
        if isinstance(value, list):
            found = [mapped(field, each) for each in value]
            return [each for each in found if each is not None]
        return new_id(field, value) if type(value) is int and value >= 0 else value

    def changed(part: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
        for key, value in part.items():
            made = value
            if isinstance(value, dict):
                yield key, dict(changed(value, f"{above}{key}."))
                continue
            if key.endswith(("_token_id", "_token_index")) or key in _LISTS:
                made = mapped(key, value)
            elif key == "vocab_size" and value == rows[0]:
                made = rows[1]
            if made != value:
                changes.append(ConfigChange(file, above + key, value, made))
            yield key, made

    return dict(changed(config, "")), changes


# ------------------------------------------------------------------------------------- files

_CODE = frozenset({"tokenization_morphgraph.py", "tokenization_bte.py"})
"""The modules of an exported tokeniser's class; the second was used until version 0.1."""
_README = "README.md"
_TOKENISER_FILES = {
    *(set(FILES) - {_README} | _CODE),
    *("added_tokens.json", "sentencepiece.bpe.model", "source.spm", "special_tokens_map.json"),
    *("spiece.model", "target.spm", "tokenizer.model", "vocab.json", "vocab.txt"),
}
_LAYOUTS = ("tokenizer.json", "tokeniser.bte.json", "tokeniser.method.json")
_SETTINGS = "tokenizer_config.json"
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
        problem = "transformers needs code beside tokeniser.bte.json, which is not there"
        fix = "Export it first: morphgraph export --tokenizer FOLDER --out ANOTHER."
        raise FileFormatError(str(folder), "", problem, fix)
    if whole in found and _SETTINGS not in found:
        document = parse_json(found[whole], str(folder / whole))
        settings = source_settings(folder)
        config = transformers_config(document, own_class=False, settings=settings)
        found[_SETTINGS] = json.dumps(config, ensure_ascii=False, indent=1).encode()
    return found


def with_kept_settings(contents: dict[str, bytes], model: Path) -> dict[str, bytes]:
    """Return a tokeniser's files with the settings that belong to the model added.

    These are the maximum length, the sides of padding and truncation, the chat template, and the
    roles of special tokens that the new tokeniser also has; its own settings take precedence.
    """
    layout = next((file for file in _LAYOUTS if file in contents), None)
    if _SETTINGS not in contents or layout is None:
        return contents
    new, document = (parse_json(contents[file], file) for file in (_SETTINGS, layout))
    if not isinstance(new, dict):
        return contents
    settings = kept_settings(source_settings(model), document) | new
    if settings == new:
        return contents
    return {**contents, _SETTINGS: json.dumps(settings, ensure_ascii=False, indent=1).encode()}


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


_MOST_MULTIPLE = 65_536
_ROLES = tuple(f"{role}_token" for role in ("eos", "sep", "bos", "cls", "pad", "unk", "mask"))
"""A token's roles in order; the first that the other tokeniser also has counts."""
_LOOKS_SPECIAL = re.compile(r"<.+>|\[.+\]")
_NEEDED_TO_DECODE = ("decoder_start_token_id", "pad_token_id")


@dataclass(frozen=True)
class TransplantSettings:
    """How to initialise the rows of new types, and how many rows to make.

    ``init``: one of `ROW_INITS`. ``seed``: for ``normal``. ``multiple``: round the number of rows
    up to a multiple of this, at most 65,536. ``padded``: treat all rows beyond the old tokeniser's
    ids as padding.
    """

    init: RowInit = "mean"
    seed: int = 0
    multiple: int = 1
    padded: bool = False

    def __post_init__(self) -> None:
        check_choice("init", self.init, ROW_INITS)
        if type(self.multiple) is not int or not 1 <= self.multiple <= _MOST_MULTIPLE:
            raise MorphGraphError(
                f"The rows cannot be a multiple of {self.multiple!r}. Give a whole number from 1 "
                f"to {_MOST_MULTIPLE:,}."
            )
        if type(self.seed) is not int or self.seed < 0:
            raise MorphGraphError(f"{self.seed!r} is not a seed. Give a whole number from 0.")


@dataclass(frozen=True)
class ResizedTensor:
    """A tensor with a row for each id, and its old and new shapes."""

    name: str
    role: MatrixRole
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Transplant:
    """A model transplanted to another tokeniser, or the plan of one.

    ``folder``: where it was written, or None. ``init``: how rows of new types begin. ``kept``:
    types whose rows are copied; ``made``: each new type with the old tokens of its string, none if
    all its characters were unknown; ``dropped``: types that are gone. ``padding``: rows without a
    type, before and after. ``config``: changed fields. ``files``: other files copied; ``left_out``:
    those not copied.
    """

    folder: Path | None
    init: RowInit
    kept: tuple[str, ...]
    made: Mapping[str, tuple[str, ...]]
    dropped: tuple[str, ...]
    padding: tuple[int, int]
    tensors: tuple[ResizedTensor, ...]
    config: tuple[ConfigChange, ...]
    files: tuple[str, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        """One line."""
        where = "nothing written" if self.folder is None else str(self.folder)
        return (
            f"<Transplant: {counted(len(self.kept), 'row')} copied, {len(self.made):,} made "
            f"({self.init}), {len(self.dropped):,} dropped; {where}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return its content as JSON-compatible data; kept types only as a count."""
        return {
            **vars(self),
            "kept": len(self.kept),
            "folder": None if self.folder is None else str(self.folder),
            "tensors": [asdict(tensor) for tensor in self.tensors],
            "config": [asdict(change) for change in self.config],
        }


def transplant_model(
    model: str | Path,
    tokeniser: str | Path,
    out: str | Path | None = None,
    settings: TransplantSettings | None = None,
    *,
    old_tokeniser: str | Path | None = None,
    hint: str = "",
) -> Transplant:
    """Transplant a model to another tokeniser in a new folder; only plan without ``out``.

    Everything is checked before anything is written, and the folder appears complete or not at all.
    ``old_tokeniser``: the one that the model was trained with, by default that in its folder.
    ``hint``: see `core.files.writing`. Raises `MorphGraphError`.
    """
    settings = TransplantSettings() if settings is None else settings
    if out is not None:
        check_new_folder(Path(out), hint)
    checkpoint = read_checkpoint(model)
    found = vocabulary_matrices(checkpoint)
    for matrix in found.matrices:
        check_floats(matrix.tensor)
    contents = with_kept_settings(tokeniser_contents(Path(tokeniser)), checkpoint.folder)
    new = read_model_vocabulary(tokeniser)
    old = read_model_vocabulary(old_tokeniser or checkpoint.folder)
    check_rows(found.rows, old, settings.padded, "--old-tokenizer")
    beside = Path(old_tokeniser or checkpoint.folder) / _SETTINGS
    roles = _roles(contents)
    old_roles = _roles({_SETTINGS: read_bytes(beside)} if beside.is_file() else {})
    _check_special_ids(checkpoint, old, old_roles)
    same: dict[str, str] = {}
    for role in _ROLES:  # new special tokens with the role of an old one, but another string
        before, after = old_roles.get(role), roles.get(role)
        if before in old.ids and after in new.special and before not in new.ids:
            same.setdefault(str(after), str(before))
    plan = plan_rows(old, new, settings.multiple, same)
    rows = len(plan.sources)
    configs, changes = _configs(checkpoint, plan, new, roles, (found.rows, rows))
    goes, stays = other_files(checkpoint.folder)
    replaced = {file.name for file in checkpoint.files} | contents.keys()
    tensors = (
        ResizedTensor(each.tensor.name, each.role, each.tensor.shape, each.resized(rows))
        for each in found.matrices
    )
    made = Transplant(
        None if out is None else Path(out),
        settings.init,
        plan.kept,
        plan.made,
        plan.dropped,
        (found.rows - len(old.ids), rows - len(new.ids)),
        tuple(tensors),
        tuple(changes),
        tuple(sorted({*goes, *contents})),
        tuple(name for name in stays if name not in replaced),
    )
    if out is None:
        return made

    def resized(matrix: VocabularyMatrix) -> NewTensor:
        # Rows are made when asked for, so that the old matrix is freed once the new one is written.
        old = matrix.tensor
        how = (found.rows, plan.sources, settings.init, settings.seed)
        shape = matrix.resized(rows)
        return NewTensor(old.name, old.dtype, shape, lambda: MadeRows(old, *how).chunks())

    with new_folder(Path(out), hint) as place:
        checkpoint.write(place, {each.tensor.name: resized(each) for each in found.matrices})
        for name in goes:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(checkpoint.folder / name, place / name)
        for name, data in {**contents, **configs}.items():
            (place / name).write_bytes(data)
    return made


def _configs(
    checkpoint: Checkpoint,
    plan: RowPlan,
    new: ModelVocabulary,
    roles: Mapping[str, str],
    rows: tuple[int, int],
) -> tuple[dict[str, bytes], list[ConfigChange]]:
    """Return the configurations for another tokeniser, and the changes made."""

    def new_id(field: str, old_id: int) -> int | None:
        """Return the new id of the same token, or of the token that replaces it."""
        return plan.moved.get(old_id, new.ids.get(roles.get(field.removesuffix("_id"), "")))

    files: dict[str, bytes] = {}
    changes: list[ConfigChange] = []
    configs = {CONFIG: checkpoint.config, GENERATION_CONFIG: checkpoint.generation_config}
    for name, config in configs.items():
        if config is not None:
            made, changed = with_new_ids(config, name, new_id, rows)
            files[name] = json.dumps(made, ensure_ascii=False, indent=2).encode() + b"\n"
            changes += changed
    padding = [change for change in changes if change.field == "pad_token_id"]
    if padding and checkpoint.config.get("model_type") in _POSITIONS_FROM_PADDING:
        raise MorphGraphError(
            f"{new.name}: the padding token has the id {padding[0].after}, but this model counts "
            f"positions from it, so it must stay {padding[0].before}. Give it that id."
        )
    lost = [c.field for c in changes if c.after is None and c.field in _NEEDED_TO_DECODE]
    if lost and checkpoint.config.get("is_encoder_decoder"):
        raise MorphGraphError(
            f"{new.name}: it has no token for the field {lost[0]} of the model, which has an "
            "encoder and a decoder and can neither generate nor be trained without. Add that "
            "token, such as <pad>, to the tokeniser."
        )
    return files, changes


def _check_special_ids(
    checkpoint: Checkpoint, old: ModelVocabulary, roles: Mapping[str, str]
) -> None:
    """Refuse a tokeniser in which the model's special ids are other tokens."""
    texts = {number: text for text, number in old.ids.items()}
    for role in _ROLES:
        field = f"{role}_id"
        number = checkpoint.config.get(field)
        text = texts.get(number) if type(number) is int else None
        if text is None:
            continue
        has = {name for name, content in roles.items() if content == text}
        problem = ""
        if not has and text not in old.special and not _LOOKS_SPECIAL.fullmatch(text):
            problem = "an ordinary type"
        elif role == "eos_token" and has == {"pad_token"} and role not in roles:
            # Some models end texts with padding even if their tokeniser has an end token.
            problem = "the padding token"
        if problem:
            raise MorphGraphError(
                f"{old.name}: {field} of the model is {number}, which is {problem}, "
                f"“{shortened(text)}”, in this tokeniser, so it is not the one that the model was "
                f"trained with. Name that: --old-tokenizer. If it is, correct {field} in {CONFIG}."
            )


def _roles(contents: Mapping[str, bytes]) -> dict[str, str]:
    """Return the strings of a tokeniser's special tokens by their names in `transformers`."""
    try:
        config = json.loads(contents.get(_SETTINGS, b"{}"))
    except ValueError:
        return {}
    found = {}
    for role, token in config.items() if isinstance(config, dict) else ():
        text = token.get("content") if isinstance(token, dict) else token
        if role.endswith("_token") and isinstance(text, str):
            found[role] = text
    return found
