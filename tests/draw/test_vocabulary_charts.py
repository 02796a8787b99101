"""Figures of vocabularies: what is drawn is what the tables hold."""

import numpy as np
import pandas as pd
import pytest

from morphgraph.draw.charts import (
    MOST_POINTS,
    frequency_rank_lines,
    length_lines,
    lorenz_lines,
    sampled_ranks,
)
from morphgraph.score.corpus_measures import lorenz_curve


def table(counts: list[int] | np.ndarray, name: str = "t") -> pd.DataFrame:
    return pd.DataFrame({"type": [f"{name}{n}" for n in range(len(counts))], "count": counts})


@pytest.mark.parametrize("types", [0, 1, 2, MOST_POINTS, MOST_POINTS + 1, 40_000, 1_000_000])
def test_ranks_are_few_and_none_is_far_from_the_next(types: int) -> None:
    ranks = sampled_ranks(types)
    assert len(ranks) <= MOST_POINTS
    assert (np.diff(ranks) > 0).all()
    if types:
        assert (ranks[0], ranks[-1]) == (1, types)
    if types <= MOST_POINTS:
        assert ranks.tolist() == list(range(1, types + 1))
    # The shape stays: each step is one rank, or at most 2 % of the rank.
    steps = np.diff(ranks) / ranks[:-1]
    assert ((np.diff(ranks) == 1) | (steps < 0.02)).all()


def test_every_drawn_point_is_of_the_table() -> None:
    counts = np.sort(np.random.default_rng(1).integers(1, 10**6, 30_000))[::-1]
    figure = frequency_rank_lines({"many": table(counts), "few": table([9, 4, 1])})
    many, few = figure.data
    assert list(many.y) == counts[np.array(many.x) - 1].tolist()
    assert many.text[5] == f"t{many.x[5] - 1}"
    assert (list(few.x), list(few.y)) == ([1, 2, 3], [9, 4, 1])
    assert (many.name, few.name) == ("many", "few")
    assert many.line.dash != few.line.dash
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_lengths_are_shares() -> None:
    [line] = length_lines({"x": [0, 3, 1]}).data
    assert (list(line.x), list(line.y)) == ([0, 1, 2], [0, 75, 25])
    assert list(line.customdata) == [0, 3, 1]


def test_nothing_to_draw() -> None:
    assert list(frequency_rank_lines({"x": table([])}).data[0].y) == []
    assert list(length_lines({"x": np.zeros(0, np.int64)}).data[0].y) == []
    assert not frequency_rank_lines({}).data


def test_types_and_names_are_no_html() -> None:
    figure = frequency_rank_lines({"<b>x</b>": table([1], "<img src=x>")})
    assert figure.data[0].name == "&lt;b&gt;x&lt;/b&gt;"
    assert figure.data[0].text[0] == "&lt;img src=x&gt;0"


def test_lorenz_curves_are_in_percent_beside_the_diagonal() -> None:
    figure = lorenz_lines({"<b>BPE</b>": lorenz_curve([3, 1])}, {"<b>BPE</b>": ["<i>", "de"]})
    diagonal, curve = figure.data
    assert (diagonal.x, diagonal.y) == ((0, 100), (0, 100))
    assert (list(curve.x), list(curve.y)) == ([0, 50, 100], [0, 25, 100])
    assert curve.name == "&lt;b&gt;BPE&lt;/b&gt;"
    shown = ["", "&lt;i&gt; and cheaper:<br>", "de and cheaper:<br>"]
    assert list(curve.customdata) == shown
