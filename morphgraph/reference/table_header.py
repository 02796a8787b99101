"""Tables whose header identifies their format: the separator, and the place of each column."""

from __future__ import annotations

import csv
from collections.abc import Sequence


def table_cells(line: str, separator: str) -> list[str]:
    """The cells of a line, without quotes and the spaces around them."""
    try:
        cells = next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        cells = line.split(separator)
    return [cell.strip() for cell in cells]


def table_header(line: str, columns: Sequence[str]) -> tuple[str, dict[str, int]] | None:
    """The separator and the place of each column, or None if one of them is not named.

    The columns, given in lower case, may stand in any order and among others.

    >>> table_header(',Full_word,"rest"', ("full_word", "rest"))
    (',', {'full_word': 1, 'rest': 2})
    """
    separator = max(",;\t", key=line.count)
    names = [cell.lower() for cell in table_cells(line, separator)]
    if not all(column in names for column in columns):
        return None
    return separator, {column: names.index(column) for column in columns}
