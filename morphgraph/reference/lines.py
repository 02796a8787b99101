"""Formats with one word a line: how such lines look, and what each says of its word.

docs/reference/formats.md has an example of each, and says what is made of it. Where a format does
not distinguish free and bound morphemes, neither kinds nor whole words are guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress, product

from morphgraph.reference.align import HYPHENS, SourceRow, has_hyphen
from morphgraph.reference.entry import Entry, MorphemeKind
from morphgraph.reference.source import (
    MAX_MORPHEMES,
    MAX_WORD_CHARACTERS,
    Unusable,
    check_morphemes,
    check_word,
    is_number,
    tab_cells,
)

FREE, PREFIX, SUFFIX = MorphemeKind.FREE, MorphemeKind.PREFIX, MorphemeKind.SUFFIX


def _cells(line: str, columns: int, problem: str) -> list[str]:
    cells = tab_cells(line)
    if len(cells) != columns:
        raise Unusable(problem)
    return cells


# ------------------------------------------------------------------------------ derivations

_PARTS_OF_SPEECH = re.compile(r"[A-Z][A-Za-z.]*:[A-Z][A-Za-z.]*")


def _side(affix: str) -> str:
    """Return whether an affix is a prefix or a suffix, by the position of its hyphen."""
    ends = affix[:1] in HYPHENS, affix[-1:] in HYPHENS
    return {(False, True): "prefix", (True, False): "suffix"}.get(ends, "") if affix else ""


def looks_like_unimorph_derivation(line: str) -> bool:
    """Return whether a line has base, word, parts of speech and an affix with a hyphen."""
    cells = tab_cells(line)
    return len(cells) == 4 and bool(_PARTS_OF_SPEECH.fullmatch(cells[2]) and _side(cells[3]))


def looks_like_morphynet_derivation(line: str) -> bool:
    """Return whether a line has six columns, the last of them `prefix` or `suffix`."""
    cells = tab_cells(line)
    return len(cells) == 6 and cells[5] in ("prefix", "suffix")


def _derivation(number: int, base: str, word: str, affix: str, side: str) -> SourceRow:
    """Return the row of a derivation, a word of one affix and its base.

    The rest of the word after a suffix is a morph of its own (`posieren` from `Pose` + `ier`: pos,
    ier, en). Hyphens of `-logie` and `ir-`, and the gloss of `ír#HungarianIrish`, are left out.
    """
    check_word(word)
    affix, base = (part.partition("#")[0].strip(HYPHENS) for part in (affix, base))
    if side not in ("prefix", "suffix"):
        raise Unusable("neither prefix nor suffix in the sixth column")
    if not affix or not base:
        raise Unusable("no base" if affix else "no affix")
    is_prefix = side == "prefix"
    return SourceRow(
        number,
        word,
        (affix, base) if is_prefix else (base, affix),
        (0, 0),
        kinds=(PREFIX, FREE) if is_prefix else (FREE, SUFFIX),
        processes=("derivation",),
        suffix="" if is_prefix else affix,
        linked=(base,),
    )


def morphynet_derivation(number: int, line: str) -> SourceRow:
    """Return a derivation of MorphyNet (Batsuren et al. 2021)."""
    base, word, _, _, affix, side = _cells(line, 6, "not six columns")
    return _derivation(number, base, word, affix, side)


def unimorph_derivation(number: int, line: str) -> SourceRow:
    """Return a derivation of UniMorph (Batsuren et al. 2022)."""
    base, word, _, affix = _cells(line, 4, "not four columns")
    if not _side(affix):
        raise Unusable("an affix without a hyphen at just one end")
    return _derivation(number, base, word, affix, _side(affix))


# ------------------------------------------------------------------------------ inflections

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


def inflection(number: int, line: str) -> SourceRow:
    """Return an inflection of MorphyNet, or of UniMorph (Batsuren et al. 2021, 2022)."""
    cells = tab_cells(line)
    if len(cells) < 4:
        raise Unusable("fewer than four columns")
    word, segments = check_word(cells[1]), cells[3]
    if segments == "-":
        raise Unusable("no segmentation (-)")
    morphemes = [segment for segment in segments.split("|") if segment]
    check_morphemes(morphemes)
    return SourceRow(number, word, morphemes, processes=("inflection",), linked=(cells[0] or word,))


# ------------------------------------------------------------------------------ SIGMORPHON 2022

_FLAGGED = ("inflection", "derivation", "compound")
_PROCESSES = {
    "".join(flags): tuple(compress(_FLAGGED, map(int, flags))) for flags in product("01", repeat=3)
}


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


def sigmorphon2022(number: int, line: str) -> SourceRow:
    """Return a word of SIGMORPHON 2022 (Batsuren et al. 2022).

    Words with a space or without a segmentation cannot be used, but come with `Unusable` as
    unaligned entries, for scores against the source's own morphemes.
    """
    word, *cells = line.split("\t")
    if not cells:
        raise Unusable("fewer than two columns")
    word, segments = word.strip(), official_segments(cells[0])
    morphemes = split_morphemes(word, cells[0])
    try:
        check_word(word)
        check_morphemes(morphemes)
    except Unusable as reason:
        if len(word) <= MAX_WORD_CHARACTERS and len(segments) <= MAX_MORPHEMES:
            reason.unaligned = Entry(word, (), line=number, underlying=segments)
        raise
    formed = _PROCESSES.get(cells[1].strip()) if len(cells) > 1 else None
    return SourceRow(number, word, morphemes, processes=formed, underlying=segments)


# ------------------------------------------------------------------------------ MorphScore

MORPHSCORE_COLUMNS = ("full_word", "pt1", "rest")


def morphscore(number: int, cells: Sequence[str]) -> SourceRow:
    """Return a word of MorphScore (Arnett & Bergen 2025); one without a boundary is of no use."""
    word, first, rest = cells
    check_word(word)
    if not first or not rest:
        raise Unusable("no boundary (pt1 or rest is empty)")
    if first + rest != word:
        raise Unusable("parts that do not concatenate to the word")
    return SourceRow(number, word, (first, rest), is_explicit=True)


MORPHSCORE_SPLITS, MORPHSCORE_KEPT = ("train", "dev", "test"), ("repeated", "stems", "digits")
"""The data splits of MorphScore 2, and what its published filter leaves out."""
MORPHSCORE_2 = (
    *("wordform", "preceding_part", "stem", "following_part", "lemma"),
    *("unique", "data_split", "word_freq_norm"),
)
"""The columns of MorphScore 2 that are read."""
_WORDS = 10**9


def morphscore2(
    number: int,
    cells: Sequence[str],
    data_split: str | None = None,
    keep_rows: Sequence[str] = (),
) -> SourceRow:
    """Return a word of MorphScore 2 (Arnett et al. 2025), with its count in 10⁹ words.

    Only those of a ``data_split``, by default of any; ``keep_rows`` names what the published filter
    leaves out: words that are "repeated", whose "stems" are not their lemma, or with "digits".
    """
    word, before, stem, after, lemma, unique, its_split, frequency = cells
    check_word(word)
    if not its_split.startswith(data_split or MORPHSCORE_SPLITS):
        raise Unusable("of another data split")
    if unique != "unique" and "repeated" not in keep_rows:
        raise Unusable("a repeated word (unique is not unique)")
    if stem != lemma and "stems" not in keep_rows:
        raise Unusable("stem that is not the lemma")
    if any(map(str.isdecimal, word)) and "digits" not in keep_rows:
        raise Unusable("word with a digit")
    parts = [part for part in (before, stem, after) if part]
    if "".join(parts) != word:
        raise Unusable("parts that do not concatenate to the word")
    share = float(frequency) if is_number(frequency) else 2.0
    count = share * _WORDS if share <= 1 else None
    return SourceRow(number, word, parts, corpus_count=count, is_explicit=True)
