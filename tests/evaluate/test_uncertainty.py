"""Bootstrap intervals: against the plainest resampling, and by properties."""

import random

import numpy as np
import pytest

from morphgraph.evaluate.uncertainty import f1_interval


def naive(entries: list[tuple[int, int, int]], resamples: int, seed: int) -> tuple[float, float]:
    """Percentiles of F1 over resamples drawn with another generator."""
    draw = random.Random(seed)
    scores = []
    for _ in range(resamples):
        chosen = draw.choices(entries, k=len(entries))
        hits, predicted, relevant = (sum(column) for column in zip(*chosen, strict=True))
        scores.append(2 * hits / (predicted + relevant))
    scores.sort()
    return scores[round(0.025 * resamples)], scores[round(0.975 * resamples)]


def test_as_a_naive_bootstrap() -> None:
    draw = random.Random(1)
    entries = []
    for _ in range(300):
        relevant, predicted = draw.randint(1, 3), draw.randint(0, 3)
        entries.append((draw.randint(0, min(relevant, predicted)), predicted, relevant))
    arrays = [np.array(column, np.int32) for column in zip(*entries, strict=True)]
    found = f1_interval(*arrays, resamples=4000)
    low, high = naive(entries, 4000, 2)
    assert found.low == pytest.approx(low, abs=0.006)
    assert found.high == pytest.approx(high, abs=0.006)
    assert found == f1_interval(*arrays, resamples=4000), "the same seed gives the same"


def test_more_entries_are_surer() -> None:
    few = np.array([0, 1] * 20, np.int32)
    many = np.array([0, 1] * 2000, np.int32)
    narrow = f1_interval(many, np.ones_like(many), np.ones_like(many))
    wide = f1_interval(few, np.ones_like(few), np.ones_like(few))
    assert narrow.high - narrow.low < (wide.high - wide.low) / 4
    assert wide.low < 0.5 < wide.high


def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    hits = np.array([0, 1, 2, 1] * 25, np.int32)
    two = np.full_like(hits, 2)
    whole = f1_interval(hits, two, two)
    monkeypatch.setattr("morphgraph.evaluate.uncertainty._CHUNK", 700)
    assert f1_interval(hits, two, two) == whole


def test_undefined() -> None:
    none = np.zeros(0, np.int32)
    assert np.isnan(f1_interval(none, none, none).low)
    zeros = np.zeros(5, np.int32)
    assert np.isnan(f1_interval(zeros, zeros, zeros).high)
