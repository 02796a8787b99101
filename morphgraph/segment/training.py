"""Training by any method that has one: word counts in, a segmenter out."""

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
"""What says whether somebody asked for something, such as to stop."""


class TrainingStopped(MorphGraphError):
    """The training was stopped before its end; nothing came out."""


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
    """Train by one of `METHODS` on word counts: a segmenter that cuts as its training did.

    ``pipeline`` prepares the words (`pipelines.prepare`; ``minimum_count`` is its threshold), the
    method's own first choice by default. ``vocab_size`` counts every type, the unknown token and
    all atoms included. ``progress`` is called with a number from 0 to 1; where ``cancelled``
    becomes true, `TrainingStopped` is raised; where ``enough`` does, training ends with the types
    that there are by then, as for a vocabulary of that size. Unigram trains in one native call,
    which tells no progress and cannot be stopped: there ``cancelled`` is asked before and after it
    only, and ``enough`` never. Raises
    `MorphGraphError` for a method, pipeline or parameter that there is not, for a size without room
    for the atoms, and where no word is left.

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
    """A method by its name, and its training; `MorphGraphError` if there is none."""
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
