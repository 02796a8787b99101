"""Texts of any size: which files there are, in which blocks they are read, and their bytes.

A file can be plain text, csv, tsv, JSON lines or Parquet, packed by gzip, bzip2, xz or Zstandard,
on this machine or at an address that fsspec knows.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, cast

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.limits import Limit
from morphgraph.corpus.counts import MARK
from morphgraph.corpus.parquet import open_parquet, parquet_batches
from morphgraph.corpus.text import (
    LONGEST_LINE,
    LONGEST_WORD,
    PACKED,
    chosen_column,
    ending_of,
    labelled_cells,
    places_of,
    table_texts,
    text_fields,
    without_label,
)

TextKind = Literal["plain", "table", "json", "parquet"]
BadLines = Literal["stop", "skip"]

SUFFIXES = ("", ".txt", ".text", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
"""In a folder, files with these endings are texts, also packed; ``""`` is no ending."""

BLOCK_BYTES = 2**26
"""About how many bytes of a file are one task; more where all texts together are very large."""

_MOST_BLOCKS = 8192
_CHUNK = 2**21
_STARTS = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_VERSIONS = ("mtime", "etag", "ETag", "LastModified", "Last-Modified")
_DOWNLOAD = "Where the server does not send parts of a file, download it first."
_SPACES = (b" ", b"\n", b"\t", b"\r", b"\v", b"\f")


@dataclass(frozen=True)
class TextFile:
    """A file with text: its path or address, its size in bytes, and when it was written."""

    path: str
    size: int
    version: str


@dataclass(frozen=True)
class TextBlock:
    """A part of a file: its bytes, or row groups, from ``start`` to before ``end``.

    A block of lines has those that begin in it. ``size``: about how many bytes of the file it is;
    ``column``: the field of JSON with the text.
    """

    file: TextFile
    kind: TextKind
    packing: str
    start: int
    end: int
    size: int
    column: str | None = None


@dataclass
class BadTexts:
    """What could not be read and was left out: how often, and the first ones."""

    policy: BadLines = "stop"
    count: int = 0
    first: list[str] = field(default_factory=list)

    def __call__(self, error: FileFormatError) -> None:
        """Raise the error, or note it."""
        if self.policy == "stop":
            raise error
        self.count += 1
        if len(self.first) < 5:
            self.first.append(": ".join(str(error).rsplit(f". {error.fix}", 1)[:1]))


# ------------------------------------------------------------------------- files


def find_texts(
    paths: Iterable[str | os.PathLike[str]], limit: Limit | None = None
) -> list[TextFile]:
    """The text files among some paths, patterns and addresses, and, by name, in folders.

    A file that is named itself is taken whatever it is called; in folders, one with one of the
    `SUFFIXES` that is not hidden. A file that comes up twice is taken once. `MorphGraphError` for
    what does not exist, for a folder or pattern without texts, and for a folder with more files of
    any kind than ``limit``.
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
        # A web server would have to send the file itself to say that it is no folder.
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
                raise MorphGraphError(f"{address}: its size is not known. {_DOWNLOAD}")
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
    """The file system of a path or address, and the path there."""
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    # A path is no address, whatever signs of one its name has.
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
            # A link to a folder, or to nothing, and a pipe are no files.
            if known and system.isfile(whole):
                yield whole


def block_bytes(size: int) -> int:
    """How many bytes a block has of texts of so many together."""
    return max(BLOCK_BYTES, size // _MOST_BLOCKS)


def text_blocks(files: Iterable[TextFile], column: str | None) -> list[TextBlock]:
    """The blocks of files, which depend on nothing but the files."""
    files = list(files)
    size = block_bytes(sum(file.size for file in files))
    return [block for file in files for block in _blocks_of(file, column, size)]


def _blocks_of(file: TextFile, column: str | None, size: int) -> Iterator[TextBlock]:
    if not file.size:
        return
    with _open(file.path) as opened, _unpacking(file.path):
        start = opened.read(6)
        packing = next((name for sign, name in _STARTS.items() if start.startswith(sign)), "")
        if start.startswith(b"PAR1"):
            opened.seek(0)
            table = open_parquet(opened, file.path)
            if MARK in (table.metadata.metadata or {}):
                problem = "this is a file of word counts, not of text"
                fix = "Leave it out; --counts takes it as it is."
                raise FileFormatError(file.path, "", problem, fix)
            yield from _row_groups(file, table.metadata, size)
            return
        kind = _kind_of(file.path, column)
        if kind == "json" and column is None:
            opened.seek(0)
            column = _json_column(_unpacked(opened, packing), file.path)
    if packing or kind == "table":
        yield TextBlock(file, kind, packing, 0, file.size, file.size, column)
        return
    for start_ in range(0, file.size, size):
        end = min(start_ + size, file.size)
        yield TextBlock(file, kind, "", start_, end, end - start_, column)


def _json_column(text: IO[bytes], name: str) -> str | None:
    """The field with the text, by the first object that has one; None if there is none."""
    for number, line in enumerate(text.read(_CHUNK).split(b"\n"), 1):
        with suppress(ValueError, RecursionError):
            row = json.loads(line)
            fields = [key for key, value in row.items() if isinstance(value, str)]
            if fields:
                return chosen_column(fields, None, name, f"line {number:,}")
    return None


def _row_groups(file: TextFile, metadata: Any, size: int) -> Iterator[TextBlock]:
    first = total = 0
    for group in range(metadata.num_row_groups):
        total += metadata.row_group(group).total_byte_size
        if total >= size or group == metadata.num_row_groups - 1:
            share = (group + 1 - first) * file.size // metadata.num_row_groups
            yield TextBlock(file, "parquet", "", first, group + 1, share)
            first, total = group + 1, 0


def _kind_of(path: str, column: str | None) -> TextKind:
    suffix = ending_of(path)
    if suffix in (".jsonl", ".ndjson", ".json"):
        return "json"
    return "table" if suffix in (".csv", ".tsv") or column is not None else "plain"


@contextmanager
def _open(path: str) -> Iterator[IO[bytes]]:
    system, name = _place(path)
    try:
        with system.open(name, "rb") as file:
            # Files at an address lack some of what files have.
            yield io.BufferedReader(file, 2**18) if "://" in path else file
    except FileNotFoundError as error:
        raise FileFormatError(path, "", "it is not there any more", "Check the path.") from error
    except Exception as error:
        if "://" not in path or isinstance(error, MorphGraphError):
            raise
        problem = f"it cannot be read ({str(error)[:120]})"
        raise FileFormatError(
            path, "", problem, f"Run the same command to resume. {_DOWNLOAD}"
        ) from error


def _unpacked(file: IO[bytes], packing: str) -> IO[bytes]:
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


@contextmanager
def _unpacking(name: str) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError) as error:
        raise _not_unpacked(name, error) from error
    except OSError as error:
        if error.strerror is None:
            raise _not_unpacked(name, error) from error
        fix = "Check the file and its disk."
        raise FileFormatError(name, "", error.strerror.lower(), fix) from error


def _not_unpacked(name: str, error: Exception) -> FileFormatError:
    problem = f"it is cut off or damaged ({str(error).lower()[:120]})"
    return FileFormatError(name, "", problem, "Copy or download the file again.")


# ------------------------------------------------------------------------- reading


def texts_in(block: TextBlock, column: str | None, bad: BadTexts) -> Iterator[bytes]:
    """The texts of a block in UTF-8, some megabytes at a time.

    No piece ends inside a word. What is bad goes to ``bad``.
    """
    name = block.file.path
    if block.kind == "table":
        with _open(name) as file, _unpacking(name):
            text = _unpacked(file, block.packing)
            for _, texts in table_texts(text, name, block.size, column, bad):
                yield "\n".join(texts).encode()
        return
    if block.kind == "plain":
        with _open(name) as file, _unpacking(name):
            place = _Place(block, bad)
            yield from map(place.checked, _lines(_unpacked(file, block.packing), block, place))
        return
    for found in labelled_texts(block, column, None, bad):
        yield b"\n".join(found.get("", ()))


def labelled_texts(
    block: TextBlock, column: str | None, by: str | None, bad: BadTexts
) -> Iterator[dict[str, list[bytes]]]:
    """The texts of a block by what their column or field ``by`` says, some megabytes at a time.

    Each line of plain text is a text, unless it is longer than these, and so is each cell of a
    table. Without ``by``, all are those of ``""``. Plain text has no columns: a `FileFormatError`.
    """
    name = block.file.path
    with _open(name) as file, _unpacking(name):
        if block.kind == "parquet":
            yield from _cells(file, block, column, by, bad)
            return
        text = _unpacked(file, block.packing)
        if block.kind == "table":
            yield from _in_portions(labelled_cells(text, name, column, by, bad))
            return
        place = _Place(block, bad)
        if block.kind == "json":
            yield from (_json_texts(place, by, lines) for lines in _lines(text, block, place))
            return
        if by is not None:
            problem = f"plain text has no column “{by[:40]}”"
            raise FileFormatError(name, "", problem, "Give a table, JSON lines or Parquet.")
        rest = b""
        for lines in _lines(text, block, place):
            *texts, rest = (rest + place.checked(lines)).replace(b"\r\n", b"\n").split(b"\n")
            if len(rest) > _CHUNK:
                texts, rest = [*texts, rest], b""
            yield {"": texts}
        yield {"": [rest]}


def _in_portions(cells: Iterator[tuple[str, str]]) -> Iterator[dict[str, list[bytes]]]:
    found: dict[str, list[bytes]] = {}
    size = 0
    for label, text in cells:
        data = text.encode()
        found.setdefault(label, []).append(data)
        size += len(data)
        if size > _CHUNK:
            yield found
            found, size = {}, 0
    yield found


class _Place:
    """Where a piece of lines begins, for errors."""

    def __init__(self, block: TextBlock, bad: BadTexts) -> None:
        self.block, self.bad = block, bad
        self.lines_before = 0

    def wrong(self, lines: int, problem: str, fix: str) -> None:
        """Report a line, by how many lines of the block come before it."""
        number = self._lines_in_front() + self.lines_before + lines + 1
        self.bad(FileFormatError(self.block.file.path, f"line {number:,}", problem, fix))

    def _lines_in_front(self) -> int:
        """Of the file, before the block; counted when somebody asks, as it is seldom needed."""
        if not self.block.start:
            return 0
        count = 0
        with _open(self.block.file.path) as file:
            left = self.block.start
            while left and (data := file.read(min(left, _CHUNK))):
                left -= len(data)
                count += data.count(b"\n")
            # The line that reaches into the block is of the block before.
            if data[-1:] != b"\n":
                count += 1
        return count

    def checked(self, piece: bytes) -> bytes:
        """The piece if it is UTF-8, else its good lines."""
        try:
            piece.decode()
            good = piece
        except UnicodeDecodeError:
            lines = []
            for number, line in enumerate(piece.split(b"\n")):
                try:
                    line.decode()
                    lines.append(line)
                except UnicodeDecodeError as error:
                    problem = f"byte 0x{line[error.start]:02X} is not valid UTF-8"
                    self.wrong(number, problem, "Save the file as UTF-8.")
            good = b"\n".join(lines)
        self.lines_before += piece.count(b"\n")
        return good


def _lines(text: IO[bytes], block: TextBlock, place: _Place) -> Iterator[bytes]:
    """The lines that begin in a block, some megabytes at a time.

    Plain text is cut between words where a line is longer; JSON is not.
    """
    most, what = LONGEST_WORD, "without white space"
    ends: tuple[bytes, ...] = _SPACES
    if block.kind == "json":
        most, what, ends = LONGEST_LINE, "in one line", (b"\n",)
    rest, is_dropped = b"", False
    for data in _bytes_of(text, block):
        end = data.rfind(b"\n") + 1 or max(map(data.rfind, ends)) + 1
        if not end:
            rest += b"" if is_dropped else data
        elif is_dropped:
            start = min(at for at in map(data.find, ends) if at >= 0)
            yield data[start:end]
            rest, is_dropped = data[end:], False
        else:
            yield rest + data[:end]
            rest = data[end:]
        if len(rest) > most:
            problem = f"there are more than {most:,} bytes {what}"
            place.wrong(0, problem, "Leave out what is not text.")
            rest, is_dropped = b"", True
    if rest:
        yield rest


def _bytes_of(text: IO[bytes], block: TextBlock) -> Iterator[bytes]:
    """The bytes of the lines that begin in a block."""
    data, is_first = b"\n", not block.start
    if block.start:
        # A line that begins right at the block's start is its own.
        text.seek(block.start - 1)
        while (data := text.readline(_CHUNK)) and not data.endswith(b"\n"):
            pass
    while block.packing or text.tell() < block.end:
        size = _CHUNK if block.packing else min(_CHUNK, block.end - text.tell())
        data = text.read(size)
        if not data:
            return
        yield data.removeprefix(codecs.BOM_UTF8) if is_first else data
        is_first = False
    # The last line may end behind the block.
    while data and not data.endswith(b"\n"):
        data = text.readline(_CHUNK)
        yield data


def _json_texts(place: _Place, by: str | None, piece: bytes) -> dict[str, list[bytes]]:
    """The texts in lines of JSON, by their field ``by``."""
    column = place.block.column or ""
    texts: dict[str, list[bytes]] = {}
    lines = piece.split(b"\n")
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError("it is no object")
            for wanted in (column, *([] if by is None else [by])):
                if wanted not in row:
                    raise ValueError(f"it has no field “{wanted[:40]}”")
            text = row[column]
            if text is not None:
                if not isinstance(text, str):
                    raise ValueError(f"its field “{column[:40]}” is no text")
                label = "" if by is None else row.get(by)
                if not isinstance(label, str) or (by is not None and not label.strip()):
                    raise ValueError(f"its field “{(by or '')[:40]}” is empty, or no text")
                texts.setdefault(label.strip(), []).append(text.encode())
        except (ValueError, RecursionError) as error:
            problem = f"this is not a JSON object with text ({str(error)[:80]})"
            place.wrong(number, problem, "Correct it, or leave it out: --bad-lines skip.")
    place.lines_before += len(lines) - 1
    return texts


def _cells(
    file: IO[bytes], block: TextBlock, column: str | None, by: str | None, bad: BadTexts
) -> Iterator[dict[str, list[bytes]]]:
    import pyarrow

    name = block.file.path
    table = open_parquet(file, name)
    fields = text_fields(table)
    place, label = places_of(fields, column, by, name, "its columns of text")
    chosen = [fields[place], *([] if label is None else [fields[label]])]
    groups = range(block.start, block.end)
    done = 0
    # Small batches keep long texts out of memory.
    for batch in parquet_batches(file, table, chosen, 256, name, groups):
        texts, *labels = (
            [text or b"" for text in batch[field].cast(pyarrow.large_binary()).to_pylist()]
            for field in chosen
        )
        yield _valid(texts, labels[0] if labels else None, by, done, name, bad)
        done += len(texts)


def _valid(
    texts: list[bytes],
    labels: list[bytes] | None,
    by: str | None,
    before: int,
    name: str,
    bad: BadTexts,
) -> dict[str, list[bytes]]:
    """The texts by their labels, if they are UTF-8, else the good ones."""
    if labels is None:
        try:
            b"\n".join(texts).decode()
            return {"": texts}
        except UnicodeDecodeError:
            pass
    found: dict[str, list[bytes]] = {}
    for row, text in enumerate(texts):
        place = f"row {before + row + 1:,}"
        try:
            text.decode()
            label = "" if labels is None else labels[row].decode().strip()
        except UnicodeDecodeError:
            problem = "its text is not valid UTF-8"
            bad(FileFormatError(name, place, problem, "Save the file again."))
            continue
        if labels is not None and not label:
            bad(without_label(name, place, by))
            continue
        found.setdefault(label, []).append(text)
    return found
