"""Charts of blame, from tables made by hand."""

import math

import pandas as pd

from morphgraph.draw.charts import worst_merges

TABLE = pd.DataFrame(
    {
        "merge": ["a + b", "b + c", "<i> + d", "d + e"],
        "type": ["ab", "bc", "<i>d", "de"],
        "N": [10.0, 4.0, 8.0, 0.0],
        "B": [9.0, 1.0, 4.0, 0.0],
        "R": [0.9, 0.25, 0.5, math.nan],
    }
)


def test_the_worst_stand_on_top_and_above_the_threshold() -> None:
    figure = worst_merges(TABLE, 0.5)
    wrong, right = figure.data
    assert list(wrong.x) == [4, 9]
    assert list(right.x) == [4, 1]
    assert list(right.text) == ["4 of 8 wrong", "9 of 10 wrong"]
    assert list(figure.layout.yaxis.ticktext) == ["&lt;i&gt;d", "ab"]
    assert len(worst_merges(TABLE, 0.95).data[0].x) == 0
