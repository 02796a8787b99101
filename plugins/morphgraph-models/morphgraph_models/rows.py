"""The rows of a model's vocabulary: which tensors have them, and how those for another are made."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.text import counted
from morphgraph.formats.hugging_face import REMOVED
from morphgraph_models.checkpoint import BUFFER, CONFIG, Checkpoint, StoredTensor
from morphgraph_models.model_vocabulary import ModelVocabulary, check_writings
from morphgraph_models.settings import RowSettings

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


def vocabulary_matrices(checkpoint: Checkpoint) -> tuple[int, list[VocabularyMatrix], bool]:
    """Return the number of ids, all tensors with a row for each, and whether they are tied.

    They are the input embedding, and the output projection and its bias if stored.
    `FileFormatError` names the tensor or field where the layout is unknown or ambiguous, or a
    matrix is of anything but known floats, such as a quantised one.
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
    matrices: list[VocabularyMatrix] = []
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
        if tensor.dtype not in FLOAT_KINDS:
            problem = f"it is of {tensor.dtype}, not of {', '.join(FLOAT_KINDS)}"
            fix = "Give a checkpoint that is not quantised."
            raise FileFormatError(str(tensor.path), f"tensor “{tensor.name}”", problem, fix)
        matrices.append(VocabularyMatrix(tensor, role))
    roles = {each.role for each in matrices}
    fix = "Save the whole model again."
    if "input" not in roles:
        problem = f"no tensor of {counted(rows, 'row')} has the name of an input embedding"
        raise FileFormatError(str(checkpoint.folder), "", problem, fix)
    unsaid = config.get("tie_word_embeddings", "output" not in roles)
    tied = bool(settings.get("tie_word_embeddings", unsaid))
    names = config.get("architectures")
    with_head = isinstance(names, list) and any(str(name).endswith(_WITH_HEAD) for name in names)
    if not tied and with_head and "output" not in roles:
        problem = "it is false, but no tensor has the name of an output projection"
        raise FileFormatError(place, "field tie_word_embeddings", problem, fix)
    return rows, matrices, tied


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


# ------------------------------------------------------------------------- new rows

FLOAT_KINDS = ("F32", "F16", "BF16")

Floats: TypeAlias = npt.NDArray[np.float32]
Doubles: TypeAlias = npt.NDArray[np.float64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Ids: TypeAlias = npt.NDArray[np.int64]

COPIED, MADE, FILLER = 0, 1, 2


@dataclass(frozen=True)
class RowPlan:
    """What happens to each type, and where each row of the new matrix comes from.

    ``kept``: types of both tokenisers; ``made``: each new type with the old tokens of its string;
    ``reused``: those of them that have the id of a dropped type, with that type, where no kept type
    moves; ``dropped``: types that are gone. ``moved``: old to new id of each kept type.

    ``kinds``: int8 (n), by new id: `COPIED` from one old row, `MADE` for a new type, or `FILLER`
    for an id without a type. ``offsets``: int64 (n + 1), into ``sources``: the old ids that a row
    copies or averages, with ``lengths``, float32: the characters of their types; a row without
    sources is the mean of the rows in ``used``, the old ids that have a type.
    """

    kept: tuple[str, ...]
    made: Mapping[str, tuple[str, ...]]
    reused: Mapping[str, str]
    dropped: tuple[str, ...]
    moved: Mapping[int, int]
    kinds: npt.NDArray[np.int8]
    offsets: Ids
    sources: Ids
    lengths: Floats
    used: Ids


def made_rows(
    matrix: VocabularyMatrix, rows: int, plan: RowPlan, settings: RowSettings
) -> Iterator[Bytes]:
    """Yield the new rows of a stored matrix or vector of ``rows``, as uint8 (some, bytes of one).

    Means are computed in float32, moments and draws of ``hewitt`` in float64, and all are stored in
    the tensor's own type. Fillers are always means of all rows. ``norm`` scales input rows only.
    Source of ``hewitt``: Hewitt 2021, "Initializing new word embeddings for pretrained language
    models".
    """
    tensor, init = matrix.tensor, settings.init
    old, kind = tensor.row_bytes(rows), tensor.dtype
    width = old.shape[1]
    columns = width // (4 if kind == "F32" else 2)
    random = np.random.default_rng([settings.seed, get_args(MatrixRole).index(matrix.role)])
    step = max(1, BUFFER // width)

    def floats(ids: Ids) -> Floats:
        return as_floats(old[ids], kind)

    def old_rows(size: int = step) -> Iterator[Doubles]:
        """Rows of finite numbers with a type, in blocks."""
        for start in range(0, len(plan.used), size):
            block = floats(plan.used[start : start + size]).astype(np.float64)
            yield block[np.isfinite(block).all(axis=1)]

    @cache
    def moments() -> tuple[int, Doubles, Doubles]:
        """The number of old rows, and the mean and standard deviation of each column."""
        count, total, squares = 0, np.zeros(columns), np.zeros(columns)
        for block in old_rows():
            count += len(block)
            total += block.sum(axis=0)
            squares += (block * block).sum(axis=0)
        if not count:
            raise MorphGraphError(
                f"{tensor.path}: no row of the tensor “{tensor.name}” has only finite numbers, "
                "so their mean is undefined. Save the model again."
            )
        mean = total / count
        return count, mean, np.sqrt(np.maximum(squares / count - mean * mean, 0))

    @cache
    def triangle() -> Doubles:
        """The Cholesky factor of the covariance of old rows."""
        count, mean, _ = moments()
        covariance = np.zeros((columns, columns))
        for block in old_rows(max(step, columns)):
            block -= mean
            covariance += block.T @ block
        covariance /= count
        # Fewer rows than columns leave eigenvalues of 0, which rounding puts below it.
        tiny = 10 * columns * np.finfo(np.float64).eps * np.trace(covariance)
        covariance[np.diag_indices(columns)] += tiny + np.finfo(np.float64).tiny
        return np.linalg.cholesky(covariance)

    @cache
    def median_norm() -> float:
        return float(np.median(np.concatenate([np.linalg.norm(b, axis=1) for b in old_rows()])))

    def means(ids: Ids) -> Floats:
        starts = plan.offsets[ids]
        lengths = plan.offsets[ids + 1] - starts
        filled, total = np.zeros((len(ids), columns), np.float32), np.zeros(len(ids), np.float32)
        for place in range(int(lengths.max(initial=0))):
            longer = lengths > place
            at = starts[longer] + place
            weights = plan.lengths[at] if init == "length" else np.ones(len(at), np.float32)
            filled[longer] += weights[:, None] * floats(plan.sources[at])
            total[longer] += weights
        filled /= np.maximum(total, 1)[:, None]
        if not lengths.all():
            filled[lengths == 0] = moments()[1]
        return filled

    def drawn(number: int) -> Floats:
        if init == "zeros":
            return np.zeros((number, columns), np.float32)
        if init == "hewitt":
            normal = random.standard_normal((number, columns))
            return (moments()[1] + normal @ triangle().T).astype(np.float32)
        mean, spread = (each.astype(np.float32) for each in moments()[1:])
        return mean + spread * random.standard_normal((number, columns), np.float32)

    for start in range(0, len(plan.kinds), step):
        kinds = plan.kinds[start : start + step]
        filled = np.empty((len(kinds), width), np.uint8)
        copied = kinds == COPIED
        firsts = plan.offsets[start : start + len(kinds)][copied]
        filled[copied] = old[plan.sources[firsts]]
        if (others := np.flatnonzero(~copied)).size:
            is_made = kinds[others] == MADE
            is_drawn = is_made & (init not in ("mean", "length"))
            found = np.empty((len(others), columns), np.float32)
            found[~is_drawn] = means(others[~is_drawn] + start)
            if is_drawn.any():
                found[is_drawn] = drawn(int(is_drawn.sum()))
            if settings.norm is not None and matrix.role == "input" and is_made.any():
                norms = np.linalg.norm(found[is_made], axis=1, keepdims=True)
                found[is_made] *= median_norm() / np.where(norms > 0, norms, 1)
            filled[others] = _bytes(found, kind)
        yield filled


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


def plan_rows(
    old: ModelVocabulary,
    new: ModelVocabulary,
    rows: int,
    multiple: int,
    same: Mapping[str, str],
) -> RowPlan:
    """Plan a row for each id of the new tokeniser, padded to a multiple of ``multiple``.

    A type is kept if the old tokeniser has one for the same string, written in its own way.
    ``same`` maps new types to the old ones that they replace, where the old tokeniser lacks the
    string. Where no kept type moves and the ids are not fewer, neither do the model's ``rows``
    without a type, nor those of removed types whose entries have another name by now.
    """
    check_writings(old, new)
    spelled = {type_: old.spelled(new, type_) for type_ in new.ids}
    for type_, before in same.items():
        if spelled.get(type_) not in old.ids:
            spelled[type_] = before
    texts = {number: type_ for type_, number in old.ids.items()}
    stays = all(old.ids.get(spelled[type_], n) == n for type_, n in new.ids.items())
    if stays:
        gone = old.ids.keys() - set(spelled.values())
        for type_, number in new.ids.items():
            if type_ == REMOVED.format(number) and texts.get(number) in gone:
                spelled[type_] = texts[number]
    fresh = [type_ for type_ in new.ids if spelled[type_] not in old.ids]
    tokens = dict(zip(fresh, old.tokens_of([spelled[type_] for type_ in fresh]), strict=True))
    in_place = stays and new.id_count >= old.id_count
    count = math.ceil(max(new.id_count, rows if in_place else 0) / multiple) * multiple
    kinds = np.full(count, FILLER, np.int8)
    listed: list[list[int]] = [[] for _ in range(count)]
    moved: dict[int, int] = {}
    for type_, number in new.ids.items():
        if type_ in tokens:
            kinds[number], listed[number] = MADE, tokens[type_]
        else:
            row = old.ids[spelled[type_]]
            kinds[number], listed[number] = COPIED, [row]
            moved.setdefault(row, number)
    if in_place:
        for row in set(range(rows)) - texts.keys() - set(new.ids.values()):
            kinds[row], listed[row] = COPIED, [row]
    sources = [number for each in listed for number in each]
    sizes = {number: old.size_of(texts[number]) for each in tokens.values() for number in each}
    return RowPlan(
        tuple(type_ for type_ in new.ids if type_ not in tokens),
        {type_: tuple(texts[number] for number in found) for type_, found in tokens.items()},
        {type_: texts[new.ids[type_]] for type_ in fresh if stays and new.ids[type_] in texts},
        tuple(type_ for type_, number in old.ids.items() if number not in moved),
        moved,
        kinds,
        np.append(0, np.cumsum([len(each) for each in listed])),
        np.array(sources, np.int64),
        np.array([sizes.get(number, 1) for number in sources], np.float32),
        np.array(sorted(texts), np.int64),
    )


def check_rows(
    rows: int, vocabulary: ModelVocabulary, padded: bool, place: str = "after the model"
) -> None:
    """Refuse a tokeniser whose number of ids does not fit the model's rows.

    Surplus rows count as padding if the ids were rounded up to a multiple of 8, 16, … or 1,024, or
    if ``padded`` is set. ``place``: the caller names another tokeniser, for the message.
    """
    ids = vocabulary.id_count
    step = min(rows & -rows, _MOST_PADDING)
    if rows == ids or (rows > ids and (padded or (step >= 8 and rows - ids < step))):
        return
    others = counted(rows - ids, "row")
    beyond = f" If the other {others} are padding, add --padded." if rows > ids else ""
    raise MorphGraphError(
        f"{vocabulary.name}: this tokeniser has {ids:,} ids, but the model has {rows:,} rows, so "
        f"it is not the one that the model was trained with. Name that one {place}.{beyond}"
    )
