"""Several segmentations of the same words, side by side and against the gold."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from morphgraph.core import __version__
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.kernels import DROPPED
from morphgraph.score.boundaries import BoundaryTally, boundary_positions
from morphgraph.score.gold_set import BARE, RUNNING_TEXT, Cuts, Scope, cuts_of, signature_line
from morphgraph.score.metrics import Tally
from morphgraph.score.outcome import Outcome
from morphgraph.score.uncertainty import USUAL_DRAWS, Interval, Ratio
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.preprocess import SHOWN_MARKER, shown_token
from morphgraph.tokeniser.words import INSIDE_CHARACTER, NO_GAP, Segmentation, spelled

Boundary = Literal["start", "right", "wrong", "missed", "split", "inside", "marker"]
"""The left edge of a piece: a word's start, a split on a gold boundary, a split elsewhere, a missed
gold boundary, a split of a word without gold, a split between bytes of one character, which no
score counts, or the end of a marker that is a token of its own.
"""


@dataclass(frozen=True, slots=True)
class WordPart:
    """Part of a word between two splits or gold boundaries; ``dropped``: in no token.

    ``text``: bytes of a split character are written ``⟨D1⟩``.
    """

    text: str
    boundary: Boundary
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class SegmentedWord:
    """One word segmented by one method.

    ``tokens``: their readable texts. ``splits``: the cuts, in characters to the left. ``right``,
    ``wrong`` and ``missed`` count boundaries; ``exact``: whether it is cut exactly as in the gold,
    None without one.
    """

    tokens: tuple[str, ...]
    splits: tuple[int, ...]
    pieces: tuple[WordPart, ...]
    right: int
    wrong: int
    missed: int
    exact: bool | None

    @property
    def errors(self) -> int:
        """The number of wrong and missed boundaries."""
        return self.wrong + self.missed


@dataclass(frozen=True)
class ComparedWord:
    """One word segmented by all methods, and its gold morphs, if known."""

    text: str
    gold: tuple[str, ...] | None
    cells: tuple[SegmentedWord, ...]

    @property
    def disagree(self) -> bool:
        """Whether two methods cut the word at different places."""
        return len({cell.splits for cell in self.cells}) > 1


@dataclass(frozen=True)
class Summary:
    """The scores of one method over all compared words.

    Precision, recall and F1 of morph boundaries over the words with gold, and the 95 % interval of
    F1; ``fertility``: tokens per word; ``exact``: the share of words cut exactly as in the gold.
    NaN where undefined.
    """

    label: str
    precision: float
    recall: float
    f1: float
    interval: Interval
    fertility: float
    exact: float
    vocabulary_size: int
    signature: str


class Comparison:
    """Words segmented by several methods.

    ``texts``: words or sentences; ``gold``: the morphs of each, or None. ``labels`` name the
    methods in tables: by default their own names, with parameters where names would repeat.
    """

    def __init__(
        self,
        segmenters: Sequence[Segmenter],
        texts: Sequence[str],
        gold: Sequence[Sequence[str] | None],
        *,
        labels: Sequence[str] | None = None,
        bare: bool = False,
    ) -> None:
        if len(gold) != len(texts):
            raise MorphGraphError(
                f"{len(texts)} texts but {len(gold)} gold segmentations. Give one, or None, for "
                "each."
            )
        self._bare = bare
        self.segmenters = tuple(segmenters)
        self.texts = tuple(texts)
        self.gold = tuple(None if morphs is None else tuple(morphs) for morphs in gold)
        self.labels = tuple(labels) if labels is not None else labels_of(segmenters)
        self._columns = [
            _column(segmenter, self.texts, self.gold, bare) for segmenter in self.segmenters
        ]

    @cached_property
    def rows(self) -> list[ComparedWord]:
        """One row for each text."""
        return [
            ComparedWord(
                text, self.gold[number], tuple(cells[number] for cells, _ in self._columns)
            )
            for number, text in enumerate(self.texts)
        ]

    @cached_property
    def summaries(self) -> list[Summary]:
        """One summary for each method, in order."""
        return [self._summary(number) for number in range(len(self.segmenters))]

    @cached_property
    def signature(self) -> str:
        """One line with everything that the scores depend on: words, gold, methods, version."""
        known = sum(morphs is not None for morphs in self.gold)
        words = checksum(json.dumps(self.texts, ensure_ascii=False).encode())
        gold = checksum(json.dumps(self.gold, ensure_ascii=False).encode())
        fields = {
            "compared": f"{len(self.texts)}@{words}",
            "gold": f"{known}@{gold}",
            "words": BARE if self._bare else RUNNING_TEXT,
            "methods": " ".join(summary.signature for summary in self.summaries),
            **USUAL_DRAWS.named,
            "version": __version__,
        }
        return signature_line(fields)

    def _summary(self, number: int) -> Summary:
        segmenter, (cells, tally) = self.segmenters[number], self._columns[number]
        known = tally.weight > 0
        ones = np.ones(len(cells))
        tokens = np.array([len(cell.tokens) for cell in cells], np.float64)
        return Summary(
            self.labels[number],
            tally.precision.value,
            tally.recall.value,
            tally.f1.value,
            USUAL_DRAWS.intervals([Ratio(*(column[known] for column in tally.f1.columns))])[0],
            Ratio(tokens, ones).value,
            tally.ratio(tally.is_exact.astype(np.float64), ones).value,
            segmenter.vocabulary_size,
            segmenter.signature(),
        )

    @cached_property
    def agreement(self) -> npt.NDArray[np.float64]:
        """The share of words that each pair of methods cuts at the same places."""
        if not self.texts:
            return np.full((len(self.segmenters),) * 2, np.nan)
        numbers: dict[tuple[int, ...], int] = {}
        splits = np.array(
            [
                [numbers.setdefault(cell.splits, len(numbers)) for cell in row.cells]
                for row in self.rows
            ]
        )
        same = splits[:, :, None] == splits[:, None, :]
        agreement: npt.NDArray[np.float64] = same.mean(axis=0)
        return agreement

    def disagreeing(self) -> list[int]:
        """Indices of the rows that two methods cut differently."""
        return [number for number, row in enumerate(self.rows) if row.disagree]

    def better(self, one: int, other: int) -> list[int]:
        """Return the indices of rows in which a method makes fewer errors than another."""
        return [
            number
            for number, row in enumerate(self.rows)
            if row.gold is not None and row.cells[one].errors < row.cells[other].errors
        ]


def most_disputed(segmenters: Sequence[Segmenter], texts: Sequence[str]) -> list[int]:
    """Return the indices of texts that methods cut differently, the most disputed first.

    The dispute over a gap is the size of the minority; the gaps of a text add up. Texts that all
    methods cut alike are left out.
    """
    keys = []
    for segmenter in segmenters:
        words = segmenter.encode(texts)
        segmentation = segmenter.segment(words)
        keys.append(cuts_of(segmentation).keys)
    if not keys:
        return []
    places, split_by = np.unique(np.concatenate(keys), return_counts=True)
    minority = np.minimum(split_by, len(segmenters) - split_by)
    disputes = np.bincount(places >> 32, minority, len(texts))
    order = np.argsort(-disputes, kind="stable")
    return [int(number) for number in order if disputes[number]]


def labels_of(segmenters: Sequence[Segmenter]) -> tuple[str, ...]:
    """Return labels of methods; equal names get parameters added, and then a number."""
    names = [segmenter.name for segmenter in segmenters]
    labels = []
    for segmenter, name in zip(segmenters, names, strict=True):
        settings = ", ".join(f"{k}={spelled(value)}" for k, value in segmenter.parameters.items())
        labels.append(f"{name} ({settings})" if names.count(name) > 1 and settings else name)
    return tuple(
        f"{label} #{labels[: number + 1].count(label)}" if labels.count(label) > 1 else label
        for number, label in enumerate(labels)
    )


def _column(
    segmenter: Segmenter,
    texts: Sequence[str],
    gold: Sequence[tuple[str, ...] | None],
    bare: bool,
) -> tuple[list[SegmentedWord], BoundaryTally]:
    """Segment words with a method and count their boundaries; words without gold weigh 0."""
    words = segmenter.encode(texts, bare=bare)
    segmentation = segmenter.segment(words)
    known = np.array([morphs is not None for morphs in gold], np.float64)
    tally = BoundaryTally(cuts_of(segmentation), Cuts.of(gold), known)
    counts = np.stack([tally.hits, tally.wrong * known, tally.missed], axis=1).astype(int).tolist()
    covered, offsets = segmentation.covered.tolist(), words.character_offsets.tolist()
    cells = []
    for number, (text, morphs) in enumerate(zip(texts, gold, strict=True)):
        splits = sorted(set(segmentation.splits(number)))
        boundaries = None if morphs is None else boundary_positions(morphs)
        right, wrong, missed = counts[number]
        cells.append(
            SegmentedWord(
                tuple(
                    segmenter.token_text(words, atom, token)
                    for atom, token in segmentation.token_ends(number)
                ),
                tuple(splits),
                _parts(
                    text,
                    splits,
                    boundaries,
                    covered[offsets[number] : offsets[number + 1]],
                    _split_characters(segmentation, number),
                    has_marker=_has_marker(segmentation, number),
                ),
                right,
                wrong,
                missed,
                None if morphs is None else wrong + missed == 0,
            )
        )
    return cells, tally


@dataclass(frozen=True)
class _SplitCharacter:
    """A character whose atoms are in several tokens: its atom count, and each part's end.

    ``dropped``: which of the parts are in no token.
    """

    atoms: int
    ends: tuple[int, ...]
    dropped: tuple[bool, ...]

    def parts(self, character: str) -> list[str]:
        """The bytes of each part, or their indices where the normaliser changed the character."""
        data = character.encode("utf-8", "surrogatepass")
        names = [f"⟨{byte:02X}⟩" for byte in data]
        if self.atoms != len(data):
            names = [f"⟨{number}/{self.atoms}⟩" for number in range(1, self.atoms + 1)]
        return ["".join(names[first:last]) for first, last in pairwise((0, *self.ends))]


def _split_characters(segmentation: Segmentation, word: int) -> dict[int, _SplitCharacter]:
    """Return the characters of a word that splits go through, by index."""
    words = segmentation.words
    start, end = (int(offset) for offset in words.word_offsets[word : word + 2])
    positions = words.gap_position[start:end].tolist()
    if INSIDE_CHARACTER not in positions:
        return {}
    is_split = segmentation.is_split[start:end].tolist()
    is_dropped = (segmentation.token_at[start:end] == DROPPED).tolist()
    found: dict[int, _SplitCharacter] = {}
    character, first = 0, 0
    for last, position in enumerate(positions, 1):
        if position == INSIDE_CHARACTER:
            continue
        ends = [place for place in range(1, last - first) if is_split[first + place - 1]]
        ends.append(last - first)
        if len(ends) > 1:
            dropped = [all(is_dropped[first + a : first + b]) for a, b in pairwise((0, *ends))]
            found[character] = _SplitCharacter(last - first, tuple(ends), tuple(dropped))
        character, first = max(position, character), last
    return found


def _has_marker(segmentation: Segmentation, word: int) -> bool:
    """Whether the start-of-word marker is a token of its own."""
    words = segmentation.words
    start, end = (int(offset) for offset in words.word_offsets[word : word + 2])
    is_marker = end - start > 1 and int(words.gap_position[start]) == NO_GAP
    return is_marker and int(segmentation.token_at[start]) >= 0


def _parts(
    text: str,
    splits: Sequence[int],
    boundaries: Sequence[int] | None,
    covered: Sequence[bool],
    characters: Mapping[int, _SplitCharacter],
    *,
    has_marker: bool,
) -> tuple[WordPart, ...]:
    """Divide a word at its splits and gold boundaries.

    ``covered``: which characters are in a token; ``characters``: those that are themselves split.
    """
    left: dict[int, Boundary] = dict.fromkeys(boundaries or (), "missed")
    for split in splits:
        if boundaries is None:
            left[split] = "split"
        else:
            left[split] = "right" if split in left else "wrong"
    places = sorted(left.keys() | {0, len(text)})
    parts = [WordPart(SHOWN_MARKER, "marker")] if has_marker else []
    for start, end in pairwise(places):
        piece = WordPart("", left.get(start, "start"), not covered[start])
        for place in range(start, end):
            if place not in characters:
                piece = replace(piece, text=piece.text + text[place])
                continue
            character = characters[place]
            first, *others = character.parts(text[place])
            parts.append(replace(piece, text=piece.text + first))
            for part, dropped in zip(others, character.dropped[1:], strict=True):
                piece = WordPart(part, "inside", dropped)
                parts.append(piece)
            parts.pop()  # what follows belongs to the last part
        parts.append(piece)
    return tuple(parts)


RIGHT_SPLIT, WRONG_SPLIT, MISSED = "|", "·", "‿"
"""Marks in a word: a split on a gold boundary, a split elsewhere, a missed gold boundary."""

ErrorKind = Literal["exact", "over-segmented", "under-segmented", "both"]
ERROR_KINDS: tuple[ErrorKind, ...] = ("over-segmented", "under-segmented", "both", "exact")
"""Only wrong splits, only missed boundaries, both, and no error."""


@dataclass(frozen=True)
class WordErrors:
    """One word: its gold segments, tokens, marked gaps and errors."""

    entry: int
    word: str
    gold: str
    tokens: str
    marked: str
    kind: ErrorKind
    wrong: int
    missed: int
    weight: float


def gap_signs(splits: Iterable[int], gold: Iterable[int]) -> dict[int, str]:
    """Return the signs of a word's gaps by place, for right and wrong splits and missed ones."""
    signs = dict.fromkeys(gold, MISSED)
    for split in splits:
        signs[split] = RIGHT_SPLIT if split in signs else WRONG_SPLIT
    return signs


def marked_word(text: str, splits: Iterable[int], gold: Iterable[int]) -> str:
    """Mark a word's gaps: ``|`` right split, ``·`` wrong split, ``‿`` missed boundary.

    >>> marked_word("undoing", [2, 3], [2, 4])
    'un|d·o‿ing'
    """
    signs = gap_signs(splits, gold)
    return "".join(signs.get(i, "") + character for i, character in enumerate(text))


class ErrorBrowser:
    """The words of an outcome by kind of error, under a scope."""

    def __init__(self, outcome: Outcome, scope: Scope = "morphemic") -> None:
        self.outcome = outcome
        self.scope: Scope = scope
        tally = Tally(outcome, scope, "types")
        self._wrong, self._missed = tally.wrong.astype(int), tally.missed.astype(int)
        self._known = tally.known

    @cached_property
    def kinds(self) -> npt.NDArray[np.int8]:
        """The index in `ERROR_KINDS` of each entry; -1 without gold of the scope."""
        over, under = self._wrong > 0, self._missed > 0
        kinds = np.where(over & under, 2, np.where(over, 0, np.where(under, 1, 3)))
        return np.where(self._known, kinds, -1).astype(np.int8)

    def counts(self) -> dict[ErrorKind, int]:
        """The number of words of each kind."""
        kinds = self.kinds
        return {kind: int((kinds == place).sum()) for place, kind in enumerate(ERROR_KINDS)}

    def find(
        self,
        kinds: Collection[ErrorKind] = ERROR_KINDS[:3],
        *,
        text: str = "",
        among: npt.NDArray[np.bool_] | None = None,
    ) -> npt.NDArray[np.int64]:
        """Find entries of some kinds, those with most errors first, then the most frequent.

        ``text``: only words that contain it, ignoring case; ``among``: only these entries.
        """
        places = [ERROR_KINDS.index(kind) for kind in kinds]
        chosen = np.isin(self.kinds, places)
        if among is not None:
            chosen &= among
        if text:
            wanted = text.casefold()
            texts = self.outcome.gold_set.texts
            chosen &= np.fromiter((wanted in t.casefold() for t in texts), bool, len(texts))
        numbers = np.flatnonzero(chosen)
        wrong = self._wrong + self._missed
        weight = self.outcome.gold_set.token_weights
        return numbers[np.lexsort((numbers, -weight[numbers], -wrong[numbers]))]

    def row(self, entry: int) -> WordErrors:
        """Return one word with its marks; `ValueError` if it has no gold of the scope."""
        if self.kinds[entry] < 0:
            raise ValueError(f"entry {entry} has no {self.scope} segmentation")
        outcome = self.outcome
        found = outcome.gold_set.reference.entries[entry]
        segments = found.morphs if self.scope == "morphemic" else found.whole_words or ()
        cuts = outcome.gold_set.cuts(self.scope)
        gold = cuts.positions[cuts.offsets[entry] : cuts.offsets[entry + 1]].tolist()
        return WordErrors(
            entry,
            found.word,
            RIGHT_SPLIT.join(segments),
            " ".join(map(shown_token, outcome.token_texts(entry))),
            marked_word(found.word, outcome.splits(entry), gold),
            ERROR_KINDS[self.kinds[entry]],
            int(self._wrong[entry]),
            int(self._missed[entry]),
            float(outcome.gold_set.token_weights[entry]),
        )
