"""Scores as data frames, and numbers as people read them."""

import math

from morphgraph.core.text import count_text, percent
from morphgraph.score.boundaries import BoundaryScore, score_frame

GOOD = BoundaryScore("morphemic", "types", 6, 8, 12, 1)
NONE = BoundaryScore("whole-word", "tokens", *[math.nan] * 4)
WORSE = BoundaryScore("morphemic", "types", 3, 8, 12, 0)


def test_frame() -> None:
    frame = score_frame([GOOD, NONE], before=[WORSE, NONE])
    row = frame.iloc[0]
    assert row["precision"] == 75
    assert row["Δ precision"] == 75 - 37.5
    assert row["recall"] == 50
    assert row["Δ recall"] == 25
    assert row["F1"] == 60
    assert row["Δ F1"] == 60 - 30
    assert row["splits inside a character"] == 1
    assert frame.iloc[1][["precision", "recall", "F1", "Δ F1", "predicted"]].isna().all()
    assert "Δ F1" not in score_frame([GOOD]).columns


def test_text() -> None:
    assert percent(0.12345, 1) == "12.3"
    assert percent(math.nan) == "n/a"
    assert count_text(1234.0) == "1,234"
