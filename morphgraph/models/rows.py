"""The rows of a model's vocabulary: which tensors have them, and how those for another are made."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import FileFormatError, MorphGraphError, check_choice
from morphgraph.core.text import counted
from morphgraph.models.checkpoint import BUFFER, CONFIG, Checkpoint, StoredTensor
from morphgraph.models.model_vocabulary import ModelVocabulary, check_writings

MatrixRole: TypeAlias = Literal["input", "output", "bias"]

_SUFFIXES: Mapping[MatrixRole, tuple[str, ...]] = {
    "input": (
        *("embed_tokens.weight", "word_embeddings.weight", "word_embedding.weight"),
        *("shared.weight", "wte.weight", "embed_in.weight", "tok_embeddings.weight"),
        *("tokens_embed.weight", "token_embedding.weight", "backbone.embeddings.weight"),
        "transformer.embeddings.weight",
    ),
    "output": (
        *("lm_head.weight", "lm_head.decoder.weight", "predictions.decoder.weight"),
        *("embed_out.weight", "vocab_projector.weight", "generator_lm_head.weight"),
        *("lm_loss.weight", "pred_layer.proj.weight", "proj_out.weight"),
    ),
    "bias": (
        *("lm_head.bias", "lm_head.decoder.bias", "predictions.bias", "predictions.decoder.bias"),
        *("final_logits_bias", "embed_out.bias", "vocab_projector.bias"),
        *("generator_lm_head.bias", "lm_loss.bias", "pred_layer.proj.bias"),
    ),
}
"""The suffixes of their names in `transformers` models."""
_WHOLE_NAMES: Mapping[str, MatrixRole] = {
    "decoder.weight": "output",
    "decoder.bias": "bias",
    "output.weight": "output",
}
"""Full names, where other tensors may share the suffix."""

_IN_LAYER = re.compile(r"(?:^|[._])(?:h|layers?|blocks?|groups|attentions|ffns)\.\d+\.")
"""Tensors inside a layer have no row for each id, even if a size happens to match."""

_WITH_HEAD = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration")


@dataclass(frozen=True)
class VocabularyMatrix:
    """A tensor with a row for each id, or a number in the case of a bias."""

    tensor: StoredTensor
    role: MatrixRole

    def resized(self, rows: int) -> tuple[int, ...]:
        """Return its shape for another number of ids."""
        shape = self.tensor.shape
        return (*shape[:-1], rows) if self.role == "bias" else (rows, *shape[1:])


@dataclass(frozen=True)
class VocabularyMatrices:
    """All tensors of a checkpoint that are indexed by id; ``rows``: its number of ids."""

    rows: int
    matrices: tuple[VocabularyMatrix, ...]

    def of(self, role: MatrixRole) -> StoredTensor | None:
        """Return the first tensor of a role."""
        return next((each.tensor for each in self.matrices if each.role == role), None)


def vocabulary_matrices(checkpoint: Checkpoint) -> VocabularyMatrices:
    """Find the input embedding, and the output projection and its bias if stored.

    `FileFormatError` names the tensor or field where the layout is unknown or ambiguous.
    """
    config, place = checkpoint.config, str(checkpoint.folder / CONFIG)
    inner = config.get("text_config")
    settings = inner if "vocab_size" not in config and isinstance(inner, dict) else config
    rows = settings.get("vocab_size")
    if type(rows) is not int or rows < 1:
        fix = "Give the folder of a model of transformers."
        raise FileFormatError(place, "field vocab_size", "a number of ids is expected here", fix)
    # If another size of the model is the same number, only names distinguish tensors.
    shape_tells = rows not in _sizes(config)
    found: dict[MatrixRole, StoredTensor] = {}
    matrices = []
    for tensor in checkpoint.tensors():
        role, shape = _role(tensor.name), tensor.shape
        if role is None:
            if shape_tells and rows in shape and not _IN_LAYER.search(tensor.name):
                raise _unknown(tensor, f"it has {rows:,} rows or columns, one for each id")
            continue
        along = shape[-1:] if role == "bias" else shape[:1]
        flat = all(size == 1 for size in shape[:-1]) if role == "bias" else len(shape) == 2
        if along != (rows,) or not flat or not all(shape):
            is_usual = tensor.name.endswith(("lm_head.weight", "lm_head.bias"))
            if role == "input" or is_usual or (shape_tells and rows in shape):
                shown = " × ".join(map(str, shape))
                raise _unknown(tensor, f"it is {shown}, where vocab_size is {rows:,}")
            continue
        found.setdefault(role, tensor)
        matrices.append(VocabularyMatrix(tensor, role))
    fix = "Save the whole model again."
    if "input" not in found:
        problem = f"no tensor of {counted(rows, 'row')} has the name of an input embedding"
        raise FileFormatError(str(checkpoint.folder), "", problem, fix)
    tied = settings.get("tie_word_embeddings", config.get("tie_word_embeddings", True))
    names = config.get("architectures")
    with_head = isinstance(names, list) and any(str(name).endswith(_WITH_HEAD) for name in names)
    if not tied and with_head and "output" not in found:
        problem = "it is false, but no tensor has the name of an output projection"
        raise FileFormatError(place, "field tie_word_embeddings", problem, fix)
    return VocabularyMatrices(rows, tuple(matrices))


def _role(name: str) -> MatrixRole | None:
    if name in _WHOLE_NAMES:
        return _WHOLE_NAMES[name]
    for role, suffixes in _SUFFIXES.items():
        if any(name == suffix or name.endswith(f".{suffix}") for suffix in suffixes):
            return role
    return None


def _sizes(config: Mapping[str, Any]) -> Iterator[int]:
    """Return the numbers of a configuration that may be a dimension, nested ones too."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _sizes(value)
        elif type(value) is int and key != "vocab_size" and not key.endswith("_id"):
            yield value


def _unknown(tensor: StoredTensor, problem: str) -> FileFormatError:
    return FileFormatError(
        str(tensor.path),
        f"tensor “{tensor.name}”",
        f"this layout is not known: {problem}",
        "Models of transformers with one vocabulary are understood.",
    )


RowInit: TypeAlias = Literal["mean", "zeros", "normal"]
"""How the row of a new type is initialised."""
ROW_INITS: tuple[RowInit, ...] = get_args(RowInit)
FLOAT_KINDS = ("F32", "F16", "BF16")

Floats: TypeAlias = npt.NDArray[np.float32]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Ids: TypeAlias = npt.NDArray[np.int64]

COPIED, MADE, FILLER = 0, 1, 2


@dataclass(frozen=True)
class RowSources:
    """Where each row of the new matrix comes from.

    ``kinds``: int8 (n), by new id: `COPIED` from one old row, `MADE` for a new type, or `FILLER`
    for an id without a type. ``offsets``: int64 (n + 1), into ``sources``: the old ids that a row
    copies or averages; a row without sources is the mean of the rows in ``used``, the old ids that
    have a type.
    """

    kinds: npt.NDArray[np.int8]
    offsets: Ids
    sources: Ids
    used: Ids

    def __len__(self) -> int:
        return len(self.kinds)


@dataclass(frozen=True)
class MadeRows:
    """The rows of a stored matrix or vector, for another vocabulary.

    ``rows``: the number of rows stored. Means are computed in float32 and stored in the tensor's
    own type.
    """

    tensor: StoredTensor
    rows: int
    sources: RowSources
    init: RowInit = "mean"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("init", self.init, ROW_INITS)

    @cached_property
    def _old(self) -> Bytes:
        return self.tensor.row_bytes(self.rows)

    @cached_property
    def _columns(self) -> int:
        return int(self._old.shape[1]) // (4 if self.tensor.dtype == "F32" else 2)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each column over rows with a type.

        Rows with non-finite values are left out.
        """
        count = 0
        total, squares = np.zeros(self._columns), np.zeros(self._columns)
        used = self.sources.used
        step = max(1, BUFFER // self._old.shape[1])
        for start in range(0, len(used), step):
            rows = self._of(used[start : start + step]).astype(np.float64)
            rows = rows[np.isfinite(rows).all(axis=1)]
            count += len(rows)
            total += rows.sum(axis=0)
            squares += (rows * rows).sum(axis=0)
        if not count:
            raise MorphGraphError(
                f"{self.tensor.path}: no row of the tensor “{self.tensor.name}” has finite numbers "
                "only, so there is no mean of them. Save the model again."
            )
        mean = total / count
        spread = np.sqrt(np.maximum(squares / count - mean * mean, 0))
        return mean.astype(np.float32), spread.astype(np.float32)

    def _of(self, ids: Ids) -> Floats:
        return as_floats(self._old[ids], self.tensor.dtype)

    def chunks(self) -> Iterator[Bytes]:
        """Yield the new rows a few at a time, as uint8 (rows, bytes of a row)."""
        random = np.random.default_rng(self.seed)
        width = self._old.shape[1]
        step = max(1, BUFFER // width)
        for start in range(0, len(self.sources), step):
            kinds = self.sources.kinds[start : start + step]
            rows = np.empty((len(kinds), width), np.uint8)
            copied = kinds == COPIED
            firsts = self.sources.offsets[start : start + len(kinds)][copied]
            rows[copied] = self._old[self.sources.sources[firsts]]
            others = np.flatnonzero(~copied)
            if len(others):
                made = self._made(others + start, kinds[others] == FILLER, random)
                rows[others] = _bytes(made, self.tensor.dtype)
            yield rows

    def _made(self, ids: Ids, filler: npt.NDArray[np.bool_], random: np.random.Generator) -> Floats:
        """Compute the rows of ids that have none to copy; fillers are always means."""
        if self.init == "mean":
            return self._means(ids)
        made = np.zeros((len(ids), self._columns), np.float32)
        if self.init == "normal":
            mean, spread = self._moments
            drawn = random.standard_normal((int((~filler).sum()), self._columns), np.float32)
            made[~filler] = mean + spread * drawn
        if filler.any():
            made[filler] = self._moments[0]
        return made

    def _means(self, ids: Ids) -> Floats:
        starts, ends = self.sources.offsets[ids], self.sources.offsets[ids + 1]
        lengths = ends - starts
        made = np.zeros((len(ids), self._columns), np.float32)
        for place in range(int(lengths.max(initial=0))):
            longer = lengths > place
            made[longer] += self._of(self.sources.sources[starts[longer] + place])
        made /= np.maximum(lengths, 1).astype(np.float32)[:, None]
        if not lengths.all():
            made[lengths == 0] = self._moments[0]
        return made


def check_floats(tensor: StoredTensor) -> None:
    """Refuse a matrix of anything but known floats, such as a quantised one."""
    if tensor.dtype not in FLOAT_KINDS:
        raise MorphGraphError(
            f"{tensor.path}: the tensor “{tensor.name}” is of {tensor.dtype}, not of "
            f"{', '.join(FLOAT_KINDS)}. Give a checkpoint that is not quantised."
        )


def as_floats(rows: Bytes, dtype: str) -> Floats:
    """Return the bytes of rows as float32.

    >>> as_floats(np.array([[0x80, 0x3F, 0x00, 0xC0]], np.uint8), "BF16")
    array([[ 1., -2.]], dtype=float32)
    """
    rows = np.ascontiguousarray(rows)
    if dtype == "BF16":
        return (rows.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return rows.view(np.float16 if dtype == "F16" else np.float32).astype(np.float32)


def _bytes(rows: Floats, dtype: str) -> Bytes:
    """Return float32 rows as stored bytes, rounded half to even.

    >>> _bytes(np.array([[1.0, -2.0]], np.float32), "BF16")
    array([[128,  63,   0, 192]], dtype=uint8)
    """
    if dtype == "BF16":
        bits = np.ascontiguousarray(rows).view(np.uint32)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
        # Rounding must not carry NaN into infinity.
        rounded[np.isnan(rows)] = 0x7FC0
        return cast("Bytes", rounded.astype(np.uint16).view(np.uint8))
    return cast("Bytes", rows.astype(np.float16 if dtype == "F16" else np.float32).view(np.uint8))


_MOST_PADDING = 1024


@dataclass(frozen=True)
class RowPlan:
    """What happens to each type.

    ``kept``: types of both tokenisers; ``made``: each new type with the old tokens of its string;
    ``dropped``: types that are gone. ``moved``: old to new id of each kept type. ``sources``: the
    same by id.
    """

    kept: tuple[str, ...]
    made: Mapping[str, tuple[str, ...]]
    dropped: tuple[str, ...]
    moved: Mapping[int, int]
    sources: RowSources


def plan_rows(
    old: ModelVocabulary,
    new: ModelVocabulary,
    multiple: int = 1,
    same: Mapping[str, str] | None = None,
) -> RowPlan:
    """Plan a row for each id of the new tokeniser, padded to a multiple of ``multiple``.

    A type is kept if the old tokeniser has one for the same string, written in its own way.
    ``same`` maps new types to the old ones that they replace, where the old tokeniser lacks the
    string.
    """
    check_writings(old, new)
    spelled = {type_: old.spelled(new, type_) for type_ in new.ids}
    for type_, before in (same or {}).items():
        if spelled.get(type_) not in old.ids:
            spelled[type_] = before
    fresh = [type_ for type_ in new.ids if spelled[type_] not in old.ids]
    tokens = dict(zip(fresh, old.tokens_of([spelled[type_] for type_ in fresh]), strict=True))
    texts = {number: type_ for type_, number in old.ids.items()}
    rows = math.ceil(new.id_count / multiple) * multiple
    kinds = np.full(rows, FILLER, np.int8)
    listed: list[list[int]] = [[] for _ in range(rows)]
    moved: dict[int, int] = {}
    for type_, number in new.ids.items():
        if type_ in tokens:
            kinds[number], listed[number] = MADE, tokens[type_]
        else:
            row = old.ids[spelled[type_]]
            kinds[number], listed[number] = COPIED, [row]
            moved.setdefault(row, number)
    sources = RowSources(
        kinds,
        np.append(0, np.cumsum([len(each) for each in listed])),
        np.array([number for each in listed for number in each], np.int64),
        np.array(sorted(texts), np.int64),
    )
    return RowPlan(
        tuple(type_ for type_ in new.ids if type_ not in tokens),
        {type_: tuple(texts[number] for number in found) for type_, found in tokens.items()},
        tuple(type_ for type_, number in old.ids.items() if number not in moved),
        moved,
        sources,
    )


def check_rows(
    rows: int, vocabulary: ModelVocabulary, padded: bool, option: str = "--tokenizer"
) -> None:
    """Refuse a tokeniser whose number of ids does not fit the model's rows.

    Surplus rows count as padding if the ids were rounded up to a multiple of 8, 16, … or 1,024, or
    if ``padded`` is set. ``option``: how the caller names another tokeniser, for the message.
    """
    ids = vocabulary.id_count
    step = min(rows & -rows, _MOST_PADDING)
    if rows == ids or (rows > ids and (padded or (step >= 8 and rows - ids < step))):
        return
    others = counted(rows - ids, "row")
    beyond = f" If the other {others} are padding, say so: --padded." if rows > ids else ""
    raise MorphGraphError(
        f"{vocabulary.name}: this tokeniser has {ids:,} ids, but the model has {rows:,} rows, so "
        f"it is not the one that the model was trained with. Name that: {option}.{beyond}"
    )
