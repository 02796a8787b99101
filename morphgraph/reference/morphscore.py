"""MorphScore's lists: a word split in two at the boundary of interest.

A csv file whose header names at least `full_word`, `pt1` and `rest`: `1,cherished,cherish,ed`. One
boundary of a word is listed even if there are more, so an entry is a partial segmentation into two
morphs. Which part is free is not said, so `whole_words` and `kinds` are None.
"""

from __future__ import annotations

from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.source import NamedColumns, NumberedLine, Skips, Unusable, check_word

MORPHSCORE_LIST = NamedColumns("full_word", "pt1", "rest")


def _row(number: int, cells: list[str]) -> SourceRow:
    word, first, rest = cells
    check_word(word)
    if not first or not rest:
        raise Unusable("no boundary (pt1 or rest is empty)")
    if first + rest != word:
        raise Unusable("parts that do not concatenate to the word")
    return SourceRow(number, word, (first, rest), is_explicit=True)


def read_morphscore(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read MorphScore's lists (Arnett & Bergen 2025); words without a boundary are skipped."""
    return entries_from(MORPHSCORE_LIST.rows(lines, skips, _row))
