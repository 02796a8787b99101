"""What tasks do: make counts and tokenisers, and measure one cell of an evaluation."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from morphgraph.batch.cell_methods import method_result
from morphgraph.batch.cell_rows import CELL_ROW_COLUMNS, result_rows
from morphgraph.batch.tasks import (
    check_content,
    content_checksum,
    content_of_files,
    contents_of_texts,
)
from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    import pyarrow as pa

    from morphgraph.corpus.counts import WordCounts
    from morphgraph.reference.entry import Reference
    from morphgraph.reference.predictions import Predictions
    from morphgraph.tokeniser.words import Segmenter

T = TypeVar("T")

# ------------------------------------------------------------------------------ counts


def make_counts(spec: Mapping[str, Any], _: Sequence[pa.Table]) -> pa.Table:
    """The word counts of a corpus: of wordfreq, a file with counts, or text."""
    import pyarrow

    from morphgraph.corpus.counts import read_word_counts, wordfreq_counts

    if spec["source"] == "wordfreq":
        counts = wordfreq_counts(spec["language"])
    elif spec["source"] == "counts":
        counts = _as_planned(spec, lambda: read_word_counts(spec["path"]))
    else:
        counts = _as_planned(spec, lambda: _counted(spec))
    table = pyarrow.table({"word": list(counts.words), "count": [int(n) for n in counts.counts]})
    return table.replace_schema_metadata({_PIPELINE: (counts.pipeline or "").encode()})


def _as_planned(spec: Mapping[str, Any], read: Callable[[], T]) -> T:
    """What is read from files, if they are before and after that what the plan has seen."""
    name = spec.get("path") or ", ".join(spec["paths"])
    check_content(_content(spec), spec["content"], name)
    made = read()
    check_content(_content(spec), spec["content"], name)
    return made


def _content(spec: Mapping[str, Any]) -> object:
    texts = spec["source"] == "text"
    return contents_of_texts(spec["paths"]) if texts else content_of_files(spec["checked"])


def _counted(spec: Mapping[str, Any]) -> WordCounts:
    import tempfile
    from pathlib import Path

    from morphgraph.corpus.counting import count_to_parquet
    from morphgraph.corpus.counts import read_word_counts

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts.parquet"
        count_to_parquet(
            [Path(path) for path in spec["paths"]],
            out,
            pipeline=spec["pipeline"],
            minimum_count=spec["minimum_count"],
            column=spec["column"],
            workers=1,
        )
        return read_word_counts(out)


_PIPELINE = b"pipeline"


def _word_counts(table: pa.Table) -> WordCounts:
    from morphgraph.corpus.counts import WordCounts

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
        # The numbers as a list at once: one by one they take twice as long.
        return dict(zip(self.counts.words, np.asarray(self.counts.counts).tolist(), strict=True))


# ------------------------------------------------------------------------------ tokenisers


def make_tokeniser(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """A tokeniser as a model file: trained on counts, or from a file."""
    import pyarrow

    from morphgraph.segment.models import load_segmenter, write_model
    from morphgraph.train.trainers import train

    if spec["source"] == "file":
        made = _as_planned(spec, lambda: load_segmenter(spec["path"]))
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


def measure_cell(spec: Mapping[str, Any], needs: Sequence[pa.Table]) -> pa.Table:
    """All scores of one method on one tokeniser by one reference: rows of `CELL_ROW_COLUMNS`."""
    import pyarrow

    from morphgraph.score.gold_set import GoldSet

    tables = iter(needs)
    base: Any = None
    if spec["has"]["tokeniser"]:
        base = _model(next(tables), spec["tokeniser_name"])
    words = _once(next(tables), _Words.of) if spec["has"]["counts"] else None
    counts = None if words is None else words.counts
    chosen = spec["reference"]
    reference = None if chosen is None else _reference(chosen)
    gold_set = None
    if reference is not None:
        weights = None if words is None else words.by_word
        gold_set = GoldSet.of(reference, weights, spec["corpus_name"] if weights else "")
    if spec["method"] == "predictions":
        base = _predictions(**spec["predictions"])
    made = method_result(spec, base, gold_set, counts)
    baseline = None
    if spec["baseline"] is not None:
        against = _model(next(tables), spec["baseline"]["tokeniser_name"])
        baseline = _baseline(spec["baseline"], against, counts)
    rows = list(result_rows(spec, base, made, reference, counts, baseline))
    kinds = {
        "value": pyarrow.float64(),
        "low": pyarrow.float64(),
        "high": pyarrow.float64(),
        "p": pyarrow.float64(),
        "entries": pyarrow.int64(),
    }
    schema = pyarrow.schema(
        [(name, kinds.get(name, pyarrow.string())) for name in CELL_ROW_COLUMNS]
    )
    return pyarrow.Table.from_pylist(
        [dict(zip(CELL_ROW_COLUMNS, row, strict=True)) for row in rows], schema
    )


def _model(table: pa.Table, name: str) -> Segmenter:
    from morphgraph.segment.models import read_model

    made: Segmenter = _once(table, lambda table: read_model(table["model"][0].as_py(), name))
    return made


def _baseline(
    spec: Mapping[str, Any], base: Segmenter, counts: WordCounts | None
) -> Segmenter | None:
    """What others are tested against; None where its method cannot be had, as its own cell says."""
    try:
        made: Segmenter = method_result(spec, base, None, counts).segmenter  # type: ignore[assignment]
        return made
    except MorphGraphError:
        return None


@lru_cache(maxsize=4)
def _predictions(
    path: str, name: str, format: str | None, encoding: str | None, content: str
) -> Predictions:
    """What another program predicted, read once by each worker."""
    from morphgraph.reference.predictions import read_predictions

    check_content(content_checksum(path), content, path)
    read = read_predictions(path, name=name, format=format, encoding=encoding)
    check_content(content_checksum(path), content, path)
    return read


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


def _reference(spec: Mapping[str, Any]) -> Reference:
    """A reference, read once by each worker: its parts joined, then drawn from as asked."""
    return _read_reference(json.dumps(spec, sort_keys=True))


@lru_cache(maxsize=4)
def _read_reference(spec: str) -> Reference:
    from morphgraph.reference.entry import join_references

    chosen = json.loads(spec)
    gold = join_references([_reference_part(**part) for part in chosen["parts"]])
    gold = gold.first_analyses() if chosen["first_analysis"] else gold
    return (
        gold if chosen["sample"] is None else gold.sample(chosen["sample"], chosen["sample_seed"])
    )


def _reference_part(path: str, content: str, **reading: Any) -> Reference:
    """One file of a reference; ``content`` is the checksum that it must have."""
    from morphgraph.reference.readers import read_reference

    check_content(content_checksum(path), content, path)
    read = read_reference(path, **reading)
    check_content(content_checksum(path), content, path)
    return read
