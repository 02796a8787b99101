"""Word counts of any amount of text within a given memory, written as parquet.

Each file is a task, which counts into a dictionary of bounded size and writes it to disk, sorted,
whenever it is full; a merge of all that was written sums the counts.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.system import available_cores
from morphgraph.corpus.counting_store import Block, merge_in_rounds, most_open
from morphgraph.corpus.counting_task import CountingTask, check_kind
from morphgraph.corpus.counting_texts import MARK, find_texts
from morphgraph.corpus.counting_workers import run

__all__ = ["CountProgress", "CountReport", "count_to_parquet", "find_texts", "parse_memory"]

LEAST_MEMORY = 64 * 2**20
LEAST_SHARE = 32 * 2**20
"""There are as many workers as leave each this many bytes."""

_GROUP_WORDS = 2**16
_GROUP_BYTES = 2**22
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class CountProgress:
    """How far a counting is; ``bytes`` are those of the files, ``stage`` counting or merging."""

    stage: str
    files_done: int
    files: int
    bytes_done: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class CountReport:
    """What was counted: ``words`` running ones, ``distinct`` ones, ``kept`` in the file.

    ``bytes`` is the size of the files, ``partials`` how many sorted parts there were on disk.
    """

    saved: str
    pipeline: str
    minimum_count: int
    files: int
    bytes: int
    words: int
    distinct: int
    kept: int
    partials: int
    workers: int
    seconds: float
    megabytes_per_second: float


OnCountProgress = Callable[[CountProgress], None] | None


def count_to_parquet(
    paths: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    pipeline: str = "whitespace",
    minimum_count: int = 1,
    memory: int = 512 * 2**20,
    workers: int | None = None,
    column: str | None = None,
    temp: Path | None = None,
    progress: OnCountProgress = None,
) -> CountReport:
    """Count the words of text files, and of all those in folders, into a parquet file.

    ``pipeline`` is ``whitespace``, for what white space separates, or ``knockout`` or ``rebpe``,
    for the words that these pipelines train on (not yet cut into pieces). The file has the columns
    ``word`` and ``count`` of the words with at least ``minimum_count``, by code point; its metadata
    says how they were counted. `morphgraph.corpus.counts.read_word_counts` reads it.

    ``memory`` is what counts and buffers of all ``workers`` (as many as there are cores) may take,
    in bytes, beside about 100 MB for Python in each process; ``column`` names the one with the text
    in tables; ``temp`` is the folder for what does not fit (that of ``out``). An exception that
    ``progress`` raises ends the counting. ``out`` appears when all is done, and never in part.

    Raises `MorphGraphError` or `FileFormatError` where a path is missing, a file cannot be read,
    there is no word, a disk is full, or a value is out of range.
    """
    check_kind(pipeline)
    if memory < LEAST_MEMORY:
        raise MorphGraphError(f"{memory:,} bytes of memory are too few. Give at least 64M.")
    if minimum_count < 1:
        raise MorphGraphError(f"The least count is {minimum_count}. Give 1 or more.")
    if workers is not None and workers < 1:
        raise MorphGraphError(f"There cannot be {workers} workers. Give 1 or more.")
    started = time.perf_counter()
    files = find_texts(paths)
    out = Path(out)
    if out.resolve() in {file.resolve() for file in files}:
        raise MorphGraphError(f"{out}: this is one of the texts. Choose another place for --out.")
    number = max(1, min(workers or available_cores(), len(files), memory // LEAST_SHARE))
    sizes = [file.stat().st_size for file in files]
    total = sum(sizes)

    def tell(stage: str, done: int, bytes_done: int) -> None:
        if progress is not None:
            seconds = time.perf_counter() - started
            progress(CountProgress(stage, done, len(files), bytes_done, total, seconds))

    facts: dict[str, Any] = {
        "pipeline": pipeline,
        "minimum_count": minimum_count,
        "files": len(files),
        "order": "code points of the word",
    }
    with _new_file(out) as file, _temporary(temp or out.parent) as folder:
        share = memory // number
        tasks = [
            CountingTask(path, at, pipeline, column, share, folder) for at, path in enumerate(files)
        ]
        # The largest first, so that none is left alone at the end.
        tasks.sort(key=lambda task: -sizes[task.number])
        with _full_disk(folder, "--temp"):
            partials = run(tasks, number, lambda done, size: tell("counting", done, size))
        blocks = merge_in_rounds(
            partials, folder, most_open(memory), lambda: tell("merging", len(files), total)
        )
        with _full_disk(out.parent, "--out or --temp"):
            written = _write(file, blocks, facts)
        if not written["words"]:
            raise MorphGraphError(f"{_listed(files)}: there is no word. Choose files with text.")
        tell("merging", len(files), total)
    seconds = time.perf_counter() - started
    return CountReport(
        saved=str(out),
        pipeline=pipeline,
        minimum_count=minimum_count,
        files=len(files),
        bytes=total,
        **written,
        partials=len(partials),
        workers=number,
        seconds=seconds,
        megabytes_per_second=total / 1e6 / seconds,
    )


def parse_memory(text: str) -> int:
    """Bytes from a size such as 512M; K, M, G and T are powers of 1024.

    >>> parse_memory("64M"), parse_memory("1.5g")
    (67108864, 1610612736)
    """
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*([KMGT])(?:i?B)?", text.strip(), re.I | re.A)
    if found is None:
        raise MorphGraphError(
            f"{text[:40]!r} is not an amount of memory. Give one such as 512M or 2G."
        )
    return int(float(found[1]) * _UNITS[found[2].upper()])


def _listed(files: Sequence[Path]) -> str:
    return str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"


# ------------------------------------------------------------------------- on disk


def _write(file: IO[bytes], blocks: Iterator[Block], facts: dict[str, Any]) -> dict[str, int]:
    """Write the words that are frequent enough; gives the numbers of running and other words."""
    import pyarrow
    from pyarrow import parquet

    from morphgraph.core import __version__

    schema = pyarrow.schema(
        [
            pyarrow.field("word", pyarrow.string(), nullable=False),
            pyarrow.field("count", pyarrow.int64(), nullable=False),
        ]
    )
    least = facts["minimum_count"]
    numbers = {"words": 0, "distinct": 0, "kept": 0}
    options = {"compression": "zstd", "use_dictionary": False}
    with parquet.ParquetWriter(file, schema, **options) as writer:
        for words, counts in _groups(_frequent(blocks, least, numbers)):
            column = pyarrow.array(words, pyarrow.binary()).cast(pyarrow.string())
            table = [column, pyarrow.array(counts, pyarrow.int64())]
            writer.write_table(pyarrow.Table.from_arrays(table, schema=schema))
        about = facts | numbers | {"version": __version__}
        writer.add_key_value_metadata({MARK: json.dumps(about).encode()})
    return numbers


def _frequent(blocks: Iterator[Block], least: int, numbers: dict[str, int]) -> Iterator[Block]:
    for words, counts in blocks:
        numbers["words"] += sum(counts)
        numbers["distinct"] += len(words)
        if least > 1:
            kept = [at for at, count in enumerate(counts) if count >= least]
            words, counts = [words[at] for at in kept], [counts[at] for at in kept]
        numbers["kept"] += len(words)
        yield words, counts


def _groups(blocks: Iterator[Block]) -> Iterator[Block]:
    """Blocks put together, so that row groups are not too small."""
    words: list[bytes] = []
    counts: list[int] = []
    size = 0
    for some, numbers in blocks:
        words += some
        counts += numbers
        size += sum(map(len, some))
        if len(words) >= _GROUP_WORDS or size >= _GROUP_BYTES:
            yield words, counts
            words, counts, size = [], [], 0
    if words:
        yield words, counts


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """A file under a name of its own, which gets its right name when all is well."""
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        file = hidden.open("xb")
    except (OSError, ValueError) as error:
        problem = (getattr(error, "strerror", None) or str(error)).lower()
        raise MorphGraphError(f"{path}: {problem}. Choose another place with --out.") from error
    try:
        with file:
            yield file
            with _full_disk(path.parent, "--out"):
                file.flush()
                os.fsync(file.fileno())
        hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)


@contextmanager
def _temporary(parent: Path) -> Iterator[Path]:
    try:
        folder = Path(tempfile.mkdtemp(prefix=".morphgraph-count-", suffix=".tmp", dir=parent))
    except OSError as error:
        problem = (error.strerror or "it cannot be used").lower()
        fix = "Choose another folder with --temp."
        raise MorphGraphError(f"{parent}: {problem}. {fix}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _full_disk(folder: Path, option: str) -> Iterator[None]:
    try:
        yield
    except FileFormatError:
        raise
    except OSError as error:
        problem = (error.strerror or "it cannot be written").lower()
        fix = f"Make room there, or choose another place with {option}."
        raise MorphGraphError(f"{error.filename or folder}: {problem}. {fix}") from error
