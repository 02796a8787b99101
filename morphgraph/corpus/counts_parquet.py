"""Words and counts from the columns of a parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import IO, Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import COUNTED_CHARACTERS, COUNTED_WORDS
from morphgraph.corpus.parquet import broken_parquet, open_parquet, parquet_batches

_ROWS_AT_ONCE = 2048
MARK = b"morphgraph"
"""The key in a Parquet file's metadata that marks it as word counts."""


def parquet_columns(
    file: IO[bytes], name: str, largest_count: int
) -> tuple[list[str], list[int], str | None]:
    """The words and counts of a file, and the pipeline that has made the words, if any.

    Words occur once, in the order of the file; counts of one word are summed, those of 0 left out.
    Raises `FileFormatError`, with the row, for what is not a table of words and counts.
    """
    words: list[str] = []
    numbers: list[int] = []
    characters = 0
    table = open_parquet(file, name)
    _check_columns(table.schema_arrow, name)
    COUNTED_WORDS.check(table.metadata.num_rows, name)
    batches = parquet_batches(file, table, ["word", "count"], _ROWS_AT_ONCE, name)
    for row, some, counts in _rows(batches, name):
        _check_rows(some, counts, row, name, largest_count)
        characters += sum(map(len, some))
        COUNTED_CHARACTERS.check(characters, name, f"row {row:,}")
        words += some
        numbers += counts
    pipeline = _pipeline(table.metadata.metadata or {})
    words, numbers = _summed(words, numbers)
    return words, numbers, pipeline


def _rows(batches: Iterator[Any], name: str) -> Iterator[tuple[int, list[Any], list[Any]]]:
    row = 1
    for batch in batches:
        try:
            words, counts = (batch.column(key).to_pylist() for key in ("word", "count"))
        except (ValueError, OverflowError) as error:  # such as text that is not UTF-8
            raise broken_parquet(name, error) from error
        if words:
            yield row, words, counts
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
        about = json.loads(metadata.get(MARK, b"{}"))
    except (ValueError, RecursionError):
        return None
    found = about.get("pipeline") if isinstance(about, dict) else None
    return found if isinstance(found, str) else None


def _wrong(name: str, place: str, problem: str) -> FileFormatError:
    fix = "Give a column “word” of strings and a column “count” of whole numbers from 0 on."
    return FileFormatError(name, place, problem, fix)
