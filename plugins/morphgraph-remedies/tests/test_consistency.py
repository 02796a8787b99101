"""µe and µc: by hand, and against every pair of words."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import gold_of, small_entry
from strategies import MergeList, bpe_of, well_formed

from morphgraph.score.metrics import METRICS, Tally
from morphgraph.score.outcome import outcome_of
from morphgraph.segment.bte import Bte
from morphgraph_remedies.consistency import pairs_that_share


def test_sharing_of_whole_units_by_hand() -> None:
    """cats and dogs share s twice, dogs and doga only a token."""
    gold = [["cat", "s"], ["dog", "s"], ["doga"]]
    found = [["cat", "s"], ["dog", "s"], ["dog", "a"]]
    both, either = pairs_that_share(gold, found, np.ones(3))
    assert (both.tolist(), either.tolist()) == ([1, 1, 0], [2, 3, 1])
    both, either = pairs_that_share(gold, found, np.array([2.0, 0.0, 1.0]))
    assert (both.sum(), either.sum()) == (0, 0)


def test_many_words_share_by_a_sample() -> None:
    """Of more than 2,000 words 2,000 by 1,000 pairs, the same each time."""
    lists = [[f"stem{number % 500}", "s" if number % 3 else "t"] for number in range(2_500)]
    gold = [[text for text in one if text != "t"] for one in lists]
    weight = np.ones(len(lists))
    both, either = pairs_that_share(gold, lists, weight)
    assert (both > 0).sum() <= 2_000 and both.max() <= 1_000
    assert both.tolist() == pairs_that_share(gold, lists, weight)[0].tolist()
    every, all_ = np.zeros(2)
    texts = [(set(a), set(b)) for a, b in zip(gold, lists, strict=True)]
    for (a, b), (c, d) in combinations(texts, 2):
        every += bool(a & c) and bool(b & d)
        all_ += bool(a & c) + bool(b & d)
    assert both.sum() / either.sum() == pytest.approx(every / all_, abs=0.01)


def unit_edits(morphs: list[str], pieces: list[str]) -> int:
    row = [*range(len(pieces) + 1)]
    for number, morph in enumerate(morphs, 1):
        new = [number]
        for at, piece in enumerate(pieces):
            new.append(min(row[at] + (morph != piece), row[at + 1] + 1, new[at] + 1))
        row = new
    return row[-1]


MORPHS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=4)


@given(st.lists(MORPHS, min_size=1, max_size=8), well_formed())
def test_as_every_pair_of_words(golds: list[list[str]], merges: MergeList) -> None:
    bpe = Bte(bpe_of(merges))
    entries = [small_entry(f"{' '.join(morphs)} / {''.join(morphs)}") for morphs in golds]
    tally = Tally(outcome_of(bpe, gold_of(*entries)), "morphemic", "types")
    found = [[*each] for each in tally.outcome.strings.lists]
    expected = sum(map(unit_edits, golds, found)) / len(golds)
    assert METRICS["morph_edits"].of(tally).value == pytest.approx(expected)
    both = either = 0
    for (a, b), (c, d) in combinations(list(zip(golds, found, strict=True)), 2):
        morphs, pieces = bool({*a} & {*c}), bool({*b} & {*d})
        both, either = both + (morphs and pieces), either + morphs + pieces
    value = METRICS["morph_consistency"].of(tally).value
    assert value == pytest.approx(2 * both / either) if either else np.isnan(value)
