"""FLOTA: few longest tokens; and its baselines FIRST and LONGEST for any segmenter."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.segment.bte import check_document
from morphgraph.segment.method import Method
from morphgraph.segment.parameters import OnlyMarked, Parameters
from morphgraph.segment.wordpiece import VocabularySegmenter
from morphgraph.tokeniser.vocabulary import SubwordVocabulary, document_field
from morphgraph.tokeniser.words import Segmentation, Segmenter, Words, called


class FlotaParameters(Parameters):
    """How many tokens FLOTA takes, and which."""

    k: int = Field(
        default=0, ge=0, description="Tokens at most, of each word or mark; 0 for no limit."
    )
    strict: Annotated[bool, OnlyMarked("##")] = Field(
        default=False, description="No ## form at the start of a word."
    )


class KeptParameters(Parameters):
    """How many tokens FIRST and LONGEST keep."""

    k: int = Field(
        default=2, ge=1, description="Tokens at most, of each word or mark; the rest is left out."
    )


class Flota(VocabularySegmenter):
    """The longest substring that is a type, leftmost among equals, then the same on what is left.

    At most ``k`` tokens of a word (0, None: no limit), in order of position; characters in none of
    them are `DROPPED`. In running text, and in a word with hyphens or other marks, ``k`` counts for
    each run of ``\\w`` and for each mark by itself; a token is of the one that it begins in. At the
    start of a word the word-initial form of a substring is preferred, elsewhere the word-internal
    one; the other form is the fallback, but not at the start of a word if ``strict``, which is for
    ``##`` vocabularies. Length is counted in characters (bytes in a byte-level vocabulary) without
    the marker; no token crosses what the pre-tokeniser separates. A bare text of a vocabulary that
    marks starts has no marker, so no such start.
    Source: Hofmann et al. 2022, Fig. 1.

    >>> flota = Flota(SubwordVocabulary(("un", "##desirable", "##des", "[UNK]"), "##"), k=1)
    >>> found = flota.segment(flota.encode(["undesirable"]))
    >>> [flota.types[token] for token in found.tokens(0)]
    ['##desirable']
    """

    method = "flota"

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
    def name(self) -> str:
        """The method's name."""
        return "FLOTA"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """``k``, and ``strict`` where it is on."""
        return {"k": self.k} | ({"strict": True} if self.strict else {})

    def segment(self, words: Words) -> Segmentation:
        """Cut words that this segmenter encoded; ``closed_by`` holds the ids of the tokens."""
        from morphgraph.kernels.trie import longest_first

        vocabulary, trie = self.vocabulary, self.vocabulary.trie
        marks_start = vocabulary.marker in ("Ġ", "▁")
        count = len(words.atoms)
        closed_by, token_at = np.empty(count, np.int32), np.empty(count, np.int32)
        longest_first(
            words.atoms,
            words.word_offsets,
            words.piece_offsets,
            trie.table,
            trie.root,
            trie.ends,
            trie.depth,
            vocabulary.atoms.get(vocabulary.marker, -1) if marks_start else -1,
            vocabulary.initial_form,
            not marks_start,
            self.strict,
            np.zeros(count, np.int32) if self.k is None else words.units,
            count if self.k is None else min(self.k, count),
            closed_by,
            token_at,
        )
        return Segmentation(words, closed_by, token_at)


class _Kept:
    """The tokens that a baseline keeps of another segmenter's segmentation."""

    method: ClassVar[str]
    _by_length: ClassVar[bool]

    def __init__(self, segmenter: Segmenter, k: int = KeptParameters().k) -> None:
        KeptParameters(k=k)
        self.segmenter = segmenter
        self.k = k

    @property
    def name(self) -> str:
        """The method's name, as in the paper."""
        return self.method.upper()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """``k``, and the method that it is applied to."""
        return {"k": self.k, "of": called(self.segmenter.name, self.segmenter.parameters)}

    @property
    def types(self) -> Sequence[str]:
        """The string of each type, by id."""
        return self.segmenter.types

    @property
    def vocabulary_size(self) -> int:
        """|V|."""
        return self.segmenter.vocabulary_size

    def encode(self, words: Sequence[str], *, bare: bool = False) -> Words:
        """Words as atoms of the other segmenter."""
        return self.segmenter.encode(words, bare=bare)

    def segment(self, words: Words) -> Segmentation:
        """Cut words that this segmenter encoded."""
        from morphgraph.kernels.trie import keep_tokens

        standard = self.segmenter.segment(words)
        closed_by, token_at = standard.closed_by.copy(), standard.token_at.copy()
        is_marker = words.is_marker.astype(np.uint8)
        k = min(self.k, len(words.atoms))
        keep_tokens(_token_units(standard), is_marker, k, self._by_length, closed_by, token_at)
        return Segmentation(words, closed_by, token_at)

    def token_text(self, words: Words, atom: int, token: int) -> str:
        """The readable text of a token that ends at an atom."""
        return self.segmenter.token_text(words, atom, token)

    def vocabulary_id(self, token: int) -> int | None:
        """The id of a type in the file of the other segmenter's model."""
        return self.segmenter.vocabulary_id(token)

    def signature(self) -> str:
        """The method with ``k``, then the other segmenter: ``FIRST(k=2):BPE:gpt2@0a1b2c``."""
        return f"{called(self.name, {'k': self.k})}:{self.segmenter.signature()}"

    def document(self) -> dict[str, Any]:
        """Method, parameters and the other segmenter's document as JSON, for `from_document`.

        Errors: `MorphGraphError` where the other segmenter has no document.
        """
        if not isinstance(self.segmenter, _Documented):
            raise MorphGraphError(
                f"{self.segmenter.name} cannot be saved with {self.name}. Use another segmenter."
            )
        model = self.segmenter.document()
        return {"method": self.method, "parameters": {"k": self.k}, "model": model}

    @classmethod
    def from_document(
        cls, document: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Segmenter]
    ) -> Self:
        """Read back what `document` wrote; ``read`` reads the other segmenter's document."""
        check_document(document, cls.method)
        k = document_field(document_field(document, "parameters", dict), "k", int)
        return cls(read(document_field(document, "model", dict)), k)


def _token_units(segmentation: Segmentation) -> npt.NDArray[np.int64]:
    """Where the tokens that begin in a unit begin and end: int64, into the atoms.

    Units are those of `Words.units`; no unit goes beyond a word.
    """
    words, units = segmentation.words, segmentation.words.units
    count = len(words.atoms)
    if not count:
        return np.zeros(1, np.int64)
    first = np.append(0, np.flatnonzero(segmentation.token_at[:-1] != INSIDE_TOKEN) + 1)
    changes = np.append(True, units[first[1:]] != units[first[:-1]])
    return np.append(first[changes], count)


class First(_Kept):
    """The ``k`` first tokens of each word's standard segmentation; the others are `DROPPED`.

    ``k`` counts as `Flota`'s does.
    Source: Hofmann et al. 2022, §3.
    """

    method = "first"
    _by_length = False


class Longest(_Kept):
    """The ``k`` longest tokens of each word's standard segmentation, leftmost among equals.

    They stay in order of position, the others are `DROPPED`. ``k`` counts as `Flota`'s does. Length
    is counted in atoms, without a start-of-word marker. Source: Hofmann et al. 2022, §3.
    """

    method = "longest"
    _by_length = True


@runtime_checkable
class _Documented(Protocol):
    def document(self) -> dict[str, Any]: ...


FLOTA = Method(
    "flota",
    "FLOTA",
    "The longest type anywhere in the word first, leftmost among equals, then the same in what is "
    "left.",
    Flota,
    "vocabulary",
    FlotaParameters,
    source="Hofmann et al. 2022",
)
FIRST = Method(
    "first",
    "FIRST",
    "The first tokens of the standard segmentation; the rest of the word is left out.",
    First,
    "segmenter",
    KeptParameters,
    source="Hofmann et al. 2022",
)
LONGEST = Method(
    "longest",
    "LONGEST",
    "The longest tokens of the standard segmentation; the rest of the word is left out.",
    Longest,
    "segmenter",
    KeptParameters,
    source="Hofmann et al. 2022",
)
