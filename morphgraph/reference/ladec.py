"""LADEC: a table of English compounds of two words, one parse per line.

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
from morphgraph.reference.source import NamedColumns, NumberedLine, Skips, Unusable, check_word

LADEC = NamedColumns("stim", "c1", "c2", "nparses", "correctParse")


def _row(number: int, cells: list[str]) -> SourceRow:
    word, first, second, parses, correct = cells
    check_word(word)
    if correct.lower() != "yes":
        raise Unusable("not the correct parse (correctParse is not yes)")
    if not is_number(parses) or float(parses) != 1:
        raise Unusable("several parses (nparses is not 1)")
    if not first or not second:
        raise Unusable("fewer than two constituents")
    kinds = (MorphemeKind.FREE, MorphemeKind.FREE)
    return SourceRow(number, word, (first, second), (0, 1), kinds=kinds, processes=("compound",))


def read_ladec(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read LADEC (Gagné, Spalding & Schmidtke 2019): compounds with one parse, the correct one."""
    return entries_from(LADEC.rows(lines, skips, _row))
