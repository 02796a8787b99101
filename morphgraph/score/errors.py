"""The words that a tokeniser cuts wrongly, and how, for an error browser."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from morphgraph.score.gold_set import Scope
from morphgraph.score.metrics import Tally
from morphgraph.score.outcome import Outcome
from morphgraph.tokeniser.preprocess import shown_token

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
