"""A tokeniser: its merge graph, its preprocessing, and its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

from morphgraph.core.cache import Cache, State
from morphgraph.core.text import SHOWN_MARKER, base_name, counted, shortened, visible
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.tokeniser.encoding import WordEncoder
from morphgraph.tokeniser.pipeline import preprocessor_state
from morphgraph.tokeniser.preprocess import (
    INNER_SPACE,
    MARKERS,
    Preprocessor,
    printable_bytes,
    readable_bytes,
    shown_token,
    spans_words,
)
from morphgraph.tokeniser.words import UNKNOWN, Words

IdChoice = Literal["dense", "keep", "reuse"]
"""How an edited tokeniser numbers its types.

"dense": without gaps; "keep": types of the file keep their ids, removed ones their entries, so that
no row of a model moves; "reuse": the same, but added types get the ids of removed ones first.
"""


@dataclass(frozen=True)
class Lineage:
    """The first tokeniser of a chain, and its edits before this one was saved.

    ``name`` and ``checksum``: of the first one. ``ids``: its types with their ids, removed ones
    included. ``steps``: all edits, for `MergeGraph.replay`. ``removed``: ids of entries that the
    saved file keeps for types that are gone.
    """

    name: str
    checksum: str
    ids: Mapping[str, int]
    steps: tuple[Mapping[str, Any], ...]
    removed: tuple[int, ...] = ()


@dataclass
class BpeTokeniser:
    """A BPE tokeniser as loaded from a file, with the graph that edits apply to.

    ``vocabulary_ids``: the id in the file of each of the graph's types, in the graph's order; types
    added by edits follow without one. ``special``: contents of special and added tokens, which are
    types of the graph too. ``document``: the file as JSON, from which it is saved. ``warnings``:
    for the user. ``checksum``: SHA-256 of the file, the first 12 digits. ``lineage``: the origin of
    a file that this library saved. ``id_choice``: how types are numbered once edited; None: a
    portable one keeps its ids, others have no gaps.
    """

    name: str
    graph: MergeGraph
    preprocessor: Preprocessor
    vocabulary_ids: list[int]
    special: frozenset[str]
    document: dict[str, Any]
    warnings: tuple[str, ...] = ()
    checksum: str = ""
    lineage: Lineage | None = None
    id_choice: IdChoice | None = None
    _pipelines: list[State] = field(default_factory=list, repr=False, compare=False)
    """How text is cut, once it is named; copies have it in common."""

    def __repr__(self) -> str:
        """One line; never the vocabulary."""
        merges, edits = self.graph.merge_count, len(self.graph.history)
        edited = f", {counted(edits, 'edit')}" if edits else ""
        return (
            f"<{type(self).__name__} {visible(self.name)}: "
            f"{counted(self.vocabulary_size, 'type')}, {counted(merges, 'merge')}{edited}>"
        )

    @property
    def types(self) -> list[str]:
        """The string of each present or former type, by id."""
        return self.graph.types

    @property
    def vocabulary_size(self) -> int:
        """|V|: the present types, special and added tokens included."""
        return self.graph.type_count

    @property
    def suffix(self) -> str:
        """What is joined to the last character of a piece, such as ``</w>``; usually empty."""
        return self.preprocessor.suffix

    def is_atom_text(self, text: str) -> bool:
        """Return whether a text can be an atom: one character, or a last one with its suffix."""
        return len(text) == 1 or (
            bool(self.suffix) and text.endswith(self.suffix) and len(text) == len(self.suffix) + 1
        )

    @cached_property
    def only_added(self) -> frozenset[str]:
        """Added tokens that the model's own vocabulary lacks."""
        vocabulary = self.document.get("model", {}).get("vocab")
        return self.special - vocabulary.keys() if isinstance(vocabulary, dict) else frozenset()

    @property
    def unused(self) -> frozenset[str]:
        """Types of a SentencePiece model that only exist for merging; otherwise empty."""
        settings = self.document["model"].get("sentencepiece")
        listed = settings.get("unused") if isinstance(settings, dict) else None
        return frozenset(text for text in listed or [] if isinstance(text, str))

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The atoms that edits added; words encoded with others must be encoded again."""
        return self.graph.added_atoms()

    def _encoder(self) -> WordEncoder:
        atoms = tuple((text, self.graph.ids[text]) for text in self.alphabet)

        def make() -> WordEncoder:
            ids = {text: n for n, text in enumerate(self.graph.types[: len(self.vocabulary_ids)])}
            tokens = {token.content: ids[token.content] for token in self.preprocessor.added}
            for text in self.only_added:
                del ids[text]
            return self._encoding(ids | dict(atoms), tokens)

        return self.cache.get(self.graph.family, ("encoder", atoms), make)

    def _encoding(self, ids: Mapping[str, int], added: Mapping[str, int]) -> WordEncoder:
        stays_whole = self.graph.never_whole is not None
        return WordEncoder(self.preprocessor, ids, added, leaves_out=True, whole=stays_whole)

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Encode words as atoms, as in running text; ``bare``: as whole texts of their own."""
        return self._encoder().encode(words, bare=bare)

    def missing_atoms(self, words: Sequence[str], *, bare: bool = False) -> list[str]:
        """Return the atoms that words need and the alphabet lacks, by code point."""
        known = self._encoder()
        encoder = self._encoding(known.ids, known.added)
        encoder.encode(words, bare=bare)
        return sorted(encoder.missing - self.only_added)

    def fork(self) -> Self:
        """Return a copy with its own graph, before any edit."""
        return replace(self, graph=self.graph.original())

    def copy(self) -> Self:
        """Return a copy with its own graph, including the edits so far."""
        return replace(self, graph=self.graph.copy(history=True))

    def readable(self, type_: str) -> str:
        """Return a readable type: bytes as characters, ``␣`` for the start-of-word marker.

        Bytes that are not a whole character stay in hexadecimal: ``⟨C3⟩``.
        """
        return type_ if type_ in self.special else shown_token(self._decoded(type_))

    def _decoded(self, type_: str) -> str:
        is_bytes = self.preprocessor.byte_level and type_ not in self.special
        return readable_bytes(type_) if is_bytes else type_

    @property
    def readable_types(self) -> list[str]:
        """All types of the graph, by id, in readable form."""
        types, loaded = self.graph.types, self.graph.loaded_type_count
        readable = self.cache.get(
            self.graph.family, "types", lambda: [self.readable(text) for text in types[:loaded]]
        )
        if len(types) == loaded:
            return readable
        added = tuple(types[loaded:])
        return self.cache.get(
            self.graph.family, ("types", added), lambda: [*readable, *map(self.readable, added)]
        )

    @property
    def several_words(self) -> list[int]:
        """Ids of present types that merges make of several words, as SuperBPE's second stage does.

        Source: Liu et al. 2025.
        """
        graph = self.graph

        def spelt() -> list[int]:
            some = [n for n, text in enumerate(graph.types) if INNER_SPACE.match(text)]
            return [n for n in some if spans_words(self.readable(graph.types[n]))]

        added = tuple(graph.types[graph.loaded_type_count :])
        numbers = self.cache.get(graph.family, ("several words", added), spelt)
        makers = graph.producers() if numbers else ()
        return [n for n in numbers if graph.is_present(n) and makers[n] >= 0]

    @property
    def several_words_note(self) -> str:
        """A note on types of several words, which blame and scores leave out; else empty."""
        if not (numbers := self.several_words):
            return ""
        first = ", ".join(shortened(visible(self.readable(self.types[n])), 30) for n in numbers[:5])
        return (
            f"{counted(len(numbers), 'type spans', 'types span')} several words: {first}"
            f"{', …' if len(numbers) > 5 else '.'} Blame and scores look at single words and leave "
            "such types out."
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings for the user: the file's, and which types blame and scores leave out."""
        return (*self.warnings, *filter(None, [self.several_words_note]))

    @property
    def marks_start(self) -> bool:
        """Whether some type has a start-of-word marker, ``Ġ`` or ``▁``."""
        return any(text[:1] in MARKERS for text in self.graph.types)

    def search(
        self, text: str, limit: int = 100, weights: Sequence[float] | None = None
    ) -> list[int]:
        """Return ids of present types that contain a text: whole matches, then starts, first.

        Of equal matches that with the greatest of the ``weights`` comes first, else the shortest.

        After a space or a marker, only types that start a word with it, if the tokeniser has a
        marker.
        """
        if text[:1] in {SHOWN_MARKER, *MARKERS} and self.marks_start:
            text = f" {text[1:]}"
        wanted = shown_token(text.strip())
        starts_word = text.startswith(" ") and self.marks_start
        exact = self.type_from(text) if wanted or starts_word else None
        matches = []
        for number, name in enumerate(self.readable_types):
            body = name.lstrip(SHOWN_MARKER)
            is_start = body != name and body.startswith(wanted)
            if (is_start if starts_word else wanted in name) and self.graph.is_present(number):
                rank = 0 if body == wanted else 1 if body.startswith(wanted) else 2
                weight = 0.0 if weights is None else -weights[number]
                matches.append((rank, weight, len(name), number))
        matches.sort()
        numbers = [number for *_, number in matches]
        if exact is not None:
            numbers = [self.graph.ids[exact], *(n for n in numbers if n != self.graph.ids[exact])]
        return numbers[:limit]

    def type_from(self, text: str) -> str | None:
        """Return the present type that a user means: as spelled, readable, or without marker.

        A space or ``␣`` in front is the marker, if the tokeniser has one.
        """
        spelled = [text]
        text = text.replace(SHOWN_MARKER, " ")
        body = text.strip()
        if text.startswith(" ") and self.marks_start:
            spelled += [
                mark + form for form in (printable_bytes(body), body) for mark in sorted(MARKERS)
            ]
        else:
            if self.preprocessor.byte_level:
                bytes_ = printable_bytes(body.replace("Ġ", " "))
                spelled += [bytes_, "Ġ" + bytes_]
            spelled += [body, "▁" + body, body + self.preprocessor.suffix]
        return next((candidate for candidate in spelled if candidate in self.graph), None)

    @property
    def cache(self) -> Cache:
        """What was derived from the states of this tokeniser and others that share it."""
        return self.graph.cache

    @cache.setter
    def cache(self, cache: Cache) -> None:
        self.graph.cache = cache

    @property
    def pipeline(self) -> State:
        """The identity of how text is cut: all that the file says besides types and merges."""
        if not self._pipelines:
            document = {**self.document, "model": {**self.document.get("model", {})}}
            for key in ("vocab", "merges", "morphgraph"):
                document["model"].pop(key, None)
            own = preprocessor_state(self.preprocessor), sorted(self.special)
            self._pipelines.append(State.of("pipeline", own, document))
        return self._pipelines[0]

    @property
    def as_loaded(self) -> State:
        """The identity of all that no edit changes, with the ids of the graph."""
        return State.of(self.pipeline, self.graph.numbered_after(0))

    @property
    def state(self) -> State:
        """The identity of this tokeniser as it is now.

        Equal if and only if the types with their ids in the file, the merges with their ranks, and
        all else that the file says are equal. Its name, and how edits led there, are not in it.
        """
        return State.of(self.pipeline, self.graph.state)

    @property
    def numbered(self) -> State:
        """`state` with the ids of the graph: what names these is kept by this."""
        return State.of(self.pipeline, self.graph.numbered)

    @property
    def is_edited(self) -> bool:
        """Whether types or merges are not those of the file; edits that undo each other do not."""
        return bool(self.graph.history) and self.graph.state != self.graph.state_after(0)

    def signature(self) -> str:
        """Name and checksum of the file, and of the state if it is another: ``name@sum+sum``."""
        edited = f"+{self.graph.state}" if self.is_edited else ""
        return f"{base_name(self.name)}@{self.checksum}{edited}"

    def vocabulary_id(self, token: int) -> int | None:
        """Return the id in the file of a type of the graph; None if an edit or text added it."""
        return self.vocabulary_ids[token] if token < len(self.vocabulary_ids) else None

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """Return the text of a token that ends at an atom, with the tokeniser's own marker.

        Bytes are characters where they are whole; an unknown character stands for itself.
        """
        if token == UNKNOWN or (atom in words.unknown and token == words.atoms[atom]):
            return words.unknown.get(atom, "�")
        return self._decoded(self.graph.types[token])
