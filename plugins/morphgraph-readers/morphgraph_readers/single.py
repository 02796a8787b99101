"""Data of single articles: DagoBERT's derivatives and the compounds of LADEC."""

from __future__ import annotations

from collections.abc import Sequence

from morphgraph.reference.align import SourceRow
from morphgraph.reference.lines import FREE, PREFIX, SUFFIX
from morphgraph.reference.readers import Reader
from morphgraph.reference.source import Unusable, check_word, is_number

_BAR = "|||"


def looks_like_dagobert(line: str) -> bool:
    """Return whether a line has six columns, the third a part of the second."""
    cells = line.split(_BAR)
    return len(cells) == 6 and cells[2] in cells[1]


def dagobert(number: int, line: str) -> SourceRow:
    """Return a derivative of DagoBERT's data (Hofmann et al. 2020), of which each sentence is one.

    Before its base is a prefix, behind it a suffix; one that changes its base cannot be used.

    >>> dagobert(1, "AskReddit|||uncomfortableness|||comfortable|||A .|||My ___ .|||B .").morphemes
    ['un', 'comfortable', 'ness']
    """
    _, word, base, *_ = (cell.strip() for cell in f"{line}{_BAR * 2}".split(_BAR))
    before, found, behind = check_word(word).partition(base or word)
    if not found or not (before or behind):
        raise Unusable("its base is no part of it, or all of it")
    parts = [
        (part, kind) for part, kind in ((before, PREFIX), (base, FREE), (behind, SUFFIX)) if part
    ]
    morphs, kinds = zip(*parts, strict=True)
    whole = (0,) * len(morphs)
    formed = ("derivation",)
    return SourceRow(number, word, [*morphs], whole, kinds=kinds, processes=formed, linked=(base,))


def ladec(number: int, cells: Sequence[str]) -> SourceRow:
    """Return a compound of LADEC (Gagné, Spalding & Schmidtke 2019).

    Only those with one parse, which is the correct one, can be used. Both constituents are words.
    """
    word, first, second, parses, correct = cells
    check_word(word)
    if correct.lower() != "yes":
        raise Unusable("not the correct parse (correctParse is not yes)")
    if not is_number(parses) or float(parses) != 1:
        raise Unusable("several parses (nparses is not 1)")
    if not first or not second:
        raise Unusable("fewer than two constituents")
    formed = ("compound",)
    return SourceRow(number, word, (first, second), (0, 1), kinds=(FREE, FREE), processes=formed)


DAGOBERT = Reader("DagoBERT derivatives", dagobert, looks_like_dagobert)
LADEC = Reader("LADEC compounds", ladec, columns=("stim", "c1", "c2", "nparses", "correctParse"))
