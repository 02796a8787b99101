"""Counting with DuckDB: the words of a block of files, and sums over blocks.

Text is split at ASCII white space; the rules of a pipeline and other white space are then applied
only to distinct pieces that they could change. Files that DuckDB rejects or may misread (csv,
compressed files, names that look like patterns) are read line by line. Each task stores its result
in files of its own, so that it is never repeated.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import re
import shutil
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import new_file, write_file, writing
from morphgraph.corpus.counts import MARK, WordCounts
from morphgraph.corpus.parquet import open_parquet
from morphgraph.corpus.text import (
    LONGEST_WORD,
    BadTexts,
    check_no_counts,
    chosen_column,
    json_column,
    text_fields,
    texts_in,
)
from morphgraph.corpus.text_files import (
    TextFile,
    compression_of,
    decompressed,
    kind_of,
    local_copy,
    opened,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

WHITESPACE = "whitespace"
IN_TEMP = " with --temp"
"""Completes errors in writing intermediate files: how to choose another place."""

RANGES = 4096
"""The largest number of ranges into which hashes are divided."""

CountingTask = Mapping[str, Any]
"""A task as it is sent to a worker: paths, small numbers and a block."""

_FORM = 3
"""The version of intermediate files, so that those of another version are never resumed."""

_LINES = (
    "auto_detect = false, header = false, quote = '', escape = '', comment = '', "
    # It is lost at the end of a line, so it counts as white space.
    "delim = '\x1f', columns = {'line': 'varchar'}, max_line_size = 2097152, buffer_size = 8388608"
)
_LONGEST_LINE = 2**20
_WHITE = (
    r"[\t-\r\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)

_TO_SPACES = bytes.maketrans(b"\t\n\v\f\r\x1c\x1d\x1e\x1f", b" " * 9)
_ROW = 2048
_RULE_BATCH = 4096
_SMALL_GROUPS = 16384


@dataclass(frozen=True)
class TextBlock:
    """Files that are counted together; ``size`` is their total in bytes."""

    files: tuple[TextFile, ...]
    size: int


@contextmanager
def open_duckdb(memory: int, threads: int, folder: Path) -> Iterator[DuckDBPyConnection]:
    """Open a database limited to about ``memory`` bytes, which spills into ``folder``.

    Disk errors are raised as `OSError`, lack of memory as `MorphGraphError`.
    """
    import duckdb

    settings: dict[str, Any] = {
        "threads": threads,
        "memory_limit": f"{memory}B",
        "temp_directory": str(folder / "spilled"),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    sql = duckdb.connect(config=settings)
    try:
        sql.execute("set enable_progress_bar = false").fetchall()
        yield sql
    except duckdb.Error as error:
        said = str(error).splitlines()[0]
        number = re.search(r'"errno":"(\d+)"', str(error))
        if number is not None or "No space left" in str(error):
            code = errno.ENOSPC if number is None else int(number[1])
            raise OSError(code, os.strerror(code)) from None
        if isinstance(error, duckdb.OutOfMemoryException):
            raise MorphGraphError(
                f"{memory:,} bytes of memory are too few for these texts. Give more with --memory, "
                "or take fewer --workers."
            ) from None
        raise MorphGraphError(f"{folder}: the counting failed ({said[:200]}).") from None
    except RuntimeError as error:
        if "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from None  # DuckDB replaces what a signal handler raised
    finally:
        sql.close()


def sql_literal(text: str | os.PathLike[str]) -> str:
    """Return a text as an SQL string literal."""
    return "'" + os.fspath(text).replace("'", "''") + "'"


def task_key(*facts: Any) -> str:
    """Return a file name that depends on these facts alone."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]


# ------------------------------------------------------------------------- a block


def count_block(task: CountingTask) -> dict[str, Any]:
    """Count a block into files and return their names; a finished block is not counted again."""
    import duckdb

    block: TextBlock = task["block"]
    folder = Path(task["folder"])
    how = {name: task[name] for name in ("pipeline", "column", "bad_lines", "partitions", "alone")}
    key = task_key(_FORM, duckdb.__version__, asdict(block), how)
    done = folder / f"{key}.json"
    if done.is_file():
        found: dict[str, Any] = json.loads(done.read_bytes())
        return found
    with ExitStack() as stack:
        stack.enter_context(writing(folder, IN_TEMP))
        files = [(file, stack.enter_context(local_copy(file.path, folder))) for file in block.files]
        sql = stack.enter_context(open_duckdb(task["memory"], task["threads"], folder))
        made = _Block(sql, task, folder / key)
        sound, others = made.readable(files)
        try:
            rows = made.count(sound, others) if sound else None
        except duckdb.Error:
            rows = None
        if rows is None:
            rows = made.count({}, files)
        bad = made.bad
        found = {
            "counts": made.written,
            "is_summed": made.is_summed,
            "rows": rows,
            "size": block.size,
            "bad": bad.count,
            "first_bad": bad.first,
        }
        write_file(done, json.dumps(found).encode())
    return found


_File = tuple[TextFile, Path]


class _Block:
    """A block while it is counted.

    ``written``: the names of its files; ``is_summed``: whether they already are the result.
    """

    def __init__(self, sql: DuckDBPyConnection, task: CountingTask, stem: Path) -> None:
        self.sql, self.task, self.stem = sql, task, stem
        self.bad = BadTexts(task["bad_lines"])
        self.written: list[str] = []
        self.is_summed = False

    def readable(self, files: Sequence[_File]) -> tuple[dict[str, list[str]], list[_File]]:
        """Group files that DuckDB can read by their query; return the rest separately."""
        queries: dict[str, list[str]] = {}
        others = []
        for file, place in files:
            query = "" if any(sign in str(place) for sign in "*?[") else self._query(file, place)
            if query:
                queries.setdefault(query, []).append(str(place))
            else:
                others.append((file, place))
        return queries, others

    def _query(self, file: TextFile, place: Path) -> str:
        column: str | None = self.task["column"]
        with opened(place, file.path) as data:
            start = data.read(2**16)
            kind = kind_of(start, file.path, column)
            data.seek(0)
            if kind == "parquet":
                table = open_parquet(data, file.path)
                check_no_counts(table, file.path)
                fields = text_fields(table)
                column = chosen_column(fields, column, file.path, "its columns of text")
                name = '"' + column.replace('"', '""') + '"'
                return f"select replace({name}, chr(10), ' ') as text from read_parquet(files)"
            if compression_of(start) or kind == "table":
                return ""
            if _has_long_line(data):
                return ""
            if kind == "json" and column is None:
                column = json_column(data.read(2**20), file.path)
        ends = ", new_line = '\\r\\n'" if b"\r\n" in start else ""
        lines = f"read_csv(files, {_LINES}{ends})"
        if kind == "plain":
            return f"select replace(line, chr(9), ' ') as text from {lines}"
        path = sql_literal("/" + (column or "").replace("~", "~0").replace("/", "~1"))
        return (
            f"select case when trim(line, E' \\t\\r') = '' then null "
            f"when json_type(line) <> 'OBJECT' then error('no object') "
            f"when json_type(line, {path}) = 'NULL' then null "
            f"when json_type(line, {path}) = 'VARCHAR' "
            f"then replace(json_extract_string(line, {path}), chr(10), ' ') "
            f"else error('no text') end as text from {lines}"
        )

    def count(self, queries: Mapping[str, list[str]], others: Sequence[_File]) -> int | None:
        """Write word counts; return the number of rows, or None if DuckDB must not be used."""
        self.bad = BadTexts(self.task["bad_lines"])
        texts = [
            query.replace("(files", f"([{', '.join(map(sql_literal, places))}]", 1)
            for query, places in queries.items()
        ]
        failed: list[BaseException] = []
        if others:
            parts = record_errors(self._pieces(others), failed)
            self.sql.register("pieces", arrow_batches({"text": "large_string"}, parts))
            texts.append("select text from pieces")
        odd = _odd(self.task["pipeline"])
        path = Path(f"{self.stem}.parquet")
        self.is_summed = self.task["alone"]
        try:
            self._write(
                "select * from (select word, count(*) as count from (select "
                f"unnest(string_split(text, ' ')) as word from ({' union all '.join(texts)})) "
                # The second condition keeps DuckDB from testing the first on every running word.
                "group by word) where word <> '' or count < 0",
                path,
                odd,
            )
        except Exception:
            if failed:
                raise failed[0] from None
            raise
        flag = odd if self.is_summed else "odd"
        query = f"select count(*), count(*) filter ({flag}), max(strlen(word)) from read_parquet(?)"
        rows, odd_rows, longest = self.sql.execute(query, [str(path)]).fetchall()[0]
        if queries and (longest or 0) > LONGEST_WORD:
            return None
        self.written = [path.name]
        if odd_rows:
            if self.is_summed:
                self.is_summed, self.written = False, [f"{path.stem}-pieces.parquet"]
                words = f"select word, count from read_parquet({sql_literal(path)})"
                self._write(words, path.with_name(self.written[0]), odd)
            parts = self._by_rules(path, flag)
            self.sql.register(
                "ruled", arrow_batches({"word": "large_string", "count": "int64"}, parts)
            )
            self.written.append(f"{path.stem}-rules.parquet")
            self._write("from ruled", path.with_name(self.written[1]), "false")
        return int(rows)

    def _write(self, words: str, path: Path, odd: str) -> None:
        """Write words, counts, whether a word is odd, and its hash range, sorted by range if there
        are several; already summed counts are written in their final form.
        """
        with new_file(path, IN_TEMP) as file:
            if self.is_summed:
                about = {"pipeline": self.task["pipeline"], "minimum_count": 1}
                write_counts(self.sql, f"{words} order by word", file.name, about)
                return
            form, order = "format parquet, compression uncompressed, use_tmp_file false", ""
            if self.task["partitions"] > 1:
                form, order = f"{form}, row_group_size {_SMALL_GROUPS}", "order by range"
            words = f"select *, {odd} as odd, hash(word) >> 52 as range from ({words}) {order}"
            self.sql.execute(f"copy ({words}) to {sql_literal(file.name)} ({form})").fetchall()

    def _pieces(self, files: Sequence[_File]) -> Iterator[Any]:
        for file, place in files:
            with opened(place, file.path) as packed:
                column = self.task["column"]
                kind = kind_of(packed.read(4), file.path, column)
                packed.seek(0)
                for texts in texts_in(decompressed(packed), file.path, kind, column, self.bad):
                    yield [_in_rows(unify_spaces(texts, file.path, self.bad))]

    def _by_rules(self, path: Path, odd: str) -> Iterator[Any]:
        """Yield the words that the pipeline's rules make of odd pieces, with counts."""
        from morphgraph.corpus.pipelines import pipeline_named

        pipeline = self.task["pipeline"]
        rules = pipeline_named("plain" if pipeline == WHITESPACE else pipeline).words
        query = f"select word, count from read_parquet(?) where {odd}"
        rows = self.sql.cursor().execute(query, [str(path)])
        while some := rows.fetchmany(_RULE_BATCH):
            made = rules(WordCounts([word for word, _ in some], [n for _, n in some]))
            yield [*made], [*made.values()]


def _odd(pipeline: str) -> str:
    """Return an SQL condition for pieces that may need further cutting."""
    if pipeline == WHITESPACE:
        return f"regexp_matches(word, '{_WHITE}')"
    return "not regexp_full_match(word, '[0-9A-Za-z]+')"


def _has_long_line(file: IO[bytes]) -> bool:
    """Return whether a line exceeds a megabyte: DuckDB may skip it and all that follows."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = 0
        while len(data) - at > _LONGEST_LINE:
            at = data.rfind(b"\n", at, at + _LONGEST_LINE) + 1
            if not at:
                return True
    return False


def unify_spaces(text: bytes, name: str, bad: BadTexts) -> bytes:
    """Replace ASCII white space by spaces; text too long to be a word is left out."""
    text = text.translate(_TO_SPACES)
    if len(text) > LONGEST_WORD:
        words = text.split(b" ")
        for place, word in enumerate(words):
            if len(word) > LONGEST_WORD and any(
                len(part.encode()) > LONGEST_WORD
                for part in word.decode().split()  # at white space beyond ASCII
            ):
                problem = f"there are more than {LONGEST_WORD:,} bytes without white space"
                bad(FileFormatError(name, "", problem, "Leave out what is not text."))
                words[place] = b""
        text = b" ".join(words)
    return text


def _in_rows(text: bytes) -> Any:
    """Divide a text into rows at word boundaries, without copying."""
    import pyarrow

    ends = array("q", [0])
    while end := text.find(b" ", ends[-1] + _ROW) + 1:
        ends.append(end)
    if ends[-1] < len(text):
        ends.append(len(text))
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(text)]
    return pyarrow.Array.from_buffers(pyarrow.large_string(), len(ends) - 1, buffers)


def record_errors(parts: Iterator[Any], failed: list[BaseException]) -> Iterator[Any]:
    """Pass parts on and record any exception: DuckDB keeps only its message."""
    try:
        yield from parts
    except BaseException as error:
        failed.append(error)
        raise


def arrow_batches(columns: Mapping[str, Any], parts: Iterator[Sequence[Any]]) -> Any:
    """Return parts as a table that DuckDB can read; ``columns`` gives their Arrow types."""
    import pyarrow

    schema = pyarrow.schema(columns)
    batches = (
        pyarrow.record_batch(
            [pyarrow.array(one, kind) for one, kind in zip(part, schema.types, strict=True)],
            schema=schema,
        )
        for part in parts
    )
    return pyarrow.RecordBatchReader.from_batches(schema, batches)


# ------------------------------------------------------------------------- the sums


def sum_range(task: CountingTask) -> dict[str, int]:
    """Sum a range of hashes over all blocks into a Parquet file, unless it exists already."""
    out = Path(task["out"])
    done = out.with_suffix(".json")
    if done.is_file():
        numbers: dict[str, int] = json.loads(done.read_bytes())
        return numbers
    manifest = Path(task["manifest"])
    names = json.loads(manifest.read_bytes())
    about = {name: task[name] for name in ("pipeline", "minimum_count")}
    least = task["minimum_count"]
    with (
        new_file(out, IN_TEMP) as file,
        open_duckdb(task["memory"], task["threads"], manifest.parent) as sql,
    ):
        if task["is_summed"]:
            with (manifest.parent / names[0]).open("rb") as summed:
                shutil.copyfileobj(summed, file)
            file.flush()
            sums = f"read_parquet({sql_literal(file.name)})"
        else:
            sums = "sums"
            files = ", ".join(sql_literal(manifest.parent / name) for name in names)
            sql.execute(
                "create temp table sums as select word, sum(count)::bigint as count "
                f"from read_parquet([{files}]) where not odd and range >= {task['first']} "
                f"and range < {task['last']} group by word"
            ).fetchall()
            words = f"from sums where count >= {least} order by word"
            write_counts(sql, words, file.name, about)
        query = "select coalesce(sum(count), 0), count(*), count(*) filter (count >= ?) from "
        found = sql.execute(query + sums, [least]).fetchall()[0]
    numbers = dict(zip(("words", "distinct", "kept"), map(int, found), strict=True))
    write_file(done, json.dumps(numbers).encode(), IN_TEMP)
    return numbers


def write_counts(
    sql: DuckDBPyConnection, query: str, path: str | os.PathLike[str], about: Mapping[str, Any]
) -> None:
    """Write the columns ``word`` and ``count`` of a query, with metadata, as Parquet."""
    from morphgraph.core import __version__

    marked = sql_literal(json.dumps({**about, "version": __version__}))
    form = f"format parquet, compression zstd, kv_metadata {{{MARK.decode()}: {marked}}}"
    form += ", use_tmp_file false"
    sql.execute(f"copy ({query}) to {sql_literal(path)} ({form})").fetchall()
