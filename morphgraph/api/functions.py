"""The functions of the library: load, train, compare, evaluate."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.api.base import BaseTokeniser
from morphgraph.api.scoring import score_table
from morphgraph.api.with_merges import Tokeniser
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import configuration_path
from morphgraph.core.limits import PUBLIC_MEMORY
from morphgraph.core.text import shortened
from morphgraph.corpus.counts import (
    LanguageCounts,
    WordCounts,
    WordCountsLike,
    to_language_counts,
    to_word_counts,
)
from morphgraph.formats.hub import fetching
from morphgraph.reference.predictions import Predictions
from morphgraph.refine.learning import Entrant
from morphgraph.score import SHARE_KEPT
from morphgraph.score.gold_set import GoldSet, Scope, Weighting, check_gold
from morphgraph.segment.method import METHODS, Value, method_named
from morphgraph.segment.models import load_segmenter, read_otherwise_by
from morphgraph.segment.training import train as train_segmenter
from morphgraph.segment.training import training_of

if TYPE_CHECKING:
    from morphgraph.batch.run import RunOutcome, RunProgress
    from morphgraph.tables.score_views import ComparedScores
    from morphgraph.tables.vocabularies import ComparedVocabularies


def load(source: Any, *, pattern: str | None = None, download: bool = False) -> Tokeniser:
    """Load a tokeniser.

    ``source``: a file, a folder, a demo by its name (``demo:en``, ``demo:de``, ``demo:nl``), a
    ``tokenizers.Tokenizer``, or a fast tokeniser of ``transformers``. A file is a
    ``tokenizer.json``, a SentencePiece model, a rank file of tiktoken, Mistral's ``tekken.json``, a
    GGUF file, codes of subword-nmt or fastBPE, CLIP's merges, a list of types, or what
    `Tokeniser.save` or ``morphgraph train`` wrote. It may be compressed by gzip, bzip2 or xz.
    Settings in a folder count, as in ``transformers``. A name on the Hugging Face hub, such as
    ``gpt2``, or ``gpt2@main`` for a revision, is looked up in the local cache. ``download``: fetch
    it if it is not there, without code or weights. ``pattern``: how text is cut into pieces, for a
    rank or GGUF file that does not say: a regular expression, or the name of an encoding that does
    the same (``cl100k_base``). Warns about anything unusual in the files. Errors:
    `MorphGraphError`.

    >>> tokeniser = mg.load("demo:en")
    """
    with fetching(download):
        if not isinstance(source, str | os.PathLike):
            data, name = _serialised(source)
            segmenter = load_segmenter({name: data})
        else:
            segmenter = load_segmenter(source, pattern=pattern)
    loaded = Tokeniser(segmenter)
    otherwise = (
        read_otherwise_by(source, segmenter) if isinstance(source, str | os.PathLike) else ""
    )
    for warning in (*segmenter.notices, *filter(None, [otherwise])):
        warnings.warn(f"{loaded.name}: {warning}", stacklevel=2)
    return loaded


def _serialised(source: Any) -> tuple[bytes, str]:
    """A tokeniser object as a ``tokenizer.json``, and its name."""
    backend = getattr(source, "backend_tokenizer", source)
    name = str(getattr(source, "name_or_path", "") or "given tokeniser")
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
    counts: WordCountsLike | LanguageCounts | Mapping[str, WordCountsLike],
    vocab_size: int,
    *,
    development: Mapping[str, WordCountsLike] | None = None,
    gold: GoldSet | None = None,
    holdout: float = SHARE_KEPT,
    pipeline: str | None = None,
    minimum_count: int | None = None,
    special: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
    enough: Callable[[], bool] | None = None,
    **parameters: Value | None,
) -> Tokeniser:
    """Train a tokeniser on word counts: ``bpe``, ``picky``, ``unigram``, ``wordpiece``, ….

    ``counts``: word counts, a file of them, or ``wordfreq:en``; for a method that trains on several
    languages, one of these by the name of each language. ``development``: in that case, word counts
    of a parallel text in each language. ``vocab_size``: the number of types, atoms and special
    tokens included. ``gold``: for methods that learn from gold, which do not see the share
    ``holdout`` of its families. ``pipeline``: how words are prepared, by default the method's own
    way; words rarer than ``minimum_count`` are left out. ``special``: tokens that BPE puts first.
    ``progress``: called with the share done. ``enough``: called as often; once it is true, training
    ends with the types so far. ``parameters``: the method's own. Errors: `MorphGraphError`.

    >>> mg.train("bpe", {"low": 5, "lower": 2, "newest": 6, "widest": 3}, 259).types[256:]
    ('es', 'est', 'lo')
    """
    known = method_named(method, [*METHODS.trained, *METHODS.able("retrains")])
    if gold is None and known.retrain is not None:
        raise MorphGraphError(f"{known.title} learns from gold. Give some (--gold).")
    if gold is not None and known.retrain is None:
        raise MorphGraphError(f"{known.title} does not learn from gold. Leave it out (--gold).")
    if gold is None and holdout != SHARE_KEPT:
        raise MorphGraphError(f"{known.title} keeps no words aside. Leave out holdout.")
    words = _training_counts(counts, development)
    base = method if gold is None else "bpe"  # a method that learns from gold is made of BPE
    entry, training = training_of(base)
    if enough is not None and not (training.stoppable and gold is None):
        raise MorphGraphError(
            f"{entry.title} trains in one step, so it has nothing to save before its end. Leave "
            "out enough (--checkpoint)."
        )
    trained = train_segmenter(
        base,
        words,
        vocab_size,
        pipeline=pipeline,
        parameters=parameters if gold is None else {},
        minimum_count=minimum_count,
        special=special,
        progress=progress,
        enough=enough,
    )
    if gold is not None:
        if not isinstance(words, WordCounts):
            raise MorphGraphError(f"{method} trains on one language. Give the counts of one only.")
        retrain: Any = known.retrain
        reference = check_gold(gold).reference
        trained = retrain(trained, words, reference, vocab_size, parameters, holdout)
    if warning := trained.warning():
        warnings.warn(warning, stacklevel=2)
    return Tokeniser(trained)


def _training_counts(counts: Any, development: Any) -> WordCounts | LanguageCounts:
    if isinstance(counts, LanguageCounts):
        return counts
    first = next(iter(counts.values()), 0) if isinstance(counts, Mapping) else 0
    if not isinstance(first, Number):
        return to_language_counts(counts, development)
    if development is not None:
        raise MorphGraphError(
            'Development texts are for several languages. Give counts such as {"en": one, '
            '"de": other}.'
        )
    return to_word_counts(counts)


def compare(
    tokenisers: Mapping[str, Tokeniser | Predictions],
    gold: GoldSet,
    *,
    baseline: str | None = None,
    scope: Scope = "morphemic",
    weighting: Weighting = "types",
    metrics: Sequence[str] = (),
) -> ComparedScores:
    """Score several tokenisers on the same gold.

    ``tokenisers``: each by its name in tables. ``baseline``: the name of the one that others are
    tested against, by default the first. ``metrics``: names of scores, the usual ones by default.
    A tokeniser that cannot segment the words is shown as failed. Errors: `MorphGraphError` if all
    fail.

    >>> found = mg.compare({"BPE": tokeniser, "FLOTA": tokeniser.method("flota", k=2)}, gold)
    >>> [round(f1, 3) for f1 in found.to_frame()["f1"]]
    [0.481, 0.602]
    """
    from morphgraph.tables.score_views import ComparedScores

    if not isinstance(tokenisers, Mapping) or not tokenisers:
        raise MorphGraphError(
            'There is nothing to compare. Give tokenisers by name: {"BPE": one, "ReBPE": other}.'
        )
    compared = [_entrant(str(label), tokeniser) for label, tokeniser in tokenisers.items()]
    labels = [each.label for each in compared]
    if baseline is not None and baseline not in labels:
        raise MorphGraphError(
            f"“{baseline}” is not compared here. Use one of: {', '.join(labels)}."
        )
    number = None if len(labels) < 2 else labels.index(baseline) if baseline is not None else 0
    return ComparedScores(score_table(compared, gold, scope, weighting, metrics, number))


def compare_vocabularies(
    a: Tokeniser,
    b: Tokeniser,
    *,
    counts: WordCountsLike | None = None,
    gold: GoldSet | None = None,
) -> ComparedVocabularies:
    """Compare the types of two tokenisers: those in both, and those in one of them only.

    Types are compared as spelled, whatever their marker is, and special ones are left out.
    ``counts``: word counts, a file of them or ``wordfreq:en``, to count the tokens of types.
    ``gold``: morphs to look for among the types. Errors: `MorphGraphError`.

    >>> found = mg.compare_vocabularies(tokeniser, mg.load("demo:de"))
    >>> [part.size for part in found.parts.values()]
    [1953, 1953, 6046, 6046]
    """
    from morphgraph.score.vocabulary_health import NamedCounts
    from morphgraph.tables.vocabularies import vocabularies_beside

    for name, given in (("a", a), ("b", b)):
        _entrant(name, given)
    name = os.fspath(counts) if isinstance(counts, str | os.PathLike) else "counts"
    corpus = None if counts is None else NamedCounts(to_word_counts(counts), name)
    reference = None if gold is None else check_gold(gold).reference
    both = [(one.name, one._segmenter) for one in (a, b)]
    return vocabularies_beside(both, corpus, reference)


def _entrant(label: str, tokeniser: Any) -> Entrant:
    if isinstance(tokeniser, BaseTokeniser):
        return Entrant(label, tokeniser._segmenter, tokeniser._base)
    if isinstance(tokeniser, Predictions):
        return Entrant(label, tokeniser)
    raise MorphGraphError(
        f"“{label}” is {shortened(repr(tokeniser))}, which is not a tokeniser. Give what load, "
        "train or a tokeniser's method returned."
    )


def evaluate(
    configuration: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    languages: Sequence[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    confined: bool = False,
    quick: bool = False,
    progress: Callable[[RunProgress], None] | None = None,
    command: Sequence[str] = (),
) -> RunOutcome:
    """Run a full evaluation into a folder: a YAML file, or one that ships, by its name.

    The folder gets tables and ``report.html``; a run that was started there before is resumed.
    ``workers``: processes, one per core by default; ``scheduler``: the address of a dask scheduler
    instead. ``languages``: only these of the file. ``folder``: where its relative paths start, by
    default its own. ``confined``: read files in the folder only, within the limits of a public app.
    ``quick``: a trial in minutes, with one language per part, small inputs and the ends of each
    grid. ``progress``: called with the state of the run. ``command``: the command line that results
    name. Errors: `MorphGraphError`; cells that fail are in the result.

    >>> mg.evaluate("nothing", "run")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    morphgraph.core.errors.MorphGraphError: nothing: there is no such file, and no evaluation ...
    """
    from morphgraph.batch.cluster import check_one_place, client_at
    from morphgraph.batch.plan import read_plan
    from morphgraph.batch.run import run_evaluation

    check_one_place(workers, scheduler)
    start = None if folder is None else Path(folder)
    path = configuration_path(configuration)
    plan = read_plan(path, languages, start, confined=confined, quick=quick)
    memory = PUBLIC_MEMORY.value if confined else None
    opened = partial(client_at, workers, scheduler, memory)
    return run_evaluation(plan, Path(out), opened, progress or (lambda _: None), command)
