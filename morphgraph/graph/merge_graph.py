"""The merge graph: types, merges, and edits that can be undone."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, count, pairwise
from typing import Any

from morphgraph.errors import MorphGraphError
from morphgraph.graph.change import Change, Merge, Rewired

_revisions = count()
"""Numbers of states; none is given twice, so that what is known of one cannot be taken for another.
"""


class EditError(MorphGraphError):
    """An edit that the graph cannot make, with the reason."""


class MergeGraph:
    """Types and the merges between them; the one source of truth about a tokeniser's vocabulary.

    A type is named by its id, a position in ``types``; a merge by its id, its position in the list
    that the graph was built from. Neither is ever reused, so records of past edits stay valid.
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
        self._loaded: tuple[Merge, ...] = tuple(merges)
        self._merges: list[Merge | None] = list(self._loaded)
        self._ids_follow_ranks = all(a.rank < b.rank for a, b in pairwise(self._loaded))
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
        return MergeGraph(self.types, self._loaded, self.fixed)

    def copy(self) -> "MergeGraph":
        """A graph of its own as this one is now, with nothing to undo."""
        copied = MergeGraph.__new__(MergeGraph)
        copied.types, copied.ids = self.types.copy(), self.ids.copy()
        copied._loaded, copied.fixed = self._loaded, self.fixed
        copied._merges = self._merges.copy()
        copied._ids_follow_ranks = self._ids_follow_ranks
        copied._alive = self._alive.copy()
        copied._incoming = [producers.copy() for producers in self._incoming]
        copied._outgoing = [users.copy() for users in self._outgoing]
        copied.revision = self.revision
        copied._done, copied._undone = [], []
        return copied

    def before_last(self) -> "MergeGraph":
        """A graph of its own as this one was before the last edit; a copy if there was none."""
        copied = self.copy()
        if self._done:
            copied._backward(self._done[-1])
        return copied

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

    def fan_out(self, number: int) -> int:
        """In how many merges a type takes part."""
        return len(self._outgoing[number])

    def producer(self, type_: int | str) -> int:
        """The id of *the* merge of a type: of those that produce it, the one of lowest rank."""
        number = self.id_of(type_) if isinstance(type_, str) else type_
        if not self._incoming[number]:
            raise EditError(f"“{self.types[number]}” is an atom: no merge produces it.")
        return self._incoming[number][0]

    def merges(self) -> dict[int, Merge]:
        """All present merges by id, in order of rank."""
        present = {n: merge for n, merge in enumerate(self._merges) if merge is not None}
        if self._ids_follow_ranks:
            return present
        return dict(sorted(present.items(), key=lambda item: item[1].rank))

    def merge_ids(self) -> list[int]:
        """Ids of all present merges in order of rank."""
        return list(self.merges())

    def type_ids(self) -> list[int]:
        """Ids of all present types."""
        return [number for number, alive in enumerate(self._alive) if alive]

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
        texts = list(dict.fromkeys(types))
        return self._apply(self._plan_knockout(self._removable(texts), texts, "knockout"))

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

    def preview_knockout(self, types: Iterable[str]) -> Change:
        """What `knockout` would do, without doing it."""
        texts = list(dict.fromkeys(types))
        return self._plan_knockout(self._removable(texts), texts, "knockout")

    def cascade(self, types: Iterable[str]) -> Change:
        """Remove types and every type whose derivation needs one of them.

        A type that another merge still produces stays. Errors as for `knockout`.
        """
        texts = list(dict.fromkeys(types))
        return self._apply(self._plan_cascade(self._removable(texts), texts))

    def preview_cascade(self, types: Iterable[str]) -> Change:
        """What `cascade` would do, without doing it."""
        texts = list(dict.fromkeys(types))
        return self._plan_cascade(self._removable(texts), texts)

    def _removable(self, texts: list[str]) -> list[int]:
        numbers = [self.id_of(text) for text in texts]
        for number in numbers:
            if not self._incoming[number]:
                raise EditError(
                    f"“{self.types[number]}” is an atom: it belongs to the alphabet and cannot be "
                    "knocked out. Choose a type that a merge produces."
                )
            if number in self.fixed:
                raise EditError(
                    f"“{self.types[number]}” is an added token or the end of a word: words contain "
                    "it before any merge, so it cannot be knocked out. Choose another type."
                )
        return numbers

    def _plan_knockout(self, numbers: list[int], texts: list[str], name: str) -> Change:
        # Parts are shorter than what they make, so by length every substitute is ready in time.
        substitute: dict[int, tuple[int, ...]] = {}
        for number in sorted(numbers, key=lambda n: len(self.types[n])):
            parts = self.merge(self._incoming[number][0]).parts
            substitute[number] = self._substituted(parts, substitute)
        removed_merges = {m: self.merge(m) for n in numbers for m in self._incoming[n]}
        affected = set().union(*(self._outgoing[number] for number in numbers))
        rewired = []
        for number in sorted(affected.difference(removed_merges)):
            parts = self.merge(number).parts
            rewired.append(Rewired(number, parts, self._substituted(parts, substitute)))
        step = {"edit": name, "types": texts}
        return Change(step, tuple(numbers), removed_merges, tuple(rewired))

    @staticmethod
    def _substituted(
        parts: tuple[int, ...], substitute: Mapping[int, tuple[int, ...]]
    ) -> tuple[int, ...]:
        return tuple(chain.from_iterable(substitute.get(part, (part,)) for part in parts))

    def _plan_cascade(self, numbers: list[int], texts: list[str]) -> Change:
        removed: dict[int, None] = dict.fromkeys(numbers)
        removed_merges = {m: self.merge(m) for n in numbers for m in self._incoming[n]}
        queue = list(numbers)
        while queue:
            for number in sorted(self._outgoing[queue.pop()]):
                if number in removed_merges:
                    continue
                removed_merges[number] = merge = self.merge(number)
                producers = self._incoming[merge.result]
                if merge.result in self.fixed or merge.result in removed:
                    continue
                if all(m in removed_merges for m in producers):
                    removed[merge.result] = None
                    queue.append(merge.result)
        return Change({"edit": "cascade", "types": texts}, tuple(removed), removed_merges)

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

        An unknown edit, or a type that is not there, is an `EditError` that names the step; the
        steps before it are taken back.
        """
        edits = {"knockout": self.knockout, "cascade": self.cascade}
        changes: list[Change] = []
        made, undone = len(self._done), self._undone.copy()
        for position, step in enumerate(steps, start=1):
            try:
                edit = edits.get(str(step.get("edit")))
                if edit is None:
                    known = ", ".join(edits)
                    raise EditError(f"“{step.get('edit')}” is not an edit. Use one of: {known}.")
                changes.append(edit(step.get("types", ())))
            except EditError as error:
                while len(self._done) > made:  # a step that changed nothing is not in there
                    self.undo()
                self._undone = undone
                raise EditError(f"Step {position} of the recipe: {error}") from error
        return changes

    def recipe(self) -> list[dict[str, Any]]:
        """The edits made and not undone, as data for `replay`."""
        return [dict(change.step) for change in self._done]

    def _apply(self, change: Change) -> Change:
        self._forward(change)
        if not change.is_empty:
            self._done.append(change)
            self._undone.clear()
        return change

    def _forward(self, change: Change) -> None:
        for number, merge in change.removed_merges.items():
            self._unlink(number, merge)
        for number, old, new in change.rewired:
            self._rewire(number, old, new)
        for number in change.removed_types:
            self._alive[number] = False
        self.revision = next(_revisions)

    def _backward(self, change: Change) -> None:
        for number in change.removed_types:
            self._alive[number] = True
        for number, old, new in change.rewired:
            self._rewire(number, new, old)
        for number, merge in change.removed_merges.items():
            self._merges[number] = merge
            self._link(number, merge)
            self._incoming[merge.result].sort(key=lambda m: self.merge(m).rank)
        self.revision = next(_revisions)

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
