"""The record of an edit of a merge graph: enough to undo, redo and display it."""

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, count, pairwise, repeat
from typing import Any, Literal, NamedTuple, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from morphgraph.core.cache import Cache, State
from morphgraph.core.errors import MorphGraphError

Origin = Literal["original", "annealed", "split", "repaired", "reified", "reused"]
"""How a merge came to be as it is: the last of these events wins.

It was in the file (original), or annealing or reification added it (annealed, reified); a knockout
gave it other parts (split), repair did (repaired), or a tuple merge was linked to it (reused).
"""
ORIGINS: tuple[Origin, ...] = ("original", "annealed", "split", "repaired", "reified", "reused")

Cause = Literal["knockout", "repair", "reify", "portable"]


Parts = tuple[int, ...]
"""The types that a merge joins: ids, two or more."""


class Merge(NamedTuple):
    """A merge: its rank, the types that it joins (ids, two or more) and the type that it makes."""

    rank: int
    parts: tuple[int, ...]
    result: int


class Rewired(NamedTuple):
    """A merge that kept its result but got other parts, and the reason."""

    merge: int
    old_parts: tuple[int, ...]
    new_parts: tuple[int, ...]
    cause: Cause = "knockout"


Reranked = npt.NDArray[np.int64]
"""Merges that only moved in the order: the id, the old and the new rank of each (n, 3)."""


class Reified(NamedTuple):
    """A pair merge that replaced two adjacent parts in tuple merges.

    ``created``: it is new; else it existed and is linked to.
    """

    merge: int
    created: bool
    tuple_merges: tuple[int, ...]


@dataclass(frozen=True)
class Change:
    """The merges and types that one edit removed, rewired, added and moved.

    ``step`` is the edit as data (one entry of a recipe), in terms of type strings, so that it can
    be replayed on another copy of the same tokeniser. Types and merges are named by their ids in
    the graph; ``removed_merges`` and ``added_merges`` have the merge as it was or is. ``new_types``
    never existed before, and get these ids. A merge may be rewired more than once, in this order.
    ``origins``: of merges, before and after.
    """

    step: Mapping[str, Any]
    removed_types: tuple[int, ...] = ()
    removed_merges: Mapping[int, Merge] = field(default_factory=dict)
    rewired: tuple[Rewired, ...] = ()
    added_types: tuple[int, ...] = ()
    new_types: Mapping[str, int] = field(default_factory=dict)
    added_merges: Mapping[int, Merge] = field(default_factory=dict)
    reranked: Reranked = field(default_factory=lambda: np.zeros((0, 3), np.int64), compare=False)
    reified: tuple[Reified, ...] = ()
    origins: Mapping[int, tuple[Origin, Origin]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the edit changed nothing: not a portable one, from which on ids are kept."""
        types = self.removed_types or self.added_types
        merges = self.removed_merges or self.added_merges or self.rewired or len(self.reranked)
        return not (types or merges or self.edit == "portable")

    @property
    def edit(self) -> str:
        """The name of the edit: knockout, cascade, anneal, reify, portable or renumber."""
        return str(self.step.get("edit", ""))

    def counts(self) -> dict[str, int]:
        """Return the numbers of merges annealed, removed, split, repaired, linked and created.

        ``atoms``: types that annealing added to the alphabet. A portable edit pairs tuple merges,
        and chained pair merges lead to some of them. Zeros are left out.
        """
        causes = Counter(entry.cause for entry in self.rewired)
        created = sum(entry.created for entry in self.reified)
        new_results = {merge.result for merge in self.added_merges.values()}
        counts = {
            "atoms": sum(number not in new_results for number in self.added_types),
            "chained" if self.edit == "portable" else "annealed": len(self.added_merges) - created,
            "removed": len(self.removed_merges),
            "split": causes["knockout"],
            "repaired": causes["repair"],
            "paired": causes["portable"],
            "linked": len(self.reified) - created,
            "created": created,
        }
        return {kind: number for kind, number in counts.items() if number}


class MergeColumns(NamedTuple):
    """Merges as arrays; ``part_offsets``: (M + 1), into ``parts``."""

    ids: npt.NDArray[np.int32]
    ranks: npt.NDArray[np.int64]
    parts: npt.NDArray[np.int32]
    part_offsets: npt.NDArray[np.int64]
    results: npt.NDArray[np.int32]

    @classmethod
    def of(cls, merges: Mapping[int, Merge]) -> "MergeColumns":
        """Return merges by id as columns."""
        ranks, parts, results = zip(*merges.values(), strict=True) if merges else ((), (), ())
        offsets = np.cumsum([0, *map(len, parts)])
        return cls(
            np.fromiter(merges, np.int32, len(merges)),
            np.array(ranks, np.int64),
            np.fromiter(chain.from_iterable(parts), np.int32, int(offsets[-1])),
            offsets,
            np.array(results, np.int32),
        )

    @property
    def widths(self) -> npt.NDArray[np.int64]:
        """The number of parts of each."""
        return np.diff(self.part_offsets)

    def first_of_pairs(self) -> npt.NDArray[np.bool_]:
        """Return which merges, all of pairs, are the first with their parts."""
        left, right = self.parts.reshape(-1, 2).T
        _, first = np.unique(left.astype(np.int64) << 32 | right, return_index=True)
        is_first = np.zeros(len(self.ids), bool)
        is_first[first] = True
        return is_first


def ranges(
    starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the numbers from each start to before its end, and where those of each begin.

    The latter has one more at the end: how many there are.
    """
    offsets = np.append(0, np.cumsum(ends - starts))
    places = np.repeat(starts - offsets[:-1], ends - starts)
    places += np.arange(offsets[-1])
    return places, offsets


class _Index:
    """The places of each number in an array, which only grows afterwards."""

    def __init__(self, values: npt.NDArray[np.int32]) -> None:
        self.count = len(values)
        self._order = np.argsort(values)
        self._starts = np.append(0, np.cumsum(np.bincount(values)))

    def places(self, values: npt.NDArray[np.int32], number: int) -> npt.NDArray[np.int64]:
        known = self._order[:0]
        if number + 1 < len(self._starts):
            known = self._order[self._starts[number] : self._starts[number + 1]]
        if len(values) == self.count:
            return known
        return np.append(known, self.count + np.flatnonzero(values[self.count :] == number))


# ----------------------------------------------------------------------------- sums of hashes

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


def _hash_types(texts: Sequence[str], labels: Sequence[int] = ()) -> Hashes:
    """Return hashes of the strings of types, and of the ``labels`` of the first ones."""
    digests = [blake2b(t.encode("utf-8", "surrogatepass"), digest_size=16) for t in texts]
    joined = b"".join([digest.digest() for digest in digests])
    hashes = np.frombuffer(joined, np.uint64).reshape(-1, 2).T.copy()
    hashes[:, : len(labels)] = _labelled(hashes[:, : len(labels)], labels)
    return hashes


def _hash_merges(merges: MergeColumns, types: Hashes, ties: Sequence[int]) -> Hashes:
    """Hashes of merges, of rank, tie, result and parts; ``types``: hashes of all types by id."""
    if not len(merges.ids):
        return np.zeros((2, 0), np.uint64)
    starts = merges.part_offsets[:-1]
    place = np.arange(len(merges.parts)) - np.repeat(starts, merges.widths)
    hashes = np.add.reduceat(_labelled(types[:, merges.parts], place), starts, axis=1)
    hashes += _mixed(types[:, merges.results] + _SEEDS)
    hashes += _mixed(_numbers(merges.ranks) * _SEEDS)
    hashes += _mixed(_numbers(ties) * _STEPS)
    return _mixed(hashes)


def _labelled(hashes: Hashes, numbers: Sequence[int] | npt.NDArray[Any]) -> Hashes:
    """Return hashes of items, each combined with a number."""
    return _mixed(hashes + _numbers(numbers) * _STEPS)


def _numbers(values: Sequence[int] | npt.NDArray[Any]) -> Hashes:
    return np.asarray(values, np.int64).astype(np.uint64) + np.uint64(1)


# ----------------------------------------------------------------------------- the table

T = TypeVar("T")

_TAIL = 2_000
"""This many parts, or merges, are searched one by one before an index is rebuilt."""


class EditError(MorphGraphError):
    """An edit that the graph cannot make, with the reason."""


@dataclass(slots=True)
class Place:
    """A state that a table or a copy of it is or was in: its sums and names, once computed."""

    sums: Hashes | None = None
    names: tuple[State, State] | None = None


class MergeTable:
    """Types, the merges between them, and which merge makes and uses which type.

    A type is named by its id, a position in ``types``; a merge by its id, its position in the list
    that the table was built from, or a later number if it was added. No id is ever used again, so
    records of past edits stay valid. ``fixed`` types cannot be removed, though a merge produces
    them: added tokens, for instance. ``ties``: a number for some merges, by id; merges of one
    number whose ranks follow each other are equally good: the leftmost in a word is applied first.
    ``labels``: numbers that the first types have elsewhere, by which they differ from others of the
    same string. ``never_whole``: with it a piece that is a present type stays whole, whatever its
    merges (``ignore_merges``), but for these types as long as they have none. ``absent``: types
    that were removed before this table was made. ``cache``: what was derived from the states of
    this table and of its copies. ``family``: the same for all copies only, to keep what no edit
    changes.
    """

    def __init__(
        self,
        types: Sequence[str],
        merges: Iterable[Merge] | MergeColumns,
        fixed: Iterable[int] = (),
        ties: Mapping[int, int] | None = None,
        labels: Sequence[int] = (),
        never_whole: frozenset[int] | None = None,
        absent: Iterable[int] = (),
    ) -> None:
        self.fixed = frozenset(fixed)
        self.absent = frozenset(absent)
        self.labels = labels
        self.never_whole = never_whole
        self.ties: Mapping[int, int] = ties or {}
        self.types: list[str] = list(types)
        self.ids: dict[str, int] = {text: number for number, text in enumerate(self.types)}
        if len(self.ids) != len(self.types):
            raise EditError("A type is listed twice. Give every type once.")
        self.longest_type = max(map(len, self.types), default=0)
        """Characters of the longest type that is or was there."""
        self.loaded_type_count = len(self.types)
        """The number of types before any edit; their ids are the lowest."""
        if not isinstance(merges, MergeColumns):
            merges = MergeColumns.of(dict(enumerate(merges)))
        self._loaded = merges
        # No edit writes to these arrays, so that copies share them; new parts come at the end.
        self._ranks, self._results, self._parts = merges.ranks, merges.results, merges.parts
        self._owners = np.repeat(merges.ids, merges.widths)
        """The merge that each of the parts is or was in."""
        self._spans = np.stack([merges.part_offsets[:-1], merges.part_offsets[1:]], axis=1)
        """Where the parts of each merge begin and end; 0 if it has been removed."""
        self._by_part: _Index | None = None
        self._by_result: _Index | None = None
        self._order: npt.NDArray[np.int32] | None = None
        self._origins: dict[int, Origin] = {}
        self._alive = bytearray([True]) * len(self.types)
        for number in self.absent:
            self._alive[number] = False
        self._owns_names = True
        self.cache = Cache()
        self.family = object()
        self._hashes: Hashes | None = None
        self._place = Place()
        self._unnamed: dict[Hashable, Any] = {}
        self._begin()

    def _begin(self) -> None:
        """Begin a history, in a graph that has one."""

    @classmethod
    def from_merges(cls, merges: Iterable[Sequence[str]], alphabet: Iterable[str] = ()) -> Self:
        """Build a graph from parts alone, in order of rank; types come as they first appear."""
        types: dict[str, int] = {}
        for atom in alphabet:
            types.setdefault(atom, len(types))
        listed = []
        for rank, parts in enumerate(merges):
            numbers = tuple(types.setdefault(part, len(types)) for part in parts)
            result = types.setdefault("".join(parts), len(types))
            listed.append(Merge(rank, numbers, result))
        return cls(list(types), listed)

    def __contains__(self, text: str) -> bool:
        return text in self.ids and self.is_present(self.ids[text])

    def id_of(self, text: str) -> int:
        """Return the id of a present type; `EditError` if there is none."""
        number = self.ids.get(text)
        if number is None or not self._alive[number]:
            raise EditError(f"“{text}” is not a type of this tokeniser. Check the spelling.")
        return number

    def whole_type(self, text: str) -> int | None:
        """Return the type that a piece with this text stays as; None if it is merged."""
        number = self.ids.get(text)
        if number is None or self.never_whole is None or not self._alive[number]:
            return None
        return None if number in self.never_whole and not self.incoming(number) else number

    def is_present(self, number: int) -> bool:
        """Return whether the type with this id has not been removed."""
        return bool(self._alive[number])

    def is_removable(self, number: int) -> bool:
        """Return whether this type can be knocked out: a merge produces it, and it is not fixed."""
        return bool(self.incoming(number)) and number not in self.fixed

    def is_atom(self, number: int) -> bool:
        """Return whether no merge produces this type."""
        return self.is_present(number) and not self.incoming(number)

    def merge(self, number: int) -> Merge:
        """Return the present merge with this id."""
        start, end = self._spans[number].tolist()
        if not end:
            raise EditError(f"Merge {number} has been removed.")
        parts = tuple(self._parts[start:end].tolist())
        return Merge(int(self._ranks[number]), parts, int(self._results[number]))

    def has_merge(self, number: int) -> bool:
        """Return whether there is a merge with this id, which has not been removed."""
        return number < len(self._spans) and bool(self._spans[number, 1])

    def incoming(self, number: int) -> tuple[int, ...]:
        """Return the ids of the merges that produce a type, lowest rank first: M_i(t)."""
        index, values = self._by_result, self._results
        if index is None or len(values) > _TAIL + index.count:
            index = self._by_result = _Index(values)
        numbers = [n for n in index.places(values, number).tolist() if self._spans[n, 1]]
        return tuple(sorted(numbers, key=self._ranks.__getitem__))

    def outgoing(self, number: int) -> tuple[int, ...]:
        """Return the ids of the merges that a type takes part in, lowest rank first: M_o(t)."""
        return tuple(sorted(self.users(number), key=self._ranks.__getitem__))

    def users(self, number: int) -> frozenset[int]:
        """Return the ids of the merges that a type takes part in, unordered."""
        index, values = self._by_part, self._parts
        if index is None or len(values) > _TAIL + index.count:
            index = self._by_part = _Index(values)
        places = index.places(values, number)
        owners = self._owners[places]
        starts, ends = self._spans[owners].T
        return frozenset(owners[(starts <= places) & (places < ends)].tolist())

    def fan_out(self, number: int) -> int:
        """Return the number of merges that a type takes part in."""
        return len(self.users(number))

    def producer(self, type_: int | str) -> int:
        """Return the id of *the* merge of a type: the one of lowest rank that produces it."""
        number = self.id_of(type_) if isinstance(type_, str) else type_
        incoming = self.incoming(number)
        if not incoming:
            raise EditError(f"“{self.types[number]}” is an atom: no merge produces it.")
        return incoming[0]

    def origin(self, number: int) -> Origin:
        """Return how a merge came to be as it is."""
        return self._origins.get(number, "original")

    def columns(self, ids: npt.NDArray[np.int32] | None = None) -> MergeColumns:
        """Return all present merges as columns, in order of rank, or those with these ids."""
        if ids is None:
            if self._order is None:
                present = np.flatnonzero(self._spans[:, 1]).astype(np.int32)
                self._order = present[np.argsort(self._ranks[present], kind="stable")]
            ids = self._order
        starts, ends = self._spans[ids].T
        places, offsets = ranges(starts, ends)
        return MergeColumns(ids, self._ranks[ids], self._parts[places], offsets, self._results[ids])

    def merges(self, ids: npt.NDArray[np.int32] | None = None) -> dict[int, Merge]:
        """Return all present merges by id, in order of rank, or those with these ids."""
        numbers, ranks, flat, offsets, results = (each.tolist() for each in self.columns(ids))
        parts = (tuple(flat[start:end]) for start, end in pairwise(offsets))
        return dict(zip(numbers, map(Merge, ranks, parts, results), strict=True))

    def tuple_merges(self) -> dict[int, Merge]:
        """Return the present merges of three parts or more by id, in order of rank."""
        merges = self.columns()
        return self.merges(merges.ids[merges.widths > 2])

    @property
    def has_tuples(self) -> bool:
        """Whether a merge has three parts or more."""
        return bool((self._spans[:, 1] - self._spans[:, 0] > 2).any())

    def producers(self) -> npt.NDArray[np.int32]:
        """Return the id of *the* merge of each type; -1 for types that no merge makes."""

        def found() -> npt.NDArray[np.int32]:
            merges = self.columns()
            producers = np.full(len(self.types), -1, np.int32)
            producers[merges.results[::-1]] = merges.ids[::-1]
            return producers

        return self.derived(("producers", len(self.types)), found)

    def levels(self) -> Mapping[int, int]:
        """Return the rank with which each present merge competes, by id, in order of rank.

        It is that of the first merge that it ties with: its own if there is none.
        """

        def found() -> dict[int, int]:
            levels: dict[int, int] = {}
            before: int | None = None
            merges = self.columns()
            for number, rank in zip(merges.ids.tolist(), merges.ranks.tolist(), strict=True):
                tie = self.ties.get(number)
                if tie is None or tie != before:
                    level = rank
                levels[number], before = level, tie
            return levels

        return self.derived("levels", found)

    def merge_ids(self) -> list[int]:
        """Return the ids of all present merges in order of rank."""
        return cast(list[int], self.columns().ids.tolist())

    def type_ids(self) -> list[int]:
        """Return the ids of all present types."""
        return cast(list[int], self._present().tolist())

    def _present(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(np.frombuffer(bytes(self._alive), np.uint8))

    def added_atoms(self) -> tuple[str, ...]:
        """Return the present types that edits added to the alphabet."""
        first = self.loaded_type_count
        if len(self.types) == first:
            return ()
        is_atom = np.frombuffer(bytes(self._alive[first:]), np.uint8).copy()
        results = self._results[(self._results >= first) & (self._spans[:, 1] > 0)]
        is_atom[results - first] = 0
        return tuple(self.types[first + n] for n in np.flatnonzero(is_atom).tolist())

    @property
    def type_count(self) -> int:
        """The number of types present."""
        return sum(self._alive)

    @property
    def loaded_size(self) -> int:
        """The number of types that were present before any edit."""
        return self.loaded_type_count - len(self.absent)

    @property
    def merge_count(self) -> int:
        """The number of merges present."""
        return int(np.count_nonzero(self._spans[:, 1]))

    def describe(self, merge: int, names: Sequence[str] | None = None) -> str:
        """Return a merge as one line of text, with the type strings or other ``names``."""
        shown = self.types if names is None else names
        _, parts, result = self.merge(merge)
        return f"{' + '.join(shown[part] for part in parts)} → {shown[result]}"

    # ----------------------------------------------------------------------------- identity

    @property
    def state(self) -> State:
        """The identity of types and merges: equal if and only if these, and their ranks, are.

        Whether pieces stay whole is part of it.
        """
        return self._named()[0]

    @property
    def numbered(self) -> State:
        """The identity of types and merges with their ids, within this process."""
        return self._named()[1]

    def derived(self, question: Hashable, make: Callable[[], T]) -> T:
        """Return the answer to a question about the present state, ids included, computed once.

        It is kept here until the state has a name, which takes time, and then in the cache.
        """
        if self._place.sums is not None:
            return self.cache.get(self.numbered, question, make)
        answer: T | None = self._unnamed.get(question)
        if answer is None:
            answer = self._unnamed[question] = make()
        return answer

    def _named(self) -> tuple[State, State]:
        place = self._place
        if place.names is None:
            if place.sums is None:
                place.sums = self._sums_of(self._present(), np.flatnonzero(self._spans[:, 1]))
            plain, numbered = (State(s.tobytes().hex()) for s in (place.sums[:, 0], place.sums))
            if self.never_whole is not None:
                merged = sorted(map(self.types.__getitem__, self.never_whole))
                plain, numbered = State.of(plain, merged), State.of(numbered, merged)
            for question, answer in list(self._unnamed.items()):
                self.cache.get(numbered, question, repeat(answer).__next__)
            place.names = plain, numbered
            self._unnamed.clear()
        return place.names

    def _sums_of(self, types: npt.NDArray[np.int64], merges: npt.NDArray[np.int64]) -> Hashes:
        """Return what these present types and merges add to the sums.

        uint64 (2, 2), first without ids, then with: those are comparable only within a process.
        Sums of two states differ by the sums of what they do not share.
        """
        hashes = self._hashes
        hashed = 0 if hashes is None else hashes.shape[1]
        if hashes is None or hashed < len(self.types):
            new = _hash_types(self.types[hashed:], self.labels[hashed:])
            hashes = self._hashes = new if hashes is None else np.append(hashes, new, axis=1)
        columns = self.columns(merges.astype(np.int32))
        tied = [self.ties.get(n, -1) + 1 for n in columns.ids.tolist()] if self.ties else [0]
        plain = hashes[:, types], _hash_merges(columns, hashes, tied)
        ids: tuple[npt.NDArray[Any], ...] = types, columns.ids
        numbered = [_labelled(one + _SECRET, n) for one, n in zip(plain, ids, strict=True)]
        sums = [one.sum(axis=1) + other.sum(axis=1) for one, other in (plain, numbered)]
        stacked: Hashes = np.stack(sums, axis=1)
        return stacked

    def _sums_of_present(self, types: Iterable[int], merges: Iterable[int]) -> Hashes:
        """Return the contribution of the present ones of these types and merges to the sums."""
        there = [n for n in dict.fromkeys(types) if n < len(self._alive) and self._alive[n]]
        limit, ends = len(self._ranks), self._spans[:, 1]
        present_merges = [n for n in dict.fromkeys(merges) if n < limit and ends[n]]
        return self._sums_of(np.array(there, np.int64), np.array(present_merges, np.int64))

    # ----------------------------------------------------------------------------- changing

    def _know(self, text: str) -> int:
        """Return the id of a present or former type; a new one gets the next, still absent."""
        number = self.ids.get(text)
        if number is None:
            if not self._owns_names:
                self.types, self.ids, self._owns_names = self.types.copy(), self.ids.copy(), True
            number = self.ids[text] = len(self.types)
            self.types.append(text)
            self.longest_type = max(self.longest_type, len(text))
            self._alive.append(False)
        return number

    def _share(self, other: Self) -> None:
        """Share data with another table, a shallow copy, until one changes them."""
        self._owns_names = other._owns_names = False
        other._alive, other._origins = self._alive.copy(), self._origins.copy()

    def new_merge_ids(self) -> Iterator[int]:
        """Yield ids that no merge has or had, for a change that adds merges."""
        return count(len(self._ranks))

    def _enter(self, place: Place) -> None:
        """Be in another state."""
        self._place, self._unnamed, self._order = place, {}, None

    def _edit(
        self,
        gone: Iterable[int],
        moved: npt.NDArray[np.int64],
        parts: Mapping[int, Parts],
        added: Mapping[int, Merge],
    ) -> None:
        """Remove merges, give some another rank (``moved``: id, rank) or other parts; add some."""
        if len(self._parts) > 2 * len(self._loaded.parts) + 100 * _TAIL:
            self._forget_old_parts()
        new = MergeColumns.of(added)
        parts = {**parts, **{number: merge.parts for number, merge in added.items()}}
        ids = np.fromiter(parts, np.int32, len(parts))
        widths = np.fromiter(map(len, parts.values()), np.int64, len(parts))
        flat = np.fromiter(chain.from_iterable(parts.values()), np.int32, int(widths.sum()))
        ends = len(self._parts) + np.cumsum(widths)
        more = max(0, 1 + int(new.ids.max(initial=-1)) - len(self._ranks))
        self._parts = np.append(self._parts, flat)
        self._owners = np.append(self._owners, np.repeat(ids, widths))
        self._spans = np.append(self._spans, np.zeros((more, 2), np.int64), axis=0)
        self._spans[list(gone)] = 0
        self._spans[ids] = np.stack([ends - widths, ends], axis=1)
        self._ranks = np.append(self._ranks, np.zeros(more, np.int64))
        self._ranks[moved[:, 0]] = moved[:, 1]
        self._ranks[new.ids] = new.ranks
        self._results = np.append(self._results, np.zeros(more, np.int32))
        self._results[new.ids] = new.results

    def _forget_old_parts(self) -> None:
        """Keep only parts that merges have now, after many edits."""
        kept = self.columns(np.flatnonzero(self._spans[:, 1]).astype(np.int32))
        self._parts, self._owners = kept.parts, np.repeat(kept.ids, kept.widths)
        self._spans, self._by_part = np.zeros_like(self._spans), None
        self._spans[kept.ids] = np.stack([kept.part_offsets[:-1], kept.part_offsets[1:]], axis=1)

    def misplaced(self) -> list[int]:
        """Return the ids of types that no well-formed merge makes: some part comes too late.

        Well-formed: each part of a merge is an atom or made by a merge of strictly lower rank. Some
        of them are formed nevertheless, because a merge applies whenever its parts are there; for
        the others, see `tokeniser.merging.unreachable_types`.
        """
        merges = self.columns()
        is_made = np.zeros(len(self.types), bool)
        is_made[merges.results] = True
        formed = (~is_made).tolist()
        flat = merges.parts.tolist()
        bounds = pairwise(merges.part_offsets.tolist())
        for (start, end), result in zip(bounds, merges.results.tolist(), strict=True):
            if not formed[result]:
                formed[result] = all(map(formed.__getitem__, flat[start:end]))
        return [number for number, is_formed in enumerate(formed) if not is_formed]
