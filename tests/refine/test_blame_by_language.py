"""Blame by language: what is wrong in one and right in another, against plain counting."""

import math
from collections.abc import Sequence

import numpy as np
import oracles
import pandas as pd
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from small import small_reference
from strategies import MergeList, bpe_of, well_formed

from morphgraph.reference.entry import Reference
from morphgraph.refine.blame_by_language import BlameByLanguage, blame_by_language
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser

LINES = st.lists(
    st.lists(st.text("abc", min_size=1, max_size=4), min_size=1).map(" ".join), min_size=1
)


def blamed(
    tokeniser: BpeTokeniser, languages: dict[str, Reference], minimum: float
) -> BlameByLanguage:
    made = {name: Benchmark.build(tokeniser, gold) for name, gold in languages.items()}
    pairs = {name: (each, segment(tokeniser.graph, each.words)) for name, each in made.items()}
    return blame_by_language(pairs, minimum=minimum)


def counted(merges: MergeList, lines: Sequence[str]) -> dict[int, tuple[int, int]]:
    """N and B of each merge, one word after another."""
    found: dict[int, tuple[int, int]] = {}
    for line in lines:
        _, closed = oracles.segment(oracles.listed(merges), list(line.replace(" ", "")))
        gold = oracles.boundaries(line.split())
        for gap, merge in enumerate(closed, start=1):
            if merge is not None:
                joins, wrong = found.get(merge, (0, 0))
                found[merge] = joins + 1, wrong + (gap in gold)
    return found


@examples(100)
@given(
    merges=well_formed(),
    lines=st.lists(LINES, min_size=2, max_size=4),
    minimum=st.integers(1, 3),
    threshold=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_as_counted_naively(
    merges: MergeList,
    lines: list[list[str]],
    minimum: int,
    threshold: float,
) -> None:
    merges = list(dict.fromkeys(merges))
    tokeniser = bpe_of(merges)
    golds = {f"L{n}": small_reference(*each) for n, each in enumerate(lines)}
    found = blamed(tokeniser, golds, minimum)
    naive = [counted(merges, each) for each in lines]
    expected = []
    for merge in range(len(merges)):
        joins = [each.get(merge, (0, 0)) for each in naive]
        ratios = [b / n for n, b in joins if n >= minimum]
        if len(ratios) > 1 and max(ratios) >= threshold:
            expected.append((min(ratios) - max(ratios), -sum(n for n, _ in joins), merge))
    order = found.order(threshold)
    assert order.tolist() == [merge for *_, merge in sorted(expected)]
    table = pd.DataFrame(found.columns(tokeniser, order))
    for row, merge in zip(table.to_dict("records"), order.tolist(), strict=True):
        ratios = {}
        for name, each in zip(golds, naive, strict=True):
            joins, wrong = each.get(merge, (0, 0))
            assert (row[f"{name} N"], row[f"{name} B"]) == (joins, wrong)
            if joins >= minimum:
                ratios[name] = wrong / joins
            else:
                assert math.isnan(row[f"{name} R"])
        assert ratios == {name: row[f"{name} R"] for name in ratios}
        assert ratios[row["worst in"]] == max(ratios.values())
        assert ratios[row["best in"]] == min(ratios.values())


def test_few_joins_say_nothing() -> None:
    tokeniser = bpe_of([("a", "b"), ("b", "c")])
    golds = {"one": small_reference("a b", "ab"), "two": small_reference("ab", "b c")}
    assert blamed(tokeniser, golds, 1).spread.tolist()[0] == 0.5
    assert np.isnan(blamed(tokeniser, golds, 2).spread).all()
    assert not len(blamed(tokeniser, golds, 2).order())
    columns = blamed(tokeniser, golds, 2).columns(tokeniser, np.zeros(0, np.int64))
    assert pd.DataFrame(columns).empty


def test_one_language_is_refused() -> None:
    with refused():
        blamed(bpe_of([("a", "b")]), {"one": small_reference("ab")}, 1)
