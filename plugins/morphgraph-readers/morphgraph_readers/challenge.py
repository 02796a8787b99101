"""Morpho Challenge: a word and its analyses, each morph with its morpheme."""

from __future__ import annotations

import re
from typing import NamedTuple

from morphgraph.reference.align import SourceRow, is_hyphen
from morphgraph.reference.entry import MorphemeKind, pieces, processes_of
from morphgraph.reference.lines import FREE, PREFIX, SUFFIX
from morphgraph.reference.readers import Reader
from morphgraph.reference.source import Unusable, check_morphemes, check_word, tab_cells

_COLON = re.compile(r"\\.|:", re.S)
_ESCAPE = re.compile(r"\\(.)", re.S)


class LabelledMorph(NamedTuple):
    """One morph of an analysis ("" if empty), its morpheme without label, and its label."""

    surface: str
    morpheme: str
    label: str

    @property
    def kind(self) -> MorphemeKind | None:
        """The kind of the morph by its label."""
        if is_hyphen(self.surface):
            return MorphemeKind.HYPHEN
        if self.label == "s" or self.label.startswith("+"):
            return SUFFIX
        return PREFIX if self.label == "p" else FREE if self.morpheme else None

    @property
    def inflects(self) -> bool:
        """Whether it is an inflection."""
        return self.label.startswith("+") and not self.label.startswith("+DV")


def _plain(text: str) -> str:
    return "" if text == "~" else _ESCAPE.sub(r"\1", text)


def parse_analysis(word: str, analysis: str) -> list[LabelledMorph]:
    """Return the parts of one analysis of a word; `Unusable` where a morph has no colon.

    Of several colons, the last one counts that leaves a morph which stands at this place of the
    word.

    >>> parse_analysis("a:b", "a:::x_N b:b_s")[0]
    LabelledMorph(surface='a:', morpheme=':x', label='N')
    """
    parts: list[LabelledMorph] = []
    at = 0
    for token in analysis.split():
        signs = (sign for sign in _COLON.finditer(token) if sign.group() == ":")
        colons = [sign.start() for sign in signs if sign.start() > 0]
        if not colons:
            raise Unusable("a morph without a colon")
        fitting = (c for c in reversed(colons) if word.startswith(_plain(token[:c]), at))
        colon = next(fitting, colons[0])
        surface, morpheme = _plain(token[:colon]), _plain(token[colon + 1 :])
        at += len(surface)
        base, _, label = morpheme.rpartition("_")
        if morpheme.startswith("+"):
            base, label = "", morpheme
        elif not base or not label:
            base, label = morpheme, ""
        parts.append(LabelledMorph(surface, base, label))
    return parts


def looks_like_morpho_challenge(line: str) -> bool:
    """Return whether a line has a word and analyses whose morphs spell it."""
    word, tab, analyses = line.partition("\t")
    if not tab or ":" not in analyses or "\t" in analyses.strip():
        return False
    word = word.strip()
    try:
        parsed = [parse_analysis(word, analysis) for analysis in analyses.split(", ")]
    except Unusable:
        return False
    spelt = ("".join(part.surface for part in parts) for parts in parsed)
    return all(parsed) and all(text.lower() == word.lower() for text in spelt)


def morpho_challenge(number: int, line: str) -> list[SourceRow]:
    """Return the analyses of a word of Morpho Challenge (Kurimo et al. 2010).

    The underlying morphemes are the base forms without their word class; a feature such as `+PAST`
    has no form of its own, so its surface form in this word stands for it.
    """
    cells = tab_cells(line.strip())
    if len(cells) != 2:
        raise Unusable("not two columns")
    word, analyses = check_word(cells[0]), cells[1]
    rows = []
    for analysis in analyses.split(", "):
        parts = parse_analysis(word, analysis)
        kept = [part for part in parts if part.surface]
        surfaces = [part.surface for part in kept]
        check_morphemes(surfaces)
        kinds = [part.kind for part in kept]
        known = [kind for kind in kinds if kind is not None]
        derived = [part.kind for part in parts if not part.inflects]
        formed = ("inflection",) * (len(derived) < len(parts)) + processes_of(derived)
        own = (part.surface if part.label.startswith("+") else part.morpheme for part in kept)
        row = SourceRow(number, word, surfaces, kinds=kinds, processes=formed)
        whole = pieces(known) if len(known) == len(kinds) else None
        rows.append(row._replace(pieces=whole, underlying=tuple(filter(None, own))))
    return rows


MORPHO_CHALLENGE = Reader(
    "Morpho Challenge",
    morpho_challenge,
    looks_like_morpho_challenge,
    encoding="windows-1252",
)
