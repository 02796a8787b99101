"""Rows of a matrix for another vocabulary: copied bit by bit, or computed from other rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError, check_choice
from morphgraph.models.safetensors_files import BUFFER, StoredTensor

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
        step = max(1, BUFFER // self._old.shape[1])
        for start in range(0, len(self.sources), step):
            yield self._block(slice(start, min(start + step, len(self.sources))), random)

    def _block(self, span: slice, random: np.random.Generator) -> Bytes:
        kinds, firsts = self.sources.kinds[span], self.sources.offsets[span]
        rows = np.empty((len(kinds), self._old.shape[1]), np.uint8)
        copied = kinds == COPIED
        rows[copied] = self._old[self.sources.sources[firsts[copied]]]
        others = np.flatnonzero(~copied)
        if len(others):
            made = self._made(others + span.start, kinds[others] == FILLER, random)
            rows[others] = _bytes(made, self.tensor.dtype)
        return rows

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
