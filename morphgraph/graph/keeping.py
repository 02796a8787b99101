"""Plan of a portable edit after which types that used removed ones are still formed.

A merge of a type whose own letters were joined through a removed type before applies, at any rank,
only where that removed type took part. So such a merge may move without changing other texts; a
new type may not, and comes after all merges, where it changes least.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

import numpy as np

from morphgraph.graph.atoms import TypeAtoms
from morphgraph.graph.merge_table import Change, Merge, MergeTable, Parts, Rewired
from morphgraph.graph.plans import PlannedIds, RankKey, merge_pairs, reranked

_ROUNDS = 5


def affected_types(graph: MergeTable) -> list[int]:
    """Return what tuple merges make, and all that is made of it, by the rank of its merge.

    >>> graph = MergeTable.from_merges([("a", "b", "c"), ("abc", "d"), ("c", "d")])
    >>> [graph.types[number] for number in affected_types(graph)]
    ['abc', 'abcd']
    """
    return _in_order(graph, (merge.result for merge in graph.tuple_merges().values()))


def _in_order(graph: MergeTable, types: Iterable[int]) -> list[int]:
    """Return types that merges make, and all that is made of them, by the rank of their merges."""
    waiting = list(dict.fromkeys(types))
    found = set(waiting)
    while waiting:
        users = graph.users(waiting.pop())
        new = {graph.merge(user).result for user in users} - found
        found |= new
        waiting += new
    made = [(graph.merge(graph.incoming(n)[0]).rank, n) for n in found if graph.incoming(n)]
    return [number for _, number in sorted(made)]


def plan_keeping(
    graph: MergeTable, drop: Iterable[str] = (), room: int = 0, never: Collection[int] = ()
) -> Change:
    """Give each affected type a pair merge that forms it from its letters, or remove the type.

    The pair are the two tokens that these letters are otherwise cut into, and merges at the old
    rank, or, if it comes about only later, right after that. Three tokens or more need a new type
    each to be joined, which merges after all others: at most ``room``, and one more for each type
    that is given up for it, those that the most types are made of first. ``drop``: types that go in
    any case; ``never``: ids of those that must not come back.

    >>> graph = MergeTable.from_merges([("a", "b", "c"), ("b", "c")])
    >>> change = plan_keeping(graph)
    >>> merge, = change.rewired
    >>> [graph.types[part] for part in merge.new_parts], change.reranked.tolist()
    (['a', 'bc'], [[1, 1, 0], [0, 0, 1]])
    """
    drop = sorted(set(drop))
    plan = Keeping(graph, set(map(graph.id_of, drop)), never)
    plan.settle()
    if room:
        plan.spend(room)
    plan.finish()
    return plan.change({"edit": "portable", "drop": drop, "room": room})


def missing_types(
    before: MergeTable, after: MergeTable, types: Iterable[int]
) -> dict[int, tuple[list[str], str]]:
    """Return the tokens of types that `plan_keeping` gave up, and the new type that would help.

    That type is “” if all that would join two tokens is or was there.

    >>> before = MergeTable.from_merges([("a", "b", "c")])
    >>> missing_types(before, MergeTable("abc", []), [before.ids["abc"]])
    {3: (['a', 'b', 'c'], 'ab')}
    """
    plan, found = Keeping(after, ()), {}
    for type_ in types:
        plan.atoms.of(before, [type_])  # known, it is not looked up in the state after
        tokens, _ = plan.cut(type_)
        pair = plan.joined(tokens)
        text = "" if pair is None else "".join(map(after.types.__getitem__, pair))
        found[type_] = [after.types[token] for token in tokens], text
    return found


class Keeping:
    """All merges as they are kept, and those of affected types one by one."""

    def __init__(
        self, graph: MergeTable, drop: Collection[int], never: Collection[int] = ()
    ) -> None:
        self.graph, self.never, self.atoms = graph, {*never, *drop}, TypeAtoms()
        merges = graph.columns()
        self.affected = _in_order(graph, {*drop, *merges.results[merges.widths > 2].tolist()})
        self.order = [number for number in self.affected if number not in drop]
        levels = merges.ranks
        if graph.ties:
            levels = np.fromiter(graph.levels().values(), np.int64, len(levels))
        self.homes: dict[int, tuple[int, RankKey]] = {}
        """Of each affected type: the id and the place of its merge before."""
        for type_ in self.affected:
            number = graph.incoming(type_)[0]
            at = np.searchsorted(merges.ranks, graph.merge(number).rank)
            self.homes[type_] = number, (int(levels[at]), 0)
        stays = ~np.isin(merges.results, self.affected)
        self.removed = graph.merges(merges.ids[~stays])
        self.others, self.levels = graph.columns(merges.ids[stays]), levels[stays]
        """The merges of all other types, which are kept as they are, and their levels."""
        columns = *self.others.parts.reshape(-1, 2).T, self.levels, self.others.results
        rows = zip(*(column[::-1].tolist() for column in columns), strict=True)
        self.pairs: dict[Parts, tuple[RankKey, int]] = {
            (left, right): ((level, 0), result) for left, right, level, result in rows
        }
        """For each pair that is merged: the place of its first merge, and what that makes."""
        self.made: dict[int, tuple[RankKey, int, Parts]] = {}
        """For each affected or new type that is formed: its merge's place, id and parts."""
        self.new: list[str] = []
        """New types: their numbers are -1, -2, … here."""
        self.last, self.serial, self.new_ids = (
            1 + int(levels.max(initial=0)),
            0,
            graph.new_merge_ids(),
        )

    def _make(self, type_: int, number: int, parts: Parts, key: RankKey) -> None:
        self.made[type_] = key, number, parts
        self.pairs[parts] = key, type_

    def _lose(self, type_: int) -> None:
        del self.pairs[self.made.pop(type_)[2]]

    def _behind(self, level: int) -> RankKey:
        self.serial += 1
        return level, self.serial

    def cut(self, type_: int) -> tuple[list[int], RankKey]:
        """Return the tokens of a type's letters, and the place of the last merge among them."""
        tokens = self.atoms.of(self.graph, [type_])
        return tokens, merge_pairs(tokens, self.pairs.get)

    def _settle(self, type_: int) -> bool:
        """Form a type by the two tokens of its letters, if there are two; else leave it out."""
        if type_ in self.made:
            self._lose(type_)
        tokens, last = self.cut(type_)
        if len(tokens) != 2:
            return False
        number, home = self.homes[type_]
        self._make(type_, number, tuple(tokens), home if last < home else self._behind(last[0]))
        return True

    def settle(self) -> None:
        """Form all affected types that can be, in order, until none is formed otherwise."""
        before: dict[int, Parts] | None = None
        for _ in range(_ROUNDS):
            for type_ in self.order:
                self._settle(type_)
            now = {type_: parts for type_, (_, _, parts) in self.made.items()}
            if now == before:
                break
            before = now

    def spend(self, room: int) -> None:
        """Make new types through which others are formed, where each brings back the most."""
        lost = [type_ for type_ in self.order if type_ not in self.made]
        worth = {n: len(set(lost) & set(_in_order(self.graph, [n]))) for n in lost}
        queue, given_up = sorted(lost, key=lambda type_: -worth[type_]), set[int]()
        while queue:
            tokens, _ = self.cut(queue[0])
            if len(tokens) - 2 > room and len(queue) > 1:
                last = queue.pop()
                if not self._settle(last) and last < self.graph.loaded_type_count:
                    given_up.add(last)  # so its id is free
                    room += 1
                continue
            type_ = queue.pop(0)
            while len(tokens) > 2 and room and (pair := self.joined(tokens)):
                self.new.append("".join(map(self._text, pair)))
                self._make(-len(self.new), next(self.new_ids), pair, self._behind(self.last))
                tokens, room = self.cut(type_)[0], room - 1
            self._settle(type_)
        for type_ in lost:
            is_paid = type_ in given_up
            if type_ not in self.made and room >= is_paid and self._settle(type_):
                room -= is_paid

    def _text(self, type_: int) -> str:
        return self.graph.types[type_] if type_ >= 0 else self.new[-1 - type_]

    def joined(self, tokens: list[int]) -> Parts | None:
        """Return the two neighbours that make the longest type that may be new; None if none do."""
        options = []
        for at, pair in enumerate(pairwise(tokens)):
            text = "".join(map(self._text, pair))
            number = self.graph.ids.get(text, self.graph.loaded_type_count)
            is_known = number < self.graph.loaded_type_count or number in self.never
            if not is_known and text not in self.graph and text not in self.new:
                options.append((-len(text), at, pair))
        return min(options)[2] if options else None

    def finish(self) -> None:
        """Leave out what is not formed after all, and new types that no type is made of."""
        before = -1
        while before != len(self.made):
            before = len(self.made)
            for type_, (key, _, parts) in list(self.made.items()):
                is_late = any(self.made[part][0] >= key for part in parts if part in self.made)
                if is_late or (type_ >= 0 and self.cut(type_)[0] != [type_]):
                    self._lose(type_)
            used = {part for _, _, parts in self.made.values() for part in parts}
            for type_ in [number for number in self.made if number < 0 and number not in used]:
                self._lose(type_)

    def change(self, step: Mapping[str, object]) -> Change:
        """Return all as one change, with ranks from 0 without gaps."""
        graph, planned, others = self.graph, PlannedIds(self.graph), self.others
        new = sorted((number for number in self.made if number < 0), reverse=True)
        ids = {number: planned.of(self._text(number)) for number in new}
        order = sorted(self.made, key=lambda type_: self.made[type_][0])
        # How many of the other merges come before each.
        places = np.array([self.made[type_][0] for type_ in order], np.int64).reshape(-1, 2)
        before = np.searchsorted(self.levels, places[:, 0] + (places[:, 1] > 0))
        ranks = (before + np.arange(len(order))).tolist()
        removed, rewired, added = dict(self.removed), [], {}
        moved = reranked(
            others,
            np.arange(len(others.ids))
            + np.searchsorted(before, np.arange(len(others.ids)), "right"),
        ).tolist()
        for type_, rank in zip(order, ranks, strict=True):
            _, number, parts = self.made[type_]
            parts = tuple(ids.get(part, part) for part in parts)
            was = removed.pop(number, None)
            if was is None:
                added[number] = Merge(rank, parts, ids[type_])
                continue
            if was.parts != parts:
                rewired.append(Rewired(number, was.parts, parts, "portable"))
            if was.rank != rank:
                moved.append([number, was.rank, rank])
        gone = set(self.affected).difference(self.made, graph.fixed)
        return Change(
            step,
            tuple(sorted(gone)),
            removed,
            tuple(rewired),
            tuple(ids.values()),
            planned.new,
            added,
            np.array(moved, np.int64).reshape(-1, 3),
            origins={entry.merge: (graph.origin(entry.merge), "split") for entry in rewired}
            | dict.fromkeys(added, ("original", "reified")),
        )
