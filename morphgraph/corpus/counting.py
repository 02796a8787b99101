"""Word counts of any amount of text within a memory limit, by DuckDB, as Parquet.

One query counts the words of some files; one more sums the counts of all. Text is split at
ASCII white space; other white space and the rules of a pipeline are applied only to distinct pieces
that they could change.
"""

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from morphgraph.core import __version__
from morphgraph.core.errors import FileFormatError, MorphGraphError, check_choice
from morphgraph.core.files import new_file, reading, writing
from morphgraph.core.isolated import read_isolated
from morphgraph.core.limits import TEXT_WORDS
from morphgraph.core.system import available_cores
from morphgraph.core.text import clock, counted
from morphgraph.corpus.counts import LARGEST_FILE, WordCounts
from morphgraph.corpus.text_files import (
    MARK,
    TextFile,
    find_texts,
    on_disk,
    open_duckdb,
    sql_literal,
)
from morphgraph.corpus.texts import (
    LONGEST_WORD,
    WHITE,
    BadLines,
    Texts,
    query_of,
    too_long,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

WHITESPACE = "whitespace"
KINDS = (WHITESPACE, "knockout", "rebpe")
"""How words are counted: separated by white space, or as a pipeline of this name trains on."""

MIN_MEMORY = 64 * 2**20
MIN_WORKER_MEMORY = 32 * 2**20
"""The number of workers is limited so that each has this many bytes."""

BLOCK_BYTES = 2**28
"""The approximate bytes of files in a task, unless a single one has more."""

ORDER = "the bytes of the word"
_MAX_FILES = 64
"""Files in a query, which has Parquet files open all at once, some twice: systems allow 256."""
_TEXT_MEMORY = 2**28
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_WHITE = sql_literal(f"[{WHITE}]")

CountingTask = Mapping[str, Any]
"""A task as it is sent to a worker: paths, small numbers and files."""


class Runner(Protocol):
    """Something that runs tasks."""

    def __call__(
        self, function: Callable[..., Any], tasks: Sequence[CountingTask], *common: Any
    ) -> Iterator[Any]:
        """Yield the function's result for each task as it finishes, given ``common``."""


def run_here(
    function: Callable[..., Any], tasks: Sequence[CountingTask], *common: Any
) -> Iterator[Any]:
    """Run tasks one after another in this process."""
    return (function(task, *common) for task in tasks)


@dataclass(frozen=True)
class CountReport:
    """Totals of a counting: all ``words``, ``distinct`` ones, and those ``kept`` in the result.

    ``bytes`` is the size of the files, ``bad`` the number of texts left out, with ``first_bad``
    telling of the first of them.
    """

    saved: str
    pipeline: str
    minimum_count: int
    files: int
    bytes: int
    words: int
    distinct: int
    kept: int
    workers: int
    bad: int
    first_bad: list[str]
    seconds: float
    megabytes_per_second: float

    def __str__(self) -> str:
        words = f"{counted(self.words, 'running word')}, {self.distinct:,} distinct"
        rare = f", {self.distinct - self.kept:,} rarer than {self.minimum_count} left out"
        kept = f"{counted(self.kept, 'word')}{rare * (self.minimum_count > 1)}"
        empty = f"; no word occurs {counted(self.minimum_count, 'time')}" * (not self.kept)
        return f"{words}, in {counted(self.files, 'file')}\n{kept}{empty}: saved {self.saved}"


def workers_for(memory: int, asked: int | None = None) -> int:
    """Return the number of workers to use on this machine, at most as the memory allows."""
    if asked is not None and asked < 1:
        raise MorphGraphError(f"There cannot be {asked} workers. Give 1 or more.")
    return min(asked or available_cores(), max(1, memory // MIN_WORKER_MEMORY))


def count_words(
    paths: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    pipeline: str = WHITESPACE,
    minimum_count: int = 1,
    memory: int = 512 * 2**20,
    column: str | None = None,
    bad_lines: BadLines = "stop",
    temp: Path | None = None,
    workers: int = 1,
    run: Runner | None = None,
    progress: Callable[[str, float], None] = lambda line, share: None,
) -> CountReport:
    """Count the words of texts into a Parquet file, which `corpus.counts.read_word_counts` reads.

    It has the columns ``word`` and ``count``, for words with at least ``minimum_count``.
    ``pipeline`` is ``whitespace``, which splits at white space, or ``knockout`` or ``rebpe``, whose
    training words are counted before they are cut into pieces. ``memory`` limits the counts and
    buffers, in bytes, without Python and its libraries; ``column`` names the text column of tables
    and JSON; ``temp`` is the folder for intermediate files (default: that of ``out``). ``workers``
    share the memory: threads of this process unless ``run`` provides others, which must see the
    texts and ``temp`` by the same paths. ``progress`` is called with a line and the share done.

    Raises `MorphGraphError` or `FileFormatError` if a path is missing or a value out of range, a
    file cannot be read, there are no words, or a disk is full.
    """
    started, out = time.perf_counter(), Path(out)
    check_choice("pipeline", pipeline, KINDS)
    if memory < MIN_MEMORY:
        raise MorphGraphError(f"{memory:,} bytes of memory are too few. Give at least 64M.")
    if minimum_count < 1:
        raise MorphGraphError(f"The least count is {minimum_count}. Give 1 or more.")
    files = find_texts(paths)
    if str(out.resolve()) in {str(Path(file.path).resolve()) for file in files}:
        raise MorphGraphError(f"{out}: this is one of the texts. Choose another place with --out.")
    if out.is_dir():
        raise MorphGraphError(f"{out}: it is a folder. Choose another place with --out.")
    if out.suffix.lower() in (".csv", ".tsv", ".txt"):
        problem = f"counts are a Parquet file, which is not {out.suffix}"
        raise MorphGraphError(f"{out}: {problem}. Choose a name in .parquet with --out.")
    if temp is not None and not temp.is_dir():
        raise MorphGraphError(f"{temp}: there is no such folder. Choose another with --temp.")
    size, hint = sum(file.size for file in files), " with --out" if temp is None else " with --temp"
    place = temp or out.resolve().parent
    shared = (workers, 1) if run is not None else (1, workers)
    settings: dict[str, Any] = {"pipeline": pipeline, "column": column, "bad_lines": bad_lines}
    settings |= {"memory": memory // shared[0], "threads": shared[1]}
    parts, bad, first_bad, done = list[str](), 0, list[str](), 0
    with writing(place, hint):
        place.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{out.name}.counting-", dir=place) as folder:
            tasks = [{**settings, "folder": folder, "files": some} for some in _blocks(files)]
            for found in (run or run_here)(count_files, tasks):
                parts += found["parts"]
                bad += found["bad"]
                first_bad += found["first_bad"]
                done += found["size"]
                progress(_line(done, size, time.perf_counter() - started), done / size)
            facts = {"pipeline": pipeline, "minimum_count": minimum_count, "files": len(files)}
            facts |= {"bad": bad, "order": ORDER, "version": __version__}
            with open_duckdb(memory, shared[1], Path(folder)) as sql:
                totals = _sum(sql, parts, out, minimum_count, facts)
    if not totals["words"]:
        names = [file.path for file in files if file.size] or ["the files"]
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        raise MorphGraphError(f"{names[0]}{more}: there are no words. Choose files with text.")
    seconds = time.perf_counter() - started
    return CountReport(
        saved=str(out),
        pipeline=pipeline,
        minimum_count=minimum_count,
        files=len(files),
        bytes=size,
        **totals,
        workers=workers,
        bad=bad,
        first_bad=sorted(first_bad)[:20],
        seconds=seconds,
        megabytes_per_second=size / 1e6 / seconds,
    )


def _line(done: int, size: int, seconds: float) -> str:
    """Tell how much is counted, how fast, and how long the rest takes."""
    speed = done / max(seconds, 1e-9)
    left = clock((size - done) / speed)
    line = f"counting: {done / 1e6:,.0f} of {size / 1e6:,.0f} MB, {speed / 1e6:,.1f} MB/s"
    return f"{line}, {left} left" if done < size else "summing"


def _blocks(files: Sequence[TextFile]) -> Iterator[list[TextFile]]:
    """Divide non-empty files into those of each task."""
    some: list[TextFile] = []
    size = 0
    for file in filter(lambda file: file.size, files):
        if some and (size + file.size > BLOCK_BYTES or len(some) == _MAX_FILES):
            yield some
            some, size = [], 0
        some.append(file)
        size += file.size
    if some:
        yield some


def parse_memory(text: str) -> int:
    """Return the bytes of a size such as 512M; K, M, G and T are powers of 1024.

    >>> parse_memory("64M"), parse_memory("1.5g")
    (67108864, 1610612736)
    """
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*([KMGT])(?:i?B)?", text.strip(), re.I | re.A)
    if match is None:
        raise MorphGraphError(
            f"{text[:40]!r} is not an amount of memory. Give one such as 512M or 2G."
        )
    return int(float(match[1]) * _UNITS[match[2].upper()])


# ------------------------------------------------------------------------- the queries


def count_files(task: CountingTask) -> dict[str, Any]:
    """Count the words of the files of a task in one query, into a Parquet file.

    It is one query a file, to tell of which one an error is, or if bad lines are left out.
    """
    files: Sequence[TextFile] = task["files"]
    parts, bad, first_bad = list[str](), 0, list[str]()
    with (
        TemporaryDirectory(dir=task["folder"]) as name,
        open_duckdb(task["memory"], task["threads"], Path(name)) as sql,
    ):
        settings = {"column": task["column"], "bad_lines": task["bad_lines"], "folder": Path(name)}
        texts = [Texts(Path(file.path), file.path, **settings) for file in files]
        rule = _rule(sql, task["pipeline"])

        def count(some: Sequence[Texts]) -> tuple[int, list[str]]:
            part = f"{task['folder']}/{Path(name).name}-{len(parts)}.parquet"
            left_out = _count(sql, some, rule, part)
            parts.append(part)
            return left_out

        if task["bad_lines"] == "stop":
            with suppress(FileFormatError):
                count(texts)
        for each in [] if parts else texts:
            number, places = count([each])
            bad += number
            first_bad += places
    size = sum(file.size for file in files)
    return {"parts": parts, "size": size, "bad": bad, "first_bad": first_bad}


def _rule(sql: "DuckDBPyConnection", pipeline: str) -> tuple[str, str]:
    """Return SQL for whether a piece may need further cutting, and for what it is cut into."""
    if pipeline == WHITESPACE:
        return f"regexp_matches(word, {_WHITE})", f"regexp_split_to_array(word, {_WHITE})"
    from morphgraph.corpus.pipelines import pipeline_named

    split = pipeline_named(pipeline).split
    sql.create_function("words_of", lambda piece: [*split(piece)], ["VARCHAR"], "VARCHAR[]")
    return "not regexp_full_match(word, '[0-9A-Za-z]+')", "words_of(word)"


def _count(
    sql: "DuckDBPyConnection", texts: Sequence[Texts], rule: tuple[str, str], part: str
) -> tuple[int, list[str]]:
    """Count the words of files into a Parquet file: some come up twice, NULL counts bad texts.

    Return the number of bad texts, and what is known of them. Errors name the first file.
    """
    odd, cut = rule
    rows, out, pieces = query_of(texts), sql_literal(part), "string_split(text, ' ')"
    if any(each.kind == "json" for each in texts):  # only there may a text be NULL
        pieces = f"coalesce({pieces}, [null])"
    words = (
        f"select unnest(case when {odd} then {cut} else [word] end) as word, count from "
        "(select word, count(*) as count from (select "
        f"unnest({pieces}) as word from ({rows})) "
        # The second condition keeps DuckDB from testing the first on every running word.
        "group by word) where word is null or word <> '' or count < 0"
    )
    with texts[0].errors():
        sql.execute(f"copy ({words}) to {out} (format parquet, compression uncompressed)")
    [(bad, longest)] = sql.execute(
        "select coalesce(sum(count) filter (word is null), 0)::bigint, max(strlen(word)) "
        f"from read_parquet({out})"
    ).fetchall()
    if (longest or 0) > LONGEST_WORD:
        raise too_long(texts[0].name)
    return texts[0].left_out(sql, bad)


def _sum(
    sql: "DuckDBPyConnection", parts: list[str], out: Path, least: int, facts: dict[str, Any]
) -> dict[str, int]:
    """Sum the words of all files into the result, unless there are none; return the totals."""
    totals = dict.fromkeys(("words", "distinct", "kept"), 0)
    if not parts:
        return totals
    sql.execute(
        "create temp table sums as select word, sum(count)::bigint as count "
        f"from read_parquet([{', '.join(map(sql_literal, parts))}]) where word <> '' group by word"
    ).fetchall()
    [numbers] = sql.execute(
        "select coalesce(sum(count), 0), count(*), count(*) filter (count >= ?) from sums", [least]
    ).fetchall()
    totals = dict(zip(totals, map(int, numbers), strict=True))
    if totals["words"]:
        marked = sql_literal(json.dumps({**facts, **totals}))
        form = f"format parquet, compression zstd, kv_metadata {{{MARK}: {marked}}}"
        with new_file(out, " with --out") as file:
            sql.execute(
                f"copy (from sums where count >= {least} order by word) "
                f"to {sql_literal(file.name)} ({form}, use_tmp_file false)"
            ).fetchall()
    return totals


# ------------------------------------------------------------------------- one text in memory


def read_text(
    source: str | os.PathLike[str] | bytes, name: str | None = None, *, column: str | None = None
) -> WordCounts:
    """Count the words of a file or its bytes: plain text, csv, tsv, JSON lines or Parquet by name.

    ``column`` names the column or field of the text; by default, it is the only one, or one called
    text, sentence or content. A file of any other name is a csv if ``column`` is given, else plain.
    Raises `FileFormatError`, with file and place, if the file is missing, empty, larger than a
    gigabyte, not UTF-8 or no table of its kind, lacks the column, or has too many different words.
    """
    shown = name or ("the text" if isinstance(source, bytes) else str(source))
    with on_disk(source if isinstance(source, bytes) else Path(source)) as path:
        with reading(shown):
            size = path.stat().st_size
        if size > LARGEST_FILE:
            problem = f"the file has {size:,} bytes; the limit is {LARGEST_FILE:,}"
            raise FileFormatError(shown, "", problem, "Count the words of a part of it.")
        # What is uploaded is read apart.
        apart = read_isolated if isinstance(source, bytes) else _called
        words, counts = apart(words_in, str(path), shown, column, TEXT_WORDS.value + 1)
    fix = "Count a part of it, count it with morphgraph count and leave out rare words"
    TEXT_WORDS.check(len(words), shown, fix=fix)
    if not words:
        raise FileFormatError(shown, "", "it has no words", "Choose a file or column with text.")
    return WordCounts(words, counts)


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def words_in(path: str, name: str, column: str | None, most: int) -> tuple[list[str], list[int]]:
    """Return the ``most`` most frequent words of a file, in order, and their counts."""
    with TemporaryDirectory() as folder, open_duckdb(_TEXT_MEMORY, 1, Path(folder)) as sql:
        texts = Texts(Path(path), name, column, folder=Path(folder))
        texts.check_unpacked()
        part = f"{folder}/words.parquet"
        _count(sql, [texts], _rule(sql, WHITESPACE), part)
        rows = sql.execute(
            f"select word, sum(count)::bigint as n from read_parquet({sql_literal(part)}) "
            f"where word <> '' group by word order by n desc, word limit {most}"
        ).fetchall()
    return [word for word, _ in rows], [count for _, count in rows]
