"""Plan of an edit that leaves only pair merges, so that any library can read them."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from morphgraph.graph.atoms import TypeAtoms
from morphgraph.graph.merge_table import Change, Merge, MergeTable, Parts, Rewired


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
    for number, merge in graph.merges().items():
        plan.take(number, merge)
    plan.drop_useless()
    return plan.change({"edit": "portable", "drop": drop})


class _Plan:
    """The merges kept so far, in order of rank."""

    def __init__(self, graph: MergeTable, unwanted: Collection[int]) -> None:
        self.graph, self.atoms, self.unwanted = graph, TypeAtoms(), unwanted
        self.levels: Mapping[int, int] = graph.levels() if graph.ties else {}
        self.kept: dict[int, Merge] = {}
        self.applied: dict[Parts, tuple[int, int]] = {}
        """For each pair that is merged: the level of its merge, and what it makes."""
        self.added: dict[int, Merge] = {}
        self.removed: dict[int, Merge] = {}
        self.gone: set[int] = set()
        self.makers = Counter(merge.result for merge in graph.merges().values())
        self.new_ids = graph.new_merge_ids()

    def take(self, number: int, merge: Merge) -> None:
        """Keep a merge as it is or with two other parts, or remove it."""
        rank, parts, result = merge
        if parts in self.applied or result in self.unwanted:  # it would never apply, or must not
            self._drop(number, merge)
            return
        if len(parts) == 2 and self.gone.isdisjoint(parts):
            self._keep(number, merge)
            return
        tokens = self._segment(result)
        joined: list[Merge] = []
        while len(tokens) > 2 and (found := self._join(tokens, rank)):
            joined.append(found)
        last = Merge(rank, tuple(tokens), result)
        # A pair that is merged already, after other pairs than these, is not merged once more.
        if len(tokens) == 2 and self.applied.keys().isdisjoint(m.parts for m in (*joined, last)):
            new = {next(self.new_ids): merge_ for merge_ in joined}
            for number_, merge_ in (new | {number: last}).items():
                self._keep(number_, merge_)
            if not joined or self._segment(result) == [result]:
                self.added |= new
                self.makers.update(merge_.result for merge_ in joined)
                return
            for number_ in (*new, number):
                del self.applied[self.kept.pop(number_).parts]
        self._drop(number, merge)

    def _keep(self, number: int, merge: Merge) -> None:
        self.kept[number] = merge
        level = self.levels.get(number, merge.rank) if self.levels else len(self.kept)
        self.applied[merge.parts] = level, merge.result

    def _drop(self, number: int, merge: Merge) -> None:
        self.removed[number] = self.graph.merge(number)
        self.makers[merge.result] -= 1
        if not self.makers[merge.result] and merge.result not in self.graph.fixed:
            self.gone.add(merge.result)

    def _segment(self, type_: int) -> list[int]:
        """Return the tokens of a type's string by the merges kept so far."""
        tokens = self.atoms.of(self.graph, [type_])
        while True:
            places = range(len(tokens) - 1)
            pairs = [self.applied.get((tokens[at], tokens[at + 1])) for at in places]
            best = min(
                ((pair[0], at, pair[1]) for at, pair in zip(places, pairs, strict=True) if pair),
                default=None,
            )
            if best is None:
                return tokens
            _, at, result = best
            tokens[at : at + 2] = [result]

    def _join(self, tokens: list[int], rank: int) -> Merge | None:
        """Join the first two tokens that are a present type together; None if none are."""
        types, ids = self.graph.types, self.graph.ids
        for at in range(len(tokens) - 1):
            parts = tokens[at], tokens[at + 1]
            result = ids.get(types[parts[0]] + types[parts[1]])
            if result is not None and self.makers[result] and result not in self.unwanted:
                tokens[at : at + 2] = [result]
                return Merge(rank, parts, result)
        return None

    def drop_useless(self) -> None:
        """Remove merges whose parts went after them."""
        before = None
        while before != self.gone:
            before = set(self.gone)
            for number, merge in list(self.kept.items()):
                if not self.gone.isdisjoint((*merge.parts, merge.result)):
                    del self.kept[number]
                    if self.added.pop(number, None) is None:
                        self._drop(number, merge)
                    else:
                        self.makers[merge.result] -= 1

    def change(self, step: Mapping[str, object]) -> Change:
        """Return all as one change, with ranks from 0 without gaps."""
        graph = self.graph
        old = {n: graph.merge(n) for n in self.kept if n not in self.added}
        changed = {n: was for n, was in old.items() if was.parts != self.kept[n].parts}
        rewired = [
            Rewired(n, was.parts, self.kept[n].parts, "portable") for n, was in changed.items()
        ]
        added, reranked = {}, []
        for rank, (number, merge) in enumerate(self.kept.items()):
            if number in self.added:
                added[number] = merge._replace(rank=rank)
            elif merge.rank != rank:
                reranked.append((number, merge.rank, rank))
        if not (changed or self.removed):
            return Change(step)
        return Change(
            step,
            tuple(sorted(self.gone)),
            self.removed,
            tuple(rewired),
            added_merges=added,
            reranked=np.array(reranked, np.int64).reshape(-1, 3),
            origins={n: (graph.origin(n), "split") for n in changed}
            | dict.fromkeys(added, ("original", "reified")),
        )
