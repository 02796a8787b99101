"""Picky BPE: segmentation by the merges and splits of training, in order."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import checksum, document_field
from morphgraph.core.text import shortened
from morphgraph.corpus.counts import WordCounts
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.segment.bte import (
    Bte,
    flat_lists,
    merging_model,
    saved_tokeniser,
    tokeniser_of_types,
)
from morphgraph.segment.method import Method, Parameters, Training
from morphgraph.segment.training import TrainedBpe, train_merge_tokeniser, trained_events
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import Segmentation, Words, called


class PickyEvent(NamedTuple):
    """A merge of two ``parts`` into a ``type``, or a split of a removed ``type`` into ``parts``.

    Types are named by id; the parts of a split are those that were present at that time.
    """

    kind: Literal["merge", "split"]
    parts: tuple[int, ...]
    type: int


@dataclass(frozen=True)
class TrainedPicky(TrainedBpe):
    """A trained model: its events, and the ids of types absent in the end.

    ``types``: all that ever existed; ``merges``: the first one of each.
    """

    events: tuple[PickyEvent, ...]
    removed: frozenset[int]
    threshold: float

    @property
    def vocabulary(self) -> tuple[str, ...]:
        return tuple(text for n, text in enumerate(self.types) if n not in self.removed)


def train_picky(
    counts: Mapping[str, int] | WordCounts, *, threshold: float, **settings: Any
) -> TrainedPicky:
    """Train Picky BPE: after a merge, a part that occurs (almost) only in it is removed.

    As `train_bpe`; and after merging (x1, x2): if count(x1, x2) / count(x1), both from before the
    merge, is more than ``threshold``, x1 is removed: its remaining occurrences are split into the
    present types that it was first built from, recursively; then x2 likewise, if it is another
    type. Atoms are never removed. A removed type that is merged again is restored under its old id.
    ``vocab_size`` counts present types. Source: Chizhov et al. 2024, Algorithm 1, with ">" as in
    the authors' released code.

    >>> trained = train_picky({"abc": 9, "ab": 1}, vocab_size=5, threshold=0.8)
    >>> for event in trained.events:
    ...     print(*event)
    merge (0, 1) 3
    merge (3, 2) 4
    split (0, 1) 3
    merge (0, 1) 3
    """
    characters, rows, flags = trained_events(counts, threshold=threshold, **settings)
    types = list(characters)
    built: dict[int, tuple[int, int]] = {}
    absent: set[int] = set()

    def present_parts(number: int) -> tuple[int, ...]:
        present, waiting = [], [number]
        while waiting:
            part = waiting.pop()
            if part in absent:
                waiting += reversed(built[part])
            else:
                present.append(part)
        return tuple(present)

    events = []
    for left, right, whole in rows.tolist():
        if left < 0:
            absent.add(whole)
            events.append(PickyEvent("split", present_parts(whole), whole))
            continue
        if whole == len(types):
            types.append(types[left] + types[right])
            built[whole] = (left, right)
        absent.discard(whole)
        events.append(PickyEvent("merge", (left, right), whole))
    removed = frozenset(n for n, flag in enumerate(flags) if flag == 0)
    merges = tuple((types[left], types[right]) for left, right in built.values())
    return TrainedPicky(characters, merges, tuple(types), tuple(events), removed, threshold)


class PickyParameters(Parameters):
    """Training parameters of Picky BPE."""

    threshold: float = Field(
        default=0.9,
        ge=0,
        le=1,
        description="A type is removed if more than this share of it is inside one other type; 1 "
        "is BPE.",
    )


class Picky(Bte):
    """Picky BPE: repeatedly applies the earliest possible event, not before the last one.

    ``tokeniser`` has the preprocessing and all types that ever existed; ``threshold``: None if
    unknown; ``numbers``: the ids of present types in the file, if not those of the tokeniser.
    `MorphGraphError` for an event whose parts do not make its type. Source: Chizhov et al. 2024,
    Algorithm 2.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("abc", ["a", "b", "c", "ab", "abc"], ["ab", ("ab", "c")])
    >>> events = [("merge", (0, 1), 3), ("merge", (3, 2), 4), ("split", (0, 1), 3)]
    >>> picky = Picky(tokeniser, [PickyEvent(*event) for event in events], 0.9)
    >>> words = picky.encode(["abc", "ab"])
    >>> [[picky.types[token] for token in picky.segment(words).tokens(n)] for n in range(2)]
    [['abc'], ['a', 'b']]
    """

    method = "picky"
    name = "Picky BPE"

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        events: Iterable[PickyEvent],
        threshold: float | None = None,
        numbers: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__(tokeniser)
        self.events = tuple(events)
        self.threshold = threshold
        self.numbers = numbers
        types = tokeniser.graph.types
        self.absent = self._checked(tokeniser)
        listed = json.dumps([types, self.events], ensure_ascii=False)
        self._checksum = checksum(listed.encode("utf-8", "surrogatepass"))

    def _checked(self, tokeniser: BpeTokeniser) -> frozenset[int]:
        """Replay all events of training; return the types that are removed at the end.

        A type is split into as many atoms as it was merged from: the kernel has no room for more.
        """
        types, byte = tokeniser.graph.types, tokeniser.preprocessor.byte_fallback
        made_by_merges = {event.type for event in self.events if event.kind == "merge"}
        atoms: dict[int, int] = {}
        absent: set[int] = set()

        def width(type_: int) -> int | None:
            return atoms.get(type_) if type_ in made_by_merges else 1

        for number, (kind, parts, whole) in enumerate(self.events, start=1):
            text = types[whole]
            widths = [width(part) for part in parts]
            total = sum(n for n in widths if n is not None)
            if len(parts) < 2 or "".join(types[part] for part in parts) != text:
                problem = "has parts that do not make it"
            elif None in widths:
                problem = "uses a type that no earlier event made"
            elif whole in tokeniser.graph.fixed or tokeniser.is_atom_text(text):
                problem = "is about a type that is an atom of words"
            elif byte and text.startswith("<0x"):
                problem = "is about a byte"
            elif kind == "merge" and (len(parts) != 2 or atoms.get(whole, total) != total):
                problem = "does not merge two parts, or merges others than before"
            elif kind == "split" and atoms.get(whole) != total:
                problem = "splits a type that no earlier event merged"
            else:
                problem = ""
            if problem:
                raise MorphGraphError(
                    f"Event {number:,} of “{shortened(text, 60)}” {problem}. Save the model again."
                )
            atoms[whole] = total
            (absent.discard if kind == "merge" else absent.add)(whole)
        return frozenset(absent)

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"threshold": self.threshold}

    @property
    def vocabulary_size(self) -> int:
        return self.tokeniser.vocabulary_size - len(self.absent)

    def vocabulary_id(self, token: int) -> int | None:
        if self.numbers is None:
            return super().vocabulary_id(token)
        return self.numbers.get(token)

    @cached_property
    def _tables(self) -> Any:
        """The events in the form that the kernel reads."""
        from morphgraph.kernels.merge_lookup import build_table
        from morphgraph_remedies.picky_kernel import Events

        types = self.tokeniser.graph.types
        merged: dict[tuple[int, ...], list[int]] = {}
        split: list[list[int]] = [[] for _ in types]
        widths = np.ones(len(types), np.int32)
        for number, (kind, parts, whole) in enumerate(self.events):
            if kind == "merge":
                merged.setdefault(parts, []).append(number)
                widths[whole] = sum(int(widths[part]) for part in parts)
            else:
                split[whole].append(number)
        results = [parts if kind == "split" else (whole,) for kind, parts, whole in self.events]
        pairs = np.array([part for pair in merged for part in pair], np.int32)
        pair_offsets = np.arange(0, len(pairs) + 1, 2, dtype=np.int64)
        table, dense, *_ = build_table(pairs, pair_offsets, len(types), 0)
        return Events(
            table,
            dense,
            *flat_lists(list(merged.values())),
            *flat_lists(split),
            *flat_lists(results),
            np.array([kind == "split" for kind, *_ in self.events], np.bool_),
            widths,
        )

    def segment(self, words: Words) -> Segmentation:
        """Segment words; ``closed_by`` holds positions in ``events``."""
        from morphgraph_remedies.picky_kernel import segment_by_events

        both = np.empty((2, len(words.atoms)), np.int32)
        longest = int(np.diff(words.piece_offsets).max(initial=1))
        segment_by_events(words.atoms, words.piece_offsets, longest, self._tables, *both)
        return Segmentation(words, both[0], both[1])

    def signature(self) -> str:
        """Name, threshold, and name of the model with the checksum of its types and events."""
        name = self.tokeniser.signature().rpartition("@")[0]
        return f"{called(self.name, self.parameters)}:{name}@{self._checksum}"

    def document(self) -> dict[str, Any]:
        name, _, known_as = self.tokeniser.signature().rpartition("@")
        return {
            "method": self.method,
            **self.parameters,
            "name": name,
            "checksum": known_as,
            "events": [[kind, list(parts), whole] for kind, parts, whole in self.events],
            **({} if self.numbers is None else {"numbers": sorted(self.numbers.items())}),
            "model": self.tokeniser.document,
        }

    def exported(self, unchanged: bool) -> ExportedModel:
        return merging_model(self, unchanged, numbers=self.numbers)

    @classmethod
    def of_training(cls, tokeniser: BpeTokeniser, trained: TrainedPicky) -> Self:
        """Build it from the result of training, on a tokeniser of its types and merges."""
        ids = [tokeniser.graph.ids[text] for text in trained.types]
        events = [
            PickyEvent(kind, tuple(ids[part] for part in parts), ids[whole])
            for kind, parts, whole in trained.events
        ]
        return cls(tokeniser, events, trained.threshold)

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        tokeniser = saved_tokeniser(document)
        known = len(tokeniser.graph.types)
        events = []
        for entry in document_field(document, "events", list):
            match entry:
                case ["merge" | "split" as kind, [*parts], int(whole)] if all(
                    isinstance(n, int) and 0 <= n < known for n in [*parts, whole]
                ):
                    events.append(PickyEvent(kind, tuple(parts), whole))
                case _:
                    problem = "an entry is not an event"
                    raise FileFormatError("model", "field events", problem, "Save it again.")
        threshold = document.get("threshold")
        numbers = dict(document_field(document, "numbers", list)) if "numbers" in document else None
        return cls(tokeniser, events, None if threshold is None else float(threshold), numbers)

    @classmethod
    def from_released(cls, found: Any, name: str) -> Self:
        """Read the JSON of a model of the authors' released trainer: tokens, merges and splits.

        The file does not give the threshold. Ids are the numbers in ``id2int``. Errors:
        `FileFormatError`. Source: https://github.com/pchizhov/picky_bpe.
        """
        try:
            tokens = sorted(found["tokens"], key=lambda token: token["id"])
            place = {token["id"]: number for number, token in enumerate(tokens)}
            _check_ids("tokens", [token["id"] for token in tokens], name)
            events_listed = [event["id"] for event in (*found["merges"], *found["splits"])]
            _check_ids("merges and splits", events_listed, name)
            in_model = found.get("id2int") or {}
            numbers = {place[int(token)]: int(number) for token, number in in_model.items()}
            _check_ids("id2int", list(numbers.values()), name)
            merges = [
                [tokens[place[token[side]]]["str"] for side in ("left", "right")]
                for token in tokens
                if token["left"] is not None
            ]
            numbered: dict[int, PickyEvent] = {}
            kinds: Any = (("merge", "pair", "new_token"), ("split", "split", "token"))
            for kind, of, whole in kinds:
                for event in found[f"{kind}s"]:
                    parts = tuple(place[part["id"]] for part in event[of])
                    numbered[event["id"]] = PickyEvent(kind, parts, place[event[whole]["id"]])
            texts = [token["str"] for token in tokens]
            events = [numbered[number] for number in sorted(numbered)]
            if not all(isinstance(text, str) and text for text in texts):
                raise TypeError("a type is not a string")
        except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
            raise FileFormatError(
                name,
                "",
                "it does not have the fields of a Picky BPE model",
                "Give the JSON file that bpe_trainer.py wrote.",
            ) from error
        if len(set(texts)) < len(texts):  # events name types by id
            fix = "Give each type one id."
            raise FileFormatError(name, "field tokens", "a type is listed more than once", fix)
        try:
            return cls(tokeniser_of_types(name, texts, merges), events, numbers=numbers or None)
        except FileFormatError:
            raise
        except MorphGraphError as error:
            problem, _, fix = str(error).rpartition(". ")
            raise FileFormatError(name, "", problem, fix) from error


def _trained(*given: Any, **more: Any) -> Picky:
    tokeniser, trained = train_merge_tokeniser(train_picky, *given, **more)
    return Picky.of_training(tokeniser, trained)


PICKY = Method(
    "picky",
    "Picky BPE",
    "Replays merges and removals in training order.",
    Picky,
    "training",
    PickyParameters,
    source="Chizhov et al. 2024",
    training=Training(
        "BPE that removes types which hardly occur outside another one (Chizhov et al. 2024).",
        _trained,
        PickyParameters,
        seconds=6.0,
    ),
    standalone="morphgraph_remedies.replaying:Replaying",
)


def _check_ids(place: str, ids: Sequence[Any], name: str) -> None:
    """Refuse duplicate ids."""
    twice = next((number for number, times in Counter(ids).items() if times > 1), None)
    if twice is not None:
        problem = f"the id {shortened(str(twice), 30)} is given more than once"
        raise FileFormatError(name, f"field {place}", problem, "Give each one an id of its own.")
