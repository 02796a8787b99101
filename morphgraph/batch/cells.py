"""The work of tasks: make counts and tokenisers, and measure one cell of an evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from morphgraph.batch.cell_rows import MethodResult, ResultRow, result_rows
from morphgraph.batch.tasks import contents
from morphgraph.core.cache import Cache
from morphgraph.core.errors import MorphGraphError, unquoted
from morphgraph.reference.predictions import Predictions

if TYPE_CHECKING:
    import pyarrow as pa

    from morphgraph.corpus.counts import WordCounts
    from morphgraph.reference.entry import Reference
    from morphgraph.refine.learning import Learned
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
        made = read()
    _check_content(spec)
    return made


def _check_content(spec: Mapping[str, Any]) -> None:
    if contents(spec["files"]) != spec["content"]:
        named = ", ".join(spec["files"])
        raise MorphGraphError(f"{named}: it changed during the run. Start the run once more.")


_worker = Cache(entries=8)
"""What the cells that one worker process runs share."""


def _cached(key: str, make: Callable[[], T]) -> T:
    """Return a value that cells of one worker share, made on first use; it must not change."""
    return _worker.get("cells", key, make)


def _cached_of(table: pa.Table, make: Callable[[pa.Table], T]) -> T:
    """Make a value from a task's result, once."""
    return _cached(table.schema.metadata[b"key"].decode(), lambda: make(table))


# ------------------------------------------------------------------------------ counts

_PIPELINE = b"pipeline"


def make_counts(spec: Mapping[str, Any], _: Sequence[pa.Table]) -> pa.Table:
    """Make the word counts of a corpus: from wordfreq, a file with counts, or text."""
    import pyarrow

    from morphgraph.corpus.counts import read_word_counts, wordfreq_counts

    if spec["source"] == "wordfreq":
        counts = wordfreq_counts(spec["language"])
    elif spec["source"] == "counts":
        counts = as_planned(spec, lambda: read_word_counts(spec["path"]))
    else:
        counts = as_planned(spec, lambda: _counted(spec))
    table = pyarrow.table({"word": list(counts.words), "count": [int(n) for n in counts.counts]})
    return table.replace_schema_metadata({_PIPELINE: (counts.pipeline or "").encode()})


def _counted(spec: Mapping[str, Any]) -> WordCounts:
    import tempfile
    from pathlib import Path

    from morphgraph.corpus.counting import count_words
    from morphgraph.corpus.counts import read_word_counts

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts.parquet"
        count_words(
            spec["files"],
            out,
            pipeline=spec["pipeline"],
            minimum_count=spec["minimum_count"],
            column=spec["column"],
            single=True,
        )
        return read_word_counts(out)


def _word_counts(table: pa.Table) -> WordCounts:
    from morphgraph.corpus.counts import WordCounts

    pipeline = (table.schema.metadata or {}).get(_PIPELINE, b"").decode() or None
    return WordCounts(table["word"].to_pylist(), table["count"].to_numpy(), pipeline)


def _words(table: pa.Table) -> tuple[WordCounts, Mapping[str, float]]:
    """Return word counts as a list and by word."""
    counts = _word_counts(table)
    # All numbers as a list at once: one by one takes twice as long.
    numbers = np.asarray(counts.counts).tolist()
    return counts, dict(zip(counts.words, numbers, strict=True))


# ------------------------------------------------------------------------------ tokenisers


def make_tokeniser(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """Make a tokeniser, trained on counts or read from a file, as a model file."""
    import pyarrow

    from morphgraph.segment.models import load_segmenter, write_model
    from morphgraph.segment.training import train

    if spec["source"] == "file":
        made = as_planned(spec, lambda: load_segmenter(spec["path"]))
    else:
        made = train(
            spec["method"],
            _word_counts(needs[0]),
            spec["vocab_size"],
            pipeline=spec["pipeline"],
            parameters=spec["parameters"],
            minimum_count=spec["minimum_count"],
        )
    return pyarrow.table({"model": pyarrow.array([write_model(made)], pyarrow.large_binary())})


# ------------------------------------------------------------------------------ cells


class CellInputs(NamedTuple):
    """The inputs of a cell's method: a tokeniser or predictions, gold and word counts."""

    base: Any
    reference: Reference | None
    gold_set: GoldSet | None
    counts: WordCounts | None


def cell_inputs(spec: Mapping[str, Any], tables: Iterator[pa.Table]) -> CellInputs:
    """Return the inputs of a cell, from its spec and the results of the tasks it needs."""
    from morphgraph.score.gold_set import GoldSet

    if "predictions" in spec:
        base = _predictions(spec["predictions"])
    else:
        base = _model(next(tables), spec["tokeniser_name"])
    counts = weights = None
    if spec["corpus_name"]:
        counts, weights = _cached_of(next(tables), _words)
    reference = gold_set = None
    if spec["reference"] is not None:
        reference = _reference(spec["reference"])
        gold_set = GoldSet.of(reference, weights, spec["corpus_name"] if weights else "")
    return CellInputs(base, reference, gold_set, counts)


def measure_cell(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """Measure one method on one tokeniser and reference: a row for each `ResultRow`."""
    tables = iter(needs)
    base, reference, gold_set, counts = cell_inputs(spec, tables)
    made = method_result(spec, base, gold_set, counts)
    baseline = None
    if spec["baseline"] is not None:
        against = _model(next(tables), spec["baseline"]["tokeniser_name"])
        baseline = _baseline(spec["baseline"], against, counts)
    rows = list(result_rows(spec, base, made, reference, counts, baseline))
    if "parallel" in spec and not isinstance(made.segmenter, Predictions):
        rows += _parallel_rows(spec["parallel"], made.segmenter)
    return as_table(rows)


def _parallel_rows(text: Mapping[str, Any], segmenter: Segmenter) -> list[ResultRow]:
    """Measure the tokens per line and byte of parallel text; `results` makes them relative."""
    from morphgraph.score.corpus_measures import count_lines, measure_corpus

    column, mine, its = text["column"], text["own_text"], text["base_text"]
    found = as_planned(
        mine,
        lambda: measure_corpus({"": segmenter}, mine["files"], column=column, unit="lines"),
    )
    [own] = found.totals
    lines = as_planned(its, lambda: count_lines(its["files"], column))
    if own.lines != lines:
        raise MorphGraphError(
            f"The parallel text has {lines:,} lines of {text['base']} and {own.lines:,} of "
            f"{text['language']}, empty ones not counted. Correct it, or leave the language out."
        )
    values = {
        "lines": own.lines,
        "tokens_per_line": own.tokens_per_line,
        "tokens_per_byte": own.tokens_per_byte,
        "relative_tokens": own.tokens,
    }
    return [
        ResultRow(f"parallel.{name}", float(value), signature=found.signature)
        for name, value in values.items()
    ]


def as_table(rows: Iterable[ResultRow]) -> pa.Table:
    """Return the rows of a cell in the form in which they are stored."""
    import pyarrow

    numbers = dict.fromkeys(("value", "low", "high", "p"), pyarrow.float64())
    kinds = {**numbers, "entries": pyarrow.int64(), "step": pyarrow.int64()}
    schema = pyarrow.schema(
        [(name, kinds.get(name, pyarrow.string())) for name in ResultRow._fields]
    )
    return pyarrow.Table.from_pylist([row._asdict() for row in rows], schema)


def _model(table: pa.Table, name: str) -> Segmenter:
    from morphgraph.segment.models import read_model

    made: Segmenter = _cached_of(table, lambda table: read_model(table["model"][0].as_py(), name))
    return made


def _baseline(
    spec: Mapping[str, Any], base: Segmenter, counts: WordCounts | None
) -> Segmenter | None:
    """Return what others are tested against; None if its method failed, as its own cell says."""
    try:
        made: Segmenter = method_result(spec, base, None, counts).segmenter  # type: ignore[assignment]
        return made
    except MorphGraphError:
        return None


def _predictions(spec: Mapping[str, Any]) -> Any:
    """Read the predictions of another program."""
    from morphgraph.reference.predictions import read_predictions

    reading = {name: spec[name] for name in ("name", "format", "encoding")}
    return _cached(
        json.dumps(spec, sort_keys=True),
        lambda: as_planned(spec, lambda: read_predictions(spec["path"], **reading)),
    )


def _reference(spec: Mapping[str, Any]) -> Reference:
    """Read a reference: join its parts, then sample as specified."""
    from morphgraph.reference.entry import join_references
    from morphgraph.reference.readers import read_reference

    def part(given: Mapping[str, Any]) -> Reference:
        names = ("name", "format", "encoding", "include_foreign", "layer")
        reading = {name: given[name] for name in names}
        return as_planned(given, lambda: read_reference(given["path"], **reading))

    def read() -> Reference:
        gold = join_references([part(given) for given in spec["parts"]])
        gold = gold.first_analyses() if spec["first_analysis"] else gold
        sample: int | None = spec["sample"]
        return gold if sample is None else gold.sample(sample, spec["sample_seed"])

    return _cached(json.dumps(spec, sort_keys=True), read)


def method_result(
    spec: Mapping[str, Any],
    base: Any,
    gold_set: GoldSet | None,
    counts: WordCounts | None,
) -> MethodResult:
    """Apply a cell's method to a tokeniser, which is not changed, or to predictions.

    ``spec``: its ``method``, ``parameters``, ``seed``, and the share and seed of the words that are
    ``held_out`` or None. `MorphGraphError` for a method that does not suit the tokeniser.
    """
    from morphgraph.methods import METHODS
    from morphgraph.segment.segmenter import method_on

    method, parameters = spec["method"], dict(spec["parameters"])
    unseen, editable = spec["held_out"], getattr(base, "editable", None)
    if spec["seed"] is not None:
        parameters["seed"] = spec["seed"]
    if method in METHODS.learning:
        if gold_set is None:
            raise MorphGraphError(f"{method} needs a reference. Add references.")
        if editable is None:
            raise MorphGraphError(
                f"{method} needs a tokeniser of merges alone, which {base.name} is not. Say in the "
                f"method which tokenisers it is for."
            )
        if unseen is not None:
            parameters |= {"holdout": unseen["share"], "seed": unseen["seed"]}
        settings = METHODS[method].settings(parameters)
        learn: Any = METHODS[method].learn
        found: Learned = learn(editable, gold_set, settings)
        return MethodResult(found.segmenter, found.scored, found.facts)
    if unseen is not None and gold_set is not None:
        gold_set = gold_set.hold_out(unseen["share"], unseen["seed"])
    if isinstance(base, Predictions):
        return MethodResult(base, gold_set, {})
    made = base if method == STANDARD_METHOD else method_on(base, method, parameters, counts)
    facts = {}
    if editable is not None and made.tokeniser is not None:
        facts["merges"] = editable.graph.merge_count
    return MethodResult(made, gold_set, facts)
