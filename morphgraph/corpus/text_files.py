"""Find, open and decompress files of text, and tell their kind.

A file can be plain text, csv, tsv, JSON lines or Parquet, compressed by gzip, bzip2, xz or
Zstandard, on this machine or at an address that fsspec supports.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import Limit
from morphgraph.corpus.parquet import starts_as_parquet

TextKind = Literal["plain", "table", "json", "parquet"]

PACKED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
"""The endings of compressed files."""

SUFFIXES = ("", ".txt", ".text", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
"""The endings of texts in a folder, compressed or not; ``""`` is no ending."""

_STARTS = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_VERSIONS = ("mtime", "etag", "ETag", "LastModified", "Last-Modified")


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
    if starts_as_parquet(start):
        return "parquet"
    suffix = ending_of(name)
    if suffix in (".jsonl", ".ndjson", ".json"):
        return "json"
    return "table" if suffix in (".csv", ".tsv") or column is not None else "plain"


def compression_of(start: bytes) -> str:
    """Return a file's compression format, from its first bytes; ``""`` if there is none."""
    return next((name for sign, name in _STARTS.items() if start.startswith(sign)), "")


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
    try:
        # To check for a folder, a web server would have to send the file itself.
        if (path.endswith("/") or not _is_web(path)) and system.isdir(path):
            names = list(_texts_in(system, path, limit))
            wrong = "the folder has no text"
        elif any(sign in path for sign in "*?[") and not system.exists(path):
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
        raise MorphGraphError(
            f"{error.filename or given}: {problem}. Check its permissions."
        ) from error
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


def _is_web(path: str) -> bool:
    return path.startswith(("http://", "https://"))


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
            raise _gone(name) from error
        except Exception as error:
            problem, fix = f"it cannot be read ({str(error)[:120]})", "Run the same command again."
            raise FileFormatError(name, "", problem, fix) from error
        yield place


@contextmanager
def opened(place: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a file as it is stored; errors call it by ``name``."""
    try:
        with place.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise _gone(name) from error
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError) as error:
        raise _not_unpacked(name, error) from error
    except OSError as error:
        if error.strerror is None:
            raise _not_unpacked(name, error) from error
        fix = "Check the file and its disk."
        raise FileFormatError(name, "", error.strerror.lower(), fix) from error


def decompressed(file: IO[bytes]) -> IO[bytes]:
    """Return the content of a file, which is at its start, decompressed if need be."""
    packing = compression_of(file.read(6))
    file.seek(0)
    if packing == "gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file))
    if packing == "bz2":
        return bz2.BZ2File(file)
    if packing == "xz":
        return lzma.LZMAFile(file)
    if packing == "zst":
        import pyarrow

        return io.BufferedReader(pyarrow.CompressedInputStream(file, "zstd"))
    return file


def _gone(name: str) -> FileFormatError:
    return FileFormatError(name, "", "it is not there any more", "Check the path.")


def _not_unpacked(name: str, error: Exception) -> FileFormatError:
    problem = f"it is cut off or damaged ({str(error).lower()[:120]})"
    return FileFormatError(name, "", problem, "Copy or download the file again.")
