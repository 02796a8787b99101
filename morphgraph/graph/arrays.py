"""The merges of a graph as flat arrays and a lookup table, for the kernels."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from morphgraph.graph.merge_graph import MergeGraph

if TYPE_CHECKING:
    from morphgraph.kernels.segmenting import Merges


@dataclass(frozen=True)
class MergeArrays:
    """All present merges in order of rank.

    ``part_offsets``: (M + 1), into ``parts``. ``leaders``: the position of the first merge that
    each one ties with, itself if there is none; empty if no two merges tie.
    """

    merge_ids: npt.NDArray[np.int32]
    parts: npt.NDArray[np.int32]
    part_offsets: npt.NDArray[np.int64]
    results: npt.NDArray[np.int32]
    leaders: npt.NDArray[np.int32]
    type_count: int

    def __len__(self) -> int:
        return len(self.merge_ids)

    @property
    def merges(self) -> "Merges":
        """Build what `kernels.segmenting` reads, which is cheaper than keeping its tables."""
        from morphgraph.kernels.merge_lookup import build_table
        from morphgraph.kernels.segmenting import Merges

        table, dense, widest, *_ = build_table(self.parts, self.part_offsets, self.type_count, 0)
        spans = np.stack([self.part_offsets[:-1], self.part_offsets[1:]], axis=1)
        return Merges(table, dense, int(widest), self.parts, spans, self.results, self.leaders)

    @cached_property
    def pairs(self) -> "tuple[npt.NDArray[Any], ...] | None":
        """What `kernels.segmenting_pairs` looks up; None if merges tie or some have more parts."""
        from morphgraph.kernels.segmenting_pairs import MOST_MERGES, MOST_TYPES, build_pairs

        if len(self.leaders) or self.type_count > MOST_TYPES or len(self) > MOST_MERGES:
            return None
        if (np.diff(self.part_offsets) > 2).any():
            return None
        table, seeds = build_pairs(self.parts, self.part_offsets)
        return (table, seeds, self.merges.dense, self.results) if len(table) else None

    @cached_property
    def asked(self) -> list[int]:
        """How many atoms have been segmented by these so far, as the only number."""
        return [0]

    @cached_property
    def places(self) -> npt.NDArray[np.int32]:
        """The position of each merge in the other arrays, by id; -1 if absent."""
        places = np.full(1 + int(self.merge_ids.max(initial=-1)), -1, np.int32)
        places[self.merge_ids] = np.arange(len(self), dtype=np.int32)
        return places

    @cached_property
    def is_plain(self) -> bool:
        """Whether each type has at most one merge, ranked after those of its parts, without ties.

        Only then does a removal keep the segmentation of words without a removed merge.
        """
        if len(self.leaders) or (len(self) and np.bincount(self.results).max() > 1):
            return False
        position = np.full(self.type_count, -1, np.int64)
        position[self.results] = np.arange(len(self))
        merge = np.repeat(np.arange(len(self)), np.diff(self.part_offsets))
        return bool((position[self.parts] < merge).all())


class ShrinkingMerges:
    """Merges whose types are knocked out step by step, for segmenting without a graph.

    Each merge keeps its position in ``arrays``. The order of removals does not matter.
    """

    pairs = None
    """There is no table of pairs, as merges become tuple merges."""

    def __init__(self, arrays: MergeArrays) -> None:
        from morphgraph.kernels.merge_lookup import build_table

        self.results, self.leaders = arrays.results, arrays.leaders
        self.parts = arrays.parts
        self.spans = np.stack([arrays.part_offsets[:-1], arrays.part_offsets[1:]], axis=1)
        self.removed = np.zeros(arrays.type_count, np.uint8)
        self._producer = np.full(arrays.type_count, -1, np.int32)
        self._producer[arrays.results[::-1]] = np.arange(len(arrays), dtype=np.int32)[::-1]
        # Removals add merges; half of the space is for these.
        self._room = len(arrays.parts)
        self._table, self._dense, widest, self._twins, self._next_state = build_table(
            arrays.parts, arrays.part_offsets, arrays.type_count, self._room
        )
        self._widest = int(widest)

    @property
    def merges(self) -> "Merges":
        """Return what `kernels.segmenting` reads of the present merges."""
        from morphgraph.kernels.segmenting import Merges

        tables = self._table, self._dense, self._widest
        return Merges(*tables, self.parts, self.spans, self.results, self.leaders)

    def knock_out(self, types: npt.NDArray[np.int64]) -> None:
        """Remove present types. Source: Bauwens & Delobelle 2024, Algorithm 1."""
        from morphgraph.kernels.merge_lookup import widened
        from morphgraph.kernels.removing import parts_without, replace_parts

        is_new = np.zeros(len(self.removed), np.uint8)
        is_new[types] = 1
        self.removed |= is_new
        changed, parts, offsets = parts_without(
            self.parts, self.spans, self.results, self._producer, self.removed, is_new
        )
        self._room -= len(parts)
        if self._room < 0:
            self._room = len(self._table)
            self._table = widened(self._table, self._room + len(parts))
        self._next_state = replace_parts(
            self._table,
            self._dense,
            self._twins,
            self._next_state,
            self.parts,
            self.spans,
            changed,
            parts,
            offsets,
        )
        # Parts of removed merges stay: what uses their types may get them later.
        kept = np.diff(offsets) > 0
        self.spans[changed[kept], 0] = len(self.parts) + offsets[:-1][kept]
        self.spans[changed[kept], 1] = len(self.parts) + offsets[1:][kept]
        self.parts = np.append(self.parts, parts)
        self._widest = max(self._widest, int(np.diff(offsets).max(initial=0)))


def merge_arrays(graph: MergeGraph) -> MergeArrays:
    """Return the graph's merges as arrays."""

    def made() -> MergeArrays:
        ids, _, parts, offsets, results = graph.columns()
        return MergeArrays(ids, parts, offsets, results, _leaders(graph), len(graph.types))

    # Words may contain atoms added to the alphabet after this state, so these count too.
    return graph.derived(("arrays", len(graph.types)), made)


def _leaders(graph: MergeGraph) -> npt.NDArray[np.int32]:
    if not graph.ties:
        return np.empty(0, np.int32)
    levels = np.fromiter(graph.levels().values(), np.int64, graph.merge_count)
    position = np.arange(len(levels))
    starts = np.append(True, levels[1:] != levels[:-1])[: len(levels)]
    if starts.all():
        return np.empty(0, np.int32)
    return np.maximum.accumulate(np.where(starts, position, 0)).astype(np.int32)
