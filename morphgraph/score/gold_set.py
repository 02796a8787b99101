"""The basis of every score: a reference, the weights of its words, and its cuts."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Self, get_args
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from morphgraph.core import __version__
from morphgraph.core.cache import State
from morphgraph.core.errors import MorphGraphError, check_choice, check_seed, check_share
from morphgraph.core.files import checksum
from morphgraph.core.text import base_name, counted, shortened, visible
from morphgraph.reference.entry import Entry, Reference
from morphgraph.reference.families import (
    FEWEST_FAMILIES,
    Part,
    Side,
    SplitBy,
    drawn_from,
    families_of,
    word_numbers,
)
from morphgraph.score import SHARE_KEPT
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.words import Words, code_points

if TYPE_CHECKING:
    import pandas as pd

Counts = npt.NDArray[np.int64]
"""Whole numbers, one for each word, or offsets."""
Flags = npt.NDArray[np.bool_]
"""Truth values, one for each word."""
Scope = Literal["morphemic", "whole-word"]
Weighting = Literal["types", "tokens"]
COUNTS_IN_REFERENCE = "counts in the reference"
SCOPES: tuple[Scope, ...] = ("morphemic", "whole-word")
WEIGHTINGS: tuple[Weighting, ...] = ("types", "tokens")
RUNNING_TEXT, BARE = "running text", "bare words"


@dataclass(frozen=True)
class Cuts:
    """The cut positions of n words, as numbers of characters to the left.

    ``positions``: int64, ascending within a word, word after word; ``offsets``: int64 (n + 1), into
    ``positions``.

    >>> Cuts.of([("un", "do", "ing"), ("dog",)]).positions.tolist()
    [2, 4]
    """

    positions: Counts
    offsets: Counts

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
    def at(cls, words: Counts, positions: Counts, count: int) -> "Cuts":
        """Return the cuts of ``count`` words at (word, characters to the left), in any order."""
        keys = (words << 32) | positions
        if not (keys[1:] > keys[:-1]).all():  # they are usually in order already
            keys = np.unique(keys)
        counts = np.bincount(keys >> 32, minlength=count)
        cuts = cls(keys & 0xFFFFFFFF, np.append(0, np.cumsum(counts)))
        cuts.__dict__["keys"] = keys  # what the property would recompute
        return cuts

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def counts(self) -> Counts:
        """The number of cuts of each word."""
        return np.diff(self.offsets)

    @cached_property
    def keys(self) -> Counts:
        """The keys word << 32 | position of all cuts, ascending."""
        words = np.repeat(np.arange(len(self), dtype=np.int64), self.counts)
        return (words << 32) | self.positions

    @property
    def words(self) -> Counts:
        """The word of each cut."""
        return self.keys >> 32

    def of_word(self, number: int) -> list[int]:
        """Return the cuts of one word."""
        start, end = self.offsets[number : number + 2]
        cuts: list[int] = self.positions[start:end].tolist()
        return cuts

    def only(self, numbers: Counts) -> "Cuts":
        """Return some of the cuts of the same words, by index."""
        return Cuts.at(self.words[numbers], self.positions[numbers], len(self))

    def shared(self, other: "Cuts") -> Counts:
        """Return how many cuts of each word are also in another set."""
        if not len(other.keys):
            return np.zeros(len(self), np.int64)
        nearest = np.minimum(np.searchsorted(other.keys, self.keys), len(other.keys) - 1)
        return sums_by_word(other.keys[nearest] == self.keys, self.offsets)

    def same_words(self, other: "Cuts") -> Flags:
        """Return which words are cut at the same places in another set."""
        same: Flags = (self.counts == other.counts) & (self.counts == self.shared(other))
        return same


def sums_by_word(values: npt.NDArray[np.generic], offsets: Counts) -> Counts:
    """Return the sums of an array's slices between offsets; an empty slice has 0."""
    sums = np.append(0, np.cumsum(values, dtype=np.int64))
    by_word: Counts = sums[offsets[1:]] - sums[offsets[:-1]]
    return by_word


@dataclass(frozen=True, kw_only=True)
class GoldSet:
    """A reference, and the weight of each of its entries.

    ``frequencies``: the corpus frequencies of words; unknown ones count 1. ``preprocessing``: how
    words are presented to a tokeniser; ``parts``: the splits of the reference that left these
    entries, in order.
    """

    reference: Reference
    frequencies: Mapping[str, float] | None = None
    frequency_source: str = ""
    preprocessing: str = RUNNING_TEXT
    parts: tuple[Part, ...] = ()

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

        rows = [
            (entry.word, entry.morphs, entry.whole_words, frequency)
            for entry, frequency in zip(self, self._frequencies, strict=False)
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
        """Combine a reference, which must not be empty, with frequencies, by default its own."""
        if not reference.entries:
            raise MorphGraphError("There are no words to score. Choose a reference with entries.")
        if frequencies is None and reference.has_counts:
            frequencies, frequency_source = {}, COUNTS_IN_REFERENCE
        if frequencies:
            numbers = np.fromiter(frequencies.values(), np.float64, len(frequencies))
            if not (np.isfinite(numbers) & (numbers >= 0)).all():
                raise MorphGraphError(
                    f"{frequency_source or 'The frequencies'}: a frequency is negative or not a "
                    "number. Give counts of 0 or more."
                )
        return GoldSet(
            reference=reference,
            frequencies=frequencies,
            frequency_source=frequency_source,
            preprocessing=BARE if bare else RUNNING_TEXT,
        )

    def subset(self, entries: Counts) -> Self:
        """Return the gold set of some entries, in this order."""
        return self.with_entries([self.reference.entries[i] for i in entries])

    def with_entries(self, entries: Sequence[Entry]) -> Self:
        """Return the same with other entries, all of them with morphs."""
        reference = replace(self.reference, entries=tuple(entries), unaligned=())
        return replace(self, reference=reference)

    def split(
        self, share: float = SHARE_KEPT, seed: int = 0, by: SplitBy = "families"
    ) -> tuple[Self, Self]:
        """Split the entries: those to learn from, and a share that is kept aside to score on.

        ``by``: whole "families" of words with the same base or stem (docs/how/kept-aside.md), or
        single "words". The order of entries does not matter. Errors:
        `MorphGraphError` for a share that is not between 0 and 1, and if one side has no words.

        >>> train, test = gold.split()
        >>> len(train), test
        (751, <GoldSet demo:en: plain, 188 entries, kept aside 0.2 by families, seed 0>)
        """
        check_choice("by", by, get_args(SplitBy))
        sides = [Part(side, share, seed, by) for side in get_args(Side)]
        rest, aside = (
            replace(self.subset(np.flatnonzero(self.mask(part))), parts=(*self.parts, part))
            for part in sides
        )
        if not rest.size or not aside.size:
            raise MorphGraphError(
                f"A reference of {counted(self.families, 'family', 'families')} is too small to "
                f"keep a share of {share:g} aside. Choose one with more words, or a holdout of 0."
            )
        return rest, aside

    def set_aside(self, holdout: float, seed: int) -> tuple[Self, Self]:
        """Return what a method learns from, and what it is scored on: all for both without holdout.

        With the usual holdout, and few families, it is all for both, too.
        """
        return self.split(holdout, seed) if self.keeps(holdout) else (self, self)

    def keeps(self, holdout: float) -> bool:
        """Return whether words are kept aside by `set_aside`."""
        few = holdout == SHARE_KEPT and self.families < FEWEST_FAMILIES
        return bool(holdout) and not few

    def mask(self, part: Part) -> Flags:
        """Return which entries are in a part."""
        check_share("share", part.share)
        check_seed(part.seed)
        kept = drawn_from(self._families(part.by), part.share, part.seed, part.by)
        return kept if part.side == "kept" else ~kept

    @property
    def families(self) -> int:
        """The number of families: words that are linked, or have the same stem, are one."""
        return int(self._families("families").max(initial=-1)) + 1

    def _families(self, by: SplitBy) -> Counts:
        numbers = families_of if by == "families" else word_numbers
        family_numbers: Counts = self.reference.cache.get(
            State.of(by), "families", lambda: numbers(self.reference.entries)
        )
        return family_numbers

    @property
    def size(self) -> int:
        """The number of entries."""
        return len(self.reference)

    @property
    def drawn(self) -> str:
        """How the entries were drawn from the reference, as signatures say it; "" for all."""
        return ", ".join(map(str, self.parts))

    @property
    def bare(self) -> bool:
        """Whether words are encoded as whole texts of their own."""
        return self.preprocessing == BARE

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The word of each entry."""
        return tuple(entry.word for entry in self.reference.entries)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of the first entry of each word."""
        return {text: number for number, text in reversed([*enumerate(self.texts)])}

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of characters of each word."""
        return np.fromiter(map(len, self.texts), np.int64, len(self.texts))

    @cached_property
    def character_offsets(self) -> Counts:
        """Where each word begins in the characters of all words, and where the last ends."""
        return np.append(0, np.cumsum(self.lengths))

    @cached_property
    def points(self) -> npt.NDArray[np.int32]:
        """The code points of all words, concatenated: int32."""
        return code_points("".join(self.texts))

    def encoded_by(self, segmenter: Segmenter) -> Words:
        """Encode the words for a segmenter; segmenters that encode alike share the result."""
        words = segmenter.encode(self.texts, bare=self.bare)
        apart = [sorted(words.unknown.items()), words.left_out]
        content = hashlib.sha256(json.dumps(apart).encode())
        for array in (words.atoms, words.word_offsets, words.piece_offsets, words.gap_position):
            content.update(array.tobytes())
        return self._encoded.setdefault(content.digest(), words)

    @cached_property
    def _encoded(self) -> WeakValueDictionary[bytes, Words]:
        return WeakValueDictionary()

    def cuts(self, scope: Scope) -> Cuts:
        """Return the gold boundaries of a scope."""
        return self._by_scope(scope)[0]

    def has_gold(self, scope: Scope) -> Flags:
        """Return which entries have a segmentation of a scope; others count in no score of it."""
        return self._by_scope(scope)[1]

    def _by_scope(self, scope: Scope) -> tuple[Cuts, Flags]:
        if scope not in self._scopes:
            gold = [entry.morphs or None for entry in self.reference.entries]
            if scope == "whole-word":
                gold = [entry.whole_words for entry in self.reference.entries]
            known = np.fromiter((segments is not None for segments in gold), bool, len(gold))
            self._scopes[scope] = Cuts.of(gold), known
        return self._scopes[scope]

    @cached_property
    def _scopes(self) -> dict[Scope, tuple[Cuts, Flags]]:
        return {}

    @cached_property
    def _frequencies(self) -> list[float | None]:
        """The corpus frequency of each entry, also of the unaligned ones; None if unknown."""
        entries = (*self.reference.entries, *self.reference.unaligned)
        if self.frequency_source == COUNTS_IN_REFERENCE and not self.frequencies:
            return [entry.count for entry in entries]
        known = self.frequencies or {}
        by_entry = []
        for word in (entry.word for entry in entries):
            # Frequency lists are often in lower case; wordfreq's is case-folded.
            spellings = (word, word.lower(), word.casefold())
            by_entry.append(next((known[s] for s in spellings if s in known), None))
        return by_entry

    @property
    def token_weights(self) -> npt.NDArray[np.float64]:
        """Each entry's corpus frequency; 1 if unknown."""
        return self._all_token_weights[: len(self)]

    @cached_property
    def _all_token_weights(self) -> npt.NDArray[np.float64]:
        known = self._frequencies
        return np.array([1.0 if each is None else each for each in known], np.float64)

    @property
    def frequency_known(self) -> Flags:
        """Whether the corpus frequency of each entry is known."""
        return np.array([each is not None for each in self._frequencies[: len(self)]])

    def weights(self, weighting: Weighting) -> npt.NDArray[np.float64]:
        """Return the weight of each entry: 1, or its corpus frequency."""
        return self.all_weights(weighting)[: len(self)]

    def all_weights(self, weighting: Weighting) -> npt.NDArray[np.float64]:
        """Return the weight of each entry, followed by those of the unaligned ones."""
        if weighting == "types":
            return np.ones(len(self) + len(self.reference.unaligned))
        if self.frequencies is None:
            raise MorphGraphError(
                "Scores over word tokens need word frequencies. Give counts, or a language that "
                "wordfreq knows."
            )
        return self._all_token_weights

    @cached_property
    def is_learnable(self) -> Flags:
        """Whether each word may be learned from: those that the reference exempts may not."""
        exempt = self.reference.exempt
        return np.fromiter((text not in exempt for text in self.texts), bool, len(self))

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
    def _named(self) -> dict[str, str]:
        """The fields of signatures on the reference, frequencies and words."""
        named = reference_fields(self.reference)
        named["entries"] += f" ({self.drawn})" if self.drawn else ""
        frequencies = "none"
        if self.frequencies is not None:
            weights = checksum(self._all_token_weights.tobytes())
            frequencies = f"{base_name(self.frequency_source)}@{weights}"
        return {**named, "frequencies": frequencies, "words": self.preprocessing}

    def signature_of(self, tokeniser: str, **more: str) -> str:
        """Return one line with everything that a tokeniser's scores depend on, and ``more``."""
        named = {**self._named, "tokeniser": tokeniser, **more, "version": __version__}
        return signature_line(named)


def check_gold(gold: Any) -> GoldSet:
    """Return gold as it is given; `MorphGraphError` for anything that was not read as gold."""
    if isinstance(gold, GoldSet):
        return gold
    raise MorphGraphError(
        f"{shortened(repr(gold))} is not gold that was read. Give what mg.read_gold returns."
    )


def reference_fields(reference: Reference) -> dict[str, str]:
    """Return a reference's fields for signatures: file, format, entries and checksums.

    The checksum of entries covers all their content that scores depend on.
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
