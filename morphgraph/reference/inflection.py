"""Inflections with a segmentation: MorphyNet's and UniMorph's four columns.

`désengager⇥désengageraient⇥V|COND;3;PL⇥désengager|eraient` (MorphyNet: the stem is the lemma, so
the morphemes are aligned), `eat⇥eating⇥V|V.PTCP;PRS⇥eat|ing` (UniMorph: the same columns). In both
`-` means that there is no segmentation; such lines are skipped.

Neither marks which segment is the stem and which are affixes, nor splits a compound stem. To call
the word one whole word would be a guess, and a whole-word score on it would blame a tokeniser that
finds the two halves of a compound. So `whole_words` and `kinds` are None.
"""

from __future__ import annotations

import re

from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.source import MAX_MORPHEMES, NumberedLine, Skips, word_problem

_FEATURES = re.compile(r"[A-Z][A-Za-z0-9.+/{}()*_\-]*(?:[|;,][A-Za-z0-9.+/{}()*_\-]+)*")


def looks_like_inflection(line: str) -> bool:
    """Whether a line has four columns: lemma, form, features, and segments divided by |."""
    columns = [column.strip() for column in line.split("\t")]
    if len(columns) != 4 or " " in columns[3] or not _FEATURES.fullmatch(columns[2]):
        return False
    return "|" in columns[3] or columns[3] in ("-", columns[1])


def is_canonical(line: str) -> bool:
    """Whether the segments are morphemes that do not concatenate to the form, as in MorphyNet."""
    columns = [column.strip() for column in line.split("\t")]
    segments = columns[3]
    return segments != "-" and segments.replace("|", "") != columns[1]


def read_inflection(lines: list[NumberedLine], skips: Skips, without: str) -> list[Entry]:
    """Read four-column inflections; `without` is the reason given for lines with `-`."""
    rows = []
    for number, line in lines:
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) < 4:
            skips.add("fewer than four columns", number)
            continue
        word, segments = columns[1], columns[3]
        morphemes = [segment for segment in segments.split("|") if segment]
        problem = word_problem(word)
        if problem:
            skips.add(problem, number)
        elif segments == "-":
            skips.add(without, number)
        elif not morphemes:
            skips.add("no morphs", number)
        elif len(morphemes) > MAX_MORPHEMES:
            skips.add(f"more than {MAX_MORPHEMES} morphemes", number)
        else:
            rows.append(SourceRow(number, word, morphemes, processes=("inflection",)))
    return entries_from(rows)


def read_morphynet_inflection(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read MorphyNet inflections (Batsuren et al. 2021); stems are canonical and are aligned."""
    return read_inflection(lines, skips, "no segmentation (-)")


def read_unimorph(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read UniMorph segmentations; irregular forms have none and are skipped."""
    return read_inflection(lines, skips, "irregular form without segmentation (-)")
