"""Plans of edits: what each would change in a merge graph, computed without changing it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from morphgraph.graph.merge_table import (
    Change,
    EditError,
    Merge,
    MergeColumns,
    MergeTable,
    Origin,
    Parts,
    Reified,
    Reranked,
    Rewired,
)

Pair = tuple[int, int]
RankKey = tuple[int, int]
"""A place in the order of merges: a level, and 0, or the number of a change there."""


def merge_pairs(
    tokens: list[int],
    find: Callable[[Parts], tuple[RankKey, int] | tuple[RankKey, int, int] | None],
) -> RankKey:
    """Merge neighbours in place until no two can be: the lowest first, leftmost.

    ``find``: the place of the merge of two, what it makes, and anything else. Returns the last
    place of those that were applied; (-1, 0) if none was.
    """
    last, found = (-1, 0), list(map(find, pairwise(tokens)))
    while options := [(each[0], at, each[1]) for at, each in enumerate(found) if each]:
        key, at, result = min(options)
        last = max(last, key)
        tokens[at : at + 2] = [result]
        before = max(0, at - 1)
        found[before : at + 2] = map(find, pairwise(tokens[before : at + 2]))
    return last


class PlannedIds:
    """Ids of types by their strings: those of a graph, and the next ones for ``new`` strings."""

    def __init__(self, graph: MergeTable) -> None:
        self.graph = graph
        self.new: dict[str, int] = {}

    def get(self, text: str) -> int | None:
        """Return the id of a present, former or planned type."""
        return self.graph.ids.get(text, self.new.get(text))

    def of(self, text: str) -> int:
        """Return the id of a type, assigning a new one if needed."""
        number = self.get(text)
        if number is None:
            number = self.new[text] = len(self.graph.types) + len(self.new)
        return number


# ------------------------------------------------------------------------------------- removing


def plan_knockout(graph: MergeTable, texts: Iterable[str]) -> Change:
    """Remove types; merges that used them get the parts of the removed type's own merge.

    Source: Bauwens & Delobelle 2024, Algorithm 1.

    >>> graph = MergeTable.from_merges([("u", "n"), ("un", "d"), ("un", "i")])
    >>> change = plan_knockout(graph, ["un"])
    >>> [[graph.types[part] for part in entry.new_parts] for entry in change.rewired]
    [['u', 'n', 'd'], ['u', 'n', 'i']]
    """
    texts, numbers, removed_merges = _removal(graph, texts)
    # Parts are shorter than their result, so in order of length substitutes are ready in time.
    substitute: dict[int, Parts] = {}
    made = {merge.result: merge.parts for merge in reversed(removed_merges.values())}
    for number in sorted(numbers, key=lambda n: len(graph.types[n])):
        substitute[number] = _substituted(made[number], substitute)
    affected = set().union(*map(graph.users, numbers)).difference(removed_merges)
    rewired = [
        Rewired(number, merge.parts, _substituted(merge.parts, substitute))
        for number, merge in graph.merges(np.array(sorted(affected), np.int32)).items()
    ]
    return Change(
        {"edit": "knockout", "types": texts},
        tuple(numbers),
        removed_merges,
        tuple(rewired),
        origins={entry.merge: (graph.origin(entry.merge), "split") for entry in rewired},
    )


def plan_cascade(graph: MergeTable, texts: Iterable[str]) -> Change:
    """Remove types and every type that no merge can make any more."""
    texts, numbers, removed_merges = _removal(graph, texts)
    removed: dict[int, None] = dict.fromkeys(numbers)
    queue = list(numbers)
    while queue:
        for number in sorted(graph.users(queue.pop())):
            if number in removed_merges:
                continue
            removed_merges[number] = merge = graph.merge(number)
            if merge.result in graph.fixed or merge.result in removed:
                continue
            if all(m in removed_merges for m in graph.incoming(merge.result)):
                removed[merge.result] = None
                queue.append(merge.result)
    return Change({"edit": "cascade", "types": texts}, tuple(removed), removed_merges)


def _removal(
    graph: MergeTable, texts: Iterable[str]
) -> tuple[list[str], list[int], dict[int, Merge]]:
    """Return the types to remove, without duplicates, their ids, and the merges that make them."""
    texts = list(dict.fromkeys(texts))
    incoming = {number: graph.incoming(number) for number in map(graph.id_of, texts)}
    for number, merges in incoming.items():
        if not merges:
            raise EditError(
                f"“{graph.types[number]}” is an atom: it belongs to the alphabet and cannot be "
                "knocked out. Choose a type that a merge produces."
            )
        if number in graph.fixed:
            raise EditError(
                f"“{graph.types[number]}” is an added token or the end of a word: words contain "
                "it before any merge, so it cannot be knocked out. Choose another type."
            )
    makers = np.array([*chain.from_iterable(incoming.values())], np.int32)
    return texts, list(incoming), graph.merges(makers)


def _substituted(parts: Parts, substitute: Mapping[int, Parts]) -> Parts:
    return tuple(chain.from_iterable(substitute.get(part, (part,)) for part in parts))


# ------------------------------------------------------------------------------------- adding


def plan_anneal(
    graph: MergeTable, pairs: Iterable[Sequence[str]], atoms: Iterable[str] = ()
) -> Change:
    """Add atoms to the alphabet, and pair merges after the last rank, in this order.

    A pair whose result is already a type is another merge of it. Source: Bauwens & de Lhoneux 2026,
    §3.4.
    """
    ids = PlannedIds(graph)
    added: dict[int, None] = {}
    atoms = list(dict.fromkeys(atoms))
    for text in atoms:
        if text in graph:
            raise EditError(f"“{text}” is a type already. Leave it out of the atoms.")
        if not text:
            raise EditError("An atom cannot be empty. Leave it out.")
        added[ids.of(text)] = None
    listed = [(left, right) for left, right in pairs]
    merges: dict[int, Merge] = {}
    numbers, rank = graph.new_merge_ids(), 1 + int(graph.columns().ranks.max(initial=-1))
    makers = (graph.incoming(graph.ids[x + y]) for x, y in listed if x + y in graph)
    present = {graph.merge(merge).parts for merge in chain.from_iterable(makers)}
    for left, right in listed:
        parts = tuple(_part(ids, text, added) for text in (left, right))
        if parts in present:
            raise EditError(f"“{left}” + “{right}” is a merge already. Leave it out.")
        present.add(parts)
        result = ids.of(left + right)
        if left + right not in graph:
            added[result] = None
        merges[next(numbers)] = Merge(rank + len(merges), parts, result)
    step = {"edit": "anneal", "merges": [list(pair) for pair in listed]}
    if atoms:
        step["atoms"] = atoms
    return Change(
        step,
        added_types=tuple(added),
        new_types=ids.new,
        added_merges=merges,
        origins=dict.fromkeys(merges, ("original", "annealed")),
    )


def _part(ids: PlannedIds, text: str, added: Mapping[int, None]) -> int:
    number = ids.get(text)
    return number if number is not None and number in added else ids.graph.id_of(text)


# ------------------------------------------------------------------------------------- reifying


_Place = tuple[int, int, int]
"""A place in the order of merges: a rank; 0 before the merge of that rank, 1 it; an index."""


class Reification:
    """One pass of repair and reification: give tuple merges other parts, then use pairs in them.

    ``repairs``: the other parts, by merge. ``containing``: which tuple merges, so repaired, contain
    each pair of adjacent parts. Each pair (x, y) in turn replaces x, y in the tuple merges that
    contain it (and still do): by linking to the merge of xy, where that is exactly (x, y) and of
    lower rank, or, where xy is not a type, by creating it just below the lowest of them. Ranks are
    renumbered if anything changed. Pairs without effect are left out of the recipe's step. Where
    links give every repaired merge the parts that it had, the change is empty.
    Source: Bauwens & de Lhoneux 2026, Algorithm 2.
    """

    def __init__(
        self,
        graph: MergeTable,
        repairs: Mapping[int, Parts],
        *,
        link: bool = True,
        expand: bool = True,
    ) -> None:
        self.graph, self.link, self.expand = graph, link, expand
        self.repairs = repairs
        merges = graph.columns()
        chosen = (merges.widths > 2) | np.isin(merges.ids, list(repairs))
        self.merges = graph.merges(merges.ids[chosen])
        self.parts: dict[int, Parts] = {
            number: repairs.get(number, merge.parts) for number, merge in self.merges.items()
        }
        self.start = dict(self.parts)
        self.producers: dict[int, int] = dict(
            zip(merges.results[::-1].tolist(), merges.ids[::-1].tolist(), strict=True)
        )
        self.containing: dict[Pair, dict[int, None]] = tuple_merges_by_pair(self.parts)
        self.ids = PlannedIds(graph)
        self.new_ids = graph.new_merge_ids()
        self.created: dict[int, int] = {}
        """The order of the merges that are created, of those of one rank too."""
        self.reified: list[Reified] = []
        self.taken: list[Pair] = []

    def change(self, pairs: Iterable[Pair]) -> Change:
        """Return what using these pairs changes."""
        for pair in pairs:
            self._take(pair)
        graph = self.graph
        rewired = [
            Rewired(number, self.merges[number].parts, parts, "repair")
            for number, parts in self.repairs.items()
        ]
        rewired += [
            Rewired(number, self.start[number], parts, "reify")
            for number, parts in self.parts.items()
            if parts != self.start[number]
        ]
        origins: dict[int, tuple[Origin, Origin]] = {
            number: (graph.origin(number), "repaired") for number in self.repairs
        }
        for merge, created, _ in self.reified:
            origins[merge] = ("original", "reified") if created else (graph.origin(merge), "reused")
        text = graph.types
        step = {
            "edit": "reify",
            "repairs": [
                {"rank": self.merges[number].rank, "parts": [text[part] for part in parts]}
                for number, parts in self.repairs.items()
            ],
            "pairs": [[text[x], text[y]] for x, y in self.taken],
        }
        if all(parts == self.merges[number].parts for number, parts in self.parts.items()):
            return Change(step)
        added, moved = self._ranked()
        return Change(
            step,
            rewired=tuple(rewired),
            added_types=tuple(self.merges[number].result for number in self.created),
            new_types=self.ids.new,
            added_merges=added,
            reranked=moved,
            reified=tuple(self.reified),
            origins=origins,
        )

    def _take(self, pair: Pair) -> None:
        graph = self.graph
        text = graph.types[pair[0]] + graph.types[pair[1]]
        result = self.ids.get(text)
        merge = -1 if result is None else self.producers.get(result, -1)
        created = merge < 0 and text not in graph
        if not created and (not self.link or merge < 0 or self._parts_of(merge) != pair):
            return
        holders = [
            number
            for number in self.containing.get(pair, ())
            if len(self.parts[number]) > 2 and pair in pairwise(self.parts[number])
        ]
        if not holders or (created and not self.expand):
            return
        result = self.ids.of(text)
        if created:
            merge = next(self.new_ids)
            lowest = min(self.merges[number].rank for number in holders)
            self.merges[merge] = Merge(lowest, pair, result)
            self.created[merge], self.producers[result] = len(self.created), merge
        place = self._place(merge)
        changed = [number for number in holders if self._place(number) > place]
        for number in changed:
            self.parts[number] = with_pair_merged(self.parts[number], pair, result)
        if changed:
            self.taken.append(pair)
            self.reified.append(Reified(merge, created, tuple(changed)))

    def _parts_of(self, merge: int) -> Parts:
        return self.parts[merge] if merge in self.parts else self._merge(merge).parts

    def _merge(self, number: int) -> Merge:
        return self.merges.get(number) or self.graph.merge(number)

    def _place(self, merge: int) -> _Place:
        rank = self._merge(merge).rank
        return (rank, 0, self.created[merge]) if merge in self.created else (rank, 1, 0)

    def _ranked(self) -> tuple[dict[int, Merge], Reranked]:
        """Renumber all merges: created ones, and others that move."""
        merges = self.graph.columns()
        created = sorted((self.merges[number].rank, number) for number in self.created)
        before = np.array([rank for rank, _ in created], np.int64)
        new_ranks = np.searchsorted(merges.ranks, before) + np.arange(len(before))
        added = {
            number: self.merges[number]._replace(rank=rank)
            for (_, number), rank in zip(created, new_ranks.tolist(), strict=True)
        }
        places = np.arange(len(merges.ids)) + np.searchsorted(before, merges.ranks, "right")
        return added, reranked(merges, places)


def plan_renumber(graph: MergeTable) -> Change:
    """Number ranks from 0 without gaps, as saving does.

    If all merges are pairs, those with the parts of an earlier one, which never apply, are removed.
    """
    merges = graph.columns()
    kept, dropped = merges, {}
    if not graph.has_tuples:
        is_first = merges.first_of_pairs()
        kept, dropped = graph.columns(merges.ids[is_first]), graph.merges(merges.ids[~is_first])
    moved = reranked(kept, np.arange(len(kept.ids)))
    return Change({"edit": "renumber"}, removed_merges=dropped, reranked=moved)


def reranked(merges: MergeColumns, ranks: npt.NDArray[np.int64]) -> Reranked:
    """Return those of some merges that get another rank, with their old and new ones."""
    moved = merges.ranks != ranks
    return np.stack([merges.ids[moved], merges.ranks[moved], ranks[moved]], axis=1)


def tuple_merges_by_pair(parts: Mapping[int, Parts]) -> dict[Pair, dict[int, None]]:
    """Return which tuple merges, given by their parts, contain each pair of adjacent parts.

    >>> tuple_merges_by_pair({7: (0, 1, 2), 9: (0, 1, 0, 1), 10: (1, 2)})
    {(0, 1): {7: None, 9: None}, (1, 2): {7: None}, (1, 0): {9: None}}
    """
    merges: dict[Pair, dict[int, None]] = {}
    for number, listed in parts.items():
        if len(listed) > 2:
            for pair in pairwise(listed):
                merges.setdefault(pair, {})[number] = None
    return merges


def with_pair_merged(parts: Parts, pair: Pair, result: int) -> Parts:
    """Replace non-overlapping occurrences of a pair, from the left, by its result.

    >>> with_pair_merged((5, 5, 5, 6), (5, 5), 9)
    (9, 5, 6)
    """
    merged: list[int] = []
    at = 0
    while at < len(parts):
        is_pair = parts[at : at + 2] == pair
        merged.append(result if is_pair else parts[at])
        at += 2 if is_pair else 1
    return tuple(merged)
