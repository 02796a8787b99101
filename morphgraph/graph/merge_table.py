"""The record of an edit of a merge graph: enough to undo, redo and display it."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import chain, count
from typing import Any, Literal, NamedTuple, Self, TypeVar

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

Cause = Literal["knockout", "repair", "reify"]


class Merge(NamedTuple):
    """A merge: its rank, the types that it joins (ids, two or more) and the type that it makes."""

    rank: int
    parts: tuple[int, ...]
    result: int

    @property
    def is_tuple(self) -> bool:
        """Whether it joins three or more parts."""
        return len(self.parts) > 2


class Rewired(NamedTuple):
    """A merge that kept its result but got other parts, and the reason."""

    merge: int
    old_parts: tuple[int, ...]
    new_parts: tuple[int, ...]
    cause: Cause = "knockout"


Reranked = tuple[int, int, int]
"""A merge that only moved in the order: its id, its old and its new rank."""


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

    ``step`` is the edit as data (one entry of a recipe): its name and arguments, in terms of type
    strings, so that it can be replayed on another copy of the same tokeniser. Types and merges are
    named by their ids in the graph. ``removed_merges`` and ``added_merges`` map the id to the merge
    as it was or is. ``new_types``: those that never existed before the edit, with their new ids.
    A merge may be rewired more than once, in this order. ``origins`` maps a merge
    to its origin before and after.
    """

    step: Mapping[str, Any]
    removed_types: tuple[int, ...] = ()
    removed_merges: Mapping[int, Merge] = field(default_factory=dict)
    rewired: tuple[Rewired, ...] = ()
    added_types: tuple[int, ...] = ()
    new_types: Mapping[str, int] = field(default_factory=dict)
    added_merges: Mapping[int, Merge] = field(default_factory=dict)
    reranked: tuple[Reranked, ...] = ()
    reified: tuple[Reified, ...] = ()
    origins: Mapping[int, tuple[Origin, Origin]] = field(default_factory=dict)

    @property
    def touched(self) -> set[int]:
        """Ids of the merges that were removed, added, rewired or moved."""
        merges = {*self.removed_merges, *self.added_merges}
        merges.update([entry.merge for entry in self.rewired])
        merges.update([number for number, *_ in self.reranked])
        return merges

    @property
    def is_empty(self) -> bool:
        """Whether the edit changed nothing."""
        types = self.removed_types or self.added_types
        merges = self.removed_merges or self.added_merges or self.rewired or self.reranked
        return not (types or merges)

    @property
    def edit(self) -> str:
        """The name of the edit: knockout, cascade, anneal, reify or renumber."""
        return str(self.step["edit"])

    def counts(self) -> dict[str, int]:
        """Return the numbers of merges annealed, removed, split, repaired, linked and created.

        ``removed`` counts merges; ``atoms`` the types that annealing added to the alphabet; linked
        and created are pair merges. Zeros are left out.
        """
        causes = Counter(entry.cause for entry in self.rewired)
        created = sum(entry.created for entry in self.reified)
        new_results = {merge.result for merge in self.added_merges.values()}
        found = {
            "atoms": sum(number not in new_results for number in self.added_types),
            "annealed": len(self.added_merges) - created,
            "removed": len(self.removed_merges),
            "split": causes["knockout"],
            "repaired": causes["repair"],
            "linked": len(self.reified) - created,
            "created": created,
        }
        return {kind: number for kind, number in found.items() if number}


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


def _hash_merges(merges: Collection[Merge], types: Hashes, ties: Sequence[int]) -> Hashes:
    """Hashes of merges, of rank, tie, result and parts; ``types``: hashes of all types by id."""
    count = len(merges)
    if not count:
        return np.zeros((2, 0), np.uint64)
    ranks, parts, results = zip(*merges, strict=True)
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, count))
    starts = np.append(0, ends[:-1])
    place = np.arange(int(ends[-1])) - np.repeat(starts, ends - starts)
    of_parts = types[:, np.fromiter(chain.from_iterable(parts), np.int64, len(place))]
    found = np.add.reduceat(_labelled(of_parts, place), starts, axis=1)
    found += _mixed(types[:, np.array(results)] + _SEEDS)
    found += _mixed(_numbers(ranks) * _SEEDS)
    found += _mixed(_numbers(ties) * _STEPS)
    return _mixed(found)


def _labelled(hashes: Hashes, numbers: Sequence[int] | npt.NDArray[np.int64]) -> Hashes:
    """Return hashes of items, each combined with a number."""
    return _mixed(hashes + _numbers(numbers) * _STEPS)


def _numbers(values: Sequence[int] | npt.NDArray[np.int64]) -> Hashes:
    return np.asarray(values, np.int64).astype(np.uint64) + np.uint64(1)


def _sums(
    types: Hashes, present: Sequence[int], merges: Mapping[int, Merge], ties: Mapping[int, int]
) -> Hashes:
    """Return the sums of types and merges: uint64 (2, 2), first without ids, then with them.

    ``types``: hashes of all types by id; ``present``: the ids of those to count. ``merges``: by id.
    Sums of two states differ by the sums of what they do not share. Those with ids are comparable
    only within a process.
    """
    of_types = types[:, np.fromiter(present, np.int64, len(present))]
    tied = [ties.get(number, -1) + 1 for number in merges] if ties else [0] * len(merges)
    of_merges = _hash_merges(merges.values(), types, tied)
    with_ids = [
        _labelled(of_types + _SECRET, present),
        _labelled(of_merges + _SECRET, list(merges)),
    ]
    found: Hashes = np.stack(
        [one.sum(axis=1) + other.sum(axis=1) for one, other in ((of_types, of_merges), with_ids)],
        axis=1,
    )
    return found


# ----------------------------------------------------------------------------- the table

T = TypeVar("T")


class EditError(MorphGraphError):
    """An edit that the graph cannot make, with the reason."""


@dataclass(slots=True)
class Place:
    """A state that a table and its copies are or were in: what it adds up to, once it is named."""

    sums: Hashes | None = None
    names: tuple[State, State] | None = None


class MergeTable:
    """Types, the merges between them, and which merge makes and uses which type.

    A type is named by its id, a position in ``types``; a merge by its id, its position in the list
    that the table was built from, or a later number if it was added. A present or
    former type keeps its id, and no id of a merge is reused, so records of past edits stay valid.
    ``fixed`` types cannot be removed, though a merge produces them: added tokens, for instance.
    ``ties``: a number for some of the merges listed, by id. Merges of the same number whose ranks
    follow each other are equally good: of those, the leftmost in a word is applied first.
    ``labels``: numbers that the first types have elsewhere, by which they differ from others of the
    same string. ``cache``: what was derived from the states of this table and of its copies.
    ``family``: equal to itself only, and the same for all copies, to keep what no edit changes.
    """

    def __init__(
        self,
        types: Sequence[str],
        merges: Iterable[Merge],
        fixed: Iterable[int] = (),
        ties: Mapping[int, int] | None = None,
        labels: Sequence[int] = (),
    ) -> None:
        self.fixed = frozenset(fixed)
        self.labels = labels
        self.ties: Mapping[int, int] = ties or {}
        self.types: list[str] = list(types)
        self.ids: dict[str, int] = {text: number for number, text in enumerate(self.types)}
        if len(self.ids) != len(self.types):
            raise EditError("A type is listed twice. Give every type once.")
        self.longest_type = max(map(len, self.types), default=0)
        """Characters of the longest type that is or was there."""
        self._loaded_types = len(self.types)
        self._loaded: tuple[Merge, ...] = tuple(merges)
        self._merges: list[Merge | None] = list(self._loaded)
        self._order: npt.NDArray[np.int32] | None = None
        self._origins: dict[int, Origin] = {}
        self._alive = bytearray([True]) * len(self.types)
        self._incoming: list[list[int]] = [[] for _ in self.types]
        self._outgoing: list[set[int]] = [set() for _ in self.types]
        self._owns_names = True
        self._owned: set[int] | None = None
        """The types whose lists of merges are not shared with other tables; None: all of them."""
        for number, (_, parts, result) in enumerate(self._loaded):
            self._incoming[result].append(number)
            for part in parts:
                self._outgoing[part].add(number)
        for producers in self._incoming:
            if len(producers) > 1:
                producers.sort(key=lambda number: self.merge(number).rank)
        self.cache = Cache()
        self.family = object()
        self._hashes: Hashes | None = None
        self._place = Place()
        self._unnamed: dict[Hashable, Any] = {}
        self._listed: dict[int, Merge] | None = None

    @classmethod
    def from_merges(cls, merges: Iterable[Sequence[str]], alphabet: Iterable[str] = ()) -> Self:
        """Build a graph from parts alone, in order of rank; the result is their concatenation.

        Types come in order of first appearance: ``alphabet``, then parts and results of each merge.
        """
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

    def is_present(self, number: int) -> bool:
        """Return whether the type with this id has not been removed."""
        return bool(self._alive[number])

    def is_removable(self, number: int) -> bool:
        """Return whether this type can be knocked out: a merge produces it, and it is not fixed."""
        return bool(self._incoming[number]) and number not in self.fixed

    def is_atom(self, number: int) -> bool:
        """Return whether no merge produces this type."""
        return self.is_present(number) and not self._incoming[number]

    def merge(self, number: int) -> Merge:
        """Return the present merge with this id."""
        merge = self._merges[number]
        if merge is None:
            raise EditError(f"Merge {number} has been removed.")
        return merge

    def has_merge(self, number: int) -> bool:
        """Return whether the merge with this id has not been removed."""
        return self._merges[number] is not None

    def incoming(self, number: int) -> tuple[int, ...]:
        """Return the ids of the merges that produce a type, lowest rank first: M_i(t)."""
        return tuple(self._incoming[number])

    def outgoing(self, number: int) -> tuple[int, ...]:
        """Return the ids of the merges that a type takes part in, lowest rank first: M_o(t)."""
        return tuple(sorted(self._outgoing[number], key=lambda merge: self.merge(merge).rank))

    def users(self, number: int) -> frozenset[int]:
        """Return the ids of the merges that a type takes part in, unordered."""
        return frozenset(self._outgoing[number])

    def fan_out(self, number: int) -> int:
        """Return the number of merges that a type takes part in."""
        return len(self._outgoing[number])

    def producer(self, type_: int | str) -> int:
        """Return the id of *the* merge of a type: the one of lowest rank that produces it."""
        number = self.id_of(type_) if isinstance(type_, str) else type_
        if not self._incoming[number]:
            raise EditError(f"“{self.types[number]}” is an atom: no merge produces it.")
        return self._incoming[number][0]

    def origin(self, number: int) -> Origin:
        """Return how a merge came to be as it is."""
        return self._origins.get(number, "original")

    def merges(self) -> Mapping[int, Merge]:
        """All present merges by id, in order of rank; sorted only after relevant changes."""
        if self._listed is None:  # many objects: each state of each visitor's would be too many
            merges = self._merges
            if self._order is None:
                present = [(n, merge.rank) for n, merge in enumerate(merges) if merge is not None]
                numbers, ranks = np.array(present, np.int64).reshape(-1, 2).T
                self._order = numbers[np.argsort(ranks, kind="stable")].astype(np.int32)
            order = self._order.tolist()
            self._listed = {n: merge for n in order if (merge := merges[n]) is not None}
        return self._listed

    @property
    def has_tuples(self) -> bool:
        """Whether a merge has three parts or more."""
        return self.derived(
            "has tuples",
            lambda: any(merge is not None and len(merge.parts) > 2 for merge in self._merges),
        )

    def levels(self) -> Mapping[int, int]:
        """Return the rank with which each present merge competes, by id, in order of rank.

        It is that of the first merge that it ties with: its own if there is none.
        """

        def found() -> dict[int, int]:
            levels: dict[int, int] = {}
            before: int | None = None
            for number, merge in self.merges().items():
                tie = self.ties.get(number)
                if tie is None or tie != before:
                    level = merge.rank
                levels[number], before = level, tie
            return levels

        return self.derived("levels", found)

    def merge_ids(self) -> list[int]:
        """Return the ids of all present merges in order of rank."""
        return list(self.merges())

    def type_ids(self) -> list[int]:
        """Return the ids of all present types."""
        return [number for number, alive in enumerate(self._alive) if alive]

    def added_atoms(self) -> tuple[str, ...]:
        """Return the present types that edits added to the alphabet."""
        added = range(self._loaded_types, len(self.types))
        return tuple(self.types[n] for n in added if self._alive[n] and not self._incoming[n])

    @property
    def loaded_type_count(self) -> int:
        """The number of types before any edit; their ids are the lowest."""
        return self._loaded_types

    @property
    def last_rank(self) -> int:
        """The highest rank of a present merge; -1 if there is none."""
        return max((merge.rank for merge in self._merges if merge is not None), default=-1)

    @property
    def merge_id_limit(self) -> int:
        """A number above every id that a merge has or had."""
        return len(self._merges)

    @property
    def type_count(self) -> int:
        """The number of types present."""
        return sum(self._alive)

    @property
    def merge_count(self) -> int:
        """The number of merges present."""
        return len(self._merges) - self._merges.count(None)

    def describe(self, merge: int, names: Sequence[str] | None = None) -> str:
        """Return a merge as one line of text, with the type strings or other ``names``."""
        shown = self.types if names is None else names
        _, parts, result = self.merge(merge)
        return f"{' + '.join(shown[part] for part in parts)} → {shown[result]}"

    # ----------------------------------------------------------------------------- identity

    @property
    def state(self) -> State:
        """The identity of types and merges: equal if and only if these, and their ranks, are."""
        return self._named()[0]

    @property
    def numbered(self) -> State:
        """The identity, within this process, of types and merges with their ids in this table.

        Results that contain ids are cached by this.
        """
        return self._named()[1]

    def derived(self, question: Hashable, make: Callable[[], T]) -> T:
        """The answer to a question about the present state, ids included: made only once.

        It is in the cache if the state has been named; naming it takes a while, so else it is kept
        here, until the state is named or another one.
        """
        if self._place.sums is not None:
            return self.cache.get(self.numbered, question, make)
        found: T | None = self._unnamed.get(question)
        if found is None:
            found = self._unnamed[question] = make()
        return found

    def _named(self) -> tuple[State, State]:
        place = self._place
        if place.names is None:
            if place.sums is None:
                place.sums = self._sums_of(range(len(self.types)), range(len(self._merges)))
            plain, numbered = place.sums[:, 0].tobytes().hex(), place.sums.tobytes().hex()
            for question, answer in list(self._unnamed.items()):
                self.cache.get(State(numbered), question, partial(_given, answer))
            place.names = State(plain), State(numbered)
            self._unnamed.clear()
        return place.names

    def _sums_of(self, types: Iterable[int], merges: Iterable[int]) -> Hashes:
        """Return the contribution of the present ones of these types and merges to the sums."""
        hashes = self._hashes
        hashed = 0 if hashes is None else hashes.shape[1]
        if hashes is None or hashed < len(self.types):
            new = _hash_types(self.types[hashed:], self.labels[hashed:])
            hashes = self._hashes = new if hashes is None else np.append(hashes, new, axis=1)
        present = [n for n in types if n < len(self._alive) and self._alive[n]]
        limit, listed = len(self._merges), self._merges
        found = {n: merge for n in merges if n < limit and (merge := listed[n]) is not None}
        return _sums(hashes, present, found, self.ties)

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
            self._incoming.append([])
            self._outgoing.append(set())
        return number

    def _share(self, other: Self) -> None:
        """Share data with another table, a shallow copy, until one changes them.

        There are many copies of one large file, each with a few edits of its own.
        """
        for table in (self, other):
            table._owns_names, table._owned = False, set()
        other._merges, other._alive = self._merges.copy(), self._alive.copy()
        other._origins = self._origins.copy()
        other._incoming, other._outgoing = self._incoming.copy(), self._outgoing.copy()

    def _own(self, number: int) -> None:
        """Unshare the lists of a type's merges, to change them."""
        if self._owned is not None and number not in self._owned:
            self._incoming[number] = self._incoming[number].copy()
            self._outgoing[number] = self._outgoing[number].copy()
            self._owned.add(number)

    def new_merge_ids(self) -> Iterator[int]:
        """Yield ids that no merge has or had, for a change that adds merges."""
        return count(len(self._merges))

    def _enter(self, place: Place) -> None:
        """Be in another state."""
        self._place, self._unnamed, self._listed = place, {}, None

    def _add(self, number: int, merge: Merge) -> None:
        self._merges += [None] * (number + 1 - len(self._merges))
        self._merges[number] = merge
        self._own(merge.result)
        producers = self._incoming[merge.result]
        producers.append(number)
        producers.sort(key=lambda m: self.merge(m).rank)
        self._use(number, merge.parts)

    def _move(self, number: int, rank: int) -> None:
        _, parts, result = self.merge(number)  # much faster than `_replace`, and often all move
        self._merges[number] = Merge(rank, parts, result)

    def _unlink(self, number: int, merge: Merge) -> None:
        self._merges[number] = None
        self._own(merge.result)
        self._incoming[merge.result].remove(number)
        self._leave(number, merge.parts)

    def _rewire(self, number: int, old: tuple[int, ...], new: tuple[int, ...]) -> None:
        self._merges[number] = self.merge(number)._replace(parts=new)
        self._leave(number, old)
        self._use(number, new)

    def _use(self, number: int, parts: Iterable[int]) -> None:
        for part in parts:
            self._own(part)
            self._outgoing[part].add(number)

    def _leave(self, number: int, parts: Iterable[int]) -> None:
        for part in parts:
            self._own(part)
            self._outgoing[part].discard(number)

    def misplaced(self) -> list[int]:
        """Return the ids of types that no well-formed merge makes: some part comes too late.

        Well-formed: each part of a merge is an atom or made by a merge of strictly lower rank. A
        type is listed if none of its merges has parts that are all formed before it. Some of them
        are formed nevertheless, because a merge applies whenever its parts are there; for the
        others, see `tokeniser.merging.unreachable_types`.
        """
        formed_at: dict[int, int] = {}
        for rank, parts, result in self.merges().values():
            if all(not self._incoming[p] or formed_at.get(p, rank) < rank for p in parts):
                formed_at.setdefault(result, rank)
        return [n for n, ways in enumerate(self._incoming) if ways and n not in formed_at]


def _given(answer: T) -> T:
    return answer
