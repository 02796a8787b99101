"""Opening a parquet file without trusting it: what it unpacks to is known before it is unpacked.

A column is stored in pages, each behind a header that says how long the page is once it is
unpacked; the library takes that much memory, and checks the size afterwards. So the headers are
read here first, and rows are then read so few at a time that even the longest texts fit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import IO, Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import FOOTER_BYTES, PAGE_BYTES, PARQUET_PAGES, UNPACKING

_MAGIC = b"PAR1"
_ALWAYS = 10_000_000
"""So many bytes a file of any size may unpack to."""
_AT_ONCE = 200_000_000
"""Bytes that the rows which are read together may take, where each is as long as a page."""
_LONGEST_HEADER = 2**20
_TIMES = "Copy or download the file again."


def starts_as_parquet(data: bytes) -> bool:
    """Whether a file's first bytes are those of parquet."""
    return data[:4] == _MAGIC


def open_parquet(file: IO[bytes], name: str) -> Any:
    """The file as pyarrow's ``ParquetFile``; `FileFormatError` for a damaged one."""
    import pyarrow
    from pyarrow import parquet

    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    end = file.read(8)
    if len(end) == 8 and end[4:] == _MAGIC:
        FOOTER_BYTES.check(struct.unpack("<I", end[:4])[0], name)
    file.seek(0)
    try:
        # A buffer: without one, a whole column of a row group is read at once.
        return parquet.ParquetFile(file, buffer_size=2**20)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise broken_parquet(name, error) from error


def broken_parquet(name: str, error: object) -> FileFormatError:
    """The error of a file that cannot be read."""
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
    """The rows of some columns, at most ``rows`` at once; `FileFormatError` as they are read.

    ``groups``: of these row groups; of all if it is not given.
    """
    import pyarrow

    size = file.seek(0, 2)
    groups = range(table.metadata.num_row_groups) if groups is None else groups
    longest = max(1, _longest_page(file, table.metadata, columns, groups, name))
    most, unpacked = _ALWAYS + UNPACKING.value * size, 0
    try:
        at_once = min(rows, max(1, _AT_ONCE // longest))
        for batch in table.iter_batches(at_once, row_groups=list(groups), columns=columns):
            batch = _without_dictionaries(batch)
            unpacked += int(batch.nbytes) + int(batch.num_rows)
            if unpacked > most:
                found = f"it unpacks to more than {most:,} bytes from {size:,}"
                fix = f"Choose a file of other text, or set {UNPACKING.variable}."
                raise FileFormatError(name, "", found, fix, quotes=False)
            yield batch
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise broken_parquet(name, error) from error


def _without_dictionaries(batch: Any) -> Any:
    """The same rows with their texts, not with the numbers of texts in a list of all of them."""
    from pyarrow import RecordBatch, types

    columns = [
        column.dictionary_decode() if types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return RecordBatch.from_arrays(columns, names=batch.schema.names)


def _longest_page(
    file: IO[bytes], metadata: Any, columns: Sequence[str], groups: Sequence[int], name: str
) -> int:
    """The bytes of the longest page of some columns, unpacked; none is longer than the limit."""
    longest = pages = 0
    for number in groups:
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            if column.path_in_schema not in columns:
                continue
            starts = (column.dictionary_page_offset, column.data_page_offset)
            at = min(start for start in starts if start)
            end = at + column.total_compressed_size
            while at < end:
                unpacked, length = _page(file, at, name)
                PAGE_BYTES.check(unpacked, name, f"row group {number + 1:,}")
                longest, pages, at = max(longest, unpacked), pages + 1, at + length
                PARQUET_PAGES.check(pages, name)
    return longest


def _page(file: IO[bytes], at: int, name: str) -> tuple[int, int]:
    """How long a page is once it is unpacked, and with its header in the file."""
    file.seek(at)
    header = _Compact(file.read(256))
    try:
        try:
            fields = header.struct()
        except IndexError:  # it holds the least and the greatest value, which may be long
            file.seek(at)
            header = _Compact(file.read(_LONGEST_HEADER))
            fields = header.struct()
    except (IndexError, ValueError) as error:
        raise broken_parquet(name, "the header of a page is damaged") from error
    unpacked, packed = fields.get(2, -1), fields.get(3, -1)
    if unpacked < 0 or packed < 0:
        raise broken_parquet(name, "the header of a page is damaged")
    return unpacked, header.at + packed


class _Compact:
    """Reads a struct of Thrift's compact protocol: its whole numbers, passing over all else."""

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

    def struct(self, depth: int = 0) -> dict[int, int]:
        """The numbers among the fields of a struct, by the fields' ids."""
        fields, field = {}, 0
        while sign := self._byte():
            field = field + (sign >> 4) if sign >> 4 else self._number()
            if sign & 15 in (4, 5, 6):
                fields[field] = self._number()
            else:
                self._pass(sign & 15, depth + 1)
        return fields

    def _pass(self, kind: int, depth: int) -> None:
        """Pass over a value that is no whole number; true and false stand in the field's sign."""
        if depth > 8:
            raise ValueError("it is nested too deeply")
        if kind == 3:
            self._byte()
        elif kind == 7:
            self.at += 8
        elif kind == 8:
            length = self._varint()
            self.at += length
        elif kind == 12:
            self.struct(depth)
        elif kind not in (1, 2):
            raise ValueError("no page has such a field")
        if self.at > len(self.data):
            raise IndexError
