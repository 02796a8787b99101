"""The texts to count: which files there are, and their bytes in blocks that end between words."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import Limit
from morphgraph.corpus.text import chunks, is_parquet, open_text, separator_of

SUFFIXES = ("", ".txt", ".text", ".csv", ".tsv", ".parquet")
"""In a folder, files with these endings, or .gz behind them, are texts; ``""`` is no ending."""

LONGEST_WORD = 2**20
"""Longer words, in bytes, are refused: they are no text, and many of them would fill the memory."""

MARK = b"morphgraph"
"""The key in a parquet file's metadata that marks it as word counts."""

_GZIP = b"\x1f\x8b"
_SPACES = (b" ", b"\n", b"\t", b"\r", b"\v", b"\f")


def find_texts(paths: Iterable[str | os.PathLike[str]], limit: Limit | None = None) -> list[Path]:
    """The text files among some paths and, sorted by name, in folders and all that is in these.

    A file that is named itself is taken whatever it is called; in folders, one with one of the
    `SUFFIXES` that is not hidden. A file that comes up twice is taken once. Raises
    `MorphGraphError` for a path that does not exist, for a folder without texts, and for one with
    more files of any kind than ``limit``.
    """
    found: dict[Path, Path] = {}
    for given in paths:
        path = Path(given)
        if path.is_dir():
            inside = sorted(_texts_in(path, limit))
            if not inside:
                raise MorphGraphError(
                    f"{path}: the folder has no text. Texts are files that end in .txt, .csv, .tsv "
                    "or .parquet, or in .gz after these, or have no ending."
                )
        elif path.exists():
            inside = [path]
        else:
            raise MorphGraphError(f"{path}: no such file or folder. Check the path.")
        for file in inside:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _texts_in(folder: Path, limit: Limit | None) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        problem = (error.strerror or "it cannot be read").lower()
        raise MorphGraphError(f"{error.filename}: {problem}. Check its permissions.") from error

    seen = 0
    for parent, folders, names in os.walk(folder, onerror=refuse):
        seen += len(folders) + len(names)
        if limit is not None:
            limit.check(seen, str(folder), fix="Name folders with fewer files")
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            known = Path(name.lower().removesuffix(".gz")).suffix in SUFFIXES
            if known and not name.startswith(".") and Path(parent, name).is_file():
                yield Path(parent, name)


def blocks(path: Path, column: str | None, size: int) -> Iterator[tuple[int, bytes]]:
    """A file's text in blocks of about ``size`` bytes, and how many bytes of the file are read.

    No block ends inside a word. Plain text is not checked to be UTF-8 (`check_utf8` does that).
    Raises `FileFormatError` where the file cannot be read as what it is, or is a file of counts.
    """
    name = str(path)
    file, _, total = open_text(path, None, None)
    if not total:
        file.close()
        return
    with file, _unpacking(name), _unpacked(file) as text:
        if is_parquet(text):
            _refuse_counts(text, name)
        elif separator_of(name) is None and column is None:
            yield from _plain_blocks(file, text, name, size)
            return
        for share, texts in chunks(text, name, total, column):
            yield int(share * total), "\n".join(texts).encode()


def check_utf8(path: Path) -> None:
    """Raise `FileFormatError`, with the line, where a plain text is not UTF-8."""
    name = str(path)
    line, rest = 1, b""
    with path.open("rb") as file, _unpacking(name), _unpacked(file) as text:
        while True:
            block = text.read(2**20)
            data = rest + block
            try:
                _, used = codecs.utf_8_decode(data, "strict", not block)
            except UnicodeDecodeError as error:
                line += data.count(b"\n", 0, error.start)
                raise FileFormatError(
                    name,
                    f"line {line:,}",
                    f"byte 0x{data[error.start]:02X} is not valid UTF-8",
                    "Save the file as UTF-8.",
                ) from error
            if not block:
                return
            line += data.count(b"\n", 0, used)
            rest = data[used:]


def _plain_blocks(
    file: IO[bytes], text: IO[bytes], name: str, size: int
) -> Iterator[tuple[int, bytes]]:
    rest = b""
    lines = 1
    first = True
    while block := text.read(size):
        if first:
            block, first = block.removeprefix(codecs.BOM_UTF8), False
        end = max(map(block.rfind, _SPACES)) + 1
        if end:
            yield file.tell(), rest + block[:end]
            lines += block.count(b"\n", 0, end)
            rest = block[end:]
        else:
            rest += block
        if len(rest) > LONGEST_WORD:
            raise too_long(name, f"line {lines:,}")
    yield file.tell(), rest


def too_long(name: str, place: str) -> FileFormatError:
    """The error of a file with a word above `LONGEST_WORD`."""
    return FileFormatError(
        name,
        place,
        f"there are more than {LONGEST_WORD:,} bytes without white space",
        "Leave out what is not text.",
    )


@contextmanager
def _unpacked(file: IO[bytes]) -> Iterator[Any]:
    start = file.read(2)
    file.seek(0)
    if start == _GZIP:
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield unpacked
    else:
        yield file


@contextmanager
def _unpacking(name: str) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        problem = f"it cannot be unpacked ({str(error).lower()[:120]})"
        raise FileFormatError(name, "", problem, "Copy or download the file again.") from error
    except OSError as error:
        problem = (error.strerror or str(error) or "it cannot be read").lower()
        raise FileFormatError(name, "", problem, "Check the file and its disk.") from error


def _refuse_counts(file: IO[bytes], name: str) -> None:
    import pyarrow
    from pyarrow import parquet

    try:
        metadata = parquet.read_metadata(file).metadata or {}
    except (pyarrow.ArrowException, OSError, ValueError):
        metadata = {}  # Reading its texts says what is wrong.
    file.seek(0)
    if MARK in metadata:
        problem = "this is a file of word counts, not of text"
        raise FileFormatError(name, "", problem, "Leave it out; --counts takes it as it is.")
