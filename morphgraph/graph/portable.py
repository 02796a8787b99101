"""Plan of an edit that leaves only pair merges, so that any library can read them."""

from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from morphgraph.graph.atoms import TypeAtoms
from morphgraph.graph.merge_table import Change, Merge, MergeTable, Parts, Rewired
from morphgraph.graph.plans import RankKey, merge_pairs, reranked


def plan_portable(graph: MergeTable, drop: Iterable[str] = ()) -> Change:
    """Give each tuple merge two parts, or remove what it makes.

    In order of rank, the string of each type that a tuple merge makes, or a merge whose part is
    gone by now, is segmented by the merges before it. Two tokens become the parts of its merge.
    More are joined through present types, by pair merges just before it, if the type is then
    formed. Else the merge goes, and with its last merge the type. ``drop``: types that go in any
    case.

    >>> graph = MergeTable.from_merges([("b", "c"), ("a", "b", "c"), ("x", "y", "z"), ("y", "z")])
    >>> change = plan_portable(graph)
    >>> [[graph.types[part] for part in entry.new_parts] for entry in change.rewired]
    [['a', 'bc'], ['x', 'yz']]
    >>> [[graph.types[part] for part in merge.parts] for merge in change.added_merges.values()]
    [['y', 'z']]
    """
    drop = sorted(set(drop))
    plan = _Plan(graph, set(map(graph.id_of, drop)))
    plan.take_all()
    plan.drop_useless()
    return plan.change({"edit": "portable", "drop": drop})


_Applied = tuple[int, int, int, int]
"""A merge of a pair: its place among all, its level and order there, and what it makes."""


class _Plan:
    """The merges that are kept; those that may change are looked at one by one."""

    def __init__(self, graph: MergeTable, unwanted: Collection[int]) -> None:
        self.graph, self.unwanted = graph, unwanted
        self.atoms = graph.derived("type atoms", TypeAtoms)
        self.merges = merges = graph.columns()
        self.place_of = dict(zip(merges.ids.tolist(), range(len(merges.ids)), strict=True))
        self.levels = np.arange(len(merges.ids))
        if graph.ties:
            self.levels = np.fromiter(graph.levels().values(), np.int64, len(merges.ids))
        places = np.flatnonzero(merges.widths == 2)
        pairs = graph.columns(merges.ids[places])
        is_usual = pairs.first_of_pairs() & ~np.isin(pairs.results, list(unwanted))
        pairs, places = graph.columns(pairs.ids[is_usual]), places[is_usual]
        self.waiting = np.delete(np.arange(len(merges.ids)), places).tolist()
        """A heap of places to look at: of tuple merges, unwanted and repeated ones, at first."""
        left, right = pairs.parts.reshape(-1, 2).T.tolist()
        levels, results = self.levels[places].tolist(), pairs.results.tolist()
        known = zip(places.tolist(), levels, [0] * len(places), results, strict=True)
        pairs_of_types = zip(left, right, strict=True)
        self.applied: dict[Parts, _Applied] = dict(zip(pairs_of_types, known, strict=True))
        """Of each pair that is merged, the merge; it may come later."""
        self.paired: dict[int, Parts] = {}
        """The two parts that merges have now, by place."""
        self.added: dict[tuple[int, int], Merge] = {}
        """New merges, by the place that they come before, and by their order there."""
        self.removed: dict[int, Merge] = {}
        """By place."""
        self.gone: set[int] = set()
        self.tokens: dict[int, Parts] = {}
        """What the strings of types were cut into when they were last looked at."""
        self.makers = np.bincount(merges.results, minlength=len(graph.types))

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
        if (found := self.applied.get(parts)) and found[0] == place:
            del self.applied[parts]
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
        later = {each.parts: self.applied.get(each.parts) for each in chain}
        for at, each in enumerate(chain, 1 - len(chain)):
            self._apply(each, place, at)
        if len(chain) > 1 and self._segment(chain[-1].result, place) != [chain[-1].result]:
            del self.tokens[chain[-1].result]
            for parts, was in later.items():
                del self.applied[parts]
                if was:
                    self.applied[parts] = was
            return False
        self.paired[place] = chain[-1].parts
        for at, each in enumerate(chain[:-1]):
            self.added[place, at] = each
            self.makers[each.result] += 1
        for was in filter(None, later.values()):
            heappush(self.waiting, was[0])
        return True

    def _apply(self, merge: Merge, place: int, at: int = 0) -> None:
        level = int(self.levels[place])
        if self.graph.ties:
            level, at = merge.rank if at else level, 0
        self.applied[merge.parts] = place, level, at, merge.result

    def _is_applied(self, parts: Parts, place: int) -> bool:
        """Whether a merge up to a place has these parts."""
        found = self.applied.get(parts)
        return found is not None and found[0] <= place

    def _merge(self, place: int) -> Merge:
        return self.graph.merge(int(self.merges.ids[place]))

    def _drop(self, place: int, merge: Merge) -> None:
        self.removed[place] = merge
        self.paired.pop(place, None)
        self._unmake(merge.result)
        if merge.result in self.gone:
            for user in self.graph.users(merge.result):
                if self.place_of[user] > place:
                    heappush(self.waiting, self.place_of[user])

    def _unmake(self, type_: int) -> None:
        self.makers[type_] -= 1
        if not self.makers[type_] and type_ not in self.graph.fixed:
            self.gone.add(type_)

    def _segment(self, type_: int, place: int) -> list[int]:
        """Return the tokens of a type's string by the merges kept up to a place."""

        def find(parts: Parts) -> tuple[RankKey, int] | None:
            found = self.applied.get(parts)
            return (found[1:3], found[3]) if found and found[0] <= place else None

        # What is kept up to a place stays so, and merges after it wait until no other applies.
        before = None if self.graph.ties else self.tokens.get(type_)
        tokens = list(before or self.atoms.of(self.graph, [type_]))
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
            users = {self.place_of[user] for type_ in new for user in self.graph.users(type_)}
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
