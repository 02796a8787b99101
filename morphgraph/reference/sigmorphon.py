"""SIGMORPHON 2022, word level: the word, its canonical morphemes, and three flags.

`enthrallments⇥en @@thrall @@ment @@s⇥110`. The flags (inflection, derivation, compound) are the
processes that formed the word; they may be absent. @@ marks every morpheme but the first, be it a
suffix, the second half of a compound or a stem after a prefix: free and bound look the same, so
`whole_words` and `kinds` are None. `underlying` are the segments of the shared task's own script.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import compress

from morphgraph.reference.align import HYPHENS, SourceRow, entries_from, has_hyphen
from morphgraph.reference.entry import Entry
from morphgraph.reference.source import (
    MAX_MORPHEMES,
    MAX_WORD_CHARACTERS,
    NumberedLine,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    usable_rows,
)

PROCESSES = ("inflection", "derivation", "compound")

_FLAGS = re.compile("[01]{3}")


def looks_like_sigmorphon2022(line: str) -> bool:
    """Return whether a line has two or three columns, and @@ marks in the second."""
    columns = line.split("\t")
    return 2 <= len(columns) <= 3 and " @@" in columns[1]


def split_morphemes(word: str, cell: str) -> list[str]:
    """Return the morphemes of a cell, without marks.

    Some carry a hyphen as a mark (`cornemuse @@-er @@erais`); it is dropped unless the word itself
    has one.
    """
    morphemes = [part.removeprefix("@@") for part in cell.split()]
    if has_hyphen(cell) and not has_hyphen(word):
        morphemes = [morpheme.strip(HYPHENS) for morpheme in morphemes]
    return morphemes


def official_segments(cell: str) -> tuple[str, ...]:
    """Return a cell's segments exactly as the shared task's script reads them.

    >>> official_segments("hot dog @@s"), official_segments("@@li  @@-ed"), official_segments("")
    (('hot', 'dog', 's'), ('@@li', '', '-ed'), ('',))
    """
    return tuple(cell.replace(" @@", "|").replace(" ", "|").split("|"))


def _row(number: int, line: str, unaligned: list[Entry]) -> SourceRow:
    word, *cells = line.split("\t")
    if not cells:
        raise Unusable("fewer than two columns")
    word, segments = word.strip(), official_segments(cells[0])
    morphemes = split_morphemes(word, cells[0])
    try:
        check_word(word)
        check_morphemes(morphemes)
    except Unusable:
        if len(word) <= MAX_WORD_CHARACTERS and len(segments) <= MAX_MORPHEMES:
            unaligned.append(Entry(word, (), line=number, underlying=segments))
        raise
    formed = _processes(cells[1].strip()) if len(cells) > 1 else None
    return SourceRow(number, word, morphemes, processes=formed, underlying=segments)


@lru_cache(maxsize=16)
def _processes(flags: str) -> tuple[str, ...] | None:
    """Return the processes flagged 1; None if the text is not flags."""
    return tuple(compress(PROCESSES, map(int, flags))) if _FLAGS.fullmatch(flags) else None


def read_sigmorphon2022(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read SIGMORPHON 2022 words (Batsuren et al. 2022) and align morphemes to words.

    Words with a space or without a segmentation are skipped, but kept as unaligned entries for
    scores against the source's own morphemes.
    """
    unaligned: list[Entry] = []
    rows = usable_rows(lines, skips, partial(_row, unaligned=unaligned))
    return [*entries_from(rows), *unaligned]
