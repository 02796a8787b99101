"""SIGMORPHON 2022, word level: the word, its canonical morphemes, and three flags.

`enthrallments⇥en @@thrall @@ment @@s⇥110`. The flags (inflection, derivation, compound) are the
processes that formed the word; they may be absent. @@ marks every morpheme but the first, be it a
suffix, the second half of a compound or a stem after a prefix: free and bound look the same, so
`whole_words` and `kinds` are None.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType

from morphgraph.reference.align import HYPHENS, SourceRow, entries_from, has_hyphen
from morphgraph.reference.entry import Entry
from morphgraph.reference.source import MAX_MORPHEMES, NumberedLine, Skips, word_problem

PROCESSES = ("inflection", "derivation", "compound")

_BY_FLAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "".join(flags): tuple(
            name for name, flag in zip(PROCESSES, flags, strict=True) if flag == "1"
        )
        for flags in product("01", repeat=3)
    }
)


def looks_like_sigmorphon2022(line: str) -> bool:
    """Whether a line has two or three columns and a morpheme marked with @@ in the second."""
    columns = line.split("\t")
    return 2 <= len(columns) <= 3 and " @@" in columns[1]


def read_sigmorphon2022(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read SIGMORPHON 2022 words (Batsuren et al. 2022) and align the morphemes to the word.

    Some morphemes carry a hyphen as a mark (`cornemuse @@-er @@erais`); it is dropped unless the
    word itself has one.
    """
    rows = []
    for number, line in lines:
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) < 2:
            skips.add("fewer than two columns", number)
            continue
        word = columns[0]
        morphemes = [part.removeprefix("@@") for part in columns[1].split()]
        if "-" in columns[1] and not has_hyphen(word):
            morphemes = [morpheme.strip(HYPHENS) for morpheme in morphemes]
        problem = word_problem(word)
        if problem:
            skips.add(problem, number)
        elif not any(morphemes):
            skips.add("no morphs", number)
        elif len(morphemes) > MAX_MORPHEMES:
            skips.add(f"more than {MAX_MORPHEMES} morphemes", number)
        else:
            formed = _BY_FLAGS.get(columns[2]) if len(columns) > 2 else None
            rows.append(SourceRow(number, word, morphemes, processes=formed))
    return entries_from(rows)
