"""Scores of what models predict: classes, numbers, and spans of words."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Classes = npt.NDArray[np.int64]
Targets = npt.NDArray[np.float64]


def macro_f1(gold: Classes, predicted: Classes) -> float:
    """Return the mean F1 over the classes that occur in either.

    >>> round(macro_f1(np.array([0, 0, 1]), np.array([0, 1, 1])), 4)
    0.6667
    """
    scores = []
    for label in np.union1d(gold, predicted):
        both = int(((gold == label) & (predicted == label)).sum())
        scores.append(2 * both / int((gold == label).sum() + (predicted == label).sum()))
    return float(np.mean(scores))


def matthews(gold: Classes, predicted: Classes) -> float:
    """Return Matthews' correlation of classes, of two or more (Gorodkin's R_K).

    It is 0, no better than chance, where either has one class only, as GLUE counts it.

    >>> round(matthews(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0])), 4)
    0.5774
    """
    _, numbers = np.unique(np.concatenate([gold, predicted]), return_inverse=True)
    one_hot = np.eye(int(numbers.max()) + 1)[numbers]
    one_hot, other = one_hot[: len(gold)], one_hot[len(gold) :]

    def covariance(a: Targets, b: Targets) -> float:
        return float(((a - a.mean(0)) * (b - b.mean(0))).sum())

    scale = np.sqrt(covariance(one_hot, one_hot) * covariance(other, other))
    return covariance(one_hot, other) / float(scale) if scale else 0.0


def pearson(gold: Targets, predicted: Targets) -> float:
    """Return the correlation of two lists of numbers; NaN if all in either are the same.

    >>> round(pearson(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 5.0])), 4)
    0.866
    """
    if len({*gold}) < 2 or len({*predicted}) < 2:
        return float("nan")
    return float(np.corrcoef(gold, predicted)[0, 1])


def spearman(gold: Targets, predicted: Targets) -> float:
    """Return the correlation of ranks, the mean rank among equals; NaN as `pearson`.

    >>> round(spearman(np.array([1.0, 2.0, 3.0]), np.array([2.0, 7.0, 9.0])), 4)
    1.0
    """
    return pearson(_ranks(gold), _ranks(predicted))


def _ranks(numbers: Targets) -> Targets:
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    ranks: Targets = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


# ------------------------------------------------------------------------------ spans


class Span(NamedTuple):
    """A named span of words in a sentence, from ``start`` to before ``end``."""

    kind: str
    start: int
    end: int


def spans(tags: Sequence[str]) -> Iterator[Span]:
    """Yield the spans that IOB tags mark, by the rules of CoNLL's scorer.

    A span begins at ``B-``, after ``O``, and where the kind changes, so IOB1 and IOB2 are both
    understood.

    >>> [*spans(["I-PER", "I-PER", "O", "I-LOC", "B-LOC", "I-ORG"])]  # doctest: +ELLIPSIS
    [Span(kind='PER', start=0, end=2), Span(kind='LOC', start=3, end=4), ... start=5, end=6)]
    """
    kind, start = "", 0
    for place, tag in enumerate([*tags, "O"]):
        sign, _, name = tag.partition("-")
        if kind and (sign != "I" or name != kind):
            yield Span(kind, start, place)
            kind = ""
        if sign != "O" and not kind:
            kind, start = name, place


def as_iob2(tags: Sequence[str]) -> tuple[str, ...]:
    """Return IOB tags as IOB2, where each span begins with ``B-``.

    >>> as_iob2(["I-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    ('B-PER', 'I-PER', 'O', 'B-LOC', 'B-LOC')
    """
    written = ["O"] * len(tags)
    for span in spans(tags):
        written[span.start : span.end] = [f"I-{span.kind}"] * (span.end - span.start)
        written[span.start] = f"B-{span.kind}"
    return tuple(written)


class SpanCounts(NamedTuple):
    """For each sentence, how many spans are right, predicted, and in the gold: float64."""

    right: Targets
    predicted: Targets
    gold: Targets


def span_counts(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> SpanCounts:
    """Count the spans of sentences; one is right if its kind and both its ends are."""
    rows = []
    for wanted, guessed in zip(gold, predicted, strict=True):
        real, found = {*spans(wanted)}, {*spans(guessed)}
        rows.append((len(real & found), len(found), len(real)))
    return SpanCounts(*np.array(rows, np.float64).reshape(-1, 3).T)
