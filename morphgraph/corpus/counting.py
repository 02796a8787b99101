"""Word counts of any amount of text within a memory limit, as Parquet.

One task counts the words of a block of files; another sums a range of hashes over all blocks. Tasks
exchange only paths and small numbers. Finished tasks are kept on disk until the counting ends.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from morphgraph.core.errors import MorphGraphError, check_choice
from morphgraph.core.files import new_file, new_folder, write_file, writing
from morphgraph.core.system import available_cores
from morphgraph.core.text import clock, counted
from morphgraph.corpus.counting_sql import (
    IN_TEMP,
    RANGES,
    WHITESPACE,
    CountingTask,
    count_block,
    sum_range,
    task_key,
    write_counts,
)
from morphgraph.corpus.counts import COUNTS_FILE
from morphgraph.corpus.text import BadLines
from morphgraph.corpus.text_files import PACKED, TextFile, find_texts, open_duckdb, sql_literal

KINDS = (WHITESPACE, "knockout", "rebpe")
"""How words are counted: separated by white space, or as a pipeline of this name trains on."""

MIN_MEMORY = 64 * 2**20
MIN_WORKER_MEMORY = 32 * 2**20
"""The number of workers is limited so that each has this many bytes."""

BLOCK_BYTES = 2**29
"""The approximate bytes of text in a task, unless a single file has more."""

ORDER = "the bytes of the word, in each file"
_BYTES_PER_PARTITION = 2**31
_MAX_FILES = 1024
_UNPACKED = 4
"""The approximate ratio of decompressed to compressed text."""
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Runner(Protocol):
    """Something that runs tasks."""

    def __call__(
        self, function: Callable[..., Any], tasks: Sequence[CountingTask], *common: Any
    ) -> Iterator[Any]:
        """Yield the function's result for each task as it finishes, given ``common``."""


@dataclass(frozen=True)
class CountProgress:
    """Progress of a counting; ``bytes`` is the size of all files, ``stage`` counting or summing."""

    stage: str
    done: int
    tasks: int
    bytes_done: int
    bytes: int
    seconds: float

    def __str__(self) -> str:
        line = f"{self.stage}: {self.done:,} of {counted(self.tasks, 'task')}"
        if self.stage == "counting":
            line += f", {self.bytes_done / 1e6:,.0f} of {self.bytes / 1e6:,.0f} MB"
            if self.bytes_done and self.seconds:
                speed = self.bytes_done / self.seconds
                left = clock((self.bytes - self.bytes_done) / speed)
                line += f", {speed / 1e6:,.1f} MB/s, {left} left"
        return line


@dataclass(frozen=True)
class CountReport:
    """Totals of a counting: all ``words``, ``distinct`` ones, and those ``kept`` in the result.

    ``bytes`` is the size of the files, ``rows`` the number of words summed over all ``blocks``,
    ``bad`` the number of lines left out, with ``first_bad`` naming the first of them, and
    ``summing_seconds`` the part of ``seconds`` spent on summing the blocks.
    """

    saved: str
    pipeline: str
    minimum_count: int
    files: int
    bytes: int
    words: int
    distinct: int
    kept: int
    blocks: int
    rows: int
    partitions: int
    workers: int
    bad: int
    first_bad: list[str]
    seconds: float
    summing_seconds: float
    megabytes_per_second: float

    def __str__(self) -> str:
        found = f"{counted(self.words, 'running word')}, {self.distinct:,} distinct"
        rare = f", {self.distinct - self.kept:,} rarer than {self.minimum_count} left out"
        kept = f"{counted(self.kept, 'word')}{rare * (self.minimum_count > 1)}"
        return f"{found}, in {counted(self.files, 'file')}\n{kept}: saved {self.saved}"


OnCountProgress = Callable[[CountProgress], None] | None


def run_here(
    function: Callable[..., Any], tasks: Sequence[CountingTask], *common: Any
) -> Iterator[Any]:
    """Run tasks one after another in this process."""
    return (function(task, *common) for task in tasks)


@dataclass
class Counting:
    """A planned counting, which becomes a folder of Parquet files, or with ``single`` one file.

    They have the columns ``word`` and ``count`` for words with at least ``minimum_count``;
    `corpus.counts.read_word_counts` reads both. ``pipeline`` is ``whitespace``, which splits at
    white space, or ``knockout`` or ``rebpe``, whose training words are counted before they are cut
    into pieces. ``memory`` limits the counts and buffers, in bytes, without Python and its
    libraries; ``column`` names the text column of tables and JSON; ``temp`` is the folder for
    intermediate files (default: that of ``out``). ``out`` appears only once it is complete; until
    then, a hidden folder beside it holds finished tasks, from which the same counting is resumed.

    Raises `MorphGraphError` if a path is missing or a value is out of range.
    """

    paths: Sequence[str | os.PathLike[str]]
    out: Path
    pipeline: str = WHITESPACE
    minimum_count: int = 1
    memory: int = 512 * 2**20
    column: str | None = None
    bad_lines: BadLines = "stop"
    temp: Path | None = None
    single: bool = False

    def __post_init__(self) -> None:
        check_choice("pipeline", self.pipeline, KINDS)
        if self.memory < MIN_MEMORY:
            raise MorphGraphError(
                f"{self.memory:,} bytes of memory are too few. Give at least 64M."
            )
        if self.minimum_count < 1:
            raise MorphGraphError(f"The least count is {self.minimum_count}. Give 1 or more.")
        files, out, wrong = find_texts(self.paths), self.out, ""
        if str(out.resolve()) in {str(Path(file.path).resolve()) for file in files}:
            wrong = "this is one of the texts"
        elif out.is_dir() and self.single:
            wrong = "it is a folder"
        elif out.is_dir() and not (out / COUNTS_FILE).is_file() and any(out.iterdir()):
            wrong = "the folder has something else in it"
        elif out.exists() and not out.is_dir() and not self.single:
            wrong = "it is a file"
        if wrong:
            raise MorphGraphError(f"{out}: {wrong}. Choose another place with --out.")
        if self.temp is not None and not self.temp.is_dir():
            problem = f"{self.temp}: there is no such folder."
            raise MorphGraphError(f"{problem} Choose another with --temp.")
        self.files, self.size = len(files), sum(file.size for file in files)
        self.blocks = list(text_blocks(files))
        self.folder = (self.temp or out.resolve().parent) / f".{out.name}.counting"

    def workers(self, asked: int | None = None) -> int:
        """Return the number of workers to use on this machine, at most as the memory allows."""
        if asked is not None and asked < 1:
            raise MorphGraphError(f"There cannot be {asked} workers. Give 1 or more.")
        return min(asked or available_cores(), max(1, self.memory // MIN_WORKER_MEMORY))


def count_words(
    paths: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], **options: Any
) -> CountReport:
    """Count the words of texts in this process; ``options`` are those of `Counting`.

    Raises `MorphGraphError` or `FileFormatError` if a file cannot be read, there are no words, or a
    disk is full.
    """
    return run_counting(Counting(paths, Path(out), **options))


def run_counting(
    counting: Counting,
    run: Runner | None = None,
    workers: int = 1,
    progress: OnCountProgress = None,
) -> CountReport:
    """Carry out a counting with ``workers``, which share its memory.

    They are threads of this process unless ``run`` provides others.
    """
    started, bytes_done = time.perf_counter(), 0
    folder, partitions = counting.folder, partitions_of(counting.size)
    about = {"pipeline": counting.pipeline, "minimum_count": counting.minimum_count}
    shared = {
        "pipeline": counting.pipeline,
        "memory": counting.memory // (1 if run is None else workers),
        "threads": workers if run is None else 1,
    }
    run = run or run_here
    with writing(folder, IN_TEMP):
        folder.mkdir(parents=True, exist_ok=True)

    def tell(stage: str, done: int, tasks: int) -> None:
        if progress is not None:
            seconds = time.perf_counter() - started
            progress(CountProgress(stage, done, tasks, bytes_done, counting.size, seconds))

    common = {
        **shared,
        "column": counting.column,
        "bad_lines": counting.bad_lines,
        "folder": str(folder),
        "partitions": partitions,
        # A single block can be counted into the final file directly.
        "alone": len(counting.blocks) == partitions == counting.minimum_count == 1,
    }
    counted: list[dict[str, Any]] = []
    for found in run(count_block, [{**common, "block": block} for block in counting.blocks]):
        counted.append(found)
        bytes_done += found["size"]
        tell("counting", len(counted), len(counting.blocks))
    counts = sorted(name for found in counted for name in found["counts"])
    manifest, parts = folder / "counts.json", folder / f"parts-{task_key(counts, about)}"
    write_file(manifest, json.dumps(counts).encode(), IN_TEMP)
    sums: list[CountingTask] = [
        {
            **shared,
            **about,
            "manifest": str(manifest),
            "is_summed": [found["is_summed"] for found in counted] == [True],
            "first": number * RANGES // partitions,
            "last": (number + 1) * RANGES // partitions,
            "out": str(parts / f"part-{number:05}.parquet"),
        }
        for number in range(partitions if counts else 0)
    ]
    summed, before = [], time.perf_counter()
    for found in run(sum_range, sums):
        summed.append(found)
        tell("summing", len(summed), partitions)
    summing = time.perf_counter() - before
    totals = {name: sum(found[name] for found in summed) for name in ("words", "distinct", "kept")}
    bad = sum(found["bad"] for found in counted)
    if not totals["words"]:
        shutil.rmtree(folder, ignore_errors=True)
        names = [file.path for block in counting.blocks for file in block] or ["the files"]
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        raise MorphGraphError(f"{names[0]}{more}: there is no word. Choose files with text.")
    facts = {**about, "files": counting.files, **totals, "bad": bad}
    _publish(counting, parts, {**facts, "order": ORDER})
    seconds = time.perf_counter() - started
    return CountReport(
        **facts,
        saved=str(counting.out),
        bytes=counting.size,
        blocks=len(counting.blocks),
        rows=sum(found["rows"] for found in counted),
        partitions=partitions,
        workers=workers,
        first_bad=sorted(line for found in counted for line in found["first_bad"])[:20],
        seconds=seconds,
        summing_seconds=summing,
        megabytes_per_second=counting.size / 1e6 / seconds,
    )


def partitions_of(size: int) -> int:
    """Return the number of hash ranges to sum separately, which depends only on the size.

    >>> partitions_of(1000), partitions_of(2**31), partitions_of(2**60)
    (1, 1, 4096)
    """
    return min(RANGES, 1 << max(0, (size - 1) // _BYTES_PER_PARTITION).bit_length())


def parse_memory(text: str) -> int:
    """Return the bytes of a size such as 512M; K, M, G and T are powers of 1024.

    >>> parse_memory("64M"), parse_memory("1.5g")
    (67108864, 1610612736)
    """
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*([KMGT])(?:i?B)?", text.strip(), re.I | re.A)
    if found is None:
        raise MorphGraphError(
            f"{text[:40]!r} is not an amount of memory. Give one such as 512M or 2G."
        )
    return int(float(found[1]) * _UNITS[found[2].upper()])


def text_blocks(files: Sequence[TextFile]) -> Iterator[list[TextFile]]:
    """Divide non-empty files into blocks, which depend on nothing but the files."""
    some: list[TextFile] = []
    size = 0
    for file in files:
        if not file.size:
            continue
        text = file.size * (_UNPACKED if file.path.lower().endswith(PACKED) else 1)
        if some and (size + text > BLOCK_BYTES or len(some) == _MAX_FILES):
            yield some
            some, size = [], 0
        some.append(file)
        size += text
    if some:
        yield some


# ------------------------------------------------------------------------- on the disk


def _publish(counting: Counting, parts: Path, facts: dict[str, Any]) -> None:
    """Make the result visible, and delete the working folder."""
    # The folder also holds the tasks' records, and partial files of tasks that were killed.
    files = sorted(parts.glob("part-*.parquet"))
    if counting.single:
        listed = ", ".join(map(sql_literal, files))
        with (
            new_file(counting.out, " with --out") as file,
            open_duckdb(counting.memory, 1, counting.folder) as sql,
        ):
            words = f"from read_parquet([{listed}]) order by word"
            write_counts(sql, words, file.name, facts)
    else:
        with new_folder(counting.out, " with --out") as place:
            for part in files:
                try:  # the original remains for another attempt
                    (place / part.name).hardlink_to(part)
                except OSError:  # such as across disks
                    shutil.copyfile(part, place / part.name)
            (place / COUNTS_FILE).write_text(json.dumps(facts, indent=1))
    shutil.rmtree(counting.folder, ignore_errors=True)
