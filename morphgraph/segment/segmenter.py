"""The interface of segmenters: what all methods share, and how to apply one to a base."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from morphgraph.core.cache import State
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import document_field
from morphgraph.formats.export import ids_in
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.formats.framing import known_ids
from morphgraph.formats.loading import vocabulary_of
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.segment.method import METHODS, Needs, method_named
from morphgraph.tokeniser.preprocess import BYTES, CHAR_TO_BYTE, Preprocessor
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words, called

if TYPE_CHECKING:
    from morphgraph.corpus.counts import WordCounts

_SHARED = ("vocab", "unk_token", "sentencepiece")
"""The settings of an exported model that all methods on it share."""


class Segmenter(ABC):
    """A way to segment words into tokens: a method applied to something that has types.

    ``below``: a tokeniser, vocabulary or segmenter, which answers all that the method does not.
    ``method``: the method's name in its entry (see `segment.method`). ``tokeniser``,
    ``vocabulary``: whose merges or types it uses. ``shows_unknown``: unknown tokens are named by
    their characters. ``is_random``: whether the result depends on a seed. `Words` of `encode` are
    for this segmenter only.
    """

    method: ClassVar[str]
    shows_unknown: ClassVar[bool] = False
    tokeniser: BpeTokeniser | None = None
    vocabulary: SubwordVocabulary | None = None
    is_random = False

    def __init__(self, below: Any) -> None:
        self.below = below

    @property
    @abstractmethod
    def name(self) -> str:
        """The method's name in the literature: ``BPE``, ``BPE-dropout``, ``FLOTA``."""

    @abstractmethod
    def segment(self, words: Words) -> Segmentation:
        """Segment words encoded by this segmenter."""

    def warning(self) -> str:
        """Return a warning about its vocabulary; usually empty."""
        return ""

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about the files that it was loaded from."""
        below = self.below
        return below.warnings if isinstance(below, SubwordVocabulary) else tuple(below.notices)

    # ------------------------------------------------------------------------- in and out

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Return all that `from_document` needs, as JSON data; the model in its present state."""

    @classmethod
    @abstractmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        """Build a segmenter from what `document` wrote, with any segmenter below already built."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Build the segmenter of a document; `MorphGraphError` if it is of another method."""
        if (found := document.get("method")) != cls.method:
            problem = f"it is {found!r} instead of “{cls.method}”"
            raise FileFormatError(
                "model", "field method", problem, "Open it as a model of that method."
            )
        return cls._read(document)

    def exported(self, unchanged: bool) -> ExportedModel:
        """Return its exported model for `transformers`; `MorphGraphError` if not possible.

        ``unchanged``: keep all ids, for another method that builds on it.
        """
        raise MorphGraphError(f"{self.name} cannot be exported for transformers.")

    def exported_on(self, below: ExportedModel, model: Mapping[str, Any]) -> ExportedModel:
        """Return its exported model on that of the tokeniser or segmenter below.

        ``model``: its own settings, which replace the other's; its class reads them.
        """
        shared = {key: below.document["model"].get(key) for key in _SHARED}
        document = {**below.document, "model": {**shared, **model}}
        return replace(
            below,
            method=called(self.name, self.parameters),
            signature=self.signature(),
            document=document,
            reason=f"{self.name} is not a model of the tokenizers library",
            ids=self.ids_in(document),
            plain=None,
            tokeniser=None,
        )

    def ids_in(
        self, document: Mapping[str, Any]
    ) -> Callable[[Sequence[str], bool], list[list[int]]]:
        """Return a function from texts to token ids in an exported document."""
        known = known_ids(document)
        ids = {n: known[text] for n, text in enumerate(self.types) if text in known}
        return lambda texts, bare: ids_in(self.segment(self.encode(texts, bare=bare)), ids)

    # ------------------------------------------------------------------------- what it is

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its settings by name, complete for reproducing the result."""
        return {}

    @property
    def state(self) -> State:
        """The identity of the method, its parameters, and the present state of what is below."""
        settings = {name: str(value) for name, value in self.parameters.items()}
        return State.of("method", self.method, settings, self.below.state)

    def signature(self) -> str:
        """Name, parameters and checksum of its model: ``FLOTA(k=2):bert@0a1b2c``."""
        return f"{called(self.name, self.parameters)}:{self.below.signature()}"

    @property
    def editable(self) -> BpeTokeniser | None:
        """The tokeniser whose merges alone determine the result, so that edits matter; or None."""
        return None

    @property
    def undrawn(self) -> Segmenter:
        """Return the same without randomness; itself if it has none."""
        return self

    @property
    def forgiving(self) -> Segmenter:
        """Return the same, but with unknown characters affecting no other token; usually itself."""
        return self

    def samples(self, words: Words, k: int) -> Sequence[Segmentation]:
        """Return the first ``k`` samples, alike if nothing is random; the first is of `segment`."""
        return [self.segment(words)] * k

    def reseeded(self, runs: int) -> Sequence[Segmenter]:
        """Return ``runs`` copies with consecutive seeds; none if nothing is random."""
        return ()

    # ------------------------------------------------------------------------- its types

    @property
    def types(self) -> Sequence[str]:
        """The string of each present or former type, by id."""
        return cast(Sequence[str], self.below.types)

    @property
    def vocabulary_size(self) -> int:
        """The number of types present, special ones included: |V|."""
        return cast(int, self.below.vocabulary_size)

    @property
    def preprocessor(self) -> Preprocessor:
        """The preparation of texts."""
        return cast(Preprocessor, self.below.preprocessor)

    def inventory(self) -> Inventory:
        """The types in use; by default all, none of them special or marked."""
        return Inventory.of(self.types, range(len(self.types)))

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        """Return the ids of types that their own string is not segmented into; None if unknown.

        The string stands where the type may: at the start if it starts a word, else after a
        character that no type contains. Single bytes and special types are ignored.
        """
        return None

    def last_tokens(self, paths: Mapping[int, Sequence[int]]) -> dict[int, int]:
        """Return the last token of the atoms that spell each type, by the type's id."""
        if not paths:
            return {}
        offsets = np.zeros(len(paths) + 1, np.int64)
        np.cumsum([len(path) for path in paths.values()], out=offsets[1:])
        flat = np.array([atom for path in paths.values() for atom in path], np.int32)
        texts = tuple(self.types[number] for number in paths)
        words = Words(texts, flat, offsets, offsets, np.ones(len(flat), np.int32))
        ends = self.segment(words).token_at[offsets[1:] - 1].tolist()
        return dict(zip(paths, ends, strict=True))

    @property
    def unknown_id(self) -> int:
        """The type that stands for unknown characters; `UNKNOWN` if there is none."""
        return UNKNOWN

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Encode words as atoms, as in running text; ``bare``: as whole texts of their own."""
        return cast(Words, self.below.encode(words, bare=bare))

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """Return the readable text of a token that ends at an atom; an unknown character as is."""
        return cast(str, self.below.token_text(words, atom, token))

    def token_texts(self, segmentation: Segmentation, word: int) -> list[str]:
        """Return the readable tokens of a word, with the characters that are left out."""
        return [
            text or self.token_text(segmentation.words, atom, token)
            for atom, token, text in segmentation.named_ends(word)
        ]

    def vocabulary_id(self, token: int) -> int | None:
        """Return the id of a type in the file of the model; None if it has none."""
        return cast("int | None", self.below.vocabulary_id(token))


# ------------------------------------------------------------------------- its types

_BYTES = frozenset(BYTES)
_MARKERS = ("Ġ", "▁", "##")


@dataclass(frozen=True)
class Inventory:
    """A vocabulary prepared for counting.

    ``special``: ids of its special and added types. ``spelled``: each of the other ids, ascending,
    with the type's string without its marker; ``bodies``: the same in readable form, None for bytes
    that are not whole characters. ``marker``: ``Ġ`` or ``▁`` before types that start a word, ``##``
    before types inside one, a suffix such as ``</w>`` after types that end one, or empty;
    ``marked``: the ids of types with it. ``texts``: every type by id in readable form. ``graph``:
    the merges, if any.
    """

    special: tuple[int, ...]
    spelled: Mapping[int, str]
    bodies: dict[int, str | None]
    marker: str
    marked: frozenset[int]
    texts: Sequence[str]
    graph: MergeGraph | None

    @classmethod
    def of(
        cls,
        types: Sequence[str],
        present: Iterable[int],
        special: Collection[str] = (),
        marker: str = "",
        preprocessor: Preprocessor | None = None,
        texts: Sequence[str] | None = None,
        graph: MergeGraph | None = None,
    ) -> Inventory:
        """Build the inventory of ``types`` by id, some ``present`` and some ``special``."""
        present, prepared = list(present), preprocessor or Preprocessor()
        cut = str.removeprefix if marker in _MARKERS else str.removesuffix
        ordinary = [number for number in present if types[number] not in special]
        spelled = {n: types[n] if types[n] == "##" else cut(types[n], marker) for n in ordinary}
        return cls(
            tuple(number for number in present if types[number] in special),
            spelled,
            {number: _readable(text, prepared) for number, text in spelled.items()},
            marker,
            frozenset(number for number, text in spelled.items() if text != types[number]),
            types if texts is None else texts,
            graph,
        )

    @property
    def marks_start(self) -> bool:
        """Whether the marker shows which types start a word."""
        return self.marker in _MARKERS

    def is_byte(self, number: int, written: str) -> bool:
        """Return whether a type is a single byte of a byte fallback."""
        return written in _BYTES and self.bodies[number] is None


def _readable(text: str, preprocessor: Preprocessor) -> str | None:
    """Return a type's string as characters; None if it contains an incomplete one."""
    if preprocessor.byte_fallback and text in _BYTES:
        return None
    if not preprocessor.byte_level or text.isascii():
        return text
    if not all(character in CHAR_TO_BYTE for character in text):
        return text
    try:
        return bytes(CHAR_TO_BYTE[character] for character in text).decode()
    except UnicodeDecodeError:
        return None


# ------------------------------------------------------------------------- made on something


def method_on(
    base: BpeTokeniser | SubwordVocabulary | Segmenter,
    method: str,
    parameters: Mapping[str, Any] | None = None,
    counts: WordCounts | Mapping[str, float] | str | os.PathLike[str] | None = None,
) -> Segmenter:
    """Apply one of the `METHODS` to a tokeniser in its present state, vocabulary or segmenter.

    ``counts``: word counts of a second corpus, for methods that need them; also a file of them, or
    ``wordfreq:en``. `MorphGraphError` for unknown or invalid parameters, and for a base that does
    not suit the method.
    """
    entry = method_named(method, METHODS.segmenting)
    given = dict(entry.settings(parameters or {}))
    below = _NEEDED[entry.needs](base, method)
    if entry.counts:
        if counts is None:
            raise MorphGraphError(
                f"{entry.title} needs the word counts of a second corpus. Give a file of counts, "
                "wordfreq:LANG, or a reference with frequencies."
            )
        from morphgraph.corpus.counts import to_word_counts

        given["counts"] = to_word_counts(counts)
    return cast(Segmenter, (entry.build or cast(Any, entry.kind))(below, **given))


def standard_segmenter(base: BpeTokeniser | SubwordVocabulary | Segmenter) -> Segmenter:
    """Return the own segmentation of a tokeniser or vocabulary; a segmenter unchanged.

    A tokeniser uses its merges, after which types that SentencePiece marks as unused are
    decomposed; a vocabulary uses Unigram with log-probabilities, WordPiece with ``##`` or if its
    file says so, and else the longest match from the left.
    """
    if isinstance(base, SubwordVocabulary):
        if base.scores is not None:
            return method_on(base, "unigram")
        says_so = base.file_model.get("type") == "WordPiece"
        return method_on(base, "wordpiece" if base.marker == "##" or says_so else "greedy")
    if not isinstance(base, BpeTokeniser):
        return base
    if unused := base.unused:
        trimmed: Any = METHODS["trimmed"].kind
        return cast("Segmenter", trimmed(base, [text not in unused for text in base.types], 0))
    return method_on(base, "bpe")


def by_merges(segmenter: Segmenter) -> bool:
    """Return whether a segmenter uses just a tokeniser's merges, so others can be built on it.

    Trained ones may have a tokeniser too, but with types that their method removes again.
    """
    entry = METHODS.get(getattr(segmenter, "method", ""))
    return entry is not None and entry.needs == "merges"


def _merges(base: Any, method: str) -> BpeTokeniser:
    if isinstance(base, BpeTokeniser):
        return base
    if not by_merges(base):
        raise MorphGraphError(
            f"{method} needs a tokeniser that segments by merges alone, but this one segments by "
            f"{base.name}. Use one that was loaded or trained as BPE."
        )
    return cast("BpeTokeniser", base.tokeniser)


def _vocabulary(base: Any, method: str) -> SubwordVocabulary:
    vocabulary = base if isinstance(base, SubwordVocabulary) else getattr(base, "vocabulary", None)
    if vocabulary is not None:
        return cast("SubwordVocabulary", vocabulary)
    if isinstance(base, BpeTokeniser) and base.unused:
        base = standard_segmenter(base)
    tokeniser = base.tokeniser if hasattr(base, "absent") else _merges(base, method)
    question = "vocabulary", tokeniser.name
    whole = tokeniser.cache.get(tokeniser.numbered, question, lambda: vocabulary_of(tokeniser))
    return _without(whole, base) if getattr(base, "absent", ()) else cast(SubwordVocabulary, whole)


def _without(vocabulary: SubwordVocabulary, base: Any) -> SubwordVocabulary:
    """Return a vocabulary without the types that its method never leaves; others keep their ids."""
    gone, numbers = {base.types[number] for number in base.absent}, getattr(base, "numbers", None)
    kept = {text: n for n, text in enumerate(vocabulary.types) if text not in gone}
    ids: Any = tuple(
        vocabulary.vocabulary_id(n) if numbers is None else numbers[base.tokeniser.graph.ids[text]]
        for text, n in kept.items()
    )
    return replace(vocabulary, types=tuple(kept), file_ids=ids)


def _segmenter(base: Any, _: str) -> Segmenter:
    entry = METHODS.get(getattr(base, "method", ""))
    is_kept = entry is not None and entry.needs == "segmenter"
    return cast("Segmenter", base.below) if is_kept else standard_segmenter(base)


def _only_trained(base: Any, method: str) -> Any:
    if METHODS[method].build is not None and hasattr(base, "absent") and not by_merges(base):
        return base
    raise MorphGraphError(
        f"{method} needs a model trained by {method}. Run: morphgraph train {method}"
    )


_NEEDED: Mapping[Needs, Callable[[Any, str], Any]] = {
    "merges": _merges,
    "vocabulary": _vocabulary,
    "segmenter": _segmenter,
    "training": _only_trained,
}
"""How to obtain what a method needs from its base."""


# ------------------------------------------------------------------------- as a document


def segmenter_of(document: Mapping[str, Any]) -> Segmenter:
    """Return the segmenter of a document by its method, or raise `MorphGraphError`."""
    name: Any = document.get("method")
    entry = METHODS.get(name) if name in METHODS.segmenting else None
    if entry is None or entry.kind is None:
        problem = f"it is {str(name)[:40]!r}, which is not one of {', '.join(METHODS.segmenting)}"
        raise FileFormatError("", "field method", problem, "Update morphgraph.")
    if entry.needs == "segmenter":
        below = segmenter_of(document_field(document, "model", dict))
        document = {**document, "model": below}
    return cast(Segmenter, entry.kind.from_document(document))
