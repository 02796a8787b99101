"""LADEC: English compounds of two words, as a table with one parse a line.

A csv file whose header names at least `stim`, `c1`, `c2`, `nparses` and `correctParse`:
`"aircraft","air","craft",1,"yes"`. A compound that can be divided in several ways has a line for
each. Only those with one parse, which is the correct one, are kept.

Both constituents are words, so the whole words of the compound are its two constituents.
"""

from __future__ import annotations

from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.free_and_bound import MorphemeKind
from morphgraph.reference.plain import is_number
from morphgraph.reference.source import NumberedLine, Skips, table_cells, table_header, word_problem

LADEC_COLUMNS = ("stim", "c1", "c2", "nparses", "correctparse")


def is_ladec_header(line: str) -> bool:
    """Whether a line names the columns of LADEC, in any order and among others.

    >>> is_ladec_header('id,"c1","c2","stim",nparses,correctParse')
    True
    """
    return table_header(line, LADEC_COLUMNS) is not None


def read_ladec(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read LADEC (Gagné, Spalding & Schmidtke 2019): compounds with one parse, the correct one."""
    found = table_header(lines[0][1], LADEC_COLUMNS)
    if found is None:
        for number, _ in lines:
            skips.add("no header with stim, c1, c2, nparses and correctParse", number)
        return []
    separator, columns = found
    rows = []
    for number, line in lines[1:]:
        cells = table_cells(line, separator)
        if len(cells) <= max(columns.values()):
            skips.add("fewer columns than in the header", number)
            continue
        word, first, second, parses, correct = (cells[columns[column]] for column in LADEC_COLUMNS)
        problem = word_problem(word)
        if problem:
            skips.add(problem, number)
        elif correct.lower() != "yes":
            skips.add("not the correct parse (correctParse is not yes)", number)
        elif not is_number(parses) or float(parses) != 1:
            skips.add("several parses (nparses is not 1)", number)
        elif not first or not second:
            skips.add("fewer than two constituents", number)
        else:
            rows.append(
                SourceRow(
                    number,
                    word,
                    (first, second),
                    (0, 1),
                    kinds=(MorphemeKind.FREE, MorphemeKind.FREE),
                    processes=("compound",),
                )
            )
    return entries_from(rows)
