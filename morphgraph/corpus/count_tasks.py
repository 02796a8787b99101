"""The tasks of a counting: blocks of text are counted into runs, and ranges of hashes summed.

What a task has done is kept in a file of its own, so that it is not done again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import new_file, write_file, writing
from morphgraph.corpus.counts import MARK, WordCounts
from morphgraph.corpus.text import LONGEST_WORD
from morphgraph.corpus.text_blocks import BadTexts, TextBlock, texts_in
from morphgraph.corpus.word_table import (
    FORM,
    TooLongWord,
    WordRun,
    WordTable,
    as_rows,
    read_run,
    write_run,
)
from morphgraph.kernels import Int64

WHITESPACE = "whitespace"
AS_PARQUET: Mapping[str, Any] = {"compression": "zstd", "use_dictionary": False}
"""How results are written."""
IN_TEMP = " with --temp"
"""How to choose another place for what is written on the way."""

_FOR_READING = 24 * 2**20
_ROWS = 2**16

CountingTask = Mapping[str, Any]
"""A task, as it travels: paths, small numbers and a block."""


def count_block(task: CountingTask) -> dict[str, Any]:
    """Count a block into runs, whose names it gives, unless that was done before."""
    block: TextBlock = task["block"]
    folder = Path(task["folder"])
    how = {name: task[name] for name in ("pipeline", "column", "bad_lines")}
    key = key_of(FORM, asdict(block), how)
    done = folder / f"{key}.json"
    if done.is_file():
        found: dict[str, Any] = json.loads(done.read_bytes())
        return found
    bad = BadTexts(task["bad_lines"])
    with writing(folder, IN_TEMP):
        runs, rows = _counted(task, block, folder / key, bad)
        found = {
            "runs": runs,
            "rows": rows,
            "size": block.size,
            "bad": bad.count,
            "first_bad": bad.first,
        }
        write_file(done, json.dumps(found).encode())
    return found


def _counted(
    task: CountingTask, block: TextBlock, stem: Path, bad: BadTexts
) -> tuple[list[str], int]:
    """The names of the runs, and how many words they have together."""
    usable = task["memory"] - _FOR_READING
    rules = task["pipeline"] != WHITESPACE
    # What rules make of words is kept apart, as they need not leave their own results alone.
    table = WordTable(usable * 2 // 3 if rules else usable)
    made = WordTable(usable // 3) if rules else None
    runs: list[str] = []
    rows = 0

    def spill(full: WordTable) -> None:
        nonlocal rows
        rows += len(full)
        path = Path(f"{stem}-{len(runs)}.run")
        write_run(path, full)
        runs.append(path.name)
        full.clear()

    def empty() -> None:
        if made is not None:
            for odd in table.take_odd():
                _add_all(made, _pieces(odd, task["pipeline"]), spill)
        spill(table)

    is_over = task.get("is_over")  # of threads, which nothing else ends
    for text in texts_in(block, task["column"], bad):
        if is_over is not None and is_over():
            raise KeyboardInterrupt
        at = 0
        while at < len(text):
            try:
                at = table.add_text(text, at)
            except TooLongWord as error:
                (at,) = error.args
                problem = f"there are more than {LONGEST_WORD:,} bytes without white space"
                bad(FileFormatError(block.file.path, "", problem, "Leave out what is not text."))
                continue
            if at < len(text):
                empty()
    if len(table):
        empty()
    if made is not None and len(made):
        spill(made)
    return runs, rows


def _add_all(
    table: WordTable, counts: dict[bytes, int], spill: Callable[[WordTable], None]
) -> None:
    rows, done = as_rows(counts), 0
    while (done := table.add(rows, done)) < len(counts):
        spill(table)


def _pieces(odd: dict[bytes, int], pipeline: str) -> dict[bytes, int]:
    from morphgraph.corpus.pipelines import pipeline_named

    counts = WordCounts([word.decode() for word in odd], list(odd.values()))
    made = pipeline_named(pipeline).words(counts)
    return {piece.encode(): int(number) for piece, number in made.items()}


def sum_range(task: CountingTask) -> dict[str, int]:
    """Sum what all runs have of a range of hashes into a Parquet file, unless that was done."""
    import pyarrow
    from pyarrow import parquet

    out = Path(task["out"])
    done = out.with_suffix(".json")
    if done.is_file():
        found: dict[str, int] = json.loads(done.read_bytes())
        return found
    manifest = Path(task["manifest"])
    runs = [read_run(manifest.parent / name) for name in json.loads(manifest.read_bytes())]
    numbers = {"words": 0, "distinct": 0, "kept": 0}
    about = {name: task[name] for name in ("pipeline", "minimum_count")}

    room = task["memory"] - _FOR_READING

    def kept() -> Iterator[pyarrow.Table]:
        for first, last, words, size in _passes(runs, task["first"], task["last"], room):
            table = WordTable.holding(words, size)
            for run in runs:
                table.add(run.read(first, last))
            numbers["words"] += table.total
            numbers["distinct"] += len(table)
            for _, counts, ends, text in table.rows(task["minimum_count"]):
                numbers["kept"] += len(counts)
                yield _as_table(counts, ends, text)

    with (
        new_file(out, IN_TEMP) as file,
        parquet.ParquetWriter(file, count_schema(about), **AS_PARQUET) as writer,
    ):
        for group in in_groups(kept()):
            writer.write_table(group)
    write_file(done, json.dumps(numbers).encode(), IN_TEMP)
    return numbers


def _passes(
    runs: Sequence[WordRun], first: int, last: int, memory: int
) -> Iterator[tuple[int, int, int, int]]:
    """Ranges whose words fit into memory at once, with how many words and bytes these can be."""
    start = first
    while start < last:
        end, words, size = start, 0, 0.0
        while end < last:
            more = [int(run.words[end + 1] - run.words[end]) for run in runs]
            bytes_ = sum(number * run.bytes_a_word for number, run in zip(more, runs, strict=True))
            # Slots of a table that may be half empty, the words, and a run's part of them.
            if end > start and 170 * (words + sum(more)) + 3 * (size + bytes_) > memory:
                break
            words, size, end = words + sum(more), size + bytes_, end + 1
        exact = sum(run.size_of(start, end) for run in runs)
        yield start, end, words, exact
        start = end


def _as_table(counts: Int64, ends: Int64, text: npt.NDArray[np.uint8]) -> Any:
    import pyarrow

    # From buffers: arrays of numpy would load pandas.
    def made(kind: Any, *buffers: Any) -> Any:
        parts = [None, *(pyarrow.py_buffer(np.ascontiguousarray(each)) for each in buffers)]
        return pyarrow.Array.from_buffers(kind, len(counts), parts)

    words = made(pyarrow.large_string(), np.append(0, ends), text).cast(pyarrow.string())
    columns = [words, made(pyarrow.int64(), counts)]
    return pyarrow.Table.from_arrays(columns, schema=count_schema({}))


def count_schema(about: Mapping[str, Any]) -> Any:
    """The columns of a result, and what is told of it."""
    import pyarrow

    from morphgraph.core import __version__

    columns = [
        pyarrow.field("word", pyarrow.string(), nullable=False),
        pyarrow.field("count", pyarrow.int64(), nullable=False),
    ]
    marked = json.dumps({**about, "version": __version__}).encode()
    return pyarrow.schema(columns, {MARK: marked})


def in_groups(tables: Iterator[Any]) -> Iterator[Any]:
    """Tables put together so that all but the last have `_ROWS` rows."""
    import pyarrow

    waiting: list[Any] = []
    for table in tables:
        waiting.append(table)
        while sum(each.num_rows for each in waiting) >= _ROWS:
            whole = pyarrow.concat_tables(waiting)
            yield whole.slice(0, _ROWS)
            waiting = [whole.slice(_ROWS)]
    if waiting and any(each.num_rows for each in waiting):
        yield pyarrow.concat_tables(waiting)


def key_of(*facts: Any) -> str:
    """A name for what depends on these facts alone."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]
