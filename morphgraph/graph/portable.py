"""Plan of an edit that leaves only pair merges, so that any library can read them."""

from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush
from itertools import pairwise
from typing import cast

import numpy as np

from morphgraph.graph.atoms import TypeAtoms
from morphgraph.graph.merge_table import Change, Merge, MergeTable, Parts, Rewired
from morphgraph.graph.plans import RankKey, merge_pairs, reranked


def plan_portable(
    graph: MergeTable, drop: Iterable[str] = (), usual: "UsualPairs | None" = None
) -> Change:
    """Give each tuple merge two parts, or remove what it makes.

    In order of rank, the string of each type that a tuple merge makes, or a merge whose part is
    gone by now, is segmented by the merges before it. Two tokens become the parts of its merge.
    More are joined through present types, by pair merges just before it, if the type is then
    formed. Else the merge goes, and with its last merge the type. ``drop``: types that go in any
    case. ``usual``: of the graph as it is, for plans that differ in these.

    >>> graph = MergeTable.from_merges([("b", "c"), ("a", "b", "c"), ("x", "y", "z"), ("y", "z")])
    >>> change = plan_portable(graph)
    >>> [[graph.types[part] for part in entry.new_parts] for entry in change.rewired]
    [['a', 'bc'], ['x', 'yz']]
    >>> [[graph.types[part] for part in merge.parts] for merge in change.added_merges.values()]
    [['y', 'z']]
    """
    drop = sorted(set(drop))
    plan = _Plan(usual or UsualPairs(graph), set(map(graph.id_of, drop)))
    plan.take_all()
    plan.drop_useless()
    return plan.change({"edit": "portable", "drop": drop})


_Applied = tuple[RankKey, int, int]
"""A merge of a pair: its level and order there, what it makes, and its place among all."""


class UsualPairs:
    """All merges of a graph, and which of them are pairs that no earlier merge has."""

    def __init__(self, graph: MergeTable) -> None:
        self.graph = graph
        self.atoms = TypeAtoms()
        self.merges = merges = graph.columns()
        self.levels = [*graph.levels().values()] if graph.ties else range(len(merges.ids))
        self.results = merges.results.tolist()
        places = np.flatnonzero(merges.widths == 2)
        pairs = graph.columns(merges.ids[places])
        is_first = pairs.first_of_pairs()
        pairs, places = graph.columns(pairs.ids[is_first]), places[is_first]
        self.others = np.delete(np.arange(len(merges.ids)), places).tolist()
        """The places of all others, in order."""
        left, right = pairs.parts.reshape(-1, 2).T.tolist()
        self._places: dict[Parts, int] = dict(
            zip(zip(left, right, strict=True), places.tolist(), strict=True)
        )
        self._users = np.repeat(np.arange(len(merges.ids)), merges.widths)
        self._users = self._users[np.argsort(merges.parts, kind="stable")]
        counts = np.bincount(merges.parts, minlength=len(graph.types))
        self._starts = np.append(0, np.cumsum(counts))

    def get(self, parts: Parts) -> _Applied | None:
        """Return the merge of a pair."""
        place = self._places.get(parts)
        return None if place is None else ((self.levels[place], 0), self.results[place], place)

    def users(self, type_: int) -> list[int]:
        """Return the places of the merges that a type takes part in, in order."""
        return cast(list[int], self._users[self._starts[type_] : self._starts[type_ + 1]].tolist())


class _Plan:
    """The merges that are kept; those that may change are looked at one by one."""

    def __init__(self, usual: UsualPairs, unwanted: Collection[int]) -> None:
        self.graph, self.usual, self.unwanted = usual.graph, usual, unwanted
        self.merges = usual.merges
        self._changed: dict[Parts, _Applied | None] = {}
        """Of pairs that are not merged as usual, the merge, if there is one."""
        is_made = np.isin(self.merges.results, list(unwanted))
        self.waiting = sorted({*usual.others, *np.flatnonzero(is_made).tolist()})
        """A heap of places to look at: of tuple merges, unwanted and repeated ones, at first."""
        self.paired: dict[int, Parts] = {}
        """The two parts that merges have now, by place."""
        self.added: dict[tuple[int, int], Merge] = {}
        """New merges, by the place that they come before, and by their order there."""
        self.removed: dict[int, Merge] = {}
        """By place."""
        self.gone: set[int] = set()
        self.tokens: dict[int, Parts] = {}
        """What the strings of types were cut into when they were last looked at."""
        self.makers = np.bincount(self.merges.results, minlength=len(self.graph.types)).tolist()

    def take_all(self) -> None:
        """Keep each merge as it is or with two other parts, or remove it, in order of rank."""
        before = -1
        while self.waiting:
            place = heappop(self.waiting)
            if place != before:
                self._take(place)
            before = place

    def _take(self, place: int) -> None:
        rank, parts, result = merge = self._merge(place)
        if (found := self._applied(parts)) and found[2] == place:
            self._changed[parts] = None
        if self._is_applied(parts, place) or result in self.unwanted:
            self._drop(place, merge)  # it would never apply, or must not
        elif len(parts) == 2 and self.gone.isdisjoint(parts):
            self._apply(merge, place)
        else:
            tokens = self._segment(result, place)
            joined: dict[Parts, Merge] = {}
            while len(tokens) > 2 and (new := self._join(tokens, rank)):
                joined[new.parts] = new
            chain = [*joined.values(), Merge(rank, tuple(tokens), result)]
            # A pair that is merged already, after other pairs than these, is not merged once more.
            is_new = not any(self._is_applied(each.parts, place) for each in chain)
            if not (len(tokens) == 2 and is_new and self._pair(chain, place)):
                self._drop(place, merge)

    def _pair(self, chain: list[Merge], place: int) -> bool:
        """Keep a merge with the last one's parts after the others, unless they do not form it."""
        later = {each.parts: self._applied(each.parts) for each in chain}
        for at, each in enumerate(chain, 1 - len(chain)):
            self._apply(each, place, at)
        if len(chain) > 1 and self._segment(chain[-1].result, place) != [chain[-1].result]:
            del self.tokens[chain[-1].result]
            self._changed |= later
            return False
        self.paired[place] = chain[-1].parts
        for at, each in enumerate(chain[:-1]):
            self.added[place, at] = each
            self.makers[each.result] += 1
        for was in filter(None, later.values()):
            heappush(self.waiting, was[2])
        return True

    def _apply(self, merge: Merge, place: int, at: int = 0) -> None:
        level = self.usual.levels[place]
        if self.graph.ties:
            level, at = merge.rank if at else level, 0
        self._changed[merge.parts] = (level, at), merge.result, place

    def _applied(self, parts: Parts) -> _Applied | None:
        """Return the merge of a pair, if there is one now; it may come later."""
        return self._changed[parts] if parts in self._changed else self.usual.get(parts)

    def _is_applied(self, parts: Parts, place: int) -> bool:
        """Whether a merge up to a place has these parts."""
        found = self._applied(parts)
        return found is not None and found[2] <= place

    def _merge(self, place: int) -> Merge:
        return self.graph.merge(int(self.merges.ids[place]))

    def _drop(self, place: int, merge: Merge) -> None:
        self.removed[place] = merge
        self.paired.pop(place, None)
        self._unmake(merge.result)
        if merge.result in self.gone:
            for user in self.usual.users(merge.result):
                if user > place:
                    heappush(self.waiting, user)

    def _unmake(self, type_: int) -> None:
        self.makers[type_] -= 1
        if not self.makers[type_] and type_ not in self.graph.fixed:
            self.gone.add(type_)

    def _segment(self, type_: int, place: int) -> list[int]:
        """Return the tokens of a type's string by the merges kept up to a place."""

        def find(parts: Parts) -> _Applied | None:
            found = self._applied(parts)
            return found if found and found[2] <= place else None

        # What is kept up to a place stays so, and merges after it wait until no other applies.
        before = None if self.graph.ties else self.tokens.get(type_)
        tokens = list(before or self.usual.atoms.of(self.graph, [type_]))
        merge_pairs(tokens, find)
        self.tokens[type_] = tuple(tokens)
        return tokens

    def _join(self, tokens: list[int], rank: int) -> Merge | None:
        """Join the first two tokens that are a present type together; None if none are."""
        types, ids = self.graph.types, self.graph.ids
        for at, parts in enumerate(pairwise(tokens)):
            result = ids.get(types[parts[0]] + types[parts[1]])
            if result is not None and self.makers[result] and result not in self.unwanted:
                tokens[at : at + 2] = [result]
                return Merge(rank, parts, result)
        return None

    def drop_useless(self) -> None:
        """Remove merges whose parts went after them."""
        done: set[int] = set()
        while new := self.gone - done:
            done |= new
            users = {user for type_ in new for user in self.usual.users(type_)}
            paired = {at for at, parts in self.paired.items() if not new.isdisjoint(parts)}
            for place in (users - self.paired.keys() - self.removed.keys()) | paired:
                self._drop(place, self._merge(place))
            for key, merge in list(self.added.items()):
                if not new.isdisjoint(merge.parts):
                    del self.added[key]
                    self._unmake(merge.result)

    def change(self, step: Mapping[str, object]) -> Change:
        """Return all as one change, with ranks from 0 without gaps."""
        if not (self.paired or self.removed):
            return Change(step)
        graph, ids = self.graph, self.merges.ids
        places = np.delete(np.arange(len(ids)), list(self.removed))
        keys = sorted(self.added)
        before = np.array([place for place, _ in keys], np.int64)
        ranks = np.arange(len(places)) + np.searchsorted(before, places, "right")
        new_ranks = np.arange(len(keys)) + np.searchsorted(places, before)
        added = {
            number: self.added[key]._replace(rank=int(rank))
            for key, rank, number in zip(keys, new_ranks, graph.new_merge_ids(), strict=False)
        }
        rewired = [
            Rewired(number, graph.merge(number).parts, parts, "portable")
            for place, parts in sorted(self.paired.items())
            for number in [int(ids[place])]
        ]
        return Change(
            step,
            tuple(sorted(self.gone)),
            {int(ids[place]): merge for place, merge in sorted(self.removed.items())},
            tuple(rewired),
            added_merges=added,
            reranked=reranked(graph.columns(ids[places]), ranks),
            origins={entry.merge: (graph.origin(entry.merge), "split") for entry in rewired}
            | dict.fromkeys(added, ("original", "reified")),
        )
