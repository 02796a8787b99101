"""Transplant a model to another tokeniser: copy the rows of kept types, make the others."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, Unpack

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import new_folder, parse_json, read_bytes, writing
from morphgraph.core.text import counted, shortened, visible
from morphgraph.formats.export_files import FILES, kept_settings, transformers_config
from morphgraph.formats.tokeniser_files import settings_beside
from morphgraph.tables.model import Cell, Column, Row, Table
from morphgraph.tables.terminal import text_of
from morphgraph_models.checkpoint import (
    CONFIG,
    GENERATION_CONFIG,
    INDEX,
    Checkpoint,
    NewTensor,
    read_checkpoint,
)
from morphgraph_models.model_vocabulary import (
    ModelVocabulary,
    read_model_vocabulary,
    special_roles,
)
from morphgraph_models.rows import (
    MatrixRole,
    RowPlan,
    VocabularyMatrix,
    check_rows,
    made_rows,
    plan_rows,
    vocabulary_matrices,
)
from morphgraph_models.settings import RowInit, RowNorm, RowOptions, RowSettings

_SHOWN = 10
"""The number of types of each kind printed."""
_LISTS = ("suppress_tokens", "begin_suppress_tokens", "bad_words_ids")
_POSITIONS_FROM_PADDING = (
    *("camembert", "data2vec-text", "esm", "ibert", "longformer", "luke", "mpnet", "roberta"),
    *("roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)
"""Models that number positions starting after their padding id."""
_ROLES = tuple(f"{role}_token" for role in ("eos", "sep", "bos", "cls", "pad", "unk", "mask"))
"""A token's roles in order; the first that the other tokeniser also has counts."""
_LOOKS_SPECIAL = re.compile(r"<.+>|\[.+\]")
_NEEDED_TO_DECODE = ("decoder_start_token_id", "pad_token_id")
_ELSEWHERE = " with --out"


class Exportable(Protocol):
    """A tokeniser that can be written as a folder that ``AutoTokenizer`` loads."""

    def export(self, folder: str, /) -> object:
        """Write the folder."""
        ...


@dataclass(frozen=True)
class ResizedTensor:
    """A tensor with a row for each id, and its old and new shapes."""

    name: str
    role: MatrixRole
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True)
class ConfigChange:
    """A configuration field whose value changes."""

    file: str
    field: str
    before: Any
    after: Any


@dataclass(frozen=True, repr=False)
class Transplant:
    """A model transplanted to another tokeniser, or the plan of one.

    ``folder``: where it was written, or None. ``init``: how rows of new types begin; ``norm``: to
    what norm input rows are then scaled. ``kept``: types whose rows are copied, entries of
    removed ones among them; ``made``: each new type with the old tokens of its string, none if all
    its characters were unknown; ``reused``: those that took the id of a dropped type, with that
    type; ``dropped``: types that are gone. ``padding``: rows without a type, before and after.
    ``config``: changed fields. ``files``: other files copied; ``left_out``: those not copied.
    """

    folder: Path | None
    init: RowInit
    norm: RowNorm | None
    kept: tuple[str, ...]
    made: Mapping[str, tuple[str, ...]]
    reused: Mapping[str, str]
    dropped: tuple[str, ...]
    padding: tuple[int, int]
    tensors: tuple[ResizedTensor, ...]
    config: tuple[ConfigChange, ...]
    files: tuple[str, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        where = "nothing written" if self.folder is None else str(self.folder)
        return (
            f"<Transplant: {counted(len(self.kept), 'row')} copied, {len(self.made):,} made "
            f"({self.init}), {len(self.dropped):,} dropped; {where}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return its content as JSON-compatible data; kept types only as a count."""
        folder = None if self.folder is None else str(self.folder)
        return {**asdict(self), "kept": len(self.kept), "folder": folder}

    def table(self) -> Table:
        """Return the sizes of its tensors, a row each."""
        rows = (
            Row((each.name, each.role), tuple(Cell(_size(n)) for n in (each.before, each.after)))
            for each in self.tensors
        )
        sizes = (Column("before", "written"), Column("after", "written"))
        return Table("Tensors", (Column("tensor"), Column("is")), sizes, tuple(rows))

    def __str__(self) -> str:
        scaled = "; input rows scaled to the median norm" if self.norm else ""
        sums = {each: " + ".join(map(_short, parts)) for each, parts in self.made.items()}
        lines = [text_of(self.table()), f"{counted(len(self.kept), 'row')} copied"]
        lines.append(f"{counted(len(self.made), 'row')} made ({self.init}{scaled})")
        for type_, parts in islice(sums.items(), _SHOWN):
            lines.append(f"  {_short(type_)}: {parts or 'unknown before: mean of all rows'}")
        if self.reused:
            lines.append(f"{counted(len(self.reused), 'id')} of dropped types reused")
        for type_, before in islice(self.reused.items(), _SHOWN):
            lines.append(f"  {_short(type_)}, was {_short(before)}")
        lines.append(f"{counted(len(self.dropped), 'row')} dropped")
        if self.dropped:
            lines.append(f"  {' '.join(map(_short, self.dropped[:_SHOWN]))}")
        if any(self.padding):
            before, after = (counted(number, "row") for number in self.padding)
            lines.append(f"padding: {before} before, {after} after")
        lines += (f"{each.file}: {each.field} {each.before} → {each.after}" for each in self.config)
        if self.left_out:
            lines.append(f"left out: {' '.join(map(visible, self.left_out))}")
        lines.append("nothing written" if self.folder is None else f"saved {self.folder}")
        return "\n".join(lines)


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{length:,}" for length in shape)


def _short(type_: str) -> str:
    return visible(shortened(type_))


def transplant(
    model: str | os.PathLike[str],
    tokenizer: Exportable | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    old_tokenizer: str | os.PathLike[str] | None = None,
    padded: bool = False,
    **options: Unpack[RowOptions],
) -> Transplant:
    """Carry a model over to another tokeniser: rows of types that both have are copied bit by bit.

    ``model``: a folder of `transformers` with weights in safetensors; ``tokenizer``: a folder that
    ``AutoTokenizer`` loads, or a tokeniser, which is exported first; ``out``: a new folder for
    both; without it, nothing is written. The result has what was ``kept``, ``made``, ``reused``
    and ``dropped``, type by type.
    ``old_tokenizer``: the one that the model was trained with, if it is not in its folder.
    ``padded``: rows beyond the old tokeniser's ids are padding, however many. ``options``: those of
    `RowSettings`, such as ``init``. Errors: `MorphGraphError`.

    >>> mg.models.transplant("no model", tokeniser)
    Traceback (most recent call last):
        ...
    morphgraph.core.errors.FileFormatError: no model: there is no such folder. Check the path.
    """
    settings = RowSettings(**options)
    target = None if out is None else Path(out)
    if target is not None:
        _check_new(target)
    checkpoint = read_checkpoint(model)
    rows, matrices, tied = vocabulary_matrices(checkpoint)
    if settings.norm is not None and tied:
        raise MorphGraphError(
            f"{checkpoint.folder}: the input embedding of this model is its output projection, too "
            "(tie_word_embeddings), and output rows of a greater norm make their types likelier. "
            "Leave out norm."
        )
    with ExitStack() as stack:
        if not isinstance(tokenizer, str | os.PathLike):
            exported = stack.enter_context(TemporaryDirectory(prefix="morphgraph-"))
            tokenizer.export(exported)
            tokenizer = exported
        contents = _tokeniser_contents(Path(tokenizer), checkpoint.folder)
        new = read_model_vocabulary(tokenizer)
    beside = Path(old_tokenizer or checkpoint.folder)
    old = read_model_vocabulary(beside)
    check_rows(rows, old, padded, "with --old")
    old_roles = special_roles(settings_beside(beside))
    roles = special_roles(parse_json(contents.get(_SETTINGS, b"{}"), _SETTINGS))
    _check_special_ids(checkpoint, old, old_roles)
    same: dict[str, str] = {}
    for role in _ROLES:  # new special tokens with the role of an old one, but another string
        before, after = old_roles.get(role), roles.get(role)
        if before in old.ids and after in new.special and before not in new.ids:
            same.setdefault(str(after), str(before))
    plan = plan_rows(old, new, rows, settings.pad_to_multiple_of, same)
    count = len(plan.kinds)
    configs, changes = _configs(checkpoint, plan, new, roles, (rows, count))
    goes, stays = _other_files(checkpoint.folder)
    replaced = checkpoint.files.keys() | contents.keys()
    if target is not None:

        def resized(matrix: VocabularyMatrix) -> NewTensor:
            # Rows are made when asked for, so that each old matrix is freed once it is written.
            tensor, shape = matrix.tensor, matrix.resized(count)
            make = partial(made_rows, matrix, rows, plan, settings)
            return NewTensor(tensor.name, tensor.dtype, shape, make)

        with new_folder(target, _ELSEWHERE) as place:
            checkpoint.write(place, {each.tensor.name: resized(each) for each in matrices})
            for name in goes:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(checkpoint.folder / name, place / name)
            for name, data in {**contents, **configs}.items():
                (place / name).write_bytes(data)
    return Transplant(
        target,
        settings.init,
        settings.norm,
        plan.kept,
        plan.made,
        plan.reused,
        plan.dropped,
        (rows - len(old.ids), count - len(new.ids)),
        tuple(
            ResizedTensor(each.tensor.name, each.role, each.tensor.shape, each.resized(count))
            for each in matrices
        ),
        tuple(changes),
        tuple(sorted({*goes, *contents})),
        tuple(name for name in stays if name not in replaced),
    )


def _check_new(folder: Path) -> None:
    """Refuse a path that already exists, but for an empty folder."""
    with writing(folder, _ELSEWHERE):
        is_new = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not is_new:
        what = "the folder is not empty" if folder.is_dir() else "this is a file"
        raise MorphGraphError(f"{folder}: {what}. Choose another place{_ELSEWHERE}.")


# ------------------------------------------------------------------------- configurations


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
            made = dict(_with_new_ids(config, name, new_id, rows, changes))
            files[name] = json.dumps(made, ensure_ascii=False, indent=2).encode() + b"\n"
    padding = [change for change in changes if change.field == "pad_token_id"]
    if padding and checkpoint.config.get("model_type") in _POSITIONS_FROM_PADDING:
        raise MorphGraphError(
            f"{new.name}: the padding token has the id {padding[0].after}, but this model counts "
            f"positions from it, so it must stay {padding[0].before}. Give it that id."
        )
    lost = [c.field for c in changes if c.after is None and c.field in _NEEDED_TO_DECODE]
    if lost and checkpoint.config.get("is_encoder_decoder"):
        raise MorphGraphError(
            f"{new.name}: it has no token for the model's field {lost[0]}, and a model of an "
            "encoder and a decoder needs one to generate and to be trained. Add that token, "
            "such as <pad>, to the tokeniser."
        )
    return files, changes


def _with_new_ids(
    config: Mapping[str, Any],
    file: str,
    new_id: Callable[[str, int], int | None],
    rows: tuple[int, int],
    changes: list[ConfigChange],
    above: str = "",
) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a configuration for another vocabulary, and record the ``changes``.

    Nested parts are changed too. An id without a new one becomes null, or leaves its list; a
    negative id stands for none.
    """

    def mapped(field: str, value: Any) -> Any:
        if isinstance(value, list):
            values = [mapped(field, each) for each in value]
            return [each for each in values if each is not None]
        return new_id(field, value) if type(value) is int and value >= 0 else value

    for key, value in config.items():
        changed = value
        if isinstance(value, dict):
            inner = _with_new_ids(value, file, new_id, rows, changes, f"{above}{key}.")
            yield key, dict(inner)
            continue
        if key.endswith(("_token_id", "_token_index")) or key in _LISTS:
            changed = mapped(key, value)
        elif key == "vocab_size" and value == rows[0]:
            changed = rows[1]
        if changed != value:
            changes.append(ConfigChange(file, above + key, value, changed))
        yield key, changed


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
                f"trained with. Name that one with --old. If it is, correct {field} in {CONFIG}."
            )


# ------------------------------------------------------------------------- other files

_CODE = "tokenization_morphgraph.py"
"""The module of an exported tokeniser's class."""
_README = "README.md"
_TOKENISER_FILES = {
    *(set(FILES) - {_README} | {_CODE}),
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


def _tokeniser_contents(folder: Path, model: Path) -> dict[str, bytes]:
    """Return the files of a tokeniser's folder by name, ready for `AutoTokenizer`.

    A missing ``tokenizer_config.json`` is generated. Settings that belong to the model are added:
    the maximum length, the sides of padding and truncation, the chat template, and the roles of
    special tokens that the new tokeniser also has; its own settings take precedence.
    """
    if not folder.is_dir():
        problem = "this is not a folder"
        fix = "Give the folder of a tokeniser, such as morphgraph export writes."
        raise FileFormatError(str(folder), "", problem, fix)
    contents = {
        path.name: read_bytes(path)
        for path in sorted(folder.iterdir())
        if path.is_file()
        and path.stat().st_size
        and _is_copied(path)
        and path.name not in {_README, *_MODEL_FILES}
    }
    whole = "tokenizer.json"
    if "tokeniser.bte.json" in contents and not {whole, _CODE} & contents.keys():
        problem = "the code that transformers needs beside tokeniser.bte.json is missing"
        fix = "Export it first: morphgraph export FOLDER --out ANOTHER."
        raise FileFormatError(str(folder), "", problem, fix)
    layout = next((file for file in _LAYOUTS if file in contents), None)
    if layout is None or not {whole, _SETTINGS} & contents.keys():
        return contents
    document = parse_json(contents[layout], str(folder / layout))
    if _SETTINGS in contents:
        own = parse_json(contents[_SETTINGS], str(folder / _SETTINGS))
    else:
        settings = settings_beside(folder)
        own = transformers_config(document, own_class=False, settings=settings)
    if isinstance(own, dict):
        merged = kept_settings(settings_beside(model), document) | own
        if merged != own or _SETTINGS not in contents:
            contents[_SETTINGS] = json.dumps(merged, ensure_ascii=False, indent=1).encode()
    return contents


def _other_files(folder: Path) -> tuple[list[str], list[str]]:
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
            takes = _is_copied(path) and not is_hidden and not is_old
            (goes if takes else stays).append(str(name))
    return goes, stays


def _is_copied(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix not in _WEIGHTS
