"""The merges of a graph as flat arrays and a lookup table: what the kernels read."""

from dataclasses import dataclass
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from morphgraph.graph.merge_graph import MergeGraph


@dataclass(frozen=True)
class MergeArrays:
    """All present merges in order of rank.

    ``merge_ids``: int32 (M). ``part_offsets``: int64 (M + 1), into ``parts``, int32 type ids.
    ``results``: int32 (M). ``table``, ``dense``, ``widest``: see `kernels.segmenting.build_table`.
    """

    merge_ids: npt.NDArray[np.int32]
    parts: npt.NDArray[np.int32]
    part_offsets: npt.NDArray[np.int64]
    results: npt.NDArray[np.int32]
    table: npt.NDArray[np.int64]
    dense: npt.NDArray[np.int64]
    widest: int
    type_count: int

    def __len__(self) -> int:
        return len(self.merge_ids)


_cache: WeakKeyDictionary[MergeGraph, dict[int, MergeArrays]] = WeakKeyDictionary()
_KEPT = 2
"""Arrays kept of each graph: of its state, and of one that is tried out or was before."""


def merge_arrays(graph: MergeGraph) -> MergeArrays:
    """The graph's merges as arrays; made anew only after an edit."""
    kept = _cache.setdefault(graph, {})
    if graph.revision in kept:
        return kept[graph.revision]
    from morphgraph.kernels import segmenting

    present = graph.merges()
    merges = present.values()
    count = len(present)
    part_offsets = np.zeros(count + 1, np.int64)
    np.cumsum([len(merge.parts) for merge in merges], out=part_offsets[1:])
    flat = chain.from_iterable([merge.parts for merge in merges])
    parts = np.fromiter(flat, np.int32, int(part_offsets[-1]))
    table, dense, widest = segmenting.build_table(parts, part_offsets, len(graph.types), 0)
    arrays = MergeArrays(
        np.fromiter(present, np.int32, count),
        parts,
        part_offsets,
        np.fromiter([merge.result for merge in merges], np.int32, count),
        table,
        dense,
        int(widest),
        len(graph.types),
    )
    while len(kept) >= _KEPT:
        kept.pop(next(iter(kept)))
    kept[graph.revision] = arrays
    return arrays
