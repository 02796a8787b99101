"""Morpho Challenge gold segmentations: morph:morpheme pairs.

`accompanied⇥ac:ac_p compani:company_N ed:+PAST`. Alternatives follow after `, `, and each is an
entry of its own. `~` is the empty morph (`sheep:sheep_N ~:+PL`) or, after the colon, no morpheme.
A colon that is a letter of the word is written with a backslash (`hyy\\::hyy n:+GEN`), in some
files without one.

Labels give the kinds: `_p` a prefix, `_s` a derivational suffix, `+PAST` an inflectional one (but
`+DV-…` derives), other labels (`_N`, `_V`, …) or none a stem. So the whole words follow from them.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import NamedTuple

from morphgraph.reference.align import SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import Entry
from morphgraph.reference.free_and_bound import MorphemeKind, pieces, processes_of
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    tab_cells,
    usable_rows,
)

_EMPTY = "~"
_LABEL = re.compile(r"(.+)_([^_]+)")
_COLON = re.compile(r"\\.|:", re.S)
_ESCAPE = re.compile(r"\\(.)", re.S)


class Part(NamedTuple):
    """One morph of an analysis ("" if empty), its morpheme without label, and its label."""

    surface: str
    morpheme: str
    label: str


def _plain(text: str) -> str:
    return "" if text == _EMPTY else _ESCAPE.sub(r"\1", text)


def parse_analysis(word: str, analysis: str) -> list[Part] | None:
    r"""Return the parts of one analysis of a word, or None where a morph has no colon.

    Of several colons, the last one counts that leaves a morph which stands at this place of the
    word.

    >>> parse_analysis("hyy:n", "hyy\\::hyy n:+GEN")
    [Part(surface='hyy:', morpheme='hyy', label=''), Part(surface='n', morpheme='', label='+GEN')]
    >>> parse_analysis("a:b", "a:::x_N b:b_s")[0]
    Part(surface='a:', morpheme=':x', label='N')
    """
    parts: list[Part] = []
    at = 0
    for token in analysis.split():
        colons = [found.start() for found in _COLON.finditer(token) if found.group() == ":"]
        colons = [colon for colon in colons if colon > 0]
        if not colons:
            return None
        fitting = (c for c in reversed(colons) if word.startswith(_plain(token[:c]), at))
        colon = next(fitting, colons[0])
        surface, morpheme = _plain(token[:colon]), _plain(token[colon + 1 :])
        at += len(surface)
        labelled = _LABEL.fullmatch(morpheme)
        if morpheme.startswith("+"):
            parts.append(Part(surface, "", morpheme))
        elif labelled:
            parts.append(Part(surface, *labelled.groups()))
        else:
            parts.append(Part(surface, morpheme, ""))
    return parts


def kind_of_label(part: Part) -> MorphemeKind | None:
    """Return the kind of a morph by its label.

    >>> [kind_of_label(Part("x", "x", label)).value for label in ("p", "s", "+PAST", "N")]
    ['prefix', 'suffix', 'suffix', 'free']
    """
    if is_hyphen(part.surface):
        return MorphemeKind.HYPHEN
    if part.label == "s" or part.label.startswith("+"):
        return MorphemeKind.SUFFIX
    if part.label == "p":
        return MorphemeKind.PREFIX
    return MorphemeKind.FREE if part.morpheme else None


def _processes(parts: list[Part]) -> tuple[str, ...]:
    inflections = [part.label.startswith("+") and part.label[:3] != "+DV" for part in parts]
    others = [
        kind_of_label(p) for p, inflects in zip(parts, inflections, strict=True) if not inflects
    ]
    formed = processes_of(others)
    return ("inflection", *formed) if any(inflections) else formed


def looks_like_morpho_challenge(line: str) -> bool:
    """Return whether a line has a word and analyses whose morphs spell it."""
    word, tab, analyses = line.partition("\t")
    if not tab or ":" not in analyses or "\t" in analyses.strip():
        return False
    for analysis in analyses.split(", "):
        parts = parse_analysis(word.strip(), analysis)
        if not parts or "".join(p.surface for p in parts).lower() != word.strip().lower():
            return False
    return True


def _row(number: int, word: str, analysis: str) -> SourceRow:
    """Return the row of one analysis of a word.

    The underlying morphemes are the base forms without their word class; a feature such as `+PAST`
    has no form of its own, so its surface form in this word stands for it.
    """
    parts = parse_analysis(word, analysis)
    if parts is None:
        raise Unusable("a morph without a colon")
    kept = [part for part in parts if part.surface]
    check_morphemes([part.surface for part in kept])
    kinds = [kind_of_label(part) for part in kept]
    known = [kind for kind in kinds if kind is not None]
    own = (part.surface if part.label.startswith("+") else part.morpheme for part in kept)
    return SourceRow(
        number,
        word,
        [part.surface for part in kept],
        pieces(known) if len(known) == len(kinds) else None,
        kinds=kinds,
        processes=_processes(parts),
        underlying=tuple(filter(None, own)),
    )


def _rows(number: int, line: str) -> list[SourceRow]:
    columns = tab_cells(line.strip())
    if len(columns) != 2:
        raise Unusable("not two columns")
    word, analyses = check_word(columns[0]), columns[1]
    return [_row(number, word, analysis) for analysis in analyses.split(", ")]


def read_morpho_challenge(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read Morpho Challenge segmentations (Kurimo et al. 2010); each alternative is an entry."""
    return entries_from(list(chain.from_iterable(usable_rows(lines, skips, _rows))))
