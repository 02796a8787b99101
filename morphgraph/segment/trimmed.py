"""Trimmed BPE: all merges, after which rare tokens are decomposed."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum, document_field
from morphgraph.corpus.counts import WordCounts
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.graph.arrays import merge_arrays
from morphgraph.graph.atoms import atoms_of
from morphgraph.graph.merge_table import ranges
from morphgraph.segment.bte import Bte, flat_lists, merging_model, saved_tokeniser
from morphgraph.segment.method import Method, Parameters
from morphgraph.tokeniser.encoding import batches_of
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words


class TrimmedParameters(Parameters):
    """Which types are rare."""

    threshold: int = Field(default=100, ge=0, description="Types of at most this count go.")
    vocab_size: int = Field(
        default=0, ge=0, description="The rarest go until this many are left; 0: by the threshold."
    )


_USUAL = TrimmedParameters()


def token_counts(tokeniser: BpeTokeniser, word_counts: WordCounts) -> npt.NDArray[np.int64]:
    """Count each type in counted words as segmented by a tokeniser: int64, by id."""
    return type_uses(tokeniser, word_counts)[1]


def type_uses(
    tokeniser: BpeTokeniser,
    word_counts: WordCounts,
    look: Callable[[Segmentation, npt.NDArray[np.int64]], None] = lambda *_: None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count each type in counted words: as a token or a part of an applied merge, and as a token.

    Both: int64, by id. ``look``: is shown each batch as segmented, with the count of each atom's
    word.
    """
    texts, counts = word_counts.words, np.asarray(word_counts.counts, np.int64)
    arrays = merge_arrays(tokeniser.graph)
    final, joins = np.zeros(len(tokeniser.graph.types), np.int64), np.zeros(len(arrays), np.int64)
    for chosen in batches_of(texts):
        words = tokeniser.encode(list(map(texts.__getitem__, chosen.tolist())))
        segmentation, weights = segment(tokeniser.graph, words), counts[chosen][words.word_of_atom]
        ends = np.flatnonzero((segmentation.token_at >= 0) & (segmentation.token_at != UNKNOWN))
        np.add.at(final, segmentation.token_at[ends], weights[ends])
        gaps = np.flatnonzero(segmentation.is_merged)
        np.add.at(joins, segmentation.closed_by[gaps], weights[gaps])
        look(segmentation, weights)
    uses, widths = final.copy(), np.diff(arrays.part_offsets)
    np.add.at(uses, arrays.parts, np.repeat(joins // (widths - 1), widths))
    return uses, final


class Decomposing(Bte):
    """A tokeniser whose tokens of some types are decomposed by their merges after all merges.

    ``doomed``: the ids of these types; no atoms or fixed types. Parts of type t:
    ``_flat[_offsets[t] : _offsets[t + 1]]``, none if it stays.
    """

    def __init__(self, tokeniser: BpeTokeniser, doomed: Iterable[int]) -> None:
        super().__init__(tokeniser.copy())
        self.absent = frozenset(doomed)
        self.graph = graph = self.tokeniser.graph
        parts: list[tuple[int, ...]] = [()] * len(graph.types)
        for number in sorted(self.absent, key=lambda n: len(graph.types[n])):
            merge = graph.merge(graph.producer(number))
            parts[number] = tuple(n for part in merge.parts for n in (parts[part] or (part,)))
        self._flat, self._offsets = flat_lists(parts)
        self._lengths = np.fromiter(map(len, graph.types), np.int64, len(graph.types))

    @property
    def vocabulary_size(self) -> int:
        return self.graph.type_count - len(self.absent)

    def parts_of(self, number: int) -> tuple[int, ...]:
        """Return the replacement of a type; empty if it stays."""
        return tuple(self._flat[self._offsets[number] : self._offsets[number + 1]].tolist())

    def segment(self, words: Words) -> Segmentation:
        return self.taken_apart(segment(self.graph, words))

    def taken_apart(self, whole: Segmentation) -> Segmentation:
        """Return a segmentation with the parts of its tokens instead; itself if all stay."""
        words, token_at = whole.words, whole.token_at
        known = np.where((token_at >= 0) & (token_at != UNKNOWN), token_at, 0)
        sizes = np.where(known == token_at, np.diff(self._offsets)[known], 0)
        ends = np.flatnonzero(sizes)
        if not len(ends):
            return whole
        split, sizes = token_at[ends], sizes[ends]
        part_at, offsets = ranges(self._offsets[split], self._offsets[split + 1])
        parts, first = self._flat[part_at], offsets[:-1]
        # Where each part ends, in characters: those of the token less those of later parts.
        atoms = words.atoms
        width = np.where(atoms == UNKNOWN, 1, self._lengths[np.where(atoms == UNKNOWN, 0, atoms)])
        characters = np.cumsum(width)
        begins = characters[ends] - self._lengths[split]
        done = np.cumsum(self._lengths[parts])
        before = done[first] - self._lengths[parts[first]]
        at = np.searchsorted(characters, done + np.repeat(begins - before, sizes))
        closed_by, tokens = whole.closed_by.copy(), token_at.copy()
        closed_by[at] = np.where(np.isin(at, ends), closed_by[at], -1)
        tokens[at] = parts
        return Segmentation(words, closed_by, tokens)

    def exported(self, unchanged: bool) -> ExportedModel:
        types, widths = self.types, np.diff(atoms_of(self.graph)[1]).tolist()
        apart = {
            types[number]: [(types[part], widths[part]) for part in self.parts_of(number)]
            for number in sorted(self.absent)
        }
        return merging_model(self, unchanged, apart)


def doomed_types(tokeniser: BpeTokeniser, texts: Iterable[str], what: str) -> list[int]:
    """Return the ids of types to decompose; `MorphGraphError` for what cannot be a ``what``."""
    graph = tokeniser.graph
    for text in sorted(texts):
        if text not in graph or not graph.is_removable(graph.ids[text]):
            raise MorphGraphError(
                f"“{text}” cannot be a {what}: no merge makes it, or it is an added token. Leave "
                "it out."
            )
    return [graph.ids[text] for text in texts]


class Trimmed(Decomposing):
    """Trimmed BPE: decomposes types that are rare in a second corpus.

    ``counts``: int64, by type id (see `token_counts`). Types whose count is at most ``threshold``
    are trimmed, but no atoms and added tokens; with a ``vocab_size``, instead the rarest ones until
    this many types are left, of equals those with the highest ids. `MorphGraphError` if that is
    impossible. The graph's present state is used. Source: Cognetta et al. 2024; Chizhov et al.
    2024, Table 3, for the size.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("abc", ["a", "b", "c", "ab", "abc"], ["ab", ("ab", "c")])
    >>> trimmed = Trimmed(tokeniser, np.array([9, 9, 9, 9, 1]), threshold=1)
    >>> [trimmed.types[token] for token in trimmed.segment(trimmed.encode(["abc"])).tokens(0)]
    ['ab', 'c']
    """

    method = "trimmed"
    name = "Trimmed"

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        counts: npt.ArrayLike,
        threshold: int = _USUAL.threshold,
        vocab_size: int = _USUAL.vocab_size,
    ) -> None:
        graph = tokeniser.graph
        self.counts = np.array(counts, np.int64)
        self.threshold, self.vocab_size = threshold, vocab_size
        rare = [n for n in graph.type_ids() if graph.is_removable(n)]
        if vocab_size:
            excess = graph.type_count - vocab_size
            if not 0 <= excess <= len(rare):
                raise MorphGraphError(
                    f"The {graph.type_count:,} types cannot be trimmed to {vocab_size:,}. Ask for "
                    f"{graph.type_count - len(rare):,} to {graph.type_count:,}."
                )
            rare = sorted(rare, key=lambda n: (self.counts[n], -n))[:excess]
        else:
            rare = [n for n in rare if self.counts[n] <= threshold]
        super().__init__(tokeniser, rare)
        listed = sorted(self._listed_counts().items())
        self._checksum = checksum("".join(f"{text}\t{n}\n" for text, n in listed).encode())

    @property
    def parameters(self) -> Mapping[str, Any]:
        size = {"vocab_size": self.vocab_size} if self.vocab_size else {}
        return {**(size or {"threshold": self.threshold}), "counts": self._checksum}

    def _listed_counts(self) -> dict[str, int]:
        present = self.graph.type_ids()
        return {self.graph.types[n]: int(self.counts[n]) for n in present if self.counts[n]}

    def document(self) -> dict[str, Any]:
        return {**super().document(), "counts": self._listed_counts()}

    @classmethod
    def by_counts(cls, tokeniser: BpeTokeniser, counts: WordCounts, **limits: int) -> Self:
        """Trim by the count of each type in counted words as segmented by the tokeniser."""
        return cls(tokeniser, token_counts(tokeniser, counts), **limits)

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        tokeniser = saved_tokeniser(document)
        listed = document_field(document, "counts", dict)
        counts = [int(listed.get(text, 0)) for text in tokeniser.types]
        limits = [name for name in TrimmedParameters.model_fields if name in document]
        return cls(tokeniser, counts, **{n: document_field(document, n, int) for n in limits})


TRIMMED = Method(
    "trimmed",
    "Trimmed BPE",
    "All merges, then every token whose type is rare in a second corpus is taken apart again, "
    "until none is left.",
    Trimmed,
    "merges",
    TrimmedParameters,
    build=Trimmed.by_counts,
    counts=True,
    source="Cognetta et al. 2024",
    standalone="morphgraph.standalone.merges:Merging",
)
