"""The segmentation of a reference's words by a tokeniser, with all that scores need."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise

import numpy as np
import numpy.typing as npt

from morphgraph.core.text import base_name
from morphgraph.reference.entry import Entry
from morphgraph.reference.predictions import Predictions
from morphgraph.score.boundaries import cuts_of, splits_inside_characters
from morphgraph.score.gold_set import Counts, Cuts, Flags, GoldSet, Scope, sums_by_word
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.words import Segmentation, code_points


@dataclass(frozen=True)
class Strings:
    """A list of strings for each of n words, as flat arrays.

    ``points``: int32, code points; ``strings``: int64, offsets into points; ``words``: int64 (n +
    1), offsets into strings.
    """

    points: npt.NDArray[np.int32]
    strings: Counts
    words: Counts

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]]) -> "Strings":
        """Convert lists of strings, one for each word."""
        flat = list(chain.from_iterable(lists))
        return cls(
            code_points("".join(flat)),
            np.fromiter(accumulate(map(len, flat), initial=0), np.int64, len(flat) + 1),
            np.fromiter(accumulate(map(len, lists), initial=0), np.int64, len(lists) + 1),
        )

    def followed_by(self, other: "Strings") -> "Strings":
        """Append the strings of more words."""
        return Strings(
            np.append(self.points, other.points),
            np.append(self.strings, other.strings[1:] + self.strings[-1]),
            np.append(self.words, other.words[1:] + self.words[-1]),
        )

    @property
    def counts(self) -> Counts:
        """The number of strings of each word."""
        return np.diff(self.words)

    @property
    def lists(self) -> list[list[str]]:
        """The strings of each word."""
        text = self.points.tobytes().decode("utf-32-le", "surrogatepass")
        flat = [text[start:end] for start, end in pairwise(self.strings.tolist())]
        return [flat[start:end] for start, end in pairwise(self.words.tolist())]


@dataclass(frozen=True, eq=False)
class Outcome:
    """The segmentation of a gold set's words by a tokeniser, one entry each.

    ``cuts``: in characters, not counting splits inside a character or within what a method leaves
    out. ``tokens``: those of each word, lone markers included; ``inside``: its splits inside a
    character. ``covered``: for each character of all words, and one more, whether a token covers
    any of it. ``segmentation`` is None for the gold itself and for what another program
    ``predicted``: an entry for each word, then the unaligned ones, with ``notes`` on what is
    missing. ``held_in``: it was learned from the words that it is scored on. ``more_runs``:
    further runs of a random method with other seeds; scores are then means.
    """

    gold_set: GoldSet
    label: str
    tokeniser: str
    vocabulary_size: int | None
    cuts: Cuts
    tokens: Counts
    inside: Counts
    covered: Flags
    segmentation: Segmentation | None = field(default=None, repr=False)
    segmenter: Segmenter | None = field(default=None, repr=False)
    predicted: tuple[Entry, ...] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    held_in: bool = False
    more_runs: tuple["Outcome", ...] = field(default=(), repr=False)

    @property
    def runs(self) -> tuple["Outcome", ...]:
        """This run and those with other seeds."""
        return (self, *self.more_runs)

    @property
    def is_gold(self) -> bool:
        """Whether it is the gold itself."""
        return self.segmenter is None and self.predicted is None

    def signature(self, **more: str) -> str:
        """One line with everything that its scores depend on."""
        return self.gold_set.signature_of(self.tokeniser, **more)

    @cached_property
    def pieces(self) -> Counts:
        """The number of pieces of each word that tokens cover."""
        return sums_by_word(self.kept, self._piece_offsets)

    @property
    def _piece_offsets(self) -> Counts:
        return self.cuts.offsets + np.arange(len(self.cuts.offsets))

    @cached_property
    def kept(self) -> Flags:
        """Whether tokens cover each piece between cuts, which they do wholly or not at all."""
        return sums_by_word(self.covered, self._piece_edges) > 0

    @cached_property
    def left_out(self) -> Counts:
        """The number of characters of each word that are in no token."""
        edges = self.gold_set.character_offsets
        return self.gold_set.lengths - sums_by_word(self.covered, edges)

    @cached_property
    def _piece_edges(self) -> Counts:
        """Where each piece begins in the characters of all words, and where the last ends."""
        edges = self.gold_set.character_offsets
        cuts = np.repeat(edges[:-1], self.cuts.counts) + self.cuts.positions
        return np.sort(np.concatenate([edges, cuts]), kind="stable")

    @cached_property
    def strings(self) -> Strings:
        """The pieces that tokens cover, as strings."""
        points, lengths = self.gold_set.points, np.diff(self._piece_edges)
        if self.kept.all():
            return Strings(points, self._piece_edges, self._piece_offsets)
        return Strings(
            points[np.repeat(self.kept, lengths)],
            np.append(0, np.cumsum(lengths[self.kept])),
            np.append(0, np.cumsum(self.pieces)),
        )

    @cached_property
    def morphemes(self) -> Strings:
        """The pieces of all entries, unaligned ones too, or the morphemes that a program wrote."""
        if self.predicted is not None:
            return Strings.of([entry.underlying or entry.morphs for entry in self.predicted])
        unaligned = [entry.word.split() for entry in self.gold_set.reference.unaligned]
        parts = tuple(Entry(part, (part,)) for words in unaligned for part in words)
        if not parts:
            return self.strings.followed_by(Strings.of(unaligned))
        ends = np.fromiter(accumulate(map(len, unaligned), initial=0), np.int64)
        cut = Strings.of([entry.morphs for entry in parts])
        if self.segmenter is not None:
            cut = outcome_of(self.segmenter, self.gold_set.with_entries(parts)).strings
        return self.strings.followed_by(replace(cut, words=cut.words[ends]))

    def token_texts(self, entry: int) -> list[str]:
        """Return the readable tokens of a word, or its morphs in gold and predictions."""
        if self.predicted is not None:
            return list(self.predicted[entry].morphs)
        if self.segmentation is None or self.segmenter is None:
            return list(self.gold_set.reference.entries[entry].morphs)
        return self.segmenter.token_texts(self.segmentation, entry)

    @cached_property
    def parts(self) -> Counts:
        """The number of tokens of each word, without lone markers."""
        if self.segmentation is None:
            return self.tokens
        words = self.segmentation.words
        alone = (self.segmentation.token_at >= 0) & words.is_marker
        return self.tokens - sums_by_word(alone, words.word_offsets)

    def splits(self, entry: int) -> list[int]:
        """Return where a word is split."""
        return self.cuts.of_word(entry)


def outcome_of(segmenter: Segmenter, gold_set: GoldSet, label: str = "") -> Outcome:
    """Segment the words of a gold set."""
    words = gold_set.encoded_by(segmenter)
    segmentation = segmenter.segment(words)
    merges = segmenter.tokeniser
    note = merges.several_words_note if merges is not None else ""
    return Outcome(
        gold_set,
        label or segmenter.name,
        segmenter.signature(),
        segmenter.vocabulary_size,
        cuts_of(segmentation),
        sums_by_word(segmentation.token_at >= 0, words.word_offsets),
        splits_inside_characters(segmentation),
        segmentation.covered,
        segmentation,
        segmenter,
        notes=(f"{base_name(merges.name)}: {note}",) if merges is not None and note else (),
    )


def ideal(gold_set: GoldSet) -> Outcome:
    """Return the gold as an outcome: the ceiling of scores (Bauwens & Delobelle 2024, Table 7)."""
    morphs = {morph for entry in gold_set.reference.entries for morph in entry.morphs}
    return _of_cuts(gold_set, "Ideal", "gold", len(morphs), gold_set.cuts("morphemic"))


def _of_cuts(
    gold_set: GoldSet, label: str, tokeniser: str, size: int | None, cuts: Cuts
) -> Outcome:
    """Return an outcome whose tokens are the pieces between cuts, with nothing dropped."""
    inside = np.zeros(len(cuts), np.int64)
    covered = np.ones(len(gold_set.points) + 1, bool)
    return Outcome(gold_set, label, tokeniser, size, cuts, cuts.counts + 1, inside, covered)


def gold_strings(gold_set: GoldSet, scope: Scope, *, underlying: bool = False) -> Strings:
    """Return the gold segments of each entry, or its morphemes as the source lists them."""
    entries = gold_set.reference.entries
    if underlying:
        every = (*entries, *gold_set.reference.unaligned)
        return Strings.of([entry.underlying or entry.morphs for entry in every])
    if scope == "morphemic":
        return Strings.of([entry.morphs for entry in entries])
    return Strings.of([entry.whole_words or () for entry in entries])


def outcome_of_predictions(predictions: Predictions, gold_set: GoldSet, label: str = "") -> Outcome:
    """Return a file's segmentation of a gold set, with ``notes`` on missing words."""
    entries, notes = predictions.paired(gold_set.reference)
    lacking = sum(not any(entry.underlying or ()) for entry in entries)
    named = f"predictions:{base_name(predictions.name)}@{predictions.checksum}"
    named += f" lacking {lacking:,}" * (lacking > 0)
    cuts = Cuts.of(entry.morphs for entry in entries[: len(gold_set)])
    outcome = _of_cuts(gold_set, label or base_name(predictions.name), named, None, cuts)
    return replace(outcome, predicted=tuple(entries), notes=tuple(notes))
