"""The merge graph: types, merges, and edits that can be undone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from morphgraph.graph.change import Change, Merge, Origin
from morphgraph.graph.plans import (
    EditError,
    Pair,
    Parts,
    plan_anneal,
    plan_cascade,
    plan_knockout,
    plan_reify,
)
from morphgraph.reading import checksum

_revisions = count()
"""Numbers of states; none is given twice, so that what is known of one cannot be taken for another.
"""


class MergeGraph:
    """Types and the merges between them; the one source of truth about a tokeniser's vocabulary.

    A type is named by its id, a position in ``types``; a merge by its id, its position in the list
    that the graph was built from, or a later number if it was added. A type that is or was there
    keeps its id for good, and no id of a merge is given twice, so records of past edits stay valid.
    ``fixed`` types cannot be removed, though a merge produces them: added tokens, for instance.

    >>> graph = MergeGraph.from_merges([("u", "n"), ("un", "d"), ("und", "o")])
    >>> change = graph.knockout(["und"])
    >>> graph.describe(graph.producer("undo"))
    'un + d + o → undo'
    >>> graph.undo().removed_types == change.removed_types
    True
    >>> graph.describe(graph.producer("undo"))
    'und + o → undo'
    """

    def __init__(
        self, types: Sequence[str], merges: Iterable[Merge], fixed: Iterable[int] = ()
    ) -> None:
        self.fixed = frozenset(fixed)
        self.types: list[str] = list(types)
        self.ids: dict[str, int] = {text: number for number, text in enumerate(self.types)}
        if len(self.ids) != len(self.types):
            raise EditError("A type is listed twice. Give every type once.")
        self._loaded_types = len(self.types)
        self._loaded: tuple[Merge, ...] = tuple(merges)
        self._merges: list[Merge | None] = list(self._loaded)
        self._order: list[int] | None = None
        self._listed: tuple[int, dict[int, Merge]] | None = None
        self._origins: dict[int, Origin] = {}
        self._alive = [True] * len(self.types)
        self._incoming: list[list[int]] = [[] for _ in self.types]
        self._outgoing: list[set[int]] = [set() for _ in self.types]
        for number, merge in enumerate(self._loaded):
            self._link(number, merge)
        for producers in self._incoming:
            if len(producers) > 1:
                producers.sort(key=lambda number: self.merge(number).rank)
        self.revision = next(_revisions)
        self._done: list[Change] = []
        self._undone: list[Change] = []

    @classmethod
    def from_merges(
        cls, merges: Iterable[Sequence[str]], alphabet: Iterable[str] = ()
    ) -> "MergeGraph":
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

    def original(self) -> "MergeGraph":
        """A graph of its own as this one was before any edit."""
        graph = MergeGraph(self.types[: self._loaded_types], self._loaded, self.fixed)
        for text in self.types[self._loaded_types :]:
            graph.known_id(text)  # words may have been encoded with atoms that were added
        return graph

    def copy(self) -> "MergeGraph":
        """A graph of its own as this one is now, with nothing to undo."""
        copied = MergeGraph.__new__(MergeGraph)
        copied.types, copied.ids = self.types.copy(), self.ids.copy()
        copied._loaded, copied.fixed = self._loaded, self.fixed
        copied._loaded_types, copied._origins = self._loaded_types, self._origins.copy()
        copied._merges = self._merges.copy()
        copied._order, copied._listed = self._order, self._listed
        copied._alive = self._alive.copy()
        copied._incoming = [producers.copy() for producers in self._incoming]
        copied._outgoing = [users.copy() for users in self._outgoing]
        copied.revision = self.revision
        copied._done, copied._undone = [], []
        return copied

    def earlier(self, edits: int) -> "MergeGraph":
        """A graph of its own as this one was before the last so many edits."""
        copied = self.copy()
        for change in self._done[: -edits - 1 : -1]:
            copied._backward(change)
        return copied

    def before_last(self) -> "MergeGraph":
        """A graph of its own as this one was before the last edit; a copy if there was none."""
        return self.earlier(1)

    def states_back(self) -> Iterator["MergeGraph"]:
        """This state, then that before the last edit, and so on to the one before all edits.

        It is one copy, taken back further each time: look at it before asking for the next.
        """
        copied = self.copy()
        yield copied
        for change in reversed(self._done):
            copied._backward(change)
            yield copied

    # ----------------------------------------------------------------------------- reading

    def __contains__(self, text: str) -> bool:
        return text in self.ids and self._alive[self.ids[text]]

    def id_of(self, text: str) -> int:
        """The id of a present type; `EditError` if there is none."""
        number = self.ids.get(text)
        if number is None or not self._alive[number]:
            raise EditError(f"“{text}” is not a type of this tokeniser. Check the spelling.")
        return number

    def is_present(self, number: int) -> bool:
        """Whether the type with this id has not been removed."""
        return self._alive[number]

    def is_removable(self, number: int) -> bool:
        """Whether this type can be knocked out: a merge produces it, and it is not fixed."""
        return bool(self._incoming[number]) and number not in self.fixed

    def is_atom(self, number: int) -> bool:
        """Whether no merge produces this type."""
        return self._alive[number] and not self._incoming[number]

    def merge(self, number: int) -> Merge:
        """The present merge with this id."""
        merge = self._merges[number]
        if merge is None:
            raise EditError(f"Merge {number} has been removed.")
        return merge

    def has_merge(self, number: int) -> bool:
        """Whether the merge with this id has not been removed."""
        return self._merges[number] is not None

    def incoming(self, number: int) -> tuple[int, ...]:
        """Ids of the merges that produce a type, lowest rank first: M_i(t)."""
        return tuple(self._incoming[number])

    def outgoing(self, number: int) -> tuple[int, ...]:
        """Ids of the merges that a type takes part in, lowest rank first: M_o(t)."""
        return tuple(sorted(self._outgoing[number], key=lambda merge: self.merge(merge).rank))

    def users(self, number: int) -> frozenset[int]:
        """Ids of the merges that a type takes part in, in no order."""
        return frozenset(self._outgoing[number])

    def fan_out(self, number: int) -> int:
        """In how many merges a type takes part."""
        return len(self._outgoing[number])

    def producer(self, type_: int | str) -> int:
        """The id of *the* merge of a type: of those that produce it, the one of lowest rank."""
        number = self.id_of(type_) if isinstance(type_, str) else type_
        if not self._incoming[number]:
            raise EditError(f"“{self.types[number]}” is an atom: no merge produces it.")
        return self._incoming[number][0]

    def origin(self, number: int) -> Origin:
        """How a merge came to be as it is."""
        return self._origins.get(number, "original")

    def merges(self) -> Mapping[int, Merge]:
        """All present merges by id, in order of rank."""
        if self._listed is None or self._listed[0] != self.revision:
            self._listed = self.revision, self._in_order()
        return self._listed[1]

    def _in_order(self) -> dict[int, Merge]:
        """All present merges by id, in order of rank; sorted only after what can change it."""
        merges = self._merges
        if self._order is None:
            present = [n for n, merge in enumerate(merges) if merge is not None]
            ranks = np.fromiter((merges[n].rank for n in present), np.int64, len(present))  # type: ignore[union-attr]
            self._order = [present[i] for i in np.argsort(ranks, kind="stable").tolist()]
        return {n: merge for n in self._order if (merge := merges[n]) is not None}

    def merge_ids(self) -> list[int]:
        """Ids of all present merges in order of rank."""
        return list(self.merges())

    def type_ids(self) -> list[int]:
        """Ids of all present types."""
        return [number for number, alive in enumerate(self._alive) if alive]

    def added_atoms(self) -> tuple[str, ...]:
        """Present types that edits added to the alphabet."""
        added = range(self._loaded_types, len(self.types))
        return tuple(self.types[n] for n in added if self._alive[n] and not self._incoming[n])

    @property
    def loaded_type_count(self) -> int:
        """How many types there were before any edit; their ids are the lowest."""
        return self._loaded_types

    @property
    def last_rank(self) -> int:
        """The highest rank of a present merge; -1 if there is none."""
        return max((merge.rank for merge in self._merges if merge is not None), default=-1)

    @property
    def merge_id_limit(self) -> int:
        """Above every id that a merge has or had."""
        return len(self._merges)

    @property
    def type_count(self) -> int:
        """How many types are present."""
        return sum(self._alive)

    @property
    def merge_count(self) -> int:
        """How many merges are present."""
        return len(self._merges) - self._merges.count(None)

    def describe(self, merge: int, names: Sequence[str] | None = None) -> str:
        """A merge as one line of text, with the type strings or other ``names`` for them."""
        shown = self.types if names is None else names
        _, parts, result = self.merge(merge)
        return f"{' + '.join(shown[part] for part in parts)} → {shown[result]}"

    # ----------------------------------------------------------------------------- edits

    def knockout(self, types: Iterable[str]) -> Change:
        """Remove types: merges that used them get the parts of the removed type's own merge.

        The order of ``types`` does not matter to the result. Atoms and absent types are an
        `EditError`, and then nothing is changed. Source: Bauwens & Delobelle 2024, Algorithm 1.
        """
        return self.apply(plan_knockout(self, types))

    def preview_knockout(self, types: Iterable[str]) -> Change:
        """What `knockout` would do, without doing it."""
        return plan_knockout(self, types)

    def cascade(self, types: Iterable[str]) -> Change:
        """Remove types and every type whose derivation needs one of them.

        A type that another merge still produces stays. Errors as for `knockout`.
        """
        return self.apply(plan_cascade(self, types))

    def preview_cascade(self, types: Iterable[str]) -> Change:
        """What `cascade` would do, without doing it."""
        return plan_cascade(self, types)

    def anneal(self, pairs: Iterable[Sequence[str]], atoms: Iterable[str] = ()) -> Change:
        """Add ``atoms`` to the alphabet, and pair merges behind all others, in this order.

        Parts must be types, or results of pairs before them; a result may be a type already.
        Anything else is an `EditError`, and then nothing is changed. Source: Bauwens & de Lhoneux
        2025, §3.4.
        """
        return self.apply(plan_anneal(self, pairs, atoms))

    def preview_anneal(self, pairs: Iterable[Sequence[str]], atoms: Iterable[str] = ()) -> Change:
        """What `anneal` would do, without doing it."""
        return plan_anneal(self, pairs, atoms)

    def reify(
        self,
        pairs: Iterable[Sequence[str]],
        repairs: Iterable[tuple[int, Sequence[str]]] = (),
    ) -> Change:
        """Give merges, named by their ranks, other parts, then use pair merges in tuple merges.

        Each pair (x, y) in turn takes the place of x, y in the tuple merges that contain it: by its
        own merge if that has a lower rank, or by one that is created just below the lowest of them
        if xy is no type. All else is left as it is; ranks are numbered anew. Parts that are absent,
        come too late or do not make the result are an `EditError`, and then nothing is changed.
        Source: Bauwens & de Lhoneux 2025, Algorithm 2.

        >>> graph = MergeGraph.from_merges([("u", "n", "d"), ("u", "n", "i")])
        >>> change = graph.reify([("u", "n")])
        >>> [graph.describe(merge) for merge in graph.merge_ids()]
        ['u + n → un', 'un + d → und', 'un + i → uni']
        """
        numbers = [tuple(self.id_of(str(part)) for part in pair) for pair in pairs]
        wrong = next((pair for pair in numbers if len(pair) != 2), None)
        if wrong is not None:
            raise EditError("A pair to reify needs two types. Give two for each.")
        listed: list[Pair] = [(pair[0], pair[1]) for pair in numbers]
        return self.apply(plan_reify(self, listed, self._checked_repairs(repairs)))

    def _checked_repairs(self, repairs: Iterable[tuple[int, Sequence[str]]]) -> dict[int, Parts]:
        repairs = list(repairs)
        if not repairs:
            return {}
        by_rank = {merge.rank: number for number, merge in self.merges().items()}
        found: dict[int, Parts] = {}
        for rank, texts in repairs:
            number = by_rank.get(rank)
            if number is None:
                raise EditError(f"There is no merge of rank {rank!r} to repair.")
            parts = tuple(self.id_of(str(text)) for text in texts)
            result = self.merge(number).result
            if len(parts) < 2 or "".join(map(str, texts)) != self.types[result]:
                raise EditError(f"The repaired parts do not make “{self.types[result]}”.")
            makers = [self._incoming[part][0] for part in parts if self._incoming[part]]
            if any(self.merge(maker).rank >= rank for maker in makers):
                raise EditError(f"A repaired part of “{self.types[result]}” is made only after it.")
            found[number] = parts
        return found

    @contextmanager
    def tentatively(self, change: Change) -> Iterator[None]:
        """Within a ``with`` block, the graph is as after a change (of a ``preview_…``)."""
        before = self.revision
        self._forward(change)
        try:
            yield
        finally:
            self._backward(change)
            self.revision = before

    def known_id(self, text: str) -> int:
        """The id of a type that is, was or may come to be there; a new one is absent so far."""
        number = self.ids.get(text)
        if number is None:
            number = self.ids[text] = len(self.types)
            self.types.append(text)
            self._alive.append(False)
            self._incoming.append([])
            self._outgoing.append(set())
        return number

    def new_merge_ids(self) -> Iterator[int]:
        """Ids that no merge has or had, for a change that adds merges."""
        return count(len(self._merges))

    # ----------------------------------------------------------------------------- history

    @property
    def history(self) -> tuple[Change, ...]:
        """The edits made and not undone, oldest first."""
        return tuple(self._done)

    @property
    def undone(self) -> tuple[Change, ...]:
        """The edits that `redo` would make again, next one last."""
        return tuple(self._undone)

    def undo(self) -> Change:
        """Take back the last edit; `EditError` if there is none."""
        if not self._done:
            raise EditError("There is nothing to undo.")
        change = self._done.pop()
        self._undone.append(change)
        self._backward(change)
        return change

    def redo(self) -> Change:
        """Make the last undone edit again; `EditError` if there is none."""
        if not self._undone:
            raise EditError("There is nothing to redo.")
        change = self._undone.pop()
        self._done.append(change)
        self._forward(change)
        return change

    def replay(self, steps: Iterable[Mapping[str, Any]]) -> list[Change]:
        """Make the edits of a recipe, oldest first.

        An unknown edit, or one that cannot be made, is an `EditError` that names the step; the
        steps before it are taken back.
        """
        changes: list[Change] = []
        made, undone = len(self._done), self._undone.copy()
        for position, step in enumerate(steps, start=1):
            try:
                changes.append(self._make(step))
            except EditError as error:
                while len(self._done) > made:  # a step that changed nothing is not in there
                    self.undo()
                self._undone = undone
                raise EditError(f"Step {position} of the recipe: {error}") from error
        return changes

    def recipe_checksum(self, edits: int | None = None) -> str:
        """SHA-256 of the edits made, or of the first so many: 12 digits; nothing without edits.

        It names a state of a tokeniser: the same edits of the same file have the same checksum.
        """
        done = self._done[:edits]
        return checksum("".join(change.checksum for change in done).encode()) if done else ""

    def _make(self, step: Mapping[str, Any]) -> Change:
        edit = step.get("edit")
        try:
            if edit == "knockout":
                return self.knockout(step.get("types", ()))
            if edit == "cascade":
                return self.cascade(step.get("types", ()))
            if edit == "anneal":
                return self.anneal(step["merges"], step.get("atoms", ()))
            if edit == "reify":
                repairs = [(repair["rank"], repair["parts"]) for repair in step["repairs"]]
                return self.reify(step["pairs"], repairs)
        except (TypeError, KeyError, AttributeError) as error:
            raise EditError(f"“{edit}” lacks something, or has it in another form.") from error
        known = "knockout, cascade, anneal, reify"
        raise EditError(f"“{edit}” is not an edit. Use one of: {known}.")

    def recipe(self) -> list[dict[str, Any]]:
        """The edits made and not undone, as data for `replay`."""
        return [dict(change.step) for change in self._done]

    def apply(self, change: Change) -> Change:
        """Make a change that was worked out on this very state (of a ``preview_…`` or a plan).

        Not one of a copy: that may have given ids to types which are others here. `replay` its
        step instead.
        """
        self._forward(change)
        if not change.is_empty:
            self._done.append(change)
            self._undone.clear()
        return change

    def _forward(self, change: Change) -> None:
        for number, merge in change.removed_merges.items():
            self._unlink(number, merge)
        for entry in change.rewired:
            self._rewire(entry.merge, entry.old_parts, entry.new_parts)
        for number in change.removed_types:
            self._alive[number] = False
        for number in change.added_types:
            self._alive[number] = True
        for number, _, rank in change.reranked:
            self._move(number, rank)
        for number, merge in change.added_merges.items():
            self._add(number, merge)
        for number, (_, origin) in change.origins.items():
            self._origins[number] = origin
        if change.added_merges or change.reranked:
            self._order = None
        self.revision = next(_revisions)

    def _backward(self, change: Change) -> None:
        for number, (origin, _) in change.origins.items():
            self._origins[number] = origin
        for number, merge in change.added_merges.items():
            self._unlink(number, merge)
        for number, rank, _ in change.reranked:
            self._move(number, rank)
        for number in change.added_types:
            self._alive[number] = False
        for number in change.removed_types:
            self._alive[number] = True
        for entry in reversed(change.rewired):
            self._rewire(entry.merge, entry.new_parts, entry.old_parts)
        for number, merge in change.removed_merges.items():
            self._add(number, merge)
        self._order = None
        self.revision = next(_revisions)

    def _add(self, number: int, merge: Merge) -> None:
        missing = number + 1 - len(self._merges)
        self._merges += [None] * missing
        self._merges[number] = merge
        self._link(number, merge)
        producers = self._incoming[merge.result]
        if len(producers) > 1:
            producers.sort(key=lambda m: self.merge(m).rank)

    def _move(self, number: int, rank: int) -> None:
        _, parts, result = self.merge(number)
        self._merges[number] = Merge(rank, parts, result)

    def _link(self, number: int, merge: Merge) -> None:
        self._incoming[merge.result].append(number)
        for part in merge.parts:
            self._outgoing[part].add(number)

    def _unlink(self, number: int, merge: Merge) -> None:
        self._merges[number] = None
        self._incoming[merge.result].remove(number)
        for part in merge.parts:
            self._outgoing[part].discard(number)

    def _rewire(self, number: int, old: tuple[int, ...], new: tuple[int, ...]) -> None:
        self._merges[number] = self.merge(number)._replace(parts=new)
        for part in old:
            self._outgoing[part].discard(number)
        for part in new:
            self._outgoing[part].add(number)

    # ----------------------------------------------------------------------------- checks

    def check(self) -> None:
        """Raise `EditError` where the graph contradicts itself; for tests and after imports."""
        ranks = set()
        for number, (rank, parts, result) in self.merges().items():
            line = self.describe(number)
            if len(parts) < 2:
                raise EditError(f"Merge {line} has fewer than two parts.")
            if "".join(self.types[part] for part in parts) != self.types[result]:
                raise EditError(f"The parts of merge {line} do not concatenate to its result.")
            if rank in ranks:
                raise EditError(f"Rank {rank} is held by two merges; one of them is {line}.")
            ranks.add(rank)
            if not all(self._alive[t] for t in (*parts, result)):
                raise EditError(f"Merge {line} uses a type that has been removed.")
            if number not in self._incoming[result]:
                raise EditError(f"Merge {line} is missing from its result.")
            if not all(number in self._outgoing[part] for part in parts):
                raise EditError(f"Merge {line} is missing from one of its parts.")
        listed = sum(map(len, self._incoming))
        used = sum(map(len, self._outgoing))
        if listed != len(ranks) or used != sum(len(set(m.parts)) for m in self.merges().values()):
            raise EditError("A type lists a merge that is not there.")

    def misplaced(self) -> list[int]:
        """Ids of types that no well-formed merge makes: some part always comes too late.

        Well-formed: each part of a merge is an atom or made by a merge of strictly lower rank. A
        type is listed if none of its merges has parts that are all formed before it. Some of them
        are formed all the same, because a merge applies whenever its parts are there; of the
        others, see `segment.unreachable_types`.
        """
        formed_at: dict[int, int] = {}
        for rank, parts, result in self.merges().values():
            if all(not self._incoming[p] or formed_at.get(p, rank) < rank for p in parts):
                formed_at.setdefault(result, rank)
        return [n for n, ways in enumerate(self._incoming) if ways and n not in formed_at]
