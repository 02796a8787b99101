"""The texts of a file as a query of DuckDB: lines of plain text, or what a column or field holds.

DuckDB passes over the rest of a file, without an error, after a line longer than its buffer or a
quote that is not closed, and over packed data that is cut off. So Python looks at a file first; at
plain text with such lines, or with line ends of several kinds, DuckDB reads a mended copy.
"""

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import IO, TYPE_CHECKING, Literal

from morphgraph.core.errors import FileFormatError
from morphgraph.core.packed import compression_of, decompressed, opened
from morphgraph.core.text import counted
from morphgraph.corpus.text_files import (
    PARQUET_START,
    Parquet,
    damaged_parquet,
    ending_of,
    kind_of,
    open_duckdb,
    packed_otherwise,
    sql_literal,
    sql_name,
    sql_path,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LONGEST_OBJECT = 2**24
"""The limit in bytes of a JSON object."""

LONGEST_WORD = 2**20
"""The limit in bytes of a word: longer ones are not text, and many would exhaust memory."""

WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006" + (
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""The characters that separate words."""

BadLines = Literal["stop", "skip"]
Progress = Callable[[float], None] | None

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_USUAL = ("text", "sentence", "content")
_CHUNK = 2**20
_MEMORY = 2**29
# No line without a chunk that has no end of line is longer than two of them.
_TABLE = (
    f"auto_detect = false, comment = '', max_line_size = {2 * _CHUNK}, buffer_size = {8 * _CHUNK}"
)
_DELIMITER = "\x1f"
"""What separates the columns of plain text, which has one: white space that mended text has not."""
_FILES = "\0"
"""In SQL, stands for the files of one form."""
_TO_SPACES = bytes.maketrans(b"\t\v\f\r\x1c\x1d\x1e\x1f", b" " * 8)
_TO_LINES = bytes.maketrans(b"\r\x1f", b"\n ")


@dataclass
class _Look:
    """What Python sees of a file: its start, and what DuckDB might misread."""

    packing: str
    start: bytes = b""
    returns: int = 0
    ends: int = 0
    quotes: int = 0
    is_in_lines: bool = True
    has_tab: bool = False
    has_delimiter: bool = False

    @cached_property
    def returns_end_lines(self) -> bool:
        """Whether lines end with a return and a new line, as far as the first one tells."""
        return self.start.partition(b"\n")[0].endswith(b"\r")

    @property
    def is_mended(self) -> bool:
        """Whether DuckDB gets a copy of plain text."""
        returns = self.ends if self.returns_end_lines else 0
        return not self.is_in_lines or self.has_delimiter or self.returns != returns


def _look_at(path: Path, name: str) -> _Look:
    with opened(path, name) as file:
        look = _Look(compression_of(file.read(6)))
        if look.packing in ("bz2", "xz"):
            raise packed_otherwise(name)
        for chunk in _chunks(file):
            look.start = look.start or chunk
            if look.start.startswith(PARQUET_START):
                break
            # To count what is not there takes ten times as long as to see that.
            if b"\r" in chunk:
                look.returns += chunk.count(b"\r")
            if look.returns_end_lines:
                look.ends += chunk.count(b"\n")
            if b'"' in chunk:
                look.quotes += chunk.count(b'"')
            look.is_in_lines &= len(chunk) < _CHUNK or b"\n" in chunk
            look.has_tab |= b"\t" in chunk
            look.has_delimiter |= _DELIMITER.encode() in chunk
    return look


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a file, unpacked, in pieces of the same size."""
    file.seek(0)
    yield from iter(partial(io.BufferedReader(decompressed(file)).read, _CHUNK), b"")  # type: ignore[type-var]


@dataclass
class Texts:
    """The texts of a file, whose errors call it by ``name``, as an SQL ``query``.

    Its rows have a ``text`` and a ``label``, from the column ``by``. NULL in either stands for a
    bad text. With ``whole``, texts are as they are; otherwise white space in them may have been
    exchanged, as words are all that matters. With ``lines``, a file of any name is plain text.
    ``folder`` is for a copy, if one has to be made.

    Raises `FileFormatError` if the file is missing, damaged, packed otherwise, has lines that are
    too long, or lacks a column.
    """

    path: Path
    name: str
    column: str | None = None
    by: str | None = None
    bad_lines: BadLines = "stop"
    whole: bool = False
    lines: bool = False
    folder: Path = field(kw_only=True)

    def __post_init__(self) -> None:
        look = _look_at(self.path, self.name)
        self.kind = "plain" if self.lines else kind_of(look.start, self.name, self.column)
        self.is_skipping = self.bad_lines == "skip"
        self.file = ""
        self.packing = {"gz": "gzip", "zst": "zstd"}.get(look.packing, "none")
        make = {
            "parquet": self._of_parquet,
            "table": self._of_table,
            "json": self._of_json,
            "plain": self._of_plain,
        }[self.kind]
        text, label, rows = make(look)
        self.cell = text
        # Pieces that only white space separates are fewer once it is all spaces.
        if not self.whole and (self.kind != "plain" or look.has_tab):
            text = f"replace({text}, {'chr(9)' if self.kind == 'plain' else 'chr(10)'}, ' ')"
        label = f"nullif(trim({label}, {sql_literal(WHITE)}), '')" if self.by else "''"
        self.form = f"select {text} as text, {label} as label from {rows}"

    @property
    def query(self) -> str:
        """The SQL query for the texts."""
        return query_of([self])

    def _error(self, place: str, problem: str, fix: str) -> FileFormatError:
        return FileFormatError(self.name, place, problem, fix)

    def _of_plain(self, look: _Look) -> tuple[str, str, str]:
        if self.by is not None:
            problem = f"plain text has no column “{self.by[:40]}”"
            raise self._error("", problem, "Give a table, JSON lines or Parquet.")
        path = self.path
        if look.is_mended:
            path, self.packing = self._mended(), "none"
        settings = f"{_TABLE}, header = false, quote = '', escape = '', delim = '{_DELIMITER}'"
        settings += ", columns = {'line': 'varchar'}"
        return "coalesce(line, '')", "", self._csv(path, settings, look)

    def _mended(self) -> Path:
        """Make a copy with new lines as the only ends of lines, in which long lines are cut."""
        with (
            opened(self.path, self.name) as file,
            NamedTemporaryFile(dir=self.folder, delete=False) as lines,
        ):
            for chunk in _chunks(file):
                mended = chunk.translate(_TO_LINES if self.whole else _TO_SPACES)
                if len(chunk) == _CHUNK and b"\n" not in mended:
                    at = mended.rfind(b" ")
                    if self.whole or at < 0:
                        raise too_long(self.name, "in one line" if self.whole else "")
                    mended = mended[:at] + b"\n" + mended[at + 1 :]
                lines.write(mended)
        return Path(lines.name)

    def _of_table(self, look: _Look) -> tuple[str, str, str]:
        fix = "Correct it; quotes inside a quoted text are doubled."
        if not look.is_in_lines:
            raise self._error("", f"a line has more than {_CHUNK:,} bytes", "Cut it into several.")
        if look.quotes % 2:
            raise self._error("", "this is not a table (a quote is not closed)", fix)
        columns = _header(look.start, self.name)
        text, label = self._chosen(columns, "line 1")
        named = ", ".join(f"'c{number}': 'varchar'" for number in range(len(columns)))
        settings = f"{_TABLE}, header = true, quote = '\"', escape = '\"', parallel = false"
        settings += f", delim = '{_separator(self.name)}', columns = {{{named}}}"
        rows = self._csv(self.path, settings, look)
        label_place = "" if label is None else f"c{columns.index(label)}"
        return f"coalesce(c{columns.index(text)}, '')", label_place, rows

    def _csv(self, path: Path, settings: str, look: _Look) -> str:
        if look.returns_end_lines and path == self.path:
            settings += ", new_line = '\\r\\n'"
        if self.is_skipping:
            settings += ", store_rejects = true, rejects_limit = 0"
        self.file = sql_path(path)
        return f"read_csv({_FILES}, {settings}, compression = '{self.packing}')"

    def _of_json(self, look: _Look) -> tuple[str, str, str]:
        if self.column is None:
            fields = map(_text_fields, look.start.removeprefix(codecs.BOM_UTF8).split(b"\n"))
            some: list[str] = next(filter(None, fields), [])
            self.column = chosen_column(some, None, self.name, "its first object")
        settings = f"maximum_object_size = {LONGEST_OBJECT}, compression = '{self.packing}'"
        settings += f", ignore_errors = {self.is_skipping}"
        rows = f"read_ndjson_objects({sql_path(self.path)}, {settings})"
        return _json_text(self.column), "" if self.by is None else _json_text(self.by), rows

    def _of_parquet(self, look: _Look) -> tuple[str, str, str]:
        table = Parquet(self.path, self.name)
        text, label = self._chosen(text_fields(table), "its columns of text", *table.columns)
        label_text = "" if label is None else f"{sql_name(label)}::varchar"
        return f"coalesce({sql_name(text)}, '')", label_text, f"read_parquet({sql_path(self.path)})"

    def check_unpacked(self) -> None:
        """Raise `FileFormatError` for a Parquet file that cannot be a sound one of texts."""
        if self.kind == "parquet":
            table = Parquet(self.path, self.name)
            size = f"select coalesce(sum(strlen({self.cell})), 0)::bigint from {table.rows_of}"
            table.check_unpacked(table.query(size)[0][0])

    def _chosen(self, columns: list[str], place: str, *others: str) -> tuple[str, str | None]:
        """Return the text column and, if asked for, that of labels, which may be another one."""
        label = None
        if self.by is not None:
            label = chosen_column([*columns, *others], self.by, self.name, place)
        texts = [each for each in columns if each != self.by]
        return chosen_column(texts, self.column, self.name, place), label

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of DuckDB in reading the file into a `FileFormatError` with the place."""
        import duckdb

        try:
            yield
        except duckdb.InvalidInputException as error:
            message = str(error)
            if self.kind == "parquet":
                raise damaged_parquet(self.name, message) from error
            place = ""
            if line := re.search(r"on Line: (\d+)", message):
                place = f"line {int(line[1]):,}"
            elif number := re.search(r"in line (\d+)", message):  # from 2, without empty lines
                place = f"object {int(number[1]) - 1:,}"
            raise self._error(place, *_problem(message)) from error

    def left_out(self, sql: "DuckDBPyConnection", bad: int) -> tuple[int, list[str]]:
        """Return how many texts were left out and where, once the query was carried out.

        ``bad``: the number of rows with NULL. `FileFormatError` if there are any and none may be.
        """
        places = []
        if bad:
            problem = f"“{(self.by or '')[:40]}” is empty or not text in {counted(bad, 'row')}"
            if self.kind == "json":
                problem = f"{counted(bad, 'line is not an object', 'lines are not objects')} with "
                problem += f"text in “{(self.column or '')[:40]}”"
                problem += f" and “{self.by[:40]}”" if self.by else ""
            if not self.is_skipping:
                raise self._error("", problem, "Correct it, or leave it out: --bad-lines skip.")
            places.append(f"{self.name}: {problem}")
        if self.is_skipping and self.kind in ("plain", "table"):
            rejected = sql.execute(
                "select line, min(error_message) from reject_errors group by line order by line"
            ).fetchall()
            sql.execute("drop table reject_errors; drop table reject_scans")
            bad += len(rejected)
            for line, message in rejected[:5]:
                places.append(f"{self.name}, line {line:,}: {_problem(message)[0]}")
        return bad, places


def query_of(texts: Iterable[Texts]) -> str:
    """Return the query for the texts of files: those of one form are read one after the other."""
    files: dict[str, list[str]] = {}
    for each in texts:
        files.setdefault(each.form, []).append(each.file)
    return " union all ".join(
        form.replace(_FILES, f"[{', '.join(listed)}]") for form, listed in files.items()
    )


def texts_in_order(
    path: str, column: str | None = None, by: str | None = None
) -> list[tuple[str, str]]:
    """Return the texts of a file with their labels, in its order; "" for what is no text.

    Without a ``column``, the texts are its lines, whatever it is called. Errors as of `Texts`.
    """
    with TemporaryDirectory() as folder, open_duckdb(_MEMORY, 1, Path(folder)) as sql:
        texts = Texts(
            Path(path),
            path,
            column,
            by,
            whole=True,
            lines=column is None,
            folder=Path(folder),
        )
        with texts.errors():
            query = f"select coalesce(text, ''), coalesce(label, '') from ({texts.query})"
            rows: list[tuple[str, str]] = sql.execute(query).fetchall()
    return rows


def too_long(name: str, where: str = "") -> FileFormatError:
    """Return the error for a word, or a whole text, that is too long."""
    problem = f"there are more than {LONGEST_WORD:,} bytes {where or 'without white space'}"
    return FileFormatError(name, "", problem, "Leave out what is not text.")


def _problem(message: str) -> tuple[str, str]:
    """Return what is wrong in a line, and what to do, from an error of DuckDB."""
    if "nicode" in message or "UTF-8" in message:
        return "it is not valid UTF-8", "Save the file as UTF-8."
    if found := re.search(r"(Maximum line size|Expected Number|Value with unter)[^\n]*", message):
        return f"this is not a table ({found[0]})", "Correct it, or leave it out: --bad-lines skip."
    if found := re.search(r"in line \d+: ([^.\n]*)", message):
        fix = "Correct it, or leave it out: --bad-lines skip."
        return f"this is not a JSON object ({found[1]})", fix
    if "maximum_object_size" in message:
        problem = f"an object has more than {LONGEST_OBJECT:,} bytes"
        return problem, "Cut its text into several."
    return "quotes or line ends do not fit", "Save the file again, with one kind of line end."


# ------------------------------------------------------------------------- columns


def _separator(name: str) -> str:
    return _SEPARATORS.get(ending_of(name), ",")


def _header(start: bytes, name: str) -> list[str]:
    text = io.StringIO(start.decode("utf-8-sig", "replace"), newline="")
    try:
        return next(csv.reader(text, delimiter=_separator(name)))
    except StopIteration:
        fix = "Choose a file with a header line."
        raise FileFormatError(name, "", "the file is empty", fix) from None


def text_fields(table: Parquet) -> list[str]:
    """Return the columns that hold texts; `FileFormatError` for a file of word counts."""
    if table.marked is not None:
        problem = "this is a file of word counts, not of text"
        fix = "Give it as word counts."
        raise FileFormatError(table.name, "", problem, fix)
    return [column for column, kind in table.columns.items() if kind == "VARCHAR"]


def chosen_column(columns: list[str], column: str | None, name: str, place: str) -> str:
    """Return the text column: the one asked for, the only one, or one with a usual name."""
    listed = ", ".join(f"“{text[:40]}”" for text in columns[:20]) or "none with text"
    if not columns:
        fix = "Choose a table with a column of text."
        raise FileFormatError(name, place, "it has no column of text", fix)
    if column is not None:
        if column in columns:
            return column
        problem = f"there is no column “{column[:40]}”"
        raise FileFormatError(name, place, problem, f"Its columns: {listed}.")
    usual = [text for text in columns if text.strip().lower() in _USUAL]
    likely = columns if len(columns) == 1 else usual
    if len(likely) != 1:
        fix = f"Name the one with the text: {listed}."
        raise FileFormatError(name, place, "it has several columns", fix)
    return likely[0]


def _text_fields(line: bytes) -> list[str]:
    """Return the fields of a JSON object that are text; none if the line is no object."""
    with suppress(ValueError, RecursionError):
        row = json.loads(line)
        if isinstance(row, dict):
            return [key for key, value in row.items() if isinstance(value, str)]
    return []


def _json_text(column: str) -> str:
    """Return the text of an object's field in SQL: empty for null, and NULL for all else."""
    path = sql_literal("/" + column.replace("~", "~0").replace("/", "~1"))
    return (
        f"case json_type(json, {path}) when 'VARCHAR' then json_extract_string(json, {path}) "
        "when 'NULL' then '' end"
    )
