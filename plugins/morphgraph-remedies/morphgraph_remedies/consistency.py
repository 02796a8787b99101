"""How consistently a tokeniser cuts morphs: µe and µc, after Asgari et al. 2025.

µc is ours, as its source has no formula.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from morphgraph.score.boundaries import Array
from morphgraph.score.gold_set import Counts
from morphgraph.score.metrics import Metric, Tally
from morphgraph.score.uncertainty import Ratio

ALL_PAIRS = 2_000
_ROWS, _COLUMNS = 2_000, 1_000


def pairs_that_share(
    gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]], weight: Array
) -> tuple[Array, Array]:
    """Return for each word the pairs of it and another that share a gold and a found string.

    These are pairs that share both, and the sum of those that share a gold one and of those that
    share a found one, each counted by the ``weight`` of the other word; words without a weight are
    in none. Up to 2,000 words in all pairs, of more the pairs of 2,000 with 1,000, drawn by a seed.

    >>> gold = [["cat", "s"], ["dog", "s"]]
    >>> both, either = pairs_that_share(gold, gold, np.ones(2))
    >>> (2 * both.sum() / either.sum()).item()
    1.0
    """
    rows = columns = np.flatnonzero(weight > 0)
    if len(rows) > ALL_PAIRS:
        draw = np.random.default_rng(0)
        rows, columns = (np.sort(draw.permutation(columns)[:n]) for n in (_ROWS, _COLUMNS))
    morphs, pieces = (_sharing(lists, rows, columns) for lists in (gold, found))
    both, either = np.zeros((2, len(weight)))
    others = weight[columns]
    both[rows] = (morphs & pieces) @ others
    either[rows] = morphs @ others + pieces @ others
    return both, either


def _sharing(
    lists: Sequence[Sequence[str]], rows: Counts, columns: Counts
) -> npt.NDArray[np.bool_]:
    """Return whether each pair of a row's and a column's word shares a string: bool."""
    where: dict[str, tuple[list[int], list[int]]] = {}
    for side, words in enumerate((rows.tolist(), columns.tolist())):
        for place, word in enumerate(words):
            for text in set(lists[word]):
                where.setdefault(text, ([], []))[side].append(place)
    shares = np.zeros((len(rows), len(columns)), np.bool_)
    for at, other in where.values():
        if at and other:
            shares[np.ix_(at, other)] = True
    shares[rows[:, None] == columns[None, :]] = False
    return shares


def _edits(tally: Tally) -> Ratio:
    from rapidfuzz.distance import Levenshtein

    lists = zip(tally.gold.lists, tally.outcome.strings.lists, strict=True)
    edits = np.array([Levenshtein.distance(*both) for both in lists], np.float64)
    return tally.ratio(edits, tally.ones)


def _consistency(tally: Tally) -> Ratio:
    both, either = pairs_that_share(tally.gold.lists, tally.outcome.strings.lists, tally.weight)
    return tally.ratio(2 * both, either)


MORPH_EDITS = Metric(
    "µe (ours)",
    "Mean edits between the lists of morphs and of tokens of a word, each one a unit (after Asgari "
    "et al. 2025).",
    _edits,
    better=-1,
    unit="",
)
MORPH_CONSISTENCY = Metric(
    "µc (ours)",
    "F1 over pairs of words: those that share a token against those that share a morph, as strings "
    "(after Asgari et al. 2025).",
    _consistency,
)
