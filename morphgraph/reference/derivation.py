"""Derivations with one affix named: those of MorphyNet and UniMorph.

MorphyNet: base, derived word, their word classes, the affix and its side:
`waffnen⇥entwaffnen⇥V⇥V⇥ent⇥prefix`. UniMorph: `axial⇥abaxial⇥ADJ:ADJ⇥ab-`, where a hyphen stands
where the affix attaches: `ab-` is a prefix, `-er` a suffix.

An entry is a partial segmentation: a compound or a second affix inside the base is not split. The
affix is bound and joins what it attaches to; the base is the one free unit that the source names.
So the whole-word segmentation of each entry is the word itself.
"""

from __future__ import annotations

import re

from morphgraph.reference.align import HYPHENS, SourceRow, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.free_and_bound import MorphemeKind
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    Unusable,
    check_word,
    tab_cells,
    usable_rows,
)

_SIDES = ("prefix", "suffix")
_PARTS_OF_SPEECH = re.compile(r"[A-Z][A-Za-z.]*:[A-Z][A-Za-z.]*")


def _side(affix: str) -> str | None:
    """Return whether an affix is a prefix or a suffix, by the position of its hyphen."""
    ends = (affix[:1] in HYPHENS, affix[-1:] in HYPHENS)
    return {(False, True): "prefix", (True, False): "suffix"}.get(ends) if affix else None


def looks_like_unimorph_derivation(line: str) -> bool:
    """Return whether a line has base, word, parts of speech and an affix with a hyphen.

    >>> looks_like_unimorph_derivation("axial\\tabaxial\\tADJ:ADJ\\tab-")
    True
    """
    cells = tab_cells(line)
    is_shaped = len(cells) == 4 and _PARTS_OF_SPEECH.fullmatch(cells[2]) is not None
    return is_shaped and _side(cells[3]) is not None


def looks_like_morphynet_derivation(line: str) -> bool:
    """Return whether a line has six columns, the last of them `prefix` or `suffix`."""
    cells = tab_cells(line)
    return len(cells) == 6 and cells[5] in _SIDES


def _row(number: int, base: str, word: str, affix: str, side: str) -> SourceRow:
    """Return the row of a derivation (docs/references.md).

    A prefix gives the morphemes [affix, base]; a suffix [base, affix], and the rest of the word
    after the affix is a separate morph (`posieren` from `Pose` + `ier`: pos, ier, en). The hyphens
    of `-logie` and `ir-`, and the glosses of `ír#HungarianIrish`, are not part of them.
    """
    check_word(word)
    affix = affix.partition("#")[0].strip(HYPHENS)
    base = base.partition("#")[0].strip(HYPHENS)
    if side not in _SIDES:
        raise Unusable("neither prefix nor suffix in the sixth column")
    if not affix or not base:
        raise Unusable("no base" if affix else "no affix")
    if side == "prefix":
        morphemes, kinds = (affix, base), (MorphemeKind.PREFIX, MorphemeKind.FREE)
    else:
        morphemes, kinds = (base, affix), (MorphemeKind.FREE, MorphemeKind.SUFFIX)
    suffix = affix if side == "suffix" else ""
    formed = ("derivation",)
    return SourceRow(number, word, morphemes, (0, 0), kinds=kinds, processes=formed, suffix=suffix)


def _morphynet(number: int, line: str) -> SourceRow:
    cells = tab_cells(line)
    if len(cells) != 6:
        raise Unusable("not six columns")
    base, word, _, _, affix, side = cells
    return _row(number, base, word, affix, side)


def _unimorph(number: int, line: str) -> SourceRow:
    cells = tab_cells(line)
    if len(cells) != 4:
        raise Unusable("not four columns")
    base, word, _, affix = cells
    side = _side(affix)
    if side is None:
        raise Unusable("an affix without a hyphen at just one end")
    return _row(number, base, word, affix, side)


def read_morphynet_derivation(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read MorphyNet derivations (Batsuren et al. 2021)."""
    return entries_from(usable_rows(lines, skips, _morphynet))


def read_unimorph_derivation(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read UniMorph derivations (Batsuren et al. 2022) like those of MorphyNet."""
    return entries_from(usable_rows(lines, skips, _unimorph))
