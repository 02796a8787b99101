"""The work of tasks: make counts and tokenisers, and measure one cell of an evaluation."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, product
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from morphgraph.batch.distributions import DISTRIBUTIONS, IDEAL, distributed
from morphgraph.batch.downstream import KEPT, TaskRun, task_named
from morphgraph.batch.results import FLOTA_METRICS, OWN_METRICS, PHASE_METRICS, words_scored
from morphgraph.batch.store import contents
from morphgraph.core.cache import Cache
from morphgraph.core.errors import MorphGraphError, require, unquoted
from morphgraph.corpus.counting import count_words
from morphgraph.corpus.counts import WHOLE_TEXTS, WordCounts, read_word_counts, wordfreq_counts
from morphgraph.corpus.texts import texts_in_order
from morphgraph.reference.entry import join_references
from morphgraph.refine.learning import has_seen
from morphgraph.score.gold_reading import Reading
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import METRICS
from morphgraph.score.outcome import ideal
from morphgraph.score.table import ScoreTable, SegmentationFailure, outcomes_of
from morphgraph.score.uncertainty import NO_INTERVAL, USUAL_DRAWS
from morphgraph.score.vocabulary_figures import RELATIVE, figure_called
from morphgraph.score.vocabulary_health import ALPHA, NamedCounts, VocabularyHealth
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import load_segmenter, read_model, write_model
from morphgraph.segment.segmenter import method_on
from morphgraph.segment.training import train
from morphgraph.tables.model import HELD_IN

if TYPE_CHECKING:
    import pyarrow as pa

    from morphgraph.corpus.counts import WordCounts
    from morphgraph.reference.entry import Reference
    from morphgraph.refine.learning import Learned
    from morphgraph.refine.rebpe_run import ReBPERun
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.segmenter import Segmenter

T = TypeVar("T")

STANDARD_METHOD = "standard"
"""The name of the tokeniser's own method."""


def as_planned(spec: Mapping[str, Any], read: Callable[[], T]) -> T:
    """Read files, checking before and after that they are those of the plan.

    In a run that the app started, errors name the line but quote none of its content.
    """
    _check_content(spec)
    with unquoted(*spec["files"]):
        content = read()
    _check_content(spec)
    return content


def _check_content(spec: Mapping[str, Any]) -> None:
    if contents(spec["files"]) != spec["content"]:
        named = ", ".join(spec["files"])
        raise MorphGraphError(f"{named}: it changed during the run. Start the run again.")


_worker = Cache(entries=8)
"""What the cells that one worker process runs share; it must not change."""


def _made_once(table: pa.Table, make: Callable[[pa.Table], Any]) -> Any:
    return _worker.get("cells", table.schema.metadata[b"key"].decode(), lambda: make(table))


def _read_once(spec: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Any]) -> Any:
    return _worker.get("cells", json.dumps(spec, sort_keys=True), lambda: read(spec))


# ------------------------------------------------------------------------------ counts, tokenisers

_PIPELINE = b"pipeline"


def make_counts(spec: Mapping[str, Any], _: Sequence[pa.Table]) -> pa.Table:
    """Make the word counts of a corpus: from wordfreq, a file with counts, or text."""
    import pyarrow

    if spec["source"] == "wordfreq":
        counts = wordfreq_counts(spec["language"])
    elif spec["source"] == "counts":
        counts = as_planned(spec, lambda: read_word_counts(spec["path"]))
    else:
        counts = as_planned(spec, lambda: _counted(spec))
    table = pyarrow.table({"word": list(counts.words), "count": [int(n) for n in counts.counts]})
    return table.replace_schema_metadata({_PIPELINE: (counts.pipeline or "").encode()})


def _counted(spec: Mapping[str, Any]) -> WordCounts:
    if "whole" in spec:
        read = (texts_in_order(path, spec["column"]) for path in spec["files"])
        texts = Counter(text for text, _ in chain.from_iterable(read) if text.strip())
        return WordCounts([*texts], [*texts.values()], WHOLE_TEXTS)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts.parquet"
        count_words(spec["files"], out, column=spec["column"])
        return read_word_counts(out)


def _word_counts(table: pa.Table) -> WordCounts:
    pipeline = (table.schema.metadata or {}).get(_PIPELINE, b"").decode() or None
    return WordCounts(table["word"].to_pylist(), table["count"].to_numpy(), pipeline)


def _words(table: pa.Table) -> tuple[WordCounts, Mapping[str, float]]:
    counts = _word_counts(table)
    # All numbers as a list at once: one by one takes twice as long.
    numbers = np.asarray(counts.counts).tolist()
    return counts, dict(zip(counts.words, numbers, strict=True))


def make_tokeniser(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """Make a tokeniser, trained on counts or read from a file, as a model file."""
    import pyarrow

    if spec["source"] == "file":
        segmenter = as_planned(spec, lambda: load_segmenter(spec["path"]))
    else:
        segmenter = _trained(spec, _word_counts(needs[0]))
    return pyarrow.table({"model": pyarrow.array([write_model(segmenter)], pyarrow.large_binary())})


def _trained(spec: Mapping[str, Any], counts: WordCounts) -> Segmenter:
    trained_as = {name: spec[name] for name in ("pipeline", "parameters")}
    return train(spec["method"], counts, spec["vocab_size"], **trained_as)


# ------------------------------------------------------------------------------ inputs of cells


class CellInputs(NamedTuple):
    """The inputs of a cell's method: a tokeniser, gold and word counts."""

    base: Any
    gold_set: GoldSet | None = None
    counts: WordCounts | None = None


class MethodResult(NamedTuple):
    """A method applied to a tokeniser: what scores it, and what it reports about itself.

    ``held_in``: whether it learned from words that it is scored on; ``run``: that of ReBPE.
    """

    segmenter: Segmenter
    gold_set: GoldSet | None
    facts: Mapping[str, float]
    held_in: bool = False
    run: ReBPERun | None = None


def cell_inputs(spec: Mapping[str, Any], tables: Iterator[pa.Table]) -> CellInputs:
    """Return the inputs of a cell, from its spec and the results of the tasks it needs."""
    base = _model(next(tables), spec["tokeniser_name"])
    counts = weights = None
    if spec["corpus_name"]:
        counts, weights = _made_once(next(tables), _words)
    gold_set = None
    if spec["reference"] is not None:
        reference = _read_once(spec["reference"], _reference)
        gold_set = GoldSet.of(reference, weights, spec["corpus_name"] if weights else "")
    return CellInputs(base, gold_set, counts)


def _model(table: pa.Table, name: str) -> Any:
    return _made_once(table, lambda table: read_model(table["model"][0].as_py(), name))


def _reference(spec: Mapping[str, Any]) -> Reference:
    """Read a reference: join its parts, and take the entries that count."""
    reading, parts = Reading(**spec["reading"]), []
    for part in spec["parts"]:
        settings = reading.changed(format=reading.format or part["format"])
        parts.append(as_planned(part, partial(settings.read, part["path"], part["name"])))
    return reading.chosen(join_references(parts))


def method_result(spec: Mapping[str, Any], inputs: CellInputs) -> MethodResult:
    """Apply a cell's method to a tokeniser, which is not changed.

    ``spec``: its ``method``, ``parameters``, ``seed`` if it is random, and the share and the seed
    of the words that are ``kept_aside`` or None. `MorphGraphError` for a method that does not suit
    the tokeniser.
    """
    base, gold_set, counts = inputs
    method, parameters = spec["method"], dict(spec["parameters"])
    editable, rest = getattr(base, "editable", None), gold_set
    if gold_set is not None and spec["kept_aside"] is not None:
        rest, gold_set = gold_set.set_aside(*spec["kept_aside"])
    seen = gold_set is not None and editable is not None and has_seen(editable, gold_set)
    if spec["seed"] is not None:
        parameters["seed"] = spec["seed"]
    if method in METHODS.learning:
        if rest is None:
            raise MorphGraphError(f"{method} needs a reference. Add references.")
        if editable is None:
            raise MorphGraphError(
                f"{method} needs a tokeniser that segments by merges alone, but this one segments "
                f"by {base.name}. List under the method's tokenisers those that it is for."
            )
        learn: Any = METHODS[method].learn
        settings = METHODS[method].settings(parameters)
        learned: Learned = learn(editable, rest, settings)
        seen |= settings.sees_gold and gold_set is rest
        return MethodResult(learned.segmenter, gold_set, learned.facts, seen, learned.run)
    segmenter = base if method == STANDARD_METHOD else method_on(base, method, parameters, counts)
    facts = {}
    if editable is not None and segmenter.tokeniser is not None:
        facts["merges"] = editable.graph.merge_count
    return MethodResult(segmenter, gold_set, facts, seen)


# ------------------------------------------------------------------------------ rows of cells


class ResultRow(NamedTuple):
    """One value of a cell, with its 95 % interval and a test's p-value; NaN without.

    ``entries``: the number that it is over; ``scope``, ``weighting`` and ``words``, which of the
    reference, are empty for figures that are not of words, and ``held_in`` is unless the method
    learned from these; ``step``: the training step, for points of a curve; ``variant``: what is
    added to the cell's parameters.
    """

    metric: str
    value: float
    scope: str = ""
    weighting: str = ""
    entries: int | None = None
    signature: str = ""
    low: float = nan
    high: float = nan
    p: float = nan
    step: int | None = None
    variant: str = ""
    words: str = ""
    held_in: str = ""


def _as_table(rows: Iterable[ResultRow]) -> pa.Table:
    import pyarrow

    numbers = dict.fromkeys(("value", "low", "high", "p"), pyarrow.float64())
    kinds = {**numbers, "entries": pyarrow.int64(), "step": pyarrow.int64()}
    fields = [(name, kinds.get(name, pyarrow.string())) for name in ResultRow._fields]
    return pyarrow.Table.from_pylist([row._asdict() for row in rows], pyarrow.schema(fields))


def measure_cell(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """Measure one method on one tokeniser and reference: a row for each `ResultRow`."""
    tables = iter(needs)
    inputs = cell_inputs(spec, tables)
    result = method_result(spec, inputs)
    rows: list[ResultRow] = []
    baseline = None
    if spec["baseline"] is not None:
        against = _model(next(tables), spec["baseline"]["tokeniser_name"])
        given = CellInputs(against, counts=inputs.counts)
        with suppress(MorphGraphError):  # as its own cell says
            baseline = method_result(spec["baseline"], given).segmenter
    if result.gold_set is not None:
        tested = spec["tests"] and not result.held_in
        scored = chain(
            score_rows(spec, result, result.gold_set, baseline if tested else None),
            _flota(spec, inputs.base, result.gold_set),
            _distributions(spec, inputs.base, result.segmenter, result.gold_set),
            _phases(spec, result, result.gold_set),
        )
        words, held_in = words_scored(result.gold_set), HELD_IN * result.held_in
        # Counts of phases are no scores, and have no scope.
        rows += [r._replace(words=words, held_in=held_in) if r.scope else r for r in scored]
    rows += _figures(spec, inputs, result, baseline)
    if spec["facts"]:
        signature = result.segmenter.signature()
        for name, value in {"types": result.segmenter.vocabulary_size, **result.facts}.items():
            rows.append(ResultRow(name, float(value), signature=signature))
    return _as_table(rows)


def score_rows(
    spec: Mapping[str, Any], result: MethodResult, gold_set: GoldSet, baseline: Segmenter | None
) -> Iterator[ResultRow]:
    """Return every score on the reference, for each scope and weighting."""
    metrics = [name for name in spec["metrics"] if name not in OWN_METRICS]
    if not metrics:
        return
    draws = USUAL_DRAWS if spec["intervals"] else replace(USUAL_DRAWS, resamples=0)
    outcomes = outcomes_of([("", result.segmenter)], gold_set)
    if isinstance(outcomes[0], SegmentationFailure):
        raise MorphGraphError(outcomes[0].message)
    if baseline is not None:
        outcomes += outcomes_of([("", baseline)], gold_set)
    tried = [("", outcomes)]
    if IDEAL in spec["metrics"] and spec["method"] == STANDARD_METHOD:
        best = ideal(gold_set)
        yield ResultRow("types", float(best.vocabulary_size or 0), variant=IDEAL)
        tried.append((IDEAL, [best]))
    for scope, weighting, (variant, each) in product(spec["scopes"], spec["weightings"], tried):
        if weighting not in gold_set.weightings:
            nothing = "n/a: there are no word frequencies"
            yield from (ResultRow(m, nan, scope, weighting, 0, nothing) for m in metrics)
            continue
        against = 1 if len(each) > 1 else None
        table = ScoreTable(each, scope, weighting, metrics, baseline=against, draws=draws)
        if isinstance(table.outcomes[0], SegmentationFailure):  # by what the metrics need
            raise MorphGraphError(table.outcomes[0].message)
        about = (scope, weighting, int(gold_set.has_gold(scope).sum()), table.signature_of(0))
        for name, estimate in (table.estimates[0] or {}).items():
            if name in METRICS:
                over = estimate.interval.low, estimate.interval.high, estimate.p
                yield ResultRow(name, estimate.value, *about, *over, variant=variant)


def _flota(spec: Mapping[str, Any], base: Segmenter, gold_set: GoldSet) -> Iterator[ResultRow]:
    """Return FLOTA's own scores; undefined for other methods than it, FIRST, LONGEST, standard."""
    from morphgraph.score.flota_scores import FLOTA_METHODS, flota_score

    wanted = [name for name in spec["metrics"] if name in FLOTA_METRICS]
    if not wanted:
        return
    is_standard = spec["method"] == STANDARD_METHOD  # FIRST without a limit
    known = METHODS.get("first" if is_standard else spec["method"])
    if known is None or known.title not in FLOTA_METHODS:
        nothing = "n/a: this method does not choose k tokens"
        yield from (ResultRow(name, nan, "morphemic", "types", 0, nothing) for name in wanted)
        return
    vocabulary = method_on(base, "flota").vocabulary
    assert vocabulary is not None
    settings: Any = known.settings(spec["parameters"])
    k, strict = None if is_standard else settings.k or None, getattr(settings, "strict", False)
    given = vocabulary, gold_set.reference, base
    score = flota_score(known.title, k, *given, strict=strict)
    for name in wanted:
        entries = score.entries_with_stem if name == "flota_stem_recall" else score.entries
        value = getattr(score, name.removeprefix("flota_"))
        yield ResultRow(name, value, "morphemic", "types", entries, score.signature)


def _distributions(
    spec: Mapping[str, Any], base: Segmenter, segmenter: Segmenter, gold_set: GoldSet
) -> Iterator[ResultRow]:
    about = ("morphemic", "types", gold_set.size, gold_set.signature_of(segmenter.signature()))
    if not DISTRIBUTIONS.keys().isdisjoint(spec["metrics"]):
        for name, variant, value in distributed(base, segmenter, gold_set):
            if name in spec["metrics"]:
                yield ResultRow(name, value, *about, variant=variant)


def _phases(
    spec: Mapping[str, Any], result: MethodResult, gold_set: GoldSet
) -> Iterator[ResultRow]:
    """Return what is told of the phases of ReBPE; nothing for other methods."""
    from morphgraph.batch.phases import phase_points, phase_scores

    wanted = PHASE_METRICS.keys() & spec["metrics"]
    if result.run is None or not wanted:
        return
    scores, settings = phase_scores(result.run, gold_set), result.run.settings
    entries, signature = int(gold_set.has_gold(settings.scope).sum()), result.segmenter.signature()
    for name, value, step, variant in phase_points(result.run, scores):
        row = ResultRow(name, value, signature=signature, step=step, variant=variant)
        if name in ("phase_f1", "phase_gain"):
            scored_by = settings.scope, settings.weighting
            row = row._replace(scope=scored_by[0], weighting=scored_by[1], entries=entries)
        if name in wanted:
            yield row


def _figures(
    spec: Mapping[str, Any], inputs: CellInputs, result: MethodResult, baseline: Segmenter | None
) -> Iterator[ResultRow]:
    from morphgraph.tables.figures import signature

    if not spec["vocabulary"]:
        return  # cutting all words of a corpus takes long
    corpus = None if inputs.counts is None else NamedCounts(inputs.counts, spec["corpus_name"])
    reference = None if result.gold_set is None else result.gold_set.reference
    health = VocabularyHealth(result.segmenter, corpus, reference)
    line = signature([health], ALPHA)
    against: VocabularyHealth | None = health
    is_own = spec["baseline"] is None and spec["method"] not in METHODS.learning
    if not (is_own or RELATIVE.isdisjoint(spec["vocabulary"])):
        against = None if baseline is None else VocabularyHealth(baseline, corpus)
    for key in spec["vocabulary"]:
        value = nan
        if against is not None or key not in RELATIVE:
            value = figure_called(key).value_of(health, ALPHA, against or health).number
        running = health.compression if key == "fertility" else None
        interval = NO_INTERVAL if running is None else running.fertility_interval
        low, high = interval.low, interval.high
        beside = against and against is not health and key in RELATIVE
        name = f"{line}|baseline:{against.tokeniser_signature}" if beside and against else line
        yield ResultRow(f"vocabulary.{key}", value, signature=name, low=low, high=high)


# ------------------------------------------------------------------------------ downstream cells


def task_settings(spec: Mapping[str, Any]) -> Any:
    """Return the settings of a downstream task in a spec, with its files at their paths."""
    return task_named(spec["task"]).parameters(**spec["settings"], **spec["paths"])


def measure_downstream(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """Measure a tokeniser by a downstream task: a row for each `ResultRow`.

    ``folder`` in the spec: where checkpoints are kept until the end; they stay if the cell is
    killed or fails.
    """
    asked = spec["downstream"]
    task, settings = task_named(asked["task"]), task_settings(asked)
    require(f"The task {asked['task']}", *task.packages)
    tables = iter(needs)
    inputs = cell_inputs(spec, tables)
    segmenter: Any = method_result(spec, inputs).segmenter
    read = {
        name: sorted(chain.from_iterable(part[name] for part in asked["inputs"].values()))
        for name in ("files", "content")
    }
    examples = as_planned(read, lambda: task.read(settings))
    folder = Path(spec["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    against = next(tables, None)
    baseline = None if against is None else json.loads(against.schema.metadata[KEPT.encode()])

    def retrain(files: Sequence[str]) -> Segmenter:
        return _trained(spec["training"], _counted({"files": files, "column": None}))

    given = segmenter, examples, settings, spec["run_seed"], folder, inputs.base, baseline
    measured = list(task.run(TaskRun(*given, retrain if spec["training"] else None)))
    kept = (folder / KEPT).read_bytes() if task.compares else b"null"
    shutil.rmtree(folder, ignore_errors=True)
    signature = f"{segmenter.signature()}|task:{asked['task']}|code:{asked['code']}"
    rows = [ResultRow(**each._asdict(), signature=signature) for each in measured]
    rows.append(ResultRow("types", float(segmenter.vocabulary_size), signature=signature))
    return _as_table(rows).replace_schema_metadata({KEPT: kept})
