"""Training by any method that supports it: from word counts to a segmenter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.pipelines import PIPELINES, prepare
from morphgraph.corpus.text import Progress
from morphgraph.segment.method import Method, Training
from morphgraph.segment.registry import METHODS
from morphgraph.segment.segmenter import Segmenter

Asked = Callable[[], bool] | None
"""A function that tells whether something, such as a stop, was requested."""


class TrainingStopped(MorphGraphError):
    """Training was stopped early, without a result."""


def train(
    method: str,
    counts: Mapping[str, int] | WordCounts,
    vocab_size: int,
    *,
    pipeline: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    minimum_count: int | None = None,
    progress: Progress = None,
    cancelled: Asked = None,
    enough: Asked = None,
) -> Segmenter:
    """Train one of `METHODS` on word counts; return a segmenter that segments as in training.

    ``pipeline`` prepares the words (`pipelines.prepare`; ``minimum_count`` is its threshold), the
    method's own first choice by default. ``vocab_size`` counts every type, the unknown token and
    all atoms included. ``progress`` is called with a number from 0 to 1; once ``cancelled``
    returns true, `TrainingStopped` is raised; once ``enough`` does, training ends with the types so
    far, as for a vocabulary of that size. Unigram trains in one native call, which reports no
    progress and cannot be stopped: ``cancelled`` is only called before and after it, and
    ``enough`` never. Raises `MorphGraphError` for an unknown method, pipeline or parameter, for a
    size without room for the atoms, and if no words remain.

    >>> segmenter = train("bpe", {"low": 5, "lower": 2, "newest": 6, "widest": 3}, 259)
    >>> list(segmenter.types[256:])
    ['es', 'est', 'lo']
    """
    entry, training = training_of(method)
    pipeline = pipeline or training.pipelines[0]
    if pipeline in PIPELINES and pipeline not in training.pipelines:
        raise MorphGraphError(
            f"{entry.title} cannot follow the pipeline {pipeline}. "
            f"Choose one of {', '.join(training.pipelines)}."
        )
    settings = training.parameters.of(method, parameters or {})
    watch = _watching(progress, cancelled)
    watch(0.0)
    prepared = prepare(pipeline, counts, kind=training.atoms, minimum_count=minimum_count)
    run = partial(training.run, enough=enough) if training.stoppable else training.run
    trained = run(prepared, vocab_size, f"{method}-{pipeline}", watch, **dict(settings))
    watch(1.0)
    return trained


def training_of(name: str) -> tuple[Method, Training]:
    """Return a method by name, and its training; `MorphGraphError` if it has none."""
    entry = METHODS[name] if name in METHODS.trained else None
    if entry is None or entry.training is None:
        listed = ", ".join(METHODS.trained)
        raise MorphGraphError(f"There is no method “{name}” of training. Choose one of: {listed}.")
    return entry, entry.training


def _watching(progress: Progress, cancelled: Asked) -> Callable[[float], None]:
    def watch(share: float) -> None:
        if cancelled is not None and cancelled():
            raise TrainingStopped("The training was stopped. Start it again for a result.")
        if progress is not None:
            progress(share)

    return watch
