"""Find, open and decompress files of text, tell their kind, and open DuckDB, which reads most.

A file can be plain text, csv, tsv, JSON lines or Parquet, compressed by gzip, bzip2, xz or
Zstandard, on this machine or at an address that fsspec supports.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import UNPACKING, Limit
from morphgraph.core.packed import decompressed, gone, opened

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TextKind = Literal["plain", "table", "json", "parquet"]

PACKED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
"""The endings of compressed files."""

SUFFIXES = ("", ".txt", ".text", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
"""The endings of texts in a folder, compressed or not; ``""`` is no ending."""

MARK = "morphgraph"
"""The key in a Parquet file's metadata that marks it as word counts."""

PARQUET_START = b"PAR1"
PATTERN_SIGNS = "*?["
"""What makes a path a pattern, also for DuckDB."""
_VERSIONS = ("mtime", "etag", "ETag", "LastModified", "Last-Modified")
_ALLOWANCE = 10_000_000
"""A Parquet file of any size may decompress to this many bytes."""


@dataclass(frozen=True)
class TextFile:
    """A text file: its path or address, its size in bytes, and when it was modified."""

    path: str
    size: int
    version: str


def ending_of(name: str) -> str:
    """Return a file name's ending in lower case, without that of a compression format.

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


# ------------------------------------------------------------------------- finding


def find_texts(
    paths: Iterable[str | os.PathLike[str]], limit: Limit | None = None
) -> list[TextFile]:
    """Find the text files among paths, patterns, addresses and, by name, in folders.

    A file given by name is always accepted; in folders, files that end in one of the `SUFFIXES` and
    are not hidden. Duplicates are dropped. Raises `MorphGraphError` for a missing path, for a
    folder or pattern without texts, and for a folder with more than ``limit`` files of any kind.
    """
    found: dict[str, TextFile] = {}
    for given in paths:
        for file in _files_at(os.fspath(given), limit):
            is_address = "://" in file.path
            found.setdefault(file.path if is_address else str(Path(file.path).resolve()), file)
    return list(found.values())


def _files_at(given: str, limit: Limit | None) -> Iterator[TextFile]:
    system, path = _place(given)
    is_web = path.startswith(("http://", "https://"))
    try:
        # To check for a folder, a web server would have to send the file itself.
        if (path.endswith("/") or not is_web) and system.isdir(path):
            names = list(_texts_in(system, path, limit))
            wrong = "the folder has no text"
        elif any(sign in path for sign in PATTERN_SIGNS) and not system.exists(path):
            names = [name for name in system.glob(path) if not system.isdir(name)]
            wrong = "no file has such a name"
        else:
            names, wrong = [path], ""
        if not names:
            raise MorphGraphError(
                f"{given}: {wrong}. Texts are files that end in {', '.join(filter(None, SUFFIXES))}"
                f", or in {', '.join(PACKED)} after these, or have no ending."
            )
        for name in sorted(names):
            about = system.info(name)
            address = system.unstrip_protocol(name).removeprefix("file://")
            if about["size"] is None:
                raise MorphGraphError(f"{address}: its size is not known. Download it first.")
            version = next(filter(None, map(about.get, _VERSIONS)), "")
            yield TextFile(address, about["size"], str(version))
    except FileNotFoundError as error:
        raise MorphGraphError(f"{given}: no such file or folder. Check the path.") from error
    except OSError as error:
        problem = (error.strerror or str(error) or "it cannot be read").lower()
        where = error.filename or given
        raise MorphGraphError(f"{where}: {problem}. Check its permissions.") from error
    except Exception as error:
        if "://" not in given or isinstance(error, MorphGraphError):
            raise
        raise MorphGraphError(
            f"{given}: it cannot be read ({str(error)[:120]}). Check the address, and that you may "
            "read it."
        ) from error


def _place(given: str) -> tuple[Any, str]:
    """Return the file system of a path or address, and the path in it."""
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    # An existing path is never an address, even if it looks like one.
    if "://" not in given:
        return LocalFileSystem(), str(Path(given).absolute())
    try:
        system, path = url_to_fs(given)
    except (ImportError, ValueError) as error:
        raise MorphGraphError(
            f"{given}: this kind of address cannot be read here ({str(error)[:120]}). Install "
            'it with pip install "morphgraph[cloud]".'
        ) from error
    return system, path


def _texts_in(system: Any, folder: str, limit: Limit | None) -> Iterator[str]:
    seen = 0
    for parent, folders, names in system.walk(folder, on_error="raise"):
        seen += len(folders) + len(names)
        if limit is not None:
            limit.check(seen, folder, fix="Name folders with fewer files")
        for name in [name for name in folders if name.startswith(".")]:
            folders.remove(name) if isinstance(folders, list) else folders.pop(name)
        for name in names:
            whole = f"{parent}/{name}"
            known = ending_of(name) in SUFFIXES and not name.startswith(".")
            # Links to folders, broken links and pipes are not files.
            if known and system.isfile(whole):
                yield whole


# ------------------------------------------------------------------------- opening


@contextmanager
def local_copy(name: str, folder: Path | None = None) -> Iterator[Path]:
    """Yield a file's local path; a remote one is temporarily copied into a folder."""
    system, path = _place(name)
    if "://" not in name:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix=".copy-", dir=folder) as made:
        place = Path(made) / "file"
        try:
            system.get_file(path, str(place))
        except FileNotFoundError as error:
            raise gone(name) from error
        except Exception as error:
            problem, fix = f"it cannot be read ({str(error)[:120]})", "Run the same command again."
            raise FileFormatError(name, "", problem, fix) from error
        yield place


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


@contextmanager
def reading(
    name: str, column: str | None, place: Path | None = None
) -> Iterator[tuple[IO[bytes], TextKind]]:
    """Open a text, decompressed, and tell its kind; ``place``: where a local copy of it is."""
    with opened(place or Path(name), name) as file:
        kind = kind_of(file.read(4), name, column)
        file.seek(0)
        yield decompressed(file), kind


# ------------------------------------------------------------------------- DuckDB


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


@lru_cache(maxsize=1)
def _reader(process: int) -> DuckDBPyConnection:
    """Open a database that reads in the order of files, by one thread, so that the memory is known.

    ``process``: as none is shared after a fork.
    """
    import duckdb

    return duckdb.connect(config={"threads": 1, "autoload_known_extensions": False})


class Parquet:
    """A Parquet file: its columns with their types, and its metadata as ``marked`` by us.

    Errors call it by ``name``. A path is no pattern here, whatever signs it has.
    """

    def __init__(self, path: str | os.PathLike[str], name: str) -> None:
        self.name, self.size = name, Path(path).stat().st_size
        self.path = Path(path).absolute()
        if any(sign in str(path) for sign in PATTERN_SIGNS):
            self._folder = tempfile.TemporaryDirectory()
            self.path = Path(self._folder.name) / "linked.parquet"
            self.path.symlink_to(Path(path).absolute())
        self.sql = _reader(os.getpid()).cursor()
        self.rows_of = f"read_parquet({sql_literal(self.path)}, file_row_number = true)"
        about = self.query(f"describe select * exclude file_row_number from {self.rows_of}")
        self.columns = {column: str(kind) for column, kind, *_ in about}
        marked = self.query(
            f"select value from parquet_kv_metadata({sql_literal(self.path)}) "
            f"where key = '{MARK}'::blob"
        )
        self.marked: bytes | None = marked[0][0] if marked else None

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        found: list[tuple[Any, ...]] = self.streamed(text).fetchall()
        return found

    def streamed(self, text: str) -> Any:
        """Execute a query; `FileFormatError` if the file is damaged."""
        import duckdb

        try:
            return self.sql.execute(text)
        except duckdb.OutOfMemoryException as error:
            raise MemoryError from error
        except duckdb.Error as error:
            problem = f"this parquet file cannot be read ({str(error).splitlines()[0][:120]})"
            fix = "Copy or download the file again."
            raise FileFormatError(self.name, "", problem, fix) from error

    def check_unpacked(self, size: int) -> None:
        """Raise `FileFormatError` if so many bytes cannot come from a sound file of texts."""
        most = _ALLOWANCE + UNPACKING.value * self.size
        if size > most:
            found = f"it unpacks to more than {most:,} bytes from {self.size:,}"
            fix = f"Choose a file of other text, or set {UNPACKING.variable}."
            raise FileFormatError(self.name, "", found, fix, quotes=False)
