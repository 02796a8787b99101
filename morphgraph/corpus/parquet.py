"""Open untrusted Parquet files: the decompressed size is checked before decompression.

A column is stored in pages, each behind a header with the page's decompressed length; the library
allocates that much memory and checks the size only afterwards. So the headers are read here first,
and rows are then read in batches small enough for even the longest texts: a page may refer to one
text in many rows, or to a prefix shared with the text before. Only pages that store texts verbatim
need no more memory than their length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import FOOTER_BYTES, PAGE_BYTES, PARQUET_PAGES, UNPACKING

_MAGIC = b"PAR1"
_ALLOWANCE = 10_000_000
"""A file of any size may decompress to this many bytes."""
_BATCH_BYTES = 200_000_000
"""The limit in bytes of a batch of rows, each assumed to be as long as a page."""
_LONGEST_HEADER = 2**20
_STRUCT = 12
_MAX_DEPTH = 8
_ENCODINGS = {0: (5, 2), 3: (8, 4)}
"""The position of a data page's encoding in its header, for either version."""
_PLAIN = 0
_TIMES = "Copy or download the file again."


def starts_as_parquet(data: bytes) -> bool:
    """Return whether a file's first bytes are those of Parquet."""
    return data[:4] == _MAGIC


def open_parquet(file: IO[bytes], name: str) -> Any:
    """Open a file as pyarrow's ``ParquetFile``; `FileFormatError` if it is damaged."""
    import pyarrow
    from pyarrow import parquet

    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    end = file.read(8)
    if len(end) == 8 and end[4:] == _MAGIC:
        FOOTER_BYTES.check(struct.unpack("<I", end[:4])[0], name)
    file.seek(0)
    try:
        # Without a buffer, a whole column of a row group is read at once.
        return parquet.ParquetFile(file, buffer_size=2**20)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise damaged_parquet(name, error) from error


def damaged_parquet(name: str, error: object) -> FileFormatError:
    """Return the error for a file that cannot be read."""
    problem = f"this parquet file cannot be read ({(str(error).splitlines() or [''])[0][:120]})"
    return FileFormatError(name, "", problem, _TIMES)


def parquet_batches(
    file: IO[bytes],
    table: Any,
    columns: Sequence[str],
    rows: int,
    name: str,
    groups: Sequence[int] | None = None,
) -> Iterator[Any]:
    """Yield some columns in batches of at most ``rows``; `FileFormatError` if they are damaged.

    ``groups``: the row groups to read, by default all.
    """
    import pyarrow

    size = file.seek(0, 2)
    groups = range(table.metadata.num_row_groups) if groups is None else groups
    at_once = _rows_at_once(file, table.metadata, columns, groups, rows, name)
    most, unpacked = _ALLOWANCE + UNPACKING.value * size, 0
    try:
        for number, some in at_once:
            for batch in table.iter_batches(some, row_groups=[number], columns=columns):
                batch = _without_dictionaries(batch)
                unpacked += int(batch.nbytes) + int(batch.num_rows)
                if unpacked > most:
                    found = f"it unpacks to more than {most:,} bytes from {size:,}"
                    fix = f"Choose a file of other text, or set {UNPACKING.variable}."
                    raise FileFormatError(name, "", found, fix, quotes=False)
                yield batch
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise damaged_parquet(name, error) from error


def _without_dictionaries(batch: Any) -> Any:
    """Return the rows with plain texts instead of dictionary indices."""
    from pyarrow import RecordBatch, types

    columns = [
        column.dictionary_decode() if types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return RecordBatch.from_arrays(columns, names=batch.schema.names)


def _rows_at_once(
    file: IO[bytes],
    metadata: Any,
    columns: Sequence[str],
    groups: Sequence[int],
    rows: int,
    name: str,
) -> list[tuple[int, int]]:
    """Return row groups and their batch sizes, checking that no page exceeds the limit."""
    found, pages = [], 0
    for number in groups:
        group = metadata.row_group(number)
        longest, all_pages, as_they_stand = 1, 0, True
        for place in range(group.num_columns):
            column = group.column(place)
            if column.path_in_schema not in columns:
                continue
            starts = (column.dictionary_page_offset, column.data_page_offset)
            at = min(start for start in starts if start)
            end = at + column.total_compressed_size
            while at < end:
                page = _page(file, at, name)
                PAGE_BYTES.check(page.unpacked, name, f"row group {number + 1:,}")
                longest, all_pages = max(longest, page.unpacked), all_pages + page.unpacked
                as_they_stand &= page.plain or column.physical_type in ("INT32", "INT64")
                pages, at = pages + 1, at + page.length
                PARQUET_PAGES.check(pages, name)
        if not as_they_stand or all_pages > _BATCH_BYTES:
            found.append((number, min(rows, max(1, _BATCH_BYTES // longest))))
        else:
            found.append((number, rows))
    return found


class _Page(NamedTuple):
    """A page's length decompressed and in the file, and whether it stores texts verbatim."""

    unpacked: int
    length: int
    plain: bool


def _page(file: IO[bytes], at: int, name: str) -> _Page:
    file.seek(at)
    header = _Compact(file.read(256))
    try:
        try:
            fields = header.struct()
        except IndexError:  # statistics may be long
            file.seek(at)
            header = _Compact(file.read(_LONGEST_HEADER))
            fields = header.struct()
    except (IndexError, ValueError) as error:
        raise damaged_parquet(name, "the header of a page is damaged") from error
    unpacked, packed = fields.get((2,), -1), fields.get((3,), -1)
    if unpacked < 0 or packed < 0:
        raise damaged_parquet(name, "the header of a page is damaged")
    encoding = fields.get(_ENCODINGS.get(fields.get((1,), -1), ()), -1)
    return _Page(unpacked, header.at + packed, encoding == _PLAIN)


class _Compact:
    """Reads the whole numbers of a struct in Thrift's compact protocol, and skips all else."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        number = 0
        for place in range(10):
            byte = self._byte()
            number |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return number
        raise ValueError("a number is too long")

    def _number(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)

    def struct(self, depth: int = 0) -> dict[tuple[int, ...], int]:
        """Return a struct's numbers by field id: (5, 2) is field 2 of the struct in field 5."""
        fields: dict[tuple[int, ...], int] = {}
        field = 0
        while sign := self._byte():
            field = field + (sign >> 4) if sign >> 4 else self._number()
            if sign & 15 in (4, 5, 6):
                fields[field,] = self._number()
            elif sign & 15 == _STRUCT and depth < _MAX_DEPTH:
                fields |= {(field, *ids): n for ids, n in self.struct(depth + 1).items()}
            else:
                self._skip(sign & 15)
        return fields

    def _skip(self, kind: int) -> None:
        """Skip a value that is no whole number; booleans are encoded in the field type."""
        if kind == 3:
            self._byte()
        elif kind == 7:
            self.at += 8
        elif kind == 8:
            length = self._varint()
            self.at += length
        elif kind not in (1, 2):
            raise ValueError("no page has such a field")
        if self.at > len(self.data):
            raise IndexError
