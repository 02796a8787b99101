"""The merge graph: types and merges, and edits that can be undone."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from morphgraph.core.cache import State
from morphgraph.graph.keeping import plan_keeping
from morphgraph.graph.merge_table import (
    Change,
    EditError,
    MergeTable,
    Parts,
    Place,
)
from morphgraph.graph.plans import (
    Reification,
    plan_anneal,
    plan_cascade,
    plan_knockout,
    plan_renumber,
)
from morphgraph.graph.portable import plan_portable


class MergeGraph(MergeTable):
    """Types and the merges between them: the one source of truth about a vocabulary.

    This adds edits to `MergeTable`, each with a record to undo and redo it.

    >>> graph = MergeGraph.from_merges([("u", "n"), ("un", "d"), ("und", "o")])
    >>> change = graph.knockout(["und"])
    >>> graph.describe(graph.producer("undo"))
    'un + d + o → undo'
    >>> graph.undo().removed_types == change.removed_types
    True
    >>> graph.describe(graph.producer("undo"))
    'und + o → undo'
    """

    def _begin(self) -> None:
        self._done: list[Change] = []
        self._undone: list[Change] = []
        self._places: list[Place] = [self._place]
        """The states of the history, from that before all edits on; then those that are undone."""
        self._is_untouched = True
        self._copied: MergeGraph | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but what was derived."""
        return {**self.__dict__, "_unnamed": {}}

    def original(self) -> "MergeGraph":
        """Return a separate graph as this one was before any edit."""
        whole = self if self._is_untouched else self._copied
        if whole is not None and whole._is_untouched:
            graph = whole.copy()
        else:
            types = self.types[: self.loaded_type_count]
            kept = self.fixed, self.ties, self.labels, self.never_whole, self.absent
            graph = MergeGraph(types, self._loaded, *kept)
            graph.cache, graph.family = self.cache, self.family
        for text in self.types[self.loaded_type_count :]:
            graph._know(text)  # words may have been encoded with added atoms
        return graph

    def copy(self, *, history: bool = False) -> "MergeGraph":
        """Return a separate graph as this one is now, with only ``history`` to undo."""
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        self._share(copied)
        copied._done, copied._undone = self._done.copy() if history else [], []
        copied._places = self._places[: len(self._done) + 1] if history else [self._place]
        if self._is_untouched:
            copied._copied = self._copied or self
        return copied

    def earlier(self, edits: int) -> "MergeGraph":
        """Return a separate graph as this one was before the last ``edits`` edits."""
        return next(islice(self.states_back(), min(edits, len(self._done)), None))

    def states_back(self) -> Iterator["MergeGraph"]:
        """Yield this state, the one before the last edit, and so on back to the original.

        All are one copy, which is undone further each time: use it before asking for the next.
        """
        copied = self.copy()
        yield copied
        for number in reversed(range(len(self._done))):
            copied._backward(self._done[number], self._places[number])
            yield copied

    def states_onward(self) -> Iterator["MergeGraph"]:
        """Yield the original state, then that after each edit: one copy, as in `states_back`."""
        copied = self.earlier(len(self._done))
        yield copied
        for change, place in zip(self._done, self._places[1:], strict=False):
            copied._forward(change, place)
            yield copied

    # ----------------------------------------------------------------------------- edits

    # What an edit would change, without changing it.
    preview_knockout, preview_cascade = plan_knockout, plan_cascade
    preview_anneal, preview_portable = plan_anneal, plan_portable

    def preview_keeping(self, drop: Iterable[str] = (), room: int = 0) -> Change:
        """Compute `plan_keeping`, by which no type that an edit removed comes back."""
        never = {number for change in self._done for number in change.removed_types}
        return plan_keeping(self, drop, room, never)

    def knockout(self, types: Iterable[str]) -> Change:
        """Remove types: merges that used them get the parts of the removed type's own merge.

        The order of ``types`` does not matter. Atoms and absent types are an `EditError`, and then
        nothing is changed. Source: Bauwens & Delobelle 2024, Algorithm 1.
        """
        return self.apply(plan_knockout(self, types))

    def cascade(self, types: Iterable[str]) -> Change:
        """Remove types and every type that no merge can make then; errors as for `knockout`."""
        return self.apply(plan_cascade(self, types))

    def anneal(self, pairs: Iterable[Sequence[str]], atoms: Iterable[str] = ()) -> Change:
        """Add ``atoms`` to the alphabet, and pair merges after all others, in this order.

        Parts must be types, or results of pairs before them; a result may be a type already; else
        it is an `EditError`, and nothing is changed. Source: Bauwens & de Lhoneux 2026, §3.4.
        """
        return self.apply(plan_anneal(self, pairs, atoms))

    def reify(
        self, pairs: Iterable[Sequence[str]], repairs: Iterable[tuple[int, Sequence[str]]] = ()
    ) -> Change:
        """Give merges, named by their ranks, other parts, then use pair merges in tuple merges.

        Each pair (x, y) in turn replaces x, y in the tuple merges that contain it: by its own merge
        if that has a lower rank, or by one that is created just below the lowest of them if xy is
        not a type. Ranks are renumbered. Parts that are absent, come too late or do not make the
        result are an `EditError`, and then nothing is changed. Source: Bauwens & de Lhoneux 2026,
        Algorithm 2.

        >>> graph = MergeGraph.from_merges([("u", "n", "d"), ("u", "n", "i")])
        >>> change = graph.reify([("u", "n")])
        >>> [graph.describe(merge) for merge in graph.merge_ids()]
        ['u + n → un', 'un + d → und', 'un + i → uni']
        """
        listed = [(self.id_of(x), self.id_of(y)) for x, y in pairs]
        return self.apply(Reification(self, self._checked_repairs(repairs)).change(listed))

    def portable(self, drop: Iterable[str] = ()) -> Change:
        """Leave only pair merges: give each tuple merge two parts, or remove what it makes.

        ``drop``: types that go in any case.

        >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "b", "c"), ("x", "y", "z")])
        >>> graph.portable().counts()
        {'removed': 1, 'paired': 1}
        >>> graph.describe(graph.producer("abc")), "xyz" in graph
        ('a + bc → abc', False)
        """
        return self.apply(plan_portable(self, drop))

    def renumber(self) -> Change:
        """Give merges the ranks of a saved file: see `plan_renumber`."""
        return self.apply(plan_renumber(self))

    def _checked_repairs(self, repairs: Iterable[tuple[int, Sequence[str]]]) -> dict[int, Parts]:
        repairs = list(repairs)
        if not repairs:
            return {}
        merges = self.columns()
        by_rank = dict(zip(merges.ranks.tolist(), merges.ids.tolist(), strict=True))
        new_parts: dict[int, Parts] = {}
        for rank, texts in repairs:
            number = by_rank.get(rank)
            if number is None:
                raise EditError(f"There is no merge of rank {rank!r} to repair.")
            parts = tuple(self.id_of(str(text)) for text in texts)
            result = self.merge(number).result
            if len(parts) < 2 or "".join(map(str, texts)) != self.types[result]:
                raise EditError(f"The repaired parts do not make “{self.types[result]}”.")
            makers = (made[0] for made in map(self.incoming, parts) if made)
            if any(self.merge(maker).rank >= rank for maker in makers):
                raise EditError(f"A repaired part of “{self.types[result]}” is made only after it.")
            new_parts[number] = parts
        return new_parts

    def after(self, change: Change) -> "MergeGraph":
        """Return a separate graph as this one would be after a change (from a ``preview_…``)."""
        copied = self.copy()
        copied._forward(change)
        return copied

    # ----------------------------------------------------------------------------- history

    def removal_of(self, number: int) -> Change | None:
        """Return the last edit that removed a type; None if none did."""
        return next((c for c in reversed(self.history) if number in c.removed_types), None)

    @property
    def history(self) -> tuple[Change, ...]:
        """The edits made and not undone, oldest first."""
        return tuple(self._done)

    @property
    def undone(self) -> tuple[Change, ...]:
        """The edits that `redo` would repeat, next one last."""
        return tuple(self._undone)

    def undo(self) -> Change:
        """Undo the last edit; `EditError` if there is none."""
        if not self._done:
            raise EditError("There is nothing to undo.")
        change = self._done.pop()
        self._undone.append(change)
        self._backward(change, self._places[len(self._done)])
        return change

    def redo(self) -> Change:
        """Redo the last undone edit; `EditError` if there is none."""
        if not self._undone:
            raise EditError("There is nothing to redo.")
        change = self._undone.pop()
        self._done.append(change)
        self._forward(change, self._places[len(self._done)])
        return change

    def forget_undone(self) -> None:
        """Drop the edits that `redo` would repeat."""
        self._undone.clear()
        del self._places[len(self._done) + 1 :]

    def replay(self, steps: Iterable[Mapping[str, Any]]) -> list[Change]:
        """Make the edits of a recipe; after an `EditError`, which names the step, none is made.

        Whoever reads a recipe checks it by `formats.recipe.check_steps` first.
        """
        changes: list[Change] = []
        done, undone, places = len(self._done), self._undone.copy(), self._places.copy()
        for position, step in enumerate(steps, start=1):
            try:
                if (edit := step.get("edit")) not in _EDITS:
                    raise EditError(f"“{edit}” is not an edit. Use one of: {', '.join(_EDITS)}.")
                change = _EDITS[edit](self, step)
                if "learned" in step and not change.is_empty:  # how is told by those who made it
                    change = replace(change, step={**change.step, "learned": step["learned"]})
                    self._done[-1] = change
                changes.append(change)
            except EditError as error:
                while len(self._done) > done:  # a step that changed nothing is not in it
                    self.undo()
                self._undone, self._places = undone, places
                raise EditError(f"Step {position} of the recipe: {error}") from error
        return changes

    def state_after(self, edits: int) -> State:
        """Return `state` after the first ``edits`` edits; beyond them, after undone ones too."""
        return self._named_after(edits)[0]

    def numbered_after(self, edits: int) -> State:
        """Return `numbered` after the first ``edits`` edits, as in `state_after`."""
        return self._named_after(edits)[1]

    def _named_after(self, edits: int) -> tuple[State, State]:
        done, place = len(self._done), self._places[edits]
        if place.names is None:
            there = self.earlier(max(0, done - edits))
            for number, change in enumerate(self._undone[::-1][: max(0, edits - done)], done + 1):
                there._forward(change, self._places[number])
            return there._named()
        return place.names

    def recipe(self) -> list[dict[str, Any]]:
        """Return the edits made and not undone, as data for `replay`."""
        return [dict(change.step) for change in self._done]

    def apply(self, change: Change) -> Change:
        """Make a change that was computed on this very state (by a ``preview_…`` or a plan).

        Not one of a copy, which may have given ids to types that are others here: `replay` its
        step.
        """
        if change.is_empty:
            return change
        self._forward(change)
        self._done.append(change)
        self._undone.clear()
        self._places[len(self._done) :] = [self._place]
        return change

    def _forward(self, change: Change, place: Place | None = None) -> None:
        """Make a change; ``place``: the state after it, if it was made before."""
        sums, others, place = self._place.sums, None, place or Place()
        types = (*change.removed_types, *change.added_types)
        parts = {entry.merge: entry.new_parts for entry in change.rewired}
        moved = change.reranked[:, 0].tolist()
        merges = (*change.removed_merges, *change.added_merges, *parts, *moved)
        for text, number in change.new_types.items():
            if self._know(text) != number:
                raise EditError("The change was computed on another state. Compute it again.")
        # If most merges change, all is added up afresh, and only when the name is asked for.
        if place.sums is None and sums is not None and 2 * len(merges) < len(self._ranks):
            others = sums - self._sums_of_present(types, merges)
        removed = change.removed_merges
        self._edit(removed, change.reranked[:, [0, 2]], parts, change.added_merges)
        for number in change.removed_types:
            self._alive[number] = False
        for number in change.added_types:
            self._alive[number] = True
        for number, (_, origin) in change.origins.items():
            self._origins[number] = origin
        if others is not None:
            place.sums = others + self._sums_of_present(types, merges)
        self._enter(place)

    def _backward(self, change: Change, place: Place) -> None:
        for number, (origin, _) in change.origins.items():
            self._origins[number] = origin
        for number in change.added_types:
            self._alive[number] = False
        for number in change.removed_types:
            self._alive[number] = True
        parts = {entry.merge: entry.old_parts for entry in reversed(change.rewired)}
        added = change.added_merges
        self._edit(added, change.reranked[:, :2], parts, change.removed_merges)
        self._enter(place)

    def _enter(self, place: Place) -> None:
        super()._enter(place)
        self._is_untouched = False


_EDITS: Mapping[Any, Callable[[MergeGraph, Mapping[str, Any]], Change]] = {
    "knockout": lambda graph, step: graph.knockout(step["types"]),
    "cascade": lambda graph, step: graph.cascade(step["types"]),
    "anneal": lambda graph, step: graph.anneal(step["merges"], step.get("atoms", ())),
    "reify": lambda graph, step: graph.reify(
        step["pairs"], [(repair["rank"], repair["parts"]) for repair in step["repairs"]]
    ),
    "portable": lambda graph, step: graph.apply(
        graph.preview_keeping(step["drop"], step["room"])
        if "room" in step
        else graph.preview_portable(step["drop"])
    ),
    "renumber": lambda graph, _: graph.renumber(),
}
"""The edits of a recipe, by name."""
