"""The history of a ReBPE run: one word after each phase, and the merges changed by each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from morphgraph.graph.change import Change
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.rebpe_run import ReBPERun

MergeChange = Literal["annealed", "removed", "split", "repaired", "linked", "created", "shortened"]
MERGE_CHANGES: tuple[MergeChange, ...] = (
    "annealed",
    "removed",
    "split",
    "repaired",
    "linked",
    "created",
    "shortened",
)
T = TypeVar("T")


def follow_phases(run: ReBPERun, look: Callable[[MergeGraph], T]) -> list[T]:
    """Return ``look`` of the graph after each phase in effect, the start included.

    One copy of the graph is undone further each time, so results must not refer to it.
    """
    history = run.graph.history
    found: dict[int, T] = {}
    for edits, graph in zip(range(len(history), -1, -1), run.graph.states_back(), strict=True):
        found[edits] = look(graph)
        if edits == run.edits_before:
            break
    return [found[edits] for edits in edits_after(run)]


def edits_after(run: ReBPERun) -> list[int]:
    """Return the number of edits right after each phase in effect, the start included."""
    position = {id(change): number for number, change in enumerate(run.graph.history, start=1)}
    edits = [run.edits_before]
    for phase in run.phases[1:]:
        edits.append(position.get(id(phase.change), edits[-1]))
    return edits


@dataclass(frozen=True)
class ChangedMerge:
    """One merge that an edit changed.

    ``before`` and ``after`` are its parts, ids of types; empty before it existed or once removed.
    ``also``: merges changed with it: the tuple merges that a linked or created one is in.
    """

    kind: MergeChange
    merge: int
    result: int
    rank: int
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    also: int = 0


def changed_merges(graph: MergeGraph, change: Change) -> list[ChangedMerge]:
    """Return every merge that a change touched, by kind, in order.

    ``graph`` is as right after the change: its ranks are those shown.
    """
    return list(_changed_merges(graph, change))


def _changed_merges(graph: MergeGraph, change: Change) -> Iterator[ChangedMerge]:
    created = {entry.merge for entry in change.reified if entry.created}
    for number, merge in change.added_merges.items():
        if number not in created:
            yield ChangedMerge("annealed", number, merge.result, merge.rank, (), merge.parts)
    for number, merge in change.removed_merges.items():
        yield ChangedMerge("removed", number, merge.result, merge.rank, merge.parts)
    for number, parts, linked in ((e.merge, e.tuple_merges, not e.created) for e in change.reified):
        merge = change.added_merges.get(number) or graph.merge(number)
        yield ChangedMerge(
            "linked" if linked else "created",
            number,
            merge.result,
            merge.rank,
            merge.parts if linked else (),
            merge.parts,
            len(parts),
        )
    kinds: dict[str, MergeChange] = {
        "knockout": "split",
        "repair": "repaired",
        "reify": "shortened",
    }
    for entry in change.rewired:
        merge = graph.merge(entry.merge)
        yield ChangedMerge(
            kinds[entry.cause],
            entry.merge,
            merge.result,
            merge.rank,
            entry.old_parts,
            entry.new_parts,
        )
