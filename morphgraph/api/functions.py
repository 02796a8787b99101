"""The functions of the library: load, train, compare, evaluate."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.api.base import BaseTokeniser
from morphgraph.api.gold import Gold, table_of
from morphgraph.api.tokeniser import Tokeniser
from morphgraph.batch.cluster import local_cluster
from morphgraph.batch.run import run_evaluation
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import configuration_path
from morphgraph.core.system import available_cores
from morphgraph.core.text import shortened
from morphgraph.corpus.counts import (
    LanguageCounts,
    WordCounts,
    WordCountsLike,
    to_language_counts,
    to_word_counts,
)
from morphgraph.reference.predictions import Predictions
from morphgraph.refine.learning import Entrant
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.segment.method import Value
from morphgraph.segment.models import load_segmenter, read_otherwise_by
from morphgraph.segment.training import train as train_segmenter

if TYPE_CHECKING:
    from morphgraph.batch.cluster import RunOutcome
    from morphgraph.tables.score_views import ComparedScores


def load(source: Any, *, pattern: str | None = None) -> Tokeniser:
    """Load a tokeniser.

    ``source``: a file, a folder, a demo by its name (``demo:en``, ``demo:de``, ``demo:nl``), a
    ``tokenizers.Tokenizer``, or a fast tokeniser of ``transformers``. A file is a
    ``tokenizer.json``, a SentencePiece model, a rank file of tiktoken, a GGUF file, codes of
    subword-nmt or fastBPE, CLIP's merges, a list of types, or what `Tokeniser.save` or
    ``morphgraph train`` wrote, packed by gzip or not; the settings in a folder count, as in
    ``transformers``. ``pattern``: for a rank or GGUF file that does not say how text is cut
    into pieces, a regular expression, or the name of an encoding that does the same
    (``cl100k_base``). Warns about anything unusual in the files. Errors: `MorphGraphError`.

    >>> tokeniser = mg.load("demo:en")
    """
    if not isinstance(source, str | os.PathLike):
        data, name = _serialised(source)
        found = load_segmenter({name: data})
    else:
        found = load_segmenter(source, pattern=pattern)
    loaded = Tokeniser(found)
    otherwise = read_otherwise_by(source, found) if isinstance(source, str | os.PathLike) else ""
    for warning in (*found.notices, *filter(None, [otherwise])):
        warnings.warn(f"{loaded.name}: {warning}", stacklevel=2)
    return loaded


def _serialised(source: Any) -> tuple[bytes, str]:
    """A tokeniser object as a ``tokenizer.json``, and its name."""
    backend = getattr(source, "backend_tokenizer", source)
    name = str(getattr(source, "name_or_path", "") or type(source).__name__)
    if not callable(getattr(backend, "to_str", None)):
        raise MorphGraphError(
            f"{shortened(repr(source))} is not a tokeniser. Give a file, a folder, demo:en, a "
            "tokenizers.Tokenizer, or a fast tokeniser of transformers."
        )
    try:
        return backend.to_str().encode(), name
    except Exception as error:  # the library raises nothing more specific
        raise MorphGraphError(
            f"{name} cannot be written as a tokenizer.json ({shortened(str(error), 120)}). Give "
            "the folder that it was loaded from."
        ) from error


def train(
    method: str,
    counts: WordCountsLike | Mapping[str, WordCountsLike],
    vocab_size: int,
    *,
    development: Mapping[str, WordCountsLike] | None = None,
    pipeline: str | None = None,
    minimum_count: int | None = None,
    **parameters: Value,
) -> Tokeniser:
    """Train a tokeniser on word counts: ``bpe``, ``picky``, ``unigram``, ``wordpiece``, ….

    ``counts``: of words, a file of them, or ``wordfreq:en``; or several of these by the name of
    their language, which ``parity`` needs. ``development``: for ``parity``, word counts of a
    parallel text in each language. ``vocab_size``: how many types come out, atoms and special
    tokens included. ``pipeline``: how words are prepared, by default the method's own way; words
    rarer than ``minimum_count`` are left out. ``parameters``: the method's own. Errors:
    `MorphGraphError`.

    >>> mg.train("bpe", {"low": 5, "lower": 2, "newest": 6, "widest": 3}, 259).types[256:]
    ('es', 'est', 'lo')
    >>> mg.train("parity", {"en": {"low": 5}, "nl": {"laag": 3}}, 259).types[256:]
    ('Ġl', 'Ġla', 'Ġlo')
    """
    trained = train_segmenter(
        method,
        _training_counts(counts, development),
        vocab_size,
        pipeline=pipeline,
        parameters=parameters,
        minimum_count=minimum_count,
    )
    if warning := trained.warning():
        warnings.warn(warning, stacklevel=2)
    return Tokeniser(trained)


def _training_counts(counts: Any, development: Any) -> WordCounts | LanguageCounts:
    first = next(iter(counts.values()), 0) if isinstance(counts, Mapping) else 0
    if not isinstance(first, Number):
        return to_language_counts(counts, development)
    if development is not None:
        raise MorphGraphError(
            'Development texts are those of several languages. Give counts such as {"en": one, '
            '"de": other}.'
        )
    return to_word_counts(counts)


def compare(
    tokenisers: Mapping[str, Tokeniser | Predictions],
    gold: Gold,
    *,
    baseline: str | None = None,
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    metrics: Sequence[str] = (),
) -> ComparedScores:
    """Score several tokenisers on the same gold.

    ``tokenisers``: each by its name in tables. ``baseline``: the name of the one that others are
    tested against, by default the first. ``metrics``: names of scores, the usual ones by default.
    One that cannot segment the words is shown as failed; if all fail, it is a `MorphGraphError`.

    >>> found = mg.compare({"BPE": tokeniser, "FLOTA": tokeniser.method("flota", k=2)}, gold)
    >>> [round(f1, 3) for f1 in found.to_frame()["f1"]]
    [0.481, 0.602]
    """
    from morphgraph.tables.score_views import ComparedScores

    if not isinstance(tokenisers, Mapping) or not tokenisers:
        raise MorphGraphError(
            'There is nothing to compare. Give tokenisers by name: {"BPE": one, "ReBPE": other}.'
        )
    compared = [_entrant(str(label), made) for label, made in tokenisers.items()]
    labels = [each.label for each in compared]
    if baseline is not None and baseline not in labels:
        raise MorphGraphError(f"“{baseline}” is not one of those compared: {', '.join(labels)}.")
    number = None if len(labels) < 2 else labels.index(baseline) if baseline is not None else 0
    return ComparedScores(table_of(compared, gold, scope, weighting, metrics, number))


def _entrant(label: str, made: Any) -> Entrant:
    if isinstance(made, BaseTokeniser):
        return Entrant(label, made._segmenter, made._base)
    if isinstance(made, Predictions):
        return Entrant(label, made)
    raise MorphGraphError(
        f"“{label}” is {shortened(repr(made))}, which is not a tokeniser. Give what load, train or "
        "a tokeniser's method returned."
    )


def evaluate(
    configuration: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    languages: Sequence[str] | None = None,
) -> RunOutcome:
    """Run a full evaluation from a YAML file, or one that ships by its name, into a folder.

    The folder gets tables and ``report.html``; a run that was started there before is resumed.
    ``workers``: processes, one a core by default. ``languages``: only these of the file. Errors:
    `MorphGraphError`; cells that fail are in the result.

    >>> mg.evaluate("nothing", "run")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    morphgraph.core.errors.MorphGraphError: nothing: there is no such file, nor does an ...
    """
    from morphgraph.batch.plan import read_plan

    plan = read_plan(configuration_path(configuration), languages)
    opened = partial(local_cluster, workers or available_cores(), None)
    return run_evaluation(plan, Path(out), opened)
