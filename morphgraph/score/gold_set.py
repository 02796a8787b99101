"""The basis of every score: a reference, the weights of its words, and its cuts."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Literal, Self
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from morphgraph.core import __version__
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.core.text import base_name, counted, visible
from morphgraph.reference.entry import Entry, Reference
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.words import INSIDE_CHARACTER, Segmentation, Words

if TYPE_CHECKING:
    import pandas as pd


Scope = Literal["morphemic", "whole-word"]
Weighting = Literal["types", "tokens"]
COUNTS_IN_REFERENCE = "counts in the reference"
SCOPES: tuple[Scope, ...] = ("morphemic", "whole-word")
WEIGHTINGS: tuple[Weighting, ...] = ("types", "tokens")
HOLDOUT = 0.5
"""The default share of words held out when scoring methods that learn from a reference."""
RUNNING_TEXT, BARE = "running text", "bare words"


def code_points(text: str) -> npt.NDArray[np.int32]:
    """Return the code points of a text: int32."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)


@dataclass(frozen=True)
class Cuts:
    """The cut positions of n words, as numbers of characters to the left.

    ``positions``: int64, ascending within a word, word after word; ``offsets``: int64 (n + 1), into
    ``positions``.

    >>> Cuts.of([("un", "do", "ing"), ("dog",)]).positions.tolist()
    [2, 4]
    """

    positions: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, segmentations: Iterable[Sequence[str] | None]) -> "Cuts":
        """Return the cuts between segments; a word that is None has none."""
        known = [segments or ("",) for segments in segmentations]
        count = np.fromiter(map(len, known), np.int64, len(known))
        lengths = np.fromiter(map(len, chain.from_iterable(known)), np.int64, int(count.sum()))
        offsets = np.append(0, np.cumsum(count))
        ends = np.cumsum(lengths) if len(lengths) else lengths
        before = np.repeat(np.append(0, ends)[offsets[:-1]], count)
        is_last = np.zeros(len(lengths), bool)
        is_last[offsets[1:] - 1] = True
        return cls((ends - before)[~is_last], offsets - np.arange(len(offsets)))

    @classmethod
    def at(
        cls, words: npt.NDArray[np.int64], positions: npt.NDArray[np.int64], count: int
    ) -> "Cuts":
        """Return the cuts of ``count`` words at (word, characters to the left), in any order."""
        keys = (words << 32) | positions
        if not (keys[1:] > keys[:-1]).all():  # they are usually in order already
            keys = np.unique(keys)
        counts = np.bincount(keys >> 32, minlength=count)
        found = cls(keys & 0xFFFFFFFF, np.append(0, np.cumsum(counts)))
        found.__dict__["keys"] = keys  # what the property would recompute
        return found

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """The number of cuts of each word."""
        return np.diff(self.offsets)

    @cached_property
    def keys(self) -> npt.NDArray[np.int64]:
        """The keys word << 32 | position of all cuts, ascending."""
        words = np.repeat(np.arange(len(self), dtype=np.int64), self.counts)
        return (words << 32) | self.positions

    def only(self, numbers: npt.NDArray[np.int64]) -> "Cuts":
        """Return some of the cuts of the same words, by index."""
        return Cuts.at(self.keys[numbers] >> 32, self.positions[numbers], len(self))

    def are_in(self, other: "Cuts") -> npt.NDArray[np.bool_]:
        """Return whether each cut is also in another set of cuts of the same words."""
        if not len(other.keys):
            return np.zeros(len(self.keys), bool)
        found = np.minimum(np.searchsorted(other.keys, self.keys), len(other.keys) - 1)
        same: npt.NDArray[np.bool_] = other.keys[found] == self.keys
        return same

    def shared(self, other: "Cuts") -> npt.NDArray[np.int64]:
        """Return how many cuts of each word are also in another set."""
        return sums_by_word(self.are_in(other), self.offsets)


@dataclass(frozen=True, kw_only=True)
class GoldSet:
    """A reference, and the weight of each of its entries.

    ``frequencies``: the corpus frequencies of words; unknown ones count 1. ``preprocessing``: how
    words are presented to a tokeniser; ``drawn``: how the entries were sampled from the reference,
    if at all.
    """

    reference: Reference
    frequencies: Mapping[str, float] | None = None
    frequency_source: str = ""
    preprocessing: str = RUNNING_TEXT
    drawn: str = ""

    def __repr__(self) -> str:
        """One line; never the words."""
        drawn = f", {self.drawn}" if self.drawn else ""
        return (
            f"<{type(self).__name__} {visible(self.reference.name)}: {self.reference.format}, "
            f"{counted(len(self.reference), 'entry', 'entries')}{drawn}>"
        )

    def __len__(self) -> int:
        return len(self.reference)

    def __iter__(self) -> Iterator[Entry]:
        """The entries, one by one: words with their morphs."""
        return iter(self.reference.entries)

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each entry: word, morphs, whole words and frequency, None if not known.

        >>> mg.read_gold([("undo", ["un", "do"])]).to_frame().loc[0, "morphs"]
        ('un', 'do')
        """
        import pandas as pd

        known = self._known_frequencies(self.reference.entries)
        rows = [
            (entry.word, entry.morphs, entry.whole_words, frequency)
            for entry, frequency in zip(self, known, strict=True)
        ]
        return pd.DataFrame(rows, columns=["word", "morphs", "whole_words", "frequency"])

    @classmethod
    def of(
        cls,
        reference: Reference,
        frequencies: Mapping[str, float] | None = None,
        frequency_source: str = "",
        *,
        bare: bool = False,
    ) -> "GoldSet":
        """Combine a reference with frequencies, by default its own counts.

        `MorphGraphError` if it is empty.
        """
        if not reference.entries:
            raise MorphGraphError("There are no words to score. Choose a reference with entries.")
        if frequencies is None and reference.has_counts:
            frequencies, frequency_source = {}, COUNTS_IN_REFERENCE
        if frequencies:
            numbers = np.fromiter(frequencies.values(), np.float64, len(frequencies))
            if not (np.isfinite(numbers) & (numbers >= 0)).all():
                raise MorphGraphError(
                    f"{frequency_source or 'The frequencies'}: a frequency is negative or no "
                    "number. Give counts of 0 or more."
                )
        return GoldSet(
            reference=reference,
            frequencies=frequencies,
            frequency_source=frequency_source,
            preprocessing=BARE if bare else RUNNING_TEXT,
        )

    def subset(self, entries: npt.NDArray[np.int64]) -> Self:
        """Return the gold set of some entries, in this order."""
        return self.with_entries([self.reference.entries[i] for i in entries])

    def with_entries(self, entries: Sequence[Entry]) -> Self:
        """Return the same with other entries, all of them with morphs."""
        reference = replace(self.reference, entries=tuple(entries), unaligned=())
        return replace(self, reference=reference)

    def held_out(self, entries: npt.NDArray[np.int64], share: float, seed: int) -> Self:
        """Return the gold set of entries drawn by a seed, as its signature says."""
        return replace(self.subset(entries), drawn=drawn_text(share, seed))

    def hold_out(self, share: float, seed: int) -> Self:
        """Return the words that a method does not see when it learns with this holdout.

        They are the same for every method and tokeniser (see `split_entries`). `MorphGraphError` if
        the reference has too few words for both sides.
        """
        seen, held = split_entries(self.texts, share, seed)
        if not len(seen) or not len(held):
            raise MorphGraphError(
                f"A reference of {counted(len(dict.fromkeys(self.texts)), 'word')} has too few to "
                f"hold out a share of {share:g}. Take one with more words, or a holdout of 0."
            )
        return self.held_out(held, share, seed)

    @property
    def bare(self) -> bool:
        """Whether words are encoded as whole texts of their own."""
        return self.preprocessing == BARE

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The word of each entry."""
        return tuple(entry.word for entry in self.reference.entries)

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of characters of each word."""
        return np.fromiter(map(len, self.texts), np.int64, len(self.texts))

    @cached_property
    def points(self) -> npt.NDArray[np.int32]:
        """The code points of all words, concatenated: int32."""
        return code_points("".join(self.texts))

    def encoded_by(self, segmenter: Segmenter) -> Words:
        """Encode the words for a segmenter; segmenters that encode alike share the result."""
        words = segmenter.encode(self.texts, bare=self.bare)
        arrays = (words.atoms, words.word_offsets, words.piece_offsets, words.gap_position)
        content = hashlib.sha256(json.dumps(sorted(words.unknown.items())).encode())
        for array in arrays:
            content.update(array.tobytes())
        return self._encoded.setdefault(content.digest(), words)

    @cached_property
    def _encoded(self) -> WeakValueDictionary[bytes, Words]:
        return WeakValueDictionary()

    def cuts(self, scope: Scope) -> Cuts:
        """Return the gold boundaries of a scope."""
        return self._morphemic_cuts if scope == "morphemic" else self._whole_word_cuts

    @cached_property
    def _morphemic_cuts(self) -> Cuts:
        return Cuts.of(entry.morphs for entry in self.reference.entries)

    @cached_property
    def _whole_word_cuts(self) -> Cuts:
        return Cuts.of(entry.whole_words for entry in self.reference.entries)

    def has_gold(self, scope: Scope) -> npt.NDArray[np.bool_]:
        """Return which entries have a segmentation of a scope; others count in no score of it."""
        if scope == "morphemic":
            return np.ones(len(self.reference), bool)
        return np.array([entry.whole_words is not None for entry in self.reference.entries])

    def _known_frequencies(self, entries: Sequence[Entry]) -> list[float | None]:
        if self.frequency_source == COUNTS_IN_REFERENCE and not self.frequencies:
            return [entry.count for entry in entries]
        known = self.frequencies or {}
        found = []
        for word in (entry.word for entry in entries):
            # Frequency lists are often in lower case; wordfreq's is case-folded.
            spellings = (word, word.lower(), word.casefold())
            found.append(next((known[s] for s in spellings if s in known), None))
        return found

    @property
    def token_weights(self) -> npt.NDArray[np.float64]:
        """Each entry's corpus frequency; 1 if unknown."""
        return self._all_token_weights[: len(self.reference)]

    @cached_property
    def _all_token_weights(self) -> npt.NDArray[np.float64]:
        entries = (*self.reference.entries, *self.reference.unaligned)
        weights = [1.0 if known is None else known for known in self._known_frequencies(entries)]
        return np.array(weights, np.float64)

    @property
    def frequency_known(self) -> npt.NDArray[np.bool_]:
        """Whether the corpus frequency of each entry is known."""
        known = self._known_frequencies(self.reference.entries)
        return np.array([each is not None for each in known])

    def weights(self, weighting: Weighting) -> npt.NDArray[np.float64]:
        """Return the weight of each entry: 1, or its corpus frequency."""
        return self.all_weights(weighting)[: len(self.reference)]

    def all_weights(self, weighting: Weighting) -> npt.NDArray[np.float64]:
        """Return the weight of each entry, followed by those of the unaligned ones."""
        if weighting == "types":
            return np.ones(len(self.reference) + len(self.reference.unaligned))
        if self.frequencies is None:
            raise MorphGraphError(
                "Scores over word tokens need word frequencies. Give counts, or a language that "
                "wordfreq knows."
            )
        return self._all_token_weights

    def weight(self, scope: Scope, weighting: Weighting) -> npt.NDArray[np.float64]:
        """Return the weight of each entry in scores of a scope: 0 without gold of it."""
        return np.where(self.has_gold(scope), self.weights(weighting), 0.0)

    def is_scored(self, scope: Scope, weighting: Weighting) -> bool:
        """Return whether a scope has gold, and a weighting the frequencies that it needs."""
        return weighting in self.weightings and bool(self.has_gold(scope).any())

    @property
    def weightings(self) -> tuple[Weighting, ...]:
        """The weightings that can be computed."""
        return ("types",) if self.frequencies is None else ("types", "tokens")

    @cached_property
    def _reference_named(self) -> dict[str, str]:
        named = reference_fields(self.reference)
        named["entries"] += f" ({self.drawn})" if self.drawn else ""
        return named

    @cached_property
    def _frequencies_named(self) -> str:
        """The source of the frequencies, with a checksum of the resulting weights."""
        if self.frequencies is None:
            return "none"
        return f"{base_name(self.frequency_source)}@{checksum(self._all_token_weights.tobytes())}"

    def signature_of(self, tokeniser: str, **more: str) -> str:
        """Return one line with everything that a tokeniser's scores depend on.

        ``tokeniser``: its own signature; ``more`` adds fields.
        """
        named = {
            **self._reference_named,
            "frequencies": self._frequencies_named,
            "words": self.preprocessing,
            "tokeniser": tokeniser,
            **more,
            "version": __version__,
        }
        return signature_line(named)


def drawn_text(share: float, seed: int) -> str:
    """Return a signature's description of held-out words.

    >>> drawn_text(0.5, 3)
    'holdout 0.5 seed 3'
    """
    return f"holdout {share:g} seed {seed}"


def split_entries(
    words: Sequence[str], share: float, seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Split entries by a seed into those to learn from and those held out, both ascending.

    ``words`` are those of the entries; ``share`` is the share of distinct words to hold out: all
    entries of a word are on the same side.
    """
    distinct = list(dict.fromkeys(words))
    order = np.random.default_rng(seed).permutation(len(distinct))
    held = {distinct[i] for i in order[: round(len(distinct) * share)]}
    is_held = np.array([word in held for word in words], bool)
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def reference_fields(reference: Reference) -> dict[str, str]:
    """Return a reference's fields for signatures: file, format, entries and checksums.

    The checksum of entries covers all their content that scores depend on, including which were
    left out and how morphemes were aligned.
    """
    entries = [
        (e.word, e.morphs, e.whole_words, e.underlying, e.kinds or None, e.processes)
        for e in (*reference.entries, *reference.unaligned)
    ]
    content = checksum(json.dumps(entries).encode())
    return {
        "reference": f"{base_name(reference.name)}@{reference.checksum}",
        "format": reference.format,
        "entries": f"{len(reference)}@{content}",
    }


def signature_line(named: Mapping[str, str]) -> str:
    """Join the fields of a signature; external names cannot look like a field.

    >>> signature_line({"reference": "a|b", "version": "1"})
    'reference:a/b|version:1'
    """
    return "|".join(
        f"{key}:{visible(' '.join(value.replace('|', '/').split()))}"
        for key, value in named.items()
    )


def sums_by_word(
    values: npt.NDArray[np.generic], offsets: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the sums of an array's slices between offsets; an empty slice has 0."""
    sums = np.append(0, np.cumsum(values, dtype=np.int64))
    found: npt.NDArray[np.int64] = sums[offsets[1:]] - sums[offsets[:-1]]
    return found


def cuts_of(segmentation: Segmentation, only: npt.NDArray[np.bool_] | None = None) -> Cuts:
    """Return where a segmentation splits words, the basis of every score.

    ``only``: the words considered, bool (n); others have no cuts.
    """
    words = segmentation.words
    is_cut = segmentation.is_split & (words.gap_position > 0)
    if only is not None:
        is_cut &= only[words.word_of_atom]
    gaps = np.flatnonzero(is_cut)
    owner = words.word_of_atom[gaps].astype(np.int64)
    return Cuts.at(owner, words.gap_position[gaps].astype(np.int64), len(words))


def splits_inside_characters(segmentation: Segmentation) -> npt.NDArray[np.int64]:
    """Count each word's splits between bytes of one character, which are not gaps."""
    words = segmentation.words
    inside = segmentation.is_split & (words.gap_position == INSIDE_CHARACTER)
    return sums_by_word(inside, words.word_offsets)
