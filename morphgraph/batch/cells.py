"""What tasks do: make counts and tokenisers, and measure one cell of an evaluation."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from morphgraph.errors import MorphGraphError

if TYPE_CHECKING:
    import pyarrow as pa

    from morphgraph.evaluate.boundaries import Benchmark
    from morphgraph.evaluate.yardstick import Yardstick
    from morphgraph.files.tokeniser import Tokeniser
    from morphgraph.reference import Reference
    from morphgraph.segment.segmentation import Segmenter
    from morphgraph.train.counts import WordCounts

T = TypeVar("T")

COLUMNS = (
    "scope",
    "weighting",
    "metric",
    "value",
    "low",
    "high",
    "entries",
    "signature",
)
"""The columns of a cell's rows."""


# ------------------------------------------------------------------------------ counts


def make_counts(spec: Mapping[str, Any], _: Sequence[pa.Table]) -> pa.Table:
    """The word counts of a corpus: of wordfreq, a file with counts, or text."""
    import pyarrow

    from morphgraph.train.counts import read_word_counts, wordfreq_counts

    if spec["source"] == "wordfreq":
        counts = wordfreq_counts(spec["language"])
    elif spec["source"] == "counts":
        counts = read_word_counts(spec["path"])
    else:
        counts = _counted(spec)
    table = pyarrow.table({"word": list(counts.words), "count": [int(n) for n in counts.counts]})
    return table.replace_schema_metadata({_PIPELINE: (counts.pipeline or "").encode()})


def _counted(spec: Mapping[str, Any]) -> WordCounts:
    import tempfile
    from pathlib import Path

    from morphgraph.train.counting import count_to_parquet, find_texts
    from morphgraph.train.counts import read_word_counts

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts.parquet"
        count_to_parquet(
            find_texts([Path(path) for path in spec["paths"]]),
            out,
            pipeline=spec["pipeline"],
            minimum_count=spec["minimum_count"],
            column=spec["column"],
            workers=1,
        )
        return read_word_counts(out)


_PIPELINE = b"pipeline"


def _word_counts(table: pa.Table) -> WordCounts:
    from morphgraph.train.counts import WordCounts

    pipeline = (table.schema.metadata or {}).get(_PIPELINE, b"").decode() or None
    return WordCounts(table["word"].to_pylist(), table["count"].to_numpy(), pipeline)


@dataclass(frozen=True, eq=False)
class _Words:
    """Word counts, and the same by word, for the cells that share them."""

    counts: WordCounts

    @classmethod
    def of(cls, table: pa.Table) -> _Words:
        return cls(_word_counts(table))

    @cached_property
    def by_word(self) -> Mapping[str, float]:
        return dict(self.counts.items())


# ------------------------------------------------------------------------------ tokenisers


def make_tokeniser(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """A tokeniser as a model file: trained on counts, or from a file."""
    import pyarrow

    from morphgraph.files.models import load_segmenter, write_model
    from morphgraph.train.methods import train

    if spec["source"] == "file":
        made = load_segmenter(spec["path"])
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


@dataclass(frozen=True)
class Made:
    """What a method made of a tokeniser, what scores it, and what it tells of itself."""

    segmenter: Segmenter
    yardstick: Yardstick | None
    facts: Mapping[str, float]


def measure_cell(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """All scores of one method on one tokeniser by one reference, one row each (`COLUMNS`)."""
    import pyarrow

    from morphgraph.files.models import read_model

    name = spec["tokeniser_name"]
    base = _once(needs[0], lambda table: read_model(table["model"][0].as_py(), name))
    words = _once(needs[1], _Words.of) if len(needs) > 1 else None
    counts = None if words is None else words.counts
    chosen = spec["reference"]
    reference = None if chosen is None else _reference(**chosen)
    made = _made(spec, base, reference, words)
    rows = [
        *_scores(spec, made),
        *_flota(spec, base, made),
        *_figures(spec, made, reference, counts),
        *_facts(made),
    ]
    kinds = {
        "value": pyarrow.float64(),
        "low": pyarrow.float64(),
        "high": pyarrow.float64(),
        "entries": pyarrow.int64(),
    }
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in COLUMNS])
    return pyarrow.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], schema)


_recent: OrderedDict[bytes, Any] = OrderedDict()
"""What this worker made of results of other tasks, by their keys: cells share them."""

_KEPT = 4


def _once(table: pa.Table, make: Callable[[pa.Table], T]) -> T:
    """What is made of a task's result, made once for several cells, which must not change it."""
    key = (table.schema.metadata or {}).get(b"key", b"")
    made: T = _recent.pop(key) if key in _recent else make(table)
    if key:
        _recent[key] = made
        while len(_recent) > _KEPT:
            _recent.popitem(last=False)
    return made


Row = tuple[str, str, str, float, float, float, int | None, str]


@lru_cache(maxsize=4)
def _reference(
    path: str,
    name: str,
    format: str | None,
    encoding: str | None,
    include_foreign: bool,
    first_analysis: bool,
    content: str,
) -> Reference:
    """A reference, read once by each worker; ``content`` is the checksum that it must have."""
    from morphgraph.batch.inputs import content_of
    from morphgraph.reference import read_reference

    if content_of(path) != content:
        raise MorphGraphError(f"{path}: the file changed during the run. Start it once more.")
    read = read_reference(
        path, name=name, format=format, include_foreign=include_foreign, encoding=encoding
    )
    return read.first_analyses() if first_analysis else read


def _made(
    spec: Mapping[str, Any],
    base: Segmenter,
    reference: Reference | None,
    words: _Words | None,
) -> Made:
    from morphgraph.evaluate.yardstick import Yardstick

    yardstick = None
    if reference is not None:
        weights = None if words is None else words.by_word
        yardstick = Yardstick.of(reference, weights, spec["corpus_name"] if weights else "")
    method, parameters = spec["method"], dict(spec["parameters"])
    if method in ("knockout", "rebpe"):
        if yardstick is None:
            raise MorphGraphError(f"{method} needs a reference. Add references.")
        # The tokeniser is edited, and other cells start from it as it was.
        tokeniser = _merges_of(base, method).fork()
        return _refined(method, parameters, spec["seed"], tokeniser, yardstick)
    if spec["seed"] is not None:
        parameters["seed"] = spec["seed"]
    counts = None if words is None else words.counts
    return Made(_segmenter(method, parameters, base, counts), yardstick, {})


def _merges_of(base: Segmenter, method: str) -> Tokeniser:
    from morphgraph.segment.bte import Bte

    if type(base) is not Bte:
        raise MorphGraphError(
            f"{method} needs a tokeniser of merges alone, which {base.name} is not. Say in the "
            f"method which tokenisers it is for."
        )
    return base.tokeniser


def _segmenter(
    method: str, parameters: Mapping[str, Any], base: Segmenter, counts: WordCounts | None
) -> Segmenter:
    """A method that needs no reference, on a tokeniser."""
    from morphgraph.evaluate.methods import method_on
    from morphgraph.segment.bte import Bte
    from morphgraph.segment.flota import First, Flota, Longest
    from morphgraph.segment.wordpiece import Greedy, VocabularySegmenter

    if method == "standard":
        return base
    if type(base) is Bte:
        return method_on(base.tokeniser, method, parameters, counts)
    if method == "first":
        return First(base, **parameters)
    if method == "longest":
        return Longest(base, **parameters)
    if not isinstance(base, VocabularySegmenter):
        _merges_of(base, method)
    vocabulary = base.vocabulary  # type: ignore[attr-defined]
    if method == "flota":
        return Flota(vocabulary, parameters["k"] or None)
    if method == "greedy":
        return Greedy(vocabulary)
    _merges_of(base, method)
    raise AssertionError(method)


def _refined(
    method: str,
    parameters: dict[str, Any],
    seed: int | None,
    tokeniser: Tokeniser,
    yardstick: Yardstick,
) -> Made:
    """A tokeniser after BPE-knockout or ReBPE, scored on what these did not see, if asked for."""
    from morphgraph.evaluate.boundaries import Benchmark
    from morphgraph.segment.bte import Bte

    benchmark = Benchmark.on(yardstick, tokeniser)
    parameters["seed"] = seed or 0
    run = _knocked_out if method == "knockout" else _rebpe
    scored, facts = run(tokeniser, benchmark, parameters)
    facts["merges"] = tokeniser.graph.merge_count
    return Made(Bte(tokeniser), scored, facts)


def _knocked_out(
    tokeniser: Tokeniser, benchmark: Benchmark, parameters: dict[str, Any]
) -> tuple[Benchmark, dict[str, float]]:
    from morphgraph.refine.baselines import percent_of_types
    from morphgraph.refine.knockout import KnockoutSettings, knock_out

    percent = parameters.pop("percent", None)
    if percent is not None:
        parameters["count"] = percent_of_types(tokeniser.graph, percent)
    result = knock_out(tokeniser, benchmark, KnockoutSettings(**parameters))
    facts = {
        "removed": len(result.removed),
        "dropout_rate": result.dropout_rate,
        "share_of_merges": result.share_of_merges,
    }
    return result.scored, facts


def _rebpe(
    tokeniser: Tokeniser, benchmark: Benchmark, parameters: dict[str, Any]
) -> tuple[Benchmark, dict[str, float]]:
    from morphgraph.refine.rebpe import ReBPERun, ReBPESettings

    if not parameters.pop("reify"):
        parameters |= {"repair": False, "link": False, "expand": False}
    run = ReBPERun(tokeniser, benchmark, ReBPESettings(**parameters))
    run.finish()
    facts: dict[str, float] = {
        "removed": sum(phase.counts.get("removed", 0) for phase in run.phases),
        "iterations": max(phase.iteration for phase in run.phases),
    }
    return run.scored, facts


# ------------------------------------------------------------------------------ rows


def _scores(spec: Mapping[str, Any], made: Made) -> Iterator[Row]:
    """Every score by the reference, for each scope and weighting."""
    from morphgraph.batch.names import FLOTA_METRICS
    from morphgraph.evaluate.metrics import METRICS
    from morphgraph.evaluate.outcome import outcome_of
    from morphgraph.evaluate.score_table import ScoreTable
    from morphgraph.evaluate.uncertainty import USUAL_DRAWS

    metrics = [name for name in spec["metrics"] if name not in FLOTA_METRICS]
    yardstick = made.yardstick
    if yardstick is None or not metrics:
        return
    draws = USUAL_DRAWS if spec["intervals"] else replace(USUAL_DRAWS, resamples=0)
    outcome = outcome_of(made.segmenter, yardstick)
    for scope in spec["scopes"]:
        for weighting in spec["weightings"]:
            if weighting not in yardstick.weightings:
                nothing = (math.nan, math.nan, math.nan, 0, "n/a: there are no word frequencies")
                yield from ((scope, weighting, name, *nothing) for name in metrics)
                continue
            table = ScoreTable([outcome], scope, weighting, metrics, draws=draws)
            entries = int(yardstick.has_gold(scope).sum())
            signature = table.signature_of(0)
            for name, estimate in (table.estimates[0] or {}).items():
                if name in METRICS:
                    interval = estimate.interval
                    value = (estimate.value, interval.low, interval.high)
                    yield scope, weighting, name, *value, entries, signature


def _flota(spec: Mapping[str, Any], base: Segmenter, made: Made) -> Iterator[Row]:
    """FLOTA's own scores; undefined for methods that do not take the k best tokens."""
    from morphgraph.batch.names import FLOTA_METRICS
    from morphgraph.evaluate.flota_scores import flota_scores, standard_segmenter
    from morphgraph.files.vocabularies import vocabulary_of
    from morphgraph.segment.bte import Bte

    wanted = [name for name in spec["metrics"] if name in FLOTA_METRICS]
    if not wanted or made.yardstick is None:
        return
    titles = {"flota": "FLOTA", "first": "FIRST", "longest": "LONGEST"}
    title = titles.get(spec["method"])
    if title is None:
        nothing = (math.nan, math.nan, math.nan, 0, "n/a: this method does not choose k tokens")
        yield from (("morphemic", "types", name, *nothing) for name in wanted)
        return
    source: Any = base.tokeniser if isinstance(base, Bte) else base.vocabulary  # type: ignore[attr-defined]
    vocabulary: Any = vocabulary_of(source) if isinstance(base, Bte) else source
    k = spec["parameters"]["k"] or None
    reference = made.yardstick.reference
    found = flota_scores(vocabulary, reference, standard_segmenter(source), (k,))
    score = found.score(title, k)  # type: ignore[arg-type]
    values = {
        "flota_coverage": (score.coverage, score.entries),
        "flota_stem_recall": (score.stem_recall, score.entries_with_stem),
        "flota_full_match": (score.full_match, score.entries),
    }
    for name in wanted:
        value, entries = values[name]
        yield "morphemic", "types", name, value, math.nan, math.nan, entries, found.signature


def _figures(
    spec: Mapping[str, Any], made: Made, reference: Reference | None, counts: WordCounts | None
) -> Iterator[Row]:
    """Figures of the vocabulary."""
    from morphgraph.batch.names import vocabulary_metric
    from morphgraph.evaluate.compression import ALPHA, Corpus
    from morphgraph.evaluate.vocabulary_figures import signature
    from morphgraph.evaluate.vocabulary_health import VocabularyHealth

    if not spec["vocabulary"]:
        return
    corpus = None if counts is None else Corpus(counts, spec["corpus_name"])
    health = VocabularyHealth(made.segmenter, corpus, reference)
    line = signature([health], ALPHA)
    values = health.values()
    for key in spec["vocabulary"]:
        value = values[key].number
        yield "", "", vocabulary_metric(key), value, math.nan, math.nan, None, line


def _facts(made: Made) -> Iterator[Row]:
    """What the method tells of itself."""
    signature = made.segmenter.signature()
    facts = {"types": float(made.segmenter.vocabulary_size), **made.facts}
    for name, value in facts.items():
        yield "", "", name, float(value), math.nan, math.nan, None, signature
