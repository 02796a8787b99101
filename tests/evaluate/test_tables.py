"""Scores as data frames, CSV and LaTeX."""

import csv
import io
import math

from morphgraph.evaluate import BoundaryScore
from morphgraph.evaluate.tables import count, percent, score_frame, to_csv, to_latex

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


def test_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv([GOOD, NONE], "name:x|y,z").decode())))
    assert rows[0]["precision"] == "75.0"
    assert rows[0]["signature"] == "name:x|y,z"
    assert rows[1]["F1"] == "n/a"
    assert rows[1]["relevant"] == "n/a"


def test_latex() -> None:
    text = to_latex([GOOD, NONE], "a:b\n|c")
    assert text.startswith("% a:b |c\n"), "a line break in the signature would end the comment"
    assert r"morphemic & types & 75.00 & 50.00 & 60.00 \\" in text
    assert r"whole-word & tokens & n/a & n/a & n/a \\" in text
    both = to_latex([GOOD], "s", before=[WORSE])
    assert r"morphemic & types & 37.50 & 25.00 & 30.00 & 75.00 & 50.00 & 60.00 \\" in both
    assert r"\begin{tabular}{llrrrrrr}" in both


def test_text() -> None:
    assert percent(0.12345, 1) == "12.3"
    assert percent(math.nan) == "n/a"
    assert count(1234.0) == "1,234"
