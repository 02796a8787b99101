"""FLOTA: few longest tokens; and its baselines FIRST and LONGEST for any segmenter."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import document_field
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.segment.method import Method, OnlyMarked, Parameters
from morphgraph.segment.segmenter import Inventory, Segmenter
from morphgraph.segment.wordpiece import VocabularySegmenter
from morphgraph.tokeniser.preprocess import MARKERS
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import Segmentation, Words, called


class FlotaParameters(Parameters):
    """The number of tokens that FLOTA takes, and its preferences."""

    k: int = Field(
        default=0, ge=0, description="Tokens at most, of each word or mark; 0 for no limit."
    )
    strict: Annotated[bool, OnlyMarked("##")] = Field(
        default=False, description="No ## form at the start of a word."
    )


class KeptParameters(Parameters):
    """The number of tokens that FIRST and LONGEST keep."""

    k: int = Field(
        default=2, ge=1, description="Tokens at most, of each word or mark; the rest is left out."
    )


class Flota(VocabularySegmenter):
    """Repeatedly takes the longest substring that is a type, leftmost among equals.

    At most ``k`` tokens of a word (0, None: no limit), in order of position; characters in no token
    are `DROPPED`. ``k`` counts for each run of ``\\w`` and for each mark; a token belongs to the
    one that it begins in. At the start of a word the word-initial form of a substring is preferred,
    elsewhere the word-internal one; the other form is the fallback, but not at the start of a word
    if ``strict``, for ``##`` vocabularies. Length is counted in characters (bytes in a byte-level
    vocabulary) without the marker. A bare text of a vocabulary that marks starts has no such start.
    Source: Hofmann et al. 2022, Fig. 1.

    >>> flota = Flota(SubwordVocabulary(("un", "##desirable", "##des", "[UNK]"), "##"), k=1)
    >>> found = flota.segment(flota.encode(["undesirable"]))
    >>> [flota.types[token] for token in found.tokens(0)]
    ['##desirable']
    """

    method = "flota"
    name = "FLOTA"

    def __init__(
        self,
        vocabulary: SubwordVocabulary,
        k: int | None = FlotaParameters().k,
        strict: bool = FlotaParameters().strict,
    ) -> None:
        FlotaParameters(k=0 if k is None else k, strict=strict)
        if strict and vocabulary.marker != "##":
            raise MorphGraphError(
                f"strict is for vocabularies that mark types inside a word with ##, which "
                f"{vocabulary.name} does not. Leave it out."
            )
        super().__init__(vocabulary)
        self.k = k or None
        self.strict = strict

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"k": self.k} | ({"strict": True} if self.strict else {})

    def segment(self, words: Words) -> Segmentation:
        """Segment words encoded by this segmenter; ``closed_by`` holds the ids of tokens."""
        from morphgraph.kernels.trie import longest_first

        vocabulary, count = self.vocabulary, len(words.atoms)
        marks_start = vocabulary.marker in ("Ġ", "▁")
        closed_by, token_at = longest_first(
            words.atoms,
            words.word_offsets,
            words.piece_offsets,
            vocabulary.trie,
            vocabulary.atoms.get(vocabulary.marker, -1) if marks_start else -1,
            vocabulary.initial_form,
            not marks_start,
            self.strict,
            np.zeros(count, np.int32) if self.k is None else words.units,
            count if self.k is None else min(self.k, count),
        )
        return Segmentation(words, closed_by, token_at)


class _Kept(Segmenter):
    """A baseline that keeps some tokens of another segmenter's segmentation."""

    _by_length: ClassVar[bool]
    below: Segmenter

    def __init__(self, segmenter: Segmenter, k: int = KeptParameters().k) -> None:
        KeptParameters(k=k)
        super().__init__(segmenter)
        self.k = k

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"k": self.k, "of": called(self.below.name, self.below.parameters)}

    def segment(self, words: Words) -> Segmentation:
        from morphgraph.kernels.trie import keep_tokens

        standard = self.below.segment(words)
        closed_by, token_at = standard.closed_by.copy(), standard.token_at.copy()
        is_marker = self._is_marker(words).astype(np.uint8)
        k = min(self.k, len(words.atoms))
        keep_tokens(_token_units(standard), is_marker, k, self._by_length, closed_by, token_at)
        return Segmentation(words, closed_by, token_at)

    def _is_marker(self, words: Words) -> npt.NDArray[np.bool_]:
        """Return whether each atom is a start-of-word marker, even an unknown one."""
        below = self.below.below
        ids = below.atoms if isinstance(below, SubwordVocabulary) else below.graph.ids
        is_marker = np.isin(
            words.atoms, [ids[marker] for marker in sorted(MARKERS) if marker in ids]
        )
        is_marker[[atom for atom, text in words.unknown.items() if text in MARKERS]] = True
        return is_marker

    def inventory(self) -> Inventory:
        return self.below.inventory()

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        return self.below.unreachable(inventory)

    @property
    def unknown_id(self) -> int:
        return self.below.unknown_id

    def exported(self, unchanged: bool) -> ExportedModel:
        inner = self.below.exported(True)
        if inner.differs is not None:
            raise MorphGraphError(
                f"{self.name} of {inner.method}, which draws at random, cannot be exported. Export "
                "one of the two."
            )
        settings = inner.document["model"]
        model = {
            "type": self.method,
            "k": self.k,
            "of": {key: value for key, value in settings.items() if key != "vocab"},
        }
        return self.exported_on(inner, model)

    def signature(self) -> str:
        """The method with ``k``, then the other segmenter: ``FIRST(k=2):BPE:gpt2@0a1b2c``."""
        return f"{called(self.name, {'k': self.k})}:{self.below.signature()}"

    def document(self) -> dict[str, Any]:
        model = self.below.document()
        return {"method": self.method, "parameters": {"k": self.k}, "model": model}

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        k = document_field(document_field(document, "parameters", dict), "k", int)
        return cls(document_field(document, "model", Segmenter), k)


def _token_units(segmentation: Segmentation) -> npt.NDArray[np.int64]:
    """Return where the tokens of each unit begin and end: int64, into the atoms.

    Units are those of `Words.units`; no unit crosses a word boundary.
    """
    words, units = segmentation.words, segmentation.words.units
    count = len(words.atoms)
    if not count:
        return np.zeros(1, np.int64)
    first = np.append(0, np.flatnonzero(segmentation.token_at[:-1] != INSIDE_TOKEN) + 1)
    changes = np.append(True, units[first[1:]] != units[first[:-1]])
    return np.append(first[changes], count)


class First(_Kept):
    """Keeps the first ``k`` tokens of each word's standard segmentation; others are `DROPPED`.

    ``k`` counts as in `Flota`. Source: Hofmann et al. 2022, §3.
    """

    method = "first"
    name = "FIRST"
    _by_length = False


class Longest(_Kept):
    """Keeps the ``k`` longest tokens of each word's standard segmentation.

    Among equals the leftmost; they stay in order of position, and the others are `DROPPED`. ``k``
    counts as in `Flota`. Length is counted in atoms, without a start-of-word marker. Source:
    Hofmann et al. 2022, §3.
    """

    method = "longest"
    name = "LONGEST"
    _by_length = True


FLOTA = Method(
    "flota",
    "FLOTA",
    "The longest type anywhere in the word first, leftmost among equals, then the same in what is "
    "left.",
    Flota,
    "vocabulary",
    FlotaParameters,
    source="Hofmann et al. 2022",
    standalone="morphgraph.standalone.lookup:Flota",
)
FIRST = Method(
    "first",
    "FIRST",
    "The first tokens of the standard segmentation; the rest of the word is left out.",
    First,
    "segmenter",
    KeptParameters,
    source="Hofmann et al. 2022",
    standalone="morphgraph.standalone.piece_methods:Kept",
)
LONGEST = Method(
    "longest",
    "LONGEST",
    "The longest tokens of the standard segmentation; the rest of the word is left out.",
    Longest,
    "segmenter",
    KeptParameters,
    source="Hofmann et al. 2022",
    standalone="morphgraph.standalone.piece_methods:Kept",
)
