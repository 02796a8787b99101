"""MorphoLex: an Excel workbook whose sheets are named by the numbers of affixes and roots.

Sheets named like `0-1-1` (prefixes, roots, suffixes) are read, by their columns `Word` and
`MorphoLexSegm`, and `Nmorph` if there is one. In a segmentation, `<a<` is a prefix, `(litera)` a
root, `>ate>` a suffix, and braces hold a unit that can stand alone: `{<a<(litera)>ate>}`,
`{(sure)}{(foot)}>ness>`. Morphemes are canonical and are aligned to the word; inflections are not
segmented. An underscore only distinguishes morphemes of equal spelling.

An outermost unit in braces is one whole word; affixes outside join the unit that they stand at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from morphgraph.core.errors import FileFormatError
from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.free_and_bound import MorphemeKind, pieces, processes_of
from morphgraph.reference.source import (
    MAX_LINE_CHARACTERS,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    usable_rows,
)
from morphgraph.reference.workbook import MAX_COLUMNS, Book, open_book

_SHEET = re.compile(r"\d+-\d+-\d+", re.ASCII)
_TOKEN = re.compile(r"<([^<>(){}]+)<|\(([^<>(){}]+)\)|>([^<>(){}]+)>|([{}])")
_KINDS = (MorphemeKind.PREFIX, MorphemeKind.FREE, MorphemeKind.SUFFIX)
_BRACKETS = frozenset("<>(){}")
_COLUMNS = ("word", "morpholexsegm", "nmorph")


class Parsed(NamedTuple):
    """A segmentation: morphemes, their kinds, and the number of each one's whole word."""

    morphemes: list[str]
    kinds: list[MorphemeKind]
    pieces: list[int]


def parse_segmentation(text: str) -> Parsed | None:
    """Parse a segmentation, or return None where it is malformed.

    >>> parse_segmentation("{(sure)}{(foot)}>ness>").pieces
    [0, 1, 1]
    >>> parse_segmentation("{<a<(litera)>ate>}").morphemes
    ['a', 'litera', 'ate']
    """
    morphemes: list[str] = []
    kinds: list[MorphemeKind] = []
    outer: list[MorphemeKind] = []  # kinds of what stands outside all braces, a unit as one
    owners: list[int] = []  # for each morpheme the place in `outer`
    depth = at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            return None
        at = found.end()
        if found.group(4) == "{":
            if depth == 0:
                outer.append(MorphemeKind.FREE)
            depth += 1
        elif found.group(4):
            depth -= 1
            if depth < 0:
                return None
        else:
            kind = _KINDS[(found.lastindex or 1) - 1]
            morpheme = found.group(found.lastindex or 1).replace("_", "").strip()
            if not morpheme:
                return None
            if depth == 0:
                outer.append(kind)
            morphemes.append(morpheme)
            kinds.append(kind)
            owners.append(len(outer) - 1)
    if depth or not morphemes:
        return None
    numbers = pieces(outer)
    return Parsed(morphemes, kinds, [numbers[owner] for owner in owners])


def _text(value: Any) -> str | None:
    """A cell's text; `true` and `false`, which spreadsheets take for truth values, are words."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.strip() if isinstance(value, str) else None


def _row(number: int, cells: Sequence[Any]) -> SourceRow:
    """A row, from its cells of the three columns."""
    word, segmentation, morphs = _text(cells[0]), _text(cells[1]), cells[2]
    if word is None or not _BRACKETS.isdisjoint(word):
        raise Unusable("the cell of the word holds something else")
    check_word(word)
    if not segmentation:
        raise Unusable("no segmentation")
    parsed = parse_segmentation(segmentation) if len(segmentation) <= MAX_LINE_CHARACTERS else None
    if parsed is None:
        raise Unusable("segmentation not well-formed")
    morphemes, kinds, numbers = parsed
    check_morphemes(morphemes)
    if isinstance(morphs, (int, float)) and morphs != len(morphemes):
        raise Unusable("Nmorph is not the number of morphemes")
    formed = processes_of(kinds)
    return SourceRow(number, word, morphemes, numbers, kinds=kinds, processes=formed)


def _places(book: Book, title: str, name: str) -> list[int | None]:
    """Where the three columns are that the first row of a sheet names; the last may be missing."""
    _, header = next(book.rows(title, MAX_COLUMNS, last=1), (1, ()))
    names = [cell.strip().lower() if isinstance(cell, str) else "" for cell in header]
    places = [names.index(column) if column in names else None for column in _COLUMNS]
    if None in places[:2]:
        raise FileFormatError(
            name,
            f"sheet {title}, row 1",
            "no columns Word and MorphoLexSegm",
            "Name the columns as in MorphoLex, or rename the sheet if it is not from MorphoLex.",
        )
    return places


def read_morpholex(data: bytes, name: str, skips: Skips) -> list[Entry]:
    """Read a MorphoLex workbook (Sánchez-Gutiérrez et al. 2018).

    An entry's line is the row in its sheet; the reasons for skipped rows name the sheet. Raises
    `FileFormatError` for a file that is not a workbook, is damaged, encrypted or too large, has no
    sheet named N-N-N, or lacks the columns in one.
    """
    rows: list[SourceRow] = []
    with open_book(data, name) as book:
        titles = [title for title in book.titles if _SHEET.fullmatch(title)]
        if not titles:
            others = ", ".join(title[:40] for title in book.titles[:10]) or "none"
            raise FileFormatError(
                name,
                "",
                f"no sheet is named like 0-1-1 (prefixes-roots-suffixes); its sheets: {others}",
                "Choose a MorphoLex workbook, or save your list as tab-separated text.",
            )
        for title in titles:
            places = _places(book, title, name)
            width = 1 + max(place for place in places if place is not None)
            cells = (
                (number, [None if place is None else row[place] for place in places])
                for number, row in book.rows(title, width, first=2)
            )
            rows += usable_rows(cells, skips, _row, f" (sheet {title})")
    return entries_from(rows)
