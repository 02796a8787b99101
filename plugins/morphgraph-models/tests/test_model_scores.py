"""Scores of classes, numbers and spans, held against scikit-learn, SciPy and seqeval."""

import warnings
from math import isnan

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from morphgraph_models.downstream.scores import (
    as_iob2,
    macro_f1,
    matthews,
    pearson,
    span_counts,
    spans,
    spearman,
)


def pairs(of: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[float, float]]]:
    return st.lists(st.tuples(of, of), min_size=2, max_size=30)


@examples(100)
@given(pairs(st.integers(0, 3)))
def test_classes_are_scored_as_by_scikit_learn(rows: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    gold, guess = np.array(rows, np.int64).T
    assert macro_f1(gold, guess) == pytest.approx(metrics.f1_score(gold, guess, average="macro"))
    assert matthews(gold, guess) == pytest.approx(metrics.matthews_corrcoef(gold, guess))


@examples(100)
@given(pairs(st.integers(-9, 9).map(lambda n: n / 4)))
def test_numbers_are_scored_as_by_scipy(rows: list[tuple[float, float]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    gold, guess = np.array(rows, np.float64).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is undefined
        wanted = stats.pearsonr(gold, guess)[0], stats.spearmanr(gold, guess)[0]
    assert (pearson(gold, guess), spearman(gold, guess)) == pytest.approx(wanted, nan_ok=True)


TAG = st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])
SENTENCES = st.lists(st.lists(st.tuples(TAG, TAG), min_size=1, max_size=8), min_size=1, max_size=5)


@examples(200)
@given(SENTENCES)
def test_spans_are_scored_as_by_seqeval(rows: list[list[tuple[str, str]]]) -> None:
    metrics = pytest.importorskip("seqeval.metrics")
    gold = [[tag for tag, _ in sentence] for sentence in rows]
    guess = [[tag for _, tag in sentence] for sentence in rows]
    right, found, real = (float(each.sum()) for each in span_counts(gold, guess))
    ours = [part / whole if whole else 0.0 for part, whole in ((right, found), (right, real))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = metrics.precision_score(gold, guess), metrics.recall_score(gold, guess)
        f1 = metrics.f1_score(gold, guess)
    assert ours == pytest.approx(wanted)
    assert (2 * right / (found + real) if found + real else 0.0) == pytest.approx(f1)
    assert [[*spans(as_iob2(tags))] for tags in gold] == [[*spans(tags)] for tags in gold]


def test_what_is_undefined_is_no_number() -> None:
    assert isnan(pearson(np.ones(3), np.arange(3.0)))
    assert isnan(spearman(np.arange(3.0), np.ones(3)))
