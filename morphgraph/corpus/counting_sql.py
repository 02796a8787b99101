"""Counting with DuckDB: the words of a block of files, and sums over blocks.

Text is split at ASCII white space; the rules of a pipeline and other white space are then applied
only to distinct pieces that they could change. Files that DuckDB rejects or may misread (csv,
compressed files, names that look like patterns) are read line by line, and written for it as plain
lines. Each task stores its result in files of its own, so that it is never repeated.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import mmap
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from morphgraph.core import __version__
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import new_file, write_file, writing
from morphgraph.core.packed import compression_of, opened
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.text import (
    LONGEST_WORD,
    BadTexts,
    chosen_column,
    json_column,
    sql_name,
    text_fields,
    texts_in,
)
from morphgraph.corpus.text_files import (
    MARK,
    PATTERN_SIGNS,
    Parquet,
    TextFile,
    kind_of,
    local_copy,
    open_duckdb,
    reading,
    sql_literal,
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

_FORM = 4
"""The version of intermediate files, so that those of another version are never resumed."""

_LINES = (
    "auto_detect = false, header = false, quote = '', escape = '', comment = '', "
    "max_line_size = 2097152, buffer_size = 8388608"
)
# The delimiter is lost at the end of a line, so it counts as white space.
_ONE_COLUMN = f"{_LINES}, delim = '\x1f', columns = {{'line': 'varchar'}}"
_TWO_COLUMNS = f"{_LINES}, delim = '\t', columns = {{'word': 'varchar', 'count': 'bigint'}}"
_LONGEST_LINE = 2**20
_WHITE = (
    r"[\t-\r\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)

_TO_SPACES = bytes.maketrans(b"\t\n\v\f\r\x1c\x1d\x1e\x1f", b" " * 9)
_TO_LINES = bytes.maketrans(b" ", b"\n")
_RULE_BATCH = 4096
_SMALL_GROUPS = 16384


def task_key(*facts: Any) -> str:
    """Return a file name that depends on these facts alone."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]


# ------------------------------------------------------------------------- a block


def count_block(task: CountingTask) -> dict[str, Any]:
    """Count a block into files and return their names; a finished block is not counted again."""
    import duckdb

    block: Sequence[TextFile] = task["block"]
    folder = Path(task["folder"])
    how = {name: task[name] for name in ("pipeline", "column", "bad_lines", "partitions", "alone")}
    key = task_key(_FORM, duckdb.__version__, list(map(asdict, block)), how)
    done = folder / f"{key}.json"
    if done.is_file():
        found: dict[str, Any] = json.loads(done.read_bytes())
        return found
    with ExitStack() as stack:
        stack.enter_context(writing(folder, IN_TEMP))
        files = [(file, stack.enter_context(local_copy(file.path, folder))) for file in block]
        sql = stack.enter_context(open_duckdb(task["memory"], task["threads"], folder))
        made = _Block(sql, task, folder / key)
        sound, others = made.readable(files)
        try:
            rows = made.count(sound, others) if sound else None
        except duckdb.Error:
            rows = None
        if rows is None:
            rows = made.count({}, files)
        for lines in made.spooled:
            lines.unlink(missing_ok=True)
        found = {
            "counts": made.written,
            "is_summed": made.is_summed,
            "rows": rows,
            "size": sum(file.size for file in block),
            "bad": made.bad.count,
            "first_bad": made.bad.first,
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
        self.spooled = [Path(f"{stem}-{name}.txt") for name in ("lines", "ruled")]
        self.bad = BadTexts(task["bad_lines"])
        self.written: list[str] = []
        self.is_summed = False

    def readable(self, files: Sequence[_File]) -> tuple[dict[str, list[str]], list[_File]]:
        """Group files that DuckDB can read by their query; return the rest separately."""
        queries: dict[str, list[str]] = {}
        others = []
        for file, place in files:
            is_pattern = any(sign in str(place) for sign in PATTERN_SIGNS)
            if query := "" if is_pattern else self._query(file, place):
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
                fields = text_fields(Parquet(place, file.path))
                name = sql_name(chosen_column(fields, column, file.path, "its columns of text"))
                return f"select replace({name}, chr(10), ' ') as text from read_parquet(files)"
            if compression_of(start) or kind == "table" or _has_long_line(data):
                return ""
            if kind == "json" and column is None:
                lines = enumerate(data.read(2**20).split(b"\n"), 1)
                columns = (json_column(line, file.path, number) for number, line in lines)
                column = next(filter(None, columns), None)
        ends = ", new_line = '\\r\\n'" if b"\r\n" in start else ""
        csv = f"read_csv(files, {_ONE_COLUMN}{ends})"
        if kind == "plain":
            return f"select replace(line, chr(9), ' ') as text from {csv}"
        path = sql_literal("/" + (column or "").replace("~", "~0").replace("/", "~1"))
        return (
            f"select case when trim(line, E' \\t\\r') = '' then null "
            f"when json_type(line) <> 'OBJECT' then error('no object') "
            f"when json_type(line, {path}) = 'NULL' then null "
            f"when json_type(line, {path}) = 'VARCHAR' "
            f"then replace(json_extract_string(line, {path}), chr(10), ' ') "
            f"else error('no text') end as text from {csv}"
        )

    def count(self, queries: Mapping[str, list[str]], others: Sequence[_File]) -> int | None:
        """Write word counts; return the number of rows, or None if DuckDB must not be used."""
        self.bad = BadTexts(self.task["bad_lines"])
        texts = [
            query.replace("(files", f"([{', '.join(map(sql_literal, places))}]", 1)
            for query, places in queries.items()
        ]
        if others:
            lines = sql_literal(self._as_lines(others))
            texts.append(f"select line as text from read_csv({lines}, {_ONE_COLUMN})")
        odd = _odd(self.task["pipeline"])
        path = Path(f"{self.stem}.parquet")
        self.is_summed = self.task["alone"]
        self._write(
            "select * from (select word, count(*) as count from (select "
            f"unnest(string_split(text, ' ')) as word from ({' union all '.join(texts)})) "
            # The second condition keeps DuckDB from testing the first on every running word.
            "group by word) where word <> '' or count < 0",
            path,
            odd,
        )
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
            ruled = f"from read_csv({sql_literal(self._by_rules(path, flag))}, {_TWO_COLUMNS})"
            self.written.append(f"{path.stem}-rules.parquet")
            self._write(ruled, path.with_name(self.written[1]), "false")
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

    def _as_lines(self, files: Iterable[_File]) -> Path:
        """Write the texts of files as plain lines, and return the path."""
        path, column = self.spooled[0], self.task["column"]
        with path.open("wb") as lines:
            lines.write(codecs.BOM_UTF8)  # of several, DuckDB takes away the first one
            for file, place in files:
                with reading(file.path, column, place) as (data, kind):
                    for texts in texts_in(data, file.path, kind, column, self.bad):
                        unified = unify_spaces(texts, file.path, self.bad)
                        # A batch, which ends between words, has no longer line than itself.
                        cut = len(unified) > _LONGEST_LINE
                        lines.write(unified.translate(_TO_LINES) if cut else unified)
                        lines.write(b"\n")
        return path

    def _by_rules(self, path: Path, odd: str) -> Path:
        """Write the words that the pipeline's rules make of odd pieces, with counts, as lines."""
        from morphgraph.corpus.pipelines import pipeline_named

        pipeline = self.task["pipeline"]
        rules = pipeline_named("plain" if pipeline == WHITESPACE else pipeline).words
        query = f"select word, count from read_parquet(?) where {odd}"
        rows = self.sql.cursor().execute(query, [str(path)])
        with self.spooled[1].open("w", encoding="utf-8-sig", newline="\n") as lines:
            while some := rows.fetchmany(_RULE_BATCH):
                found = rules(WordCounts([word for word, _ in some], [n for _, n in some]))
                lines.writelines(f"{word}\t{count}\n" for word, count in found.items())
        return self.spooled[1]


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
    marked = sql_literal(json.dumps({**about, "version": __version__}))
    form = f"format parquet, compression zstd, kv_metadata {{{MARK}: {marked}}}"
    form += ", use_tmp_file false"
    sql.execute(f"copy ({query}) to {sql_literal(path)} ({form})").fetchall()
