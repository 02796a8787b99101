"""Words and counts from the columns of a parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import IO, Any

from morphgraph.core.errors import FileFormatError

MOST_COUNTED_WORDS = 100_000_000
MOST_CHARACTERS = 2**31
"""More than this is more than can be trained on."""

_ROWS_AT_ONCE = 2048
_KEY = b"morphgraph"


def parquet_columns(
    file: IO[bytes], name: str, largest_count: int
) -> tuple[list[str], list[int], str | None]:
    """The words and counts of a file, and the pipeline that has made the words, if any.

    Words occur once, in the order of the file; counts of one word are summed, those of 0 left out.
    Raises `FileFormatError`, with the row, for what is not a table of words and counts.
    """
    import pyarrow
    from pyarrow import parquet

    words: list[str] = []
    numbers: list[int] = []
    characters = 0
    try:
        # Opening moves to the file's end, whatever was read before.
        table = parquet.ParquetFile(file, buffer_size=2**20)
        _check_columns(table.schema_arrow, name)
        if table.metadata.num_rows > MOST_COUNTED_WORDS:
            raise _wrong(name, "", f"it has more than {MOST_COUNTED_WORDS:,} rows")
        batches = table.iter_batches(_ROWS_AT_ONCE, columns=["word", "count"])
        for row, some, counts in _rows(batches):
            _check_rows(some, counts, row, name, largest_count)
            characters += sum(map(len, some))
            if characters > MOST_CHARACTERS:
                raise _wrong(name, f"row {row:,}", f"more than {MOST_CHARACTERS:,} characters")
            words += some
            numbers += counts
        pipeline = _pipeline(table.metadata.metadata or {})
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        problem = f"this parquet file cannot be read ({(str(error).splitlines() or [''])[0][:120]})"
        raise FileFormatError(name, "", problem, "Copy or download the file again.") from error
    words, numbers = _summed(words, numbers)
    if not words:
        raise FileFormatError(name, "", "the file has no words", "Count texts with words.")
    return words, numbers, pipeline


def _rows(batches: Iterator[Any]) -> Iterator[tuple[int, list[Any], list[Any]]]:
    row = 1
    for batch in batches:
        if batch.num_rows:
            yield row, batch.column("word").to_pylist(), batch.column("count").to_pylist()
        row += int(batch.num_rows)


def _check_columns(schema: Any, name: str) -> None:
    from pyarrow import types

    for column in ("word", "count"):
        places = schema.get_all_field_indices(column)
        if len(places) != 1:
            problem = f"it has {len(places) or 'no'} columns called “{column}”"
            raise _wrong(name, "", problem.replace("no columns", "no column"))
        kind = schema.field(places[0]).type
        if types.is_dictionary(kind):
            kind = kind.value_type
        strings = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        if not (strings if column == "word" else types.is_integer(kind)):
            wanted = "strings" if column == "word" else "whole numbers"
            raise _wrong(name, "", f"the column “{column}” has no {wanted} but {str(kind)[:40]}")


def _check_rows(
    words: list[Any], counts: list[Any], first: int, name: str, largest_count: int
) -> None:
    if all(words) and None not in counts and min(counts) >= 0 and max(counts) <= largest_count:
        return
    for row, (word, count) in enumerate(zip(words, counts, strict=True), first):
        problem = ""
        if not word:
            problem = "the word is " + ("missing" if word is None else "empty")
        elif count is None:
            problem = "the count is missing"
        elif count < 0:
            problem = f"the count {count} is negative"
        elif count > largest_count:
            problem = "the count is larger than 10¹⁵"
        if problem:
            raise _wrong(name, f"row {row:,}", problem)


def _summed(words: list[str], numbers: list[int]) -> tuple[list[str], list[int]]:
    if 0 not in numbers and all(one < other for one, other in pairwise(words)):
        return words, numbers
    total: dict[str, int] = {}
    for word, number in zip(words, numbers, strict=True):
        if number:
            total[word] = total.get(word, 0) + number
    return list(total), list(total.values())


def _pipeline(metadata: dict[bytes, bytes]) -> str | None:
    try:
        about = json.loads(metadata.get(_KEY, b"{}"))
    except (ValueError, RecursionError):
        return None
    found = about.get("pipeline") if isinstance(about, dict) else None
    return found if isinstance(found, str) else None


def _wrong(name: str, place: str, problem: str) -> FileFormatError:
    fix = "Give a column “word” of strings and a column “count” of whole numbers from 0 on."
    return FileFormatError(name, place, problem, fix)
