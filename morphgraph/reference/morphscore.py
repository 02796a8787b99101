"""MorphScore's lists: a word and the two parts that its boundary of interest divides.

A csv file whose header names at least `full_word`, `pt1` and `rest`: `1,cherished,cherish,ed`. One
boundary of a word is listed, whatever others it has, so an entry is a partial segmentation into two
morphs. Which part is free is not said, so `whole_words` and `kinds` are None.
"""

from __future__ import annotations

from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.source import NumberedLine, Skips, table_cells, table_header, word_problem

MORPHSCORE_COLUMNS = ("full_word", "pt1", "rest")


def is_morphscore_header(line: str) -> bool:
    """Whether a line names the columns of MorphScore, in any order and among others.

    >>> is_morphscore_header(",full_word,pt1,rest")
    True
    """
    return table_header(line, MORPHSCORE_COLUMNS) is not None


def read_morphscore(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read MorphScore's lists (Arnett & Bergen 2025); words without a boundary are skipped."""
    found = table_header(lines[0][1], MORPHSCORE_COLUMNS)
    if found is None:
        for number, _ in lines:
            skips.add("no header with full_word, pt1 and rest", number)
        return []
    separator, columns = found
    rows = []
    for number, line in lines[1:]:
        cells = table_cells(line, separator)
        if len(cells) <= max(columns.values()):
            skips.add("fewer columns than in the header", number)
            continue
        word, first, rest = (cells[columns[column]] for column in MORPHSCORE_COLUMNS)
        problem = word_problem(word)
        if problem:
            skips.add(problem, number)
        elif not first or not rest:
            skips.add("no boundary (pt1 or rest is empty)", number)
        elif first + rest != word:
            skips.add("parts that do not concatenate to the word", number)
        else:
            rows.append(SourceRow(number, word, (first, rest), is_explicit=True))
    return entries_from(rows)
