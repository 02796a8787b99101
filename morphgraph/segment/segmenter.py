"""What segments words: what all methods have in common, and what each answers in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words, called

if TYPE_CHECKING:
    from morphgraph.segment.inventory import Inventory
    from morphgraph.tokeniser.export import ExportedModel
    from morphgraph.tokeniser.preprocess import Preprocessor
    from morphgraph.tokeniser.tokeniser import BpeTokeniser
    from morphgraph.tokeniser.vocabulary import SubwordVocabulary

_SHARED = ("vocab", "unk_token", "sentencepiece")
"""The settings of an exported model that all methods on it share."""
Explanation = Literal["merges", "decomposition", "events", "samples"]


class Segmenter(ABC):
    """A way to cut words into tokens: a method on something that has types.

    ``below``: what it is made on, a tokeniser, a vocabulary or another segmenter; this says all
    that the method does not say itself. ``method``: the method's name in its entry (see
    `segment.registry`). ``tokeniser``, ``vocabulary``: whose merges, or whose types it goes by.
    ``explained_by``: what shows how a word is cut, beside its tokens. ``is_random``: whether a seed
    changes what comes out. `Words` of `encode` are for this segmenter only.
    """

    method: ClassVar[str]
    explained_by: ClassVar[Explanation | None] = None
    tokeniser: BpeTokeniser | None = None
    vocabulary: SubwordVocabulary | None = None
    is_random = False

    def __init__(self, below: Any) -> None:
        self.below = below

    @property
    @abstractmethod
    def name(self) -> str:
        """The method's name, as in the literature: ``BPE``, ``BPE-dropout``, ``FLOTA``."""

    @abstractmethod
    def segment(self, words: Words) -> Segmentation:
        """Cut words that this segmenter encoded."""

    def warning(self) -> str:
        """What to know of its vocabulary before it is used; usually nothing."""
        return ""

    # ------------------------------------------------------------------------- in and out

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """All that `from_document` needs, as JSON; the model in its present state."""

    @classmethod
    @abstractmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        """Read what `document` wrote for this method; a segmenter below is one already."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The segmenter of a document; `MorphGraphError` if it is not one of this method."""
        if (found := document.get("method")) != cls.method:
            problem = f"it is {found!r} instead of “{cls.method}”"
            raise FileFormatError("model", "field method", problem, "Open it as what it is.")
        return cls._read(document)

    def exported(self, unchanged: bool) -> ExportedModel:
        """Return what is exported of it for `transformers`; `MorphGraphError` if it cannot be.

        ``unchanged``: all ids stay as they are, for another method that builds on it.
        """
        raise MorphGraphError(f"{self.name} cannot be exported for transformers.")

    def exported_on(self, below: ExportedModel, model: Mapping[str, Any]) -> ExportedModel:
        """Return what is exported of it on what is of the tokeniser or segmenter below.

        ``model``: its own settings, which take the place of the other's; its class reads them.
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
        )

    def ids_in(
        self, document: Mapping[str, Any]
    ) -> Callable[[Sequence[str], bool], list[list[int]]]:
        """Return what gives the ids of its tokens for texts in an exported document."""
        from morphgraph.tokeniser.export import ids_in, known_ids

        known = known_ids(document)
        ids = {n: known[text] for n, text in enumerate(self.types) if text in known}
        return lambda texts, bare: ids_in(self.segment(self.encode(texts, bare=bare)), ids)

    # ------------------------------------------------------------------------- what it is

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its settings by name; nothing that changes the result is left out."""
        return {}

    def signature(self) -> str:
        """Name, parameters and checksum of its model: ``FLOTA(k=2):bert@0a1b2c``."""
        return f"{called(self.name, self.parameters)}:{self.below.signature()}"

    @property
    def editable(self) -> BpeTokeniser | None:
        """The tokeniser whose merges alone cut the words, so that edits of it count; or None."""
        return None

    @property
    def undrawn(self) -> Segmenter:
        """The same where nothing is left out at random; itself if nothing ever is."""
        return self

    @property
    def forgiving(self) -> Segmenter:
        """The same, but what is unknown costs a word no other token; usually itself."""
        return self

    def samples(self, words: Words, k: int) -> Sequence[Segmentation]:
        """The first ``k`` samples, all alike if nothing is random; the first is `segment`'s."""
        return [self.segment(words)] * k

    def reseeded(self, runs: int) -> Sequence[Segmenter]:
        """The same with each of so many seeds behind its own; none if nothing is random."""
        return ()

    # ------------------------------------------------------------------------- its types

    @property
    def types(self) -> Sequence[str]:
        """The string of each type that is or was there, by id."""
        return cast(Sequence[str], self.below.types)

    @property
    def vocabulary_size(self) -> int:
        """How many types are present, special ones included: |V|."""
        return cast(int, self.below.vocabulary_size)

    @property
    def preprocessor(self) -> Preprocessor:
        """How texts are prepared."""
        return cast("Preprocessor", self.below.preprocessor)

    def inventory(self) -> Inventory:
        """The types in use; of a method that does not say, all, none of them special or marked."""
        from morphgraph.segment.inventory import Inventory

        return Inventory.of(self.types, range(len(self.types)))

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        """Ids of types that segmenting their own string does not give back; None if not known.

        The string stands where the type may: one that starts a word at the start, others behind a
        character that no type holds. It is not normalised first. Single bytes and special types,
        which no string spells, are not looked at.
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
        """The type for what no type covers; `UNKNOWN` where there is none."""
        return UNKNOWN

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Words as atoms, as they stand in running text; ``bare``: as whole texts of their own."""
        return cast(Words, self.below.encode(words, bare=bare))

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """The readable text of a token that ends at an atom; an unknown character as itself."""
        return cast(str, self.below.token_text(words, atom, token))

    def vocabulary_id(self, token: int) -> int | None:
        """The id of a type in the file that the model came from; None if it has none there."""
        return cast("int | None", self.below.vocabulary_id(token))
