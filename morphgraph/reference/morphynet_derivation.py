"""MorphyNet derivations: base, derived word, their word classes, one affix and its side.

`waffnen⇥entwaffnen⇥V⇥V⇥ent⇥prefix`. Only one affix of a word is named, so an entry is a partial
segmentation: a compound or a second affix inside the base is not split.

An affix is bound and joins what it attaches to; the base is the one free unit that the source
names. So the whole-word segmentation of each entry is the word itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from morphgraph.reference.align import HYPHENS, Alignment, SourceRow, align_morphemes, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.free_and_bound import MorphemeKind
from morphgraph.reference.source import NumberedLine, Skips, word_problem

_SIDES = ("prefix", "suffix")


def looks_like_morphynet_derivation(line: str) -> bool:
    """Whether a line has six columns, the last of them `prefix` or `suffix`."""
    columns = line.split("\t")
    return len(columns) == 6 and columns[5].strip() in _SIDES


def split_rest(alignment: Alignment, affix: str) -> Alignment:
    """Make what follows the suffix a morph of its own, with source −1.

    >>> split_rest(Alignment(("pos", "ieren"), (0, 1)), "ier")
    Alignment(morphs=('pos', 'ier', 'en'), sources=(0, 1, -1))
    """
    morphs, sources = alignment
    last = morphs[-1]
    if len(morphs) < 2 or not last.startswith(affix) or len(last) == len(affix):
        return alignment
    return Alignment((*morphs[:-1], affix, last[len(affix) :]), (*sources, -1))


class DerivationLine(NamedTuple):
    """A line of derivations: its number, the base, the word, one affix and its side."""

    line: int
    base: str
    word: str
    affix: str
    side: str


def entries_of_derivations(derivations: Sequence[DerivationLine], skips: Skips) -> list[Entry]:
    """The entries of derivations as docs/references.md has them.

    A prefix gives the morphemes [affix, base]; a suffix [base, affix], and what is left of the word
    behind the affix is a morph of its own (`posieren` from `Pose` + `ier`: pos, ier, en). The
    hyphens of `-logie` and `ir-`, and the glosses of `ír#HungarianIrish`, are not part of them.
    """
    rows: list[SourceRow] = []
    suffixes: list[str | None] = []
    for number, base, word, affix, side in derivations:
        problem = word_problem(word)
        affix = affix.partition("#")[0].strip(HYPHENS)
        base = base.partition("#")[0].strip(HYPHENS)
        if problem:
            skips.add(problem, number)
        elif side not in _SIDES:
            skips.add("neither prefix nor suffix in the sixth column", number)
        elif not affix or not base:
            skips.add("no base" if affix else "no affix", number)
        else:
            prefix = side == "prefix"
            rows.append(
                SourceRow(
                    number,
                    word,
                    (affix, base) if prefix else (base, affix),
                    (0, 0),
                    kinds=(MorphemeKind.PREFIX, MorphemeKind.FREE)
                    if prefix
                    else (MorphemeKind.FREE, MorphemeKind.SUFFIX),
                    processes=("derivation",),
                )
            )
            suffixes.append(None if prefix else affix)
    alignments = align_morphemes([r.word for r in rows], [r.morphemes for r in rows])
    for i, suffix in enumerate(suffixes):
        if suffix is not None:
            alignments[i] = split_rest(alignments[i], suffix)
    return entries_from(rows, alignments)


def read_morphynet_derivation(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read MorphyNet derivations (Batsuren et al. 2021)."""
    found: list[DerivationLine] = []
    for number, line in lines:
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) == 6:
            found.append(DerivationLine(number, columns[0], columns[1], columns[4], columns[5]))
        else:
            skips.add("not six columns", number)
    return entries_of_derivations(found, skips)
