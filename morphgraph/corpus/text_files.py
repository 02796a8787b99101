"""Find files of text and tell their kind; open DuckDB, which reads them.

A file can be plain text, csv, tsv, JSON lines or Parquet, as it is or packed by gzip or Zstandard.
"""

from __future__ import annotations

import errno
import glob
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import UNPACKING, Limit

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TextKind = Literal["plain", "table", "json", "parquet"]

PACKED = (".gz", ".zst", ".zstd")
"""The endings of packed files that are read."""

UNREAD = (".bz2", ".xz", ".zip", ".tar", ".tgz", ".7z", ".rar", ".lz4", ".br", ".lzma", ".z")
"""The endings of those that are not."""

SUFFIXES = ("", ".txt", ".text", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
"""The endings of texts in a folder, packed or not; ``""`` is no ending."""

MARK = "morphgraph"
"""The key in a Parquet file's metadata that marks it as word counts."""

PARQUET_START = b"PAR1"
_ALLOWANCE = 10_000_000
"""A Parquet file of any size may decompress to this many bytes."""


@dataclass(frozen=True)
class TextFile:
    """A text file: its path, and its size in bytes."""

    path: str
    size: int


def ending_of(name: str) -> str:
    """Return a file name's ending in lower case, without that of a packing that is read.

    >>> ending_of("a.b/Titles.CSV.gz"), ending_of("a.b/titles")
    ('.csv', '')
    """
    plain = name.lower()
    for ending in PACKED:
        plain = plain.removesuffix(ending)
    return Path(plain).suffix


def kind_of(start: bytes, name: str, column: str | None) -> TextKind:
    """Return a file's kind, from its first bytes, its name, and whether a column was asked for."""
    if start.startswith(PARQUET_START):
        return "parquet"
    suffix = ending_of(name)
    if suffix in (".jsonl", ".ndjson", ".json"):
        return "json"
    return "table" if suffix in (".csv", ".tsv") or column is not None else "plain"


def packed_otherwise(name: str) -> FileFormatError:
    """Return the error for a file of a packing that is not read."""
    problem = "files compressed in this way are not read"
    return FileFormatError(name, "", problem, "Unpack it first; gz and zst are read as they are.")


# ------------------------------------------------------------------------- finding


def find_texts(
    paths: Iterable[str | os.PathLike[str]], limit: Limit | None = None
) -> list[TextFile]:
    """Find the text files among paths, patterns and, by name, in folders.

    A file given by name is always accepted; in folders, files that end in one of the `SUFFIXES` and
    are not hidden. Duplicates are dropped. Raises `MorphGraphError` for a missing path, for a
    folder or pattern without texts, for a packed file that has to be unpacked first, and for a
    folder with more than ``limit`` files of any kind.
    """
    files: dict[Path, TextFile] = {}
    for given in paths:
        try:
            for path in _files_at(os.fspath(given), limit):
                if ending_of(path.name) in UNREAD:
                    raise packed_otherwise(str(path))
                files.setdefault(path.resolve(), TextFile(str(path), path.stat().st_size))
        except OSError as error:
            problem = (error.strerror or "it cannot be read").lower()
            where = error.filename or given
            raise MorphGraphError(f"{where}: {problem}. Check its permissions.") from error
    return list(files.values())


def _files_at(given: str, limit: Limit | None) -> list[Path]:
    place = Path(given).absolute()
    if place.is_dir():
        files, wrong = _texts_in(place, limit), "the folder has no text"
    elif place.exists():
        return [place]
    elif glob.has_magic(given):
        named = Path(place.anchor).glob(str(place.relative_to(place.anchor)))
        files = [path for path in named if path.is_file()]
        wrong = "no file matches this pattern"
    else:
        fix = "Download it first" if "://" in given else "Check the path"
        raise MorphGraphError(f"{given}: no such file or folder. {fix}.")
    if not files:
        raise MorphGraphError(
            f"{given}: {wrong}. Texts are files that end in {', '.join(filter(None, SUFFIXES))}"
            f", or in {', '.join(PACKED)} after these, or have no ending."
        )
    return sorted(files)


def _texts_in(folder: Path, limit: Limit | None) -> list[Path]:
    def stop(error: OSError) -> None:
        raise error

    texts, seen = list[Path](), 0
    for parent, folders, names in os.walk(folder, onerror=stop):
        seen += len(folders) + len(names)
        if limit is not None:
            limit.check(seen, str(folder), fix="Name folders with fewer files")
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(parent, name) for name in names if not name.startswith(".")):
            # Broken links and pipes are not files.
            if ending_of(path.name) in (*SUFFIXES, *UNREAD) and path.is_file():
                texts.append(path)
    return texts


@contextmanager
def on_disk(source: Path | bytes) -> Iterator[Path]:
    """Yield the path of a file, or of a temporary one with these bytes."""
    if isinstance(source, Path):
        yield source.absolute()
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "file"
        place.write_bytes(source)
        yield place


# ------------------------------------------------------------------------- DuckDB


@contextmanager
def open_duckdb(memory: int, threads: int, folder: Path) -> Iterator[DuckDBPyConnection]:
    """Open a database limited to about ``memory`` bytes, which spills into ``folder``.

    One thread keeps the order of rows. Disk errors are raised as `OSError`, lack of memory as
    `MorphGraphError`.
    """
    import duckdb

    settings: dict[str, Any] = {
        "threads": threads,
        "memory_limit": f"{memory}B",
        "temp_directory": str(folder / "spilled"),
        "preserve_insertion_order": threads == 1,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    sql = duckdb.connect(config=settings)
    try:
        sql.execute("set enable_progress_bar = false").fetchall()
        yield sql
    except duckdb.Error as error:
        number = re.search(r'"errno":"(\d+)"', str(error))
        if number is not None or "No space left" in str(error):
            code = errno.ENOSPC if number is None else int(number[1])
            raise OSError(code, os.strerror(code)) from None
        if isinstance(error, duckdb.OutOfMemoryException):
            raise MorphGraphError(
                f"{memory:,} bytes of memory are too few for these texts. Give more with --memory, "
                "or take fewer --workers."
            ) from None
        problem = str(error).splitlines()[0][:200]
        raise MorphGraphError(f"{folder}: the counting failed ({problem}).") from None
    except RuntimeError as error:
        if "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from None  # DuckDB replaces what a signal handler raised
    finally:
        sql.close()


def sql_literal(text: str | os.PathLike[str]) -> str:
    """Return a text as an SQL string literal."""
    return "'" + os.fspath(text).replace("'", "''") + "'"


def sql_name(column: str) -> str:
    """Return a column's name in SQL."""
    return '"' + column.replace('"', '""') + '"'


def sql_path(path: str | os.PathLike[str]) -> str:
    """Return the path of one file as an SQL string literal, whatever signs of a pattern it has."""
    return sql_literal(glob.escape(str(Path(path).absolute())))


@lru_cache(maxsize=1)
def _reader(process: int) -> DuckDBPyConnection:
    """Open a database that reads in the order of files, by one thread, so that the memory is known.

    ``process``: as none is shared after a fork.
    """
    import duckdb

    return duckdb.connect(config={"threads": 1, "autoload_known_extensions": False})


class Parquet:
    """A Parquet file: its columns with their types, and its metadata as ``marked`` by us.

    Errors call it by ``name``.
    """

    def __init__(self, path: str | os.PathLike[str], name: str) -> None:
        self.name, self.size = name, Path(path).stat().st_size
        self.sql = _reader(os.getpid()).cursor()
        self.rows_of = f"read_parquet({sql_path(path)}, file_row_number = true)"
        about = self.query(f"describe select * exclude file_row_number from {self.rows_of}")
        self.columns = {column: str(kind) for column, kind, *_ in about}
        marked = self.query(
            f"select value from parquet_kv_metadata({sql_path(path)}) where key = '{MARK}'::blob"
        )
        self.marked: bytes | None = marked[0][0] if marked else None

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        rows: list[tuple[Any, ...]] = self.streamed(text).fetchall()
        return rows

    def streamed(self, text: str) -> Any:
        """Execute a query; `FileFormatError` if the file is damaged."""
        import duckdb

        try:
            return self.sql.execute(text)
        except duckdb.OutOfMemoryException as error:
            raise MemoryError from error
        except duckdb.Error as error:
            raise damaged_parquet(self.name, str(error)) from error

    def check_unpacked(self, size: int) -> None:
        """Raise `FileFormatError` if no sound file of texts could unpack to ``size`` bytes."""
        most = _ALLOWANCE + UNPACKING.value * self.size
        if size > most:
            problem = f"it unpacks to more than {most:,} bytes from {self.size:,}"
            fix = f"Choose a file of other text, or set {UNPACKING.variable}."
            raise FileFormatError(self.name, "", problem, fix, quotes=False)


def damaged_parquet(name: str, message: str) -> FileFormatError:
    """Return the error for a Parquet file that DuckDB cannot read."""
    # The path in it is of a copy.
    message_line = re.sub(r""" (['\"])/.*?\1""", "", message.splitlines()[0])
    problem = f"this parquet file cannot be read ({message_line[:120]})"
    return FileFormatError(name, "", problem, "Copy or download the file again.")
