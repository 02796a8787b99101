"""Order-independent sums over types and merges, which identify a state and are cheap to update."""

import os
from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from itertools import chain

import numpy as np
import numpy.typing as npt

from morphgraph.graph.change import Merge

Hashes = npt.NDArray[np.uint64]
"""Two independent hashes of 64 bits of each item: uint64 (2, items)."""

_SEEDS = np.array([[0x9E3779B97F4A7C15], [0xC2B2AE3D27D4EB4F]], np.uint64)
_STEPS = np.array([[0xD6E8FEB86659FD93], [0xA0761D6478BD642F]], np.uint64)
_SECRET = np.frombuffer(os.urandom(16), np.uint64).reshape(2, 1)
"""Nobody can make a file whose sums with ids, by which results are shared, are another's."""


def _mixed(values: Hashes) -> Hashes:
    """Mix each number over all 64 bits, in place (the finaliser of SplitMix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values ^= values >> np.uint64(shift)
        values *= np.uint64(factor)
    values ^= values >> np.uint64(31)
    return values


def hash_types(texts: Sequence[str], labels: Sequence[int] = ()) -> Hashes:
    """Return hashes of the strings of types, and of the ``labels`` of the first ones."""
    digests = [blake2b(t.encode("utf-8", "surrogatepass"), digest_size=16) for t in texts]
    joined = b"".join([digest.digest() for digest in digests])
    hashes = np.frombuffer(joined, np.uint64).reshape(-1, 2).T.copy()
    hashes[:, : len(labels)] = labelled(hashes[:, : len(labels)], labels)
    return hashes


def hash_merges(merges: Collection[Merge], types: Hashes, ties: Sequence[int]) -> Hashes:
    """Hashes of merges, of rank, tie, result and parts; ``types``: hashes of all types by id."""
    count = len(merges)
    if not count:
        return np.zeros((2, 0), np.uint64)
    ranks, parts, results = zip(*merges, strict=True)
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, count))
    starts = np.append(0, ends[:-1])
    place = np.arange(int(ends[-1])) - np.repeat(starts, ends - starts)
    of_parts = types[:, np.fromiter(chain.from_iterable(parts), np.int64, len(place))]
    found = np.add.reduceat(_mixed(of_parts + _numbers(place) * _STEPS), starts, axis=1)
    found += _mixed(types[:, np.array(results)] + _SEEDS)
    found += _mixed(_numbers(ranks) * _SEEDS)
    found += _mixed(_numbers(ties) * _STEPS)
    return _mixed(found)


def labelled(hashes: Hashes, numbers: Sequence[int] | npt.NDArray[np.int64]) -> Hashes:
    """Return hashes of items, each combined with a number."""
    return _mixed(hashes + _numbers(numbers) * _STEPS)


def _numbers(values: Sequence[int] | npt.NDArray[np.int64]) -> Hashes:
    return np.asarray(values, np.int64).astype(np.uint64) + np.uint64(1)


def sum_hashes(hashes: Hashes) -> Hashes:
    """Return the sum of all items, (2, 1), regardless of order."""
    found: Hashes = hashes.sum(axis=1, keepdims=True, dtype=np.uint64)
    return found


def sums(
    types: Hashes, present: Sequence[int], merges: Mapping[int, Merge], ties: Mapping[int, int]
) -> Hashes:
    """Return the sums of types and merges: uint64 (2, 2), first without ids, then with them.

    ``types``: hashes of all types by id; ``present``: the ids of those to count. ``merges``: by id.
    Sums of two states differ by the sums of what they do not share. Those with ids are comparable
    only within a process.
    """
    of_types = types[:, np.fromiter(present, np.int64, len(present))]
    tied = [ties.get(number, -1) + 1 for number in merges] if ties else [0] * len(merges)
    of_merges = hash_merges(merges.values(), types, tied)
    plain = sum_hashes(of_types) + sum_hashes(of_merges)
    with_ids = sum_hashes(labelled(of_types + _SECRET, present)) + sum_hashes(
        labelled(of_merges + _SECRET, list(merges))
    )
    return np.concatenate([plain, with_ids], axis=1)
