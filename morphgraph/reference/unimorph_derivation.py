"""UniMorph derivations: base, derived word, their parts of speech, and one affix.

`axial⇥abaxial⇥ADJ:ADJ⇥ab-`. A hyphen stands where the affix attaches: `ab-` is a prefix, `-er` a
suffix. As in MorphyNet's derivations, one affix of a word is named, so an entry is a partial
segmentation, and the word is one whole word.
"""

from __future__ import annotations

import re

from morphgraph.reference.align import HYPHENS
from morphgraph.reference.entry import Entry
from morphgraph.reference.morphynet_derivation import DerivationLine, entries_of_derivations
from morphgraph.reference.source import NumberedLine, Skips

_PARTS_OF_SPEECH = re.compile(r"[A-Z][A-Za-z.]*:[A-Z][A-Za-z.]*")


def _side(affix: str) -> str | None:
    """Whether an affix is a prefix or a suffix, by the end at which it has a hyphen."""
    ends = (affix[:1] in HYPHENS, affix[-1:] in HYPHENS)
    return {(False, True): "prefix", (True, False): "suffix"}.get(ends) if affix else None


def looks_like_unimorph_derivation(line: str) -> bool:
    """Whether a line has four columns: base, word, parts of speech, affix with a hyphen.

    >>> looks_like_unimorph_derivation("axial\\tabaxial\\tADJ:ADJ\\tab-")
    True
    """
    columns = [column.strip() for column in line.split("\t")]
    return (
        len(columns) == 4
        and _PARTS_OF_SPEECH.fullmatch(columns[2]) is not None
        and _side(columns[3]) is not None
    )


def read_unimorph_derivation(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read UniMorph derivations (Batsuren et al. 2022) as those of MorphyNet."""
    found: list[DerivationLine] = []
    for number, line in lines:
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != 4:
            skips.add("not four columns", number)
            continue
        side = _side(columns[3])
        if side is None:
            skips.add("an affix without a hyphen at just one end", number)
        else:
            found.append(DerivationLine(number, columns[0], columns[1], columns[3], side))
    return entries_of_derivations(found, skips)
