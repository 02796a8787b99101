"""Picky BPE in plain Python, which ships in exported folders."""

from collections.abc import Iterator, Mapping
from typing import Any

from morphgraph.standalone.merges import Atom, Merged, Merging


class Replaying(Merging):
    """Repeatedly applies the earliest possible event, merge or split, not before the last one.

    Source: Chizhov et al. 2024, Algorithm 2.
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        super().__init__(model)
        document = model["method"]
        vocabulary = document["model"]["model"]["vocab"]
        added = document["model"].get("added_tokens") or []
        listed = {**vocabulary, **{token["content"]: token["id"] for token in added}}
        # Events name types by their index in the order of ids.
        texts = sorted(listed, key=listed.__getitem__)
        self._merges: dict[tuple[int | None, int | None], list[tuple[int, int]]] = {}
        self._splits: dict[int | None, list[tuple[int, list[int]]]] = {}
        self._atoms: dict[int | None, int] = {}
        for number, (kind, parts, whole) in enumerate(document["events"]):
            small, large = [self.ids[texts[part]] for part in parts], self.ids[texts[whole]]
            self._atoms[large] = sum(self._atoms.get(part, 1) for part in small)
            if kind == "merge":
                pair = (small[0], small[1])
                self._merges.setdefault(pair, []).append((number, large))
            else:
                self._splits.setdefault(large, []).append((number, small))

    def _merged(self, atoms: list[Atom]) -> Iterator[Merged]:
        tokens: list[int | None] = [number for number, _, _ in atoms]
        earliest = 0
        while True:
            possible = [
                event
                for at in range(len(tokens))
                if (event := self._next(tokens, at, earliest)) is not None
            ]
            if not possible:
                break
            earliest, at, width, new = min(possible, key=lambda event: event[:2])
            tokens[at : at + width] = new
        first = 0
        for token in tokens:
            last = first + self._atoms.get(token, 1) - 1
            yield token, first, last
            first = last + 1

    def _next(
        self, tokens: list[int | None], at: int, earliest: int
    ) -> tuple[int, int, int, list[int]] | None:
        """Return the first event at a place: index, place, number of tokens, and result."""
        events = [
            (number, at, 1, new)
            for number, new in self._splits.get(tokens[at], ())
            if number >= earliest
        ][:1]
        if at + 1 < len(tokens):
            events += [
                (number, at, 2, [whole])
                for number, whole in self._merges.get((tokens[at], tokens[at + 1]), ())
                if number >= earliest
            ][:1]
        return min(events, default=None)
