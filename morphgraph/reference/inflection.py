"""Segmented inflections: the four columns of MorphyNet and UniMorph.

`désengager⇥désengageraient⇥V|COND;3;PL⇥désengager|eraient` (MorphyNet: the stem is the lemma, so
the morphemes are aligned), `eat⇥eating⇥V|V.PTCP;PRS⇥eat|ing` (UniMorph: the same columns). In both
`-` means that there is no segmentation; such lines are skipped.

Neither marks which segment is the stem and which are affixes, nor splits a compound stem. To call
the word one whole word would be a guess, and a whole-word score on it would blame a tokeniser that
finds the two halves of a compound. So `whole_words` and `kinds` are None.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    tab_cells,
    usable_rows,
)

_FEATURES = re.compile(r"[A-Z][A-Za-z0-9.+/{}()*_\-]*(?:[|;,][A-Za-z0-9.+/{}()*_\-]+)*")


def looks_like_inflection(line: str) -> bool:
    """Return whether a line has lemma, form, features, and segments divided by |."""
    cells = tab_cells(line)
    if len(cells) != 4 or " " in cells[3] or not _FEATURES.fullmatch(cells[2]):
        return False
    return "|" in cells[3] or cells[3] in ("-", cells[1])


def is_canonical(line: str) -> bool:
    """Return whether the segments are morphemes that do not concatenate to the form."""
    _, form, _, segments = tab_cells(line)
    return segments != "-" and segments.replace("|", "") != form


def _reader(without: str) -> Callable[[list[NumberedLine], Skips], list[Entry]]:
    """Return a reader of four-column inflections; `without`: why lines with `-` are skipped."""

    def row(number: int, line: str) -> SourceRow:
        cells = tab_cells(line)
        if len(cells) < 4:
            raise Unusable("fewer than four columns")
        word, segments = check_word(cells[1]), cells[3]
        if segments == "-":
            raise Unusable(without)
        morphemes = [segment for segment in segments.split("|") if segment]
        check_morphemes(morphemes)
        return SourceRow(number, word, morphemes, processes=("inflection",))

    return lambda lines, skips: entries_from(usable_rows(lines, skips, row))


read_morphynet_inflection = _reader("no segmentation (-)")
"""Read MorphyNet inflections (Batsuren et al. 2021); stems are canonical and are aligned."""

read_unimorph = _reader("irregular form without segmentation (-)")
"""Read UniMorph segmentations; irregular forms have none and are skipped."""
