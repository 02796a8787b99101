"""Words and counts from the columns of a Parquet file."""

from __future__ import annotations

import json
from typing import IO, Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import COUNTED_CHARACTERS, COUNTED_WORDS
from morphgraph.corpus.parquet import damaged_parquet, open_parquet, parquet_batches
from morphgraph.corpus.word_array import (
    BATCH_SIZE,
    CountedArray,
    WordArray,
    concatenate_counts,
    counted_array,
)

MARK = b"morphgraph"
"""The key in a Parquet file's metadata that marks it as word counts."""


def parquet_columns(
    file: IO[bytes], name: str, largest_count: int
) -> tuple[CountedArray, str | None]:
    """Return the words and counts of a file, and the pipeline that made the words, if any.

    Words may occur more than once; those with a count of 0 are left out. Raises `FileFormatError`,
    with the row, if the file is no table of words and counts.
    """
    import pyarrow
    import pyarrow.compute

    parts = [counted_array({})]
    characters, row = 0, 1
    table = open_parquet(file, name)
    _check_columns(table.schema_arrow, name)
    COUNTED_WORDS.check(table.metadata.num_rows, name)
    for batch in parquet_batches(file, table, ["word", "count"], BATCH_SIZE, name):
        try:
            batch.validate(full=True)  # such as text that is not UTF-8
            _check_rows(batch, row, name, largest_count)
            words = WordArray(batch["word"].cast(pyarrow.large_string()))
            numbers = batch["count"].cast(pyarrow.int64()).to_numpy()
        except pyarrow.ArrowException as error:
            raise damaged_parquet(name, error) from error
        characters += int(words.lengths().sum())
        COUNTED_CHARACTERS.check(characters, name, f"row {row:,}")
        row += len(words)
        parts.append((words.where(numbers > 0), numbers[numbers > 0]))
    return concatenate_counts(parts), _pipeline(table.metadata.metadata or {})


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


def _check_rows(batch: Any, first: int, name: str, largest_count: int) -> None:
    import pyarrow.compute as compute

    words, counts = batch["word"], batch["count"]
    wrong = compute.binary_length(words).fill_null(0).to_numpy() == 0
    limits = compute.min_max(counts).as_py()
    in_range = not len(counts) or (
        not counts.null_count and limits["min"] >= 0 and limits["max"] <= largest_count
    )
    if in_range and not wrong.any():
        return
    pairs = zip(words.to_pylist(), counts.to_pylist(), strict=True)
    for row, (word, count) in enumerate(pairs, first):
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
