"""Transplant a model to another tokeniser: copy the rows of kept types, make the others."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from morphgraph.core.errors import MorphGraphError, check_choice
from morphgraph.core.files import new_folder, read_bytes
from morphgraph.core.text import counted, shortened
from morphgraph.models.checkpoint import CONFIG, GENERATION_CONFIG, Checkpoint, read_checkpoint
from morphgraph.models.model_config import ConfigChange, counts_positions_from_padding, with_new_ids
from morphgraph.models.model_files import (
    check_new_folder,
    other_files,
    tokeniser_contents,
    with_kept_settings,
)
from morphgraph.models.model_vocabulary import ModelVocabulary, read_model_vocabulary
from morphgraph.models.row_making import ROW_INITS, Bytes, MadeRows, RowInit, check_floats
from morphgraph.models.row_plan import RowPlan, check_rows, plan_rows
from morphgraph.models.safetensors_files import NewTensor
from morphgraph.models.vocabulary_matrices import MatrixRole, VocabularyMatrix, vocabulary_matrices

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
    roles, old_roles = _roles(contents), _roles_in(Path(old_tokeniser or checkpoint.folder))
    _check_special_ids(checkpoint, old, old_roles)
    plan = plan_rows(old, new, settings.multiple, _same_role(roles, old_roles, old, new))
    rows = len(plan.sources)
    configs, changes = _configs(checkpoint, plan, new, roles, (found.rows, rows))
    goes, stays = other_files(checkpoint.folder)
    replaced = {file.name for file in checkpoint.files} | contents.keys()
    made = Transplant(
        None,
        settings.init,
        plan.kept,
        plan.made,
        plan.dropped,
        (found.rows - len(old.ids), rows - len(new.ids)),
        tuple(
            ResizedTensor(each.tensor.name, each.role, each.tensor.shape, each.resized(rows))
            for each in found.matrices
        ),
        tuple(changes),
        tuple(sorted({*goes, *contents})),
        tuple(name for name in stays if name not in replaced),
    )
    if out is None:
        return made
    resized = {
        each.tensor.name: _resized(each, found.rows, plan, settings) for each in found.matrices
    }
    with new_folder(Path(out), hint) as place:
        checkpoint.write(place, resized)
        for name in goes:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(checkpoint.folder / name, place / name)
        for name, data in {**contents, **configs}.items():
            (place / name).write_bytes(data)
    return replace(made, folder=Path(out))


def _resized(
    matrix: VocabularyMatrix, rows: int, plan: RowPlan, settings: TransplantSettings
) -> NewTensor:
    tensor = matrix.tensor

    def chunks() -> Iterator[Bytes]:
        # Made here, so that the old matrix is freed once the new one is written.
        return MadeRows(tensor, rows, plan.sources, settings.init, settings.seed).chunks()

    return NewTensor(tensor.name, tensor.dtype, matrix.resized(len(plan.sources)), chunks)


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
    for name, config in (
        (CONFIG, checkpoint.config),
        (GENERATION_CONFIG, checkpoint.generation_config),
    ):
        if config is not None:
            made, changed = with_new_ids(config, name, new_id, rows)
            files[name] = json.dumps(made, ensure_ascii=False, indent=2).encode() + b"\n"
            changes += changed
    padding = [change for change in changes if change.field == "pad_token_id"]
    if padding and counts_positions_from_padding(checkpoint.config):
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


def _same_role(
    roles: Mapping[str, str],
    old_roles: Mapping[str, str],
    old: ModelVocabulary,
    new: ModelVocabulary,
) -> dict[str, str]:
    """Map new special tokens to the old ones with the same role but another string."""
    found: dict[str, str] = {}
    for role in _ROLES:
        before, after = old_roles.get(role), roles.get(role)
        if before in old.ids and after in new.special and before not in new.ids:
            found.setdefault(str(after), str(before))
    return found


def _roles_in(folder: Path) -> dict[str, str]:
    path = folder / "tokenizer_config.json"
    return _roles({path.name: read_bytes(path)}) if path.is_file() else {}


def _roles(contents: Mapping[str, bytes]) -> dict[str, str]:
    """Return the strings of a tokeniser's special tokens by their names in `transformers`."""
    try:
        config = json.loads(contents.get("tokenizer_config.json", b"{}"))
    except ValueError:
        return {}
    found = {}
    for role, token in config.items() if isinstance(config, dict) else ():
        text = token.get("content") if isinstance(token, dict) else token
        if role.endswith("_token") and isinstance(text, str):
            found[role] = text
    return found
