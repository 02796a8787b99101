"""The interface of segmenters: what all methods share, and what each overrides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.state import State
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
    """A way to segment words into tokens: a method applied to something that has types.

    ``below``: a tokeniser, vocabulary or segmenter, which answers all that the method does not.
    ``method``: the method's name in its entry (see `segment.registry`). ``tokeniser``,
    ``vocabulary``: whose merges or types it uses. ``explained_by``: how the derivation of a word is
    shown. ``shows_unknown``: unknown tokens are named by their characters. ``is_random``: whether
    the result depends on a seed. `Words` of `encode` are for this segmenter only.
    """

    method: ClassVar[str]
    explained_by: ClassVar[Explanation | None] = None
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
        """Return what to know of its vocabulary before use; usually empty."""
        return ""

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
            raise FileFormatError("model", "field method", problem, "Open it as what it is.")
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
        )

    def ids_in(
        self, document: Mapping[str, Any]
    ) -> Callable[[Sequence[str], bool], list[list[int]]]:
        """Return a function from texts to token ids in an exported document."""
        from morphgraph.tokeniser.export import ids_in, known_ids

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
        return cast("Preprocessor", self.below.preprocessor)

    def inventory(self) -> Inventory:
        """The types in use; by default all, none of them special or marked."""
        from morphgraph.segment.inventory import Inventory

        return Inventory.of(self.types, range(len(self.types)))

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        """Return the ids of types that their own string is not segmented into; None if unknown.

        The string stands where the type may: at the start if it starts a word, else after a
        character that no type contains. It is not normalised first. Single bytes and special types,
        which no string spells, are ignored.
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
        """The type for what no type covers; `UNKNOWN` if there is none."""
        return UNKNOWN

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Encode words as atoms, as in running text; ``bare``: as whole texts of their own."""
        return cast(Words, self.below.encode(words, bare=bare))

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """Return the readable text of a token that ends at an atom; an unknown character as is."""
        return cast(str, self.below.token_text(words, atom, token))

    def vocabulary_id(self, token: int) -> int | None:
        """Return the id of a type in the file of the model; None if it has none."""
        return cast("int | None", self.below.vocabulary_id(token))
