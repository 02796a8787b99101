"""Whether morphs spell their words, which tells a header, and a file that was misread."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from morphgraph.core.text import shortened, visible
from morphgraph.reference.align import HYPHENS, SourceRow, normalise
from morphgraph.reference.entry import Entry, Skipped
from morphgraph.reference.source import NumberedLine, Skips

_SAMPLE = 1000
_CLOSE = 0.5  # half of the letters in common
_EXCEPTIONS = 0.02  # of the lines after a header, as a list may have slips
_SHOWN = 3
_LINE = 60
_WITHOUT_HYPHENS = str.maketrans("", "", HYPHENS)


def _letters(text: str) -> str:
    return normalise(text).translate(_WITHOUT_HYPHENS)


def _likeness(word: str, morphemes: Sequence[str]) -> float:
    """Return how much of a word its morphemes spell, from 0 to 1; case and accents do not count."""
    joined = "".join(morphemes)
    if joined == word:
        return 1.0
    return SequenceMatcher(None, _letters(word), _letters(joined), autojunk=False).ratio()


def without_header(
    rows: list[SourceRow], lines: Sequence[NumberedLine], skips: Skips
) -> list[SourceRow]:
    """Return rows without that of the first line if it is a header, in whatever language.

    It is one if hardly any letter of its word is in its morphs, none of these is in another line,
    the line says nothing more of its word, and the morphs of all other lines, but a few, spell
    theirs.
    """
    first, others = rows[:1], rows[1 : _SAMPLE + 1]
    if len(others) < 2 or first[0].line != lines[0][0]:
        return rows
    if first[0].corpus_count is not None or first[0].processes is not None:
        return rows
    if _likeness(first[0].word, first[0].morphemes) >= _CLOSE:
        return rows
    known = {normalise(morpheme) for row in others for morpheme in row.morphemes}
    exceptions = sum(_likeness(row.word, row.morphemes) < 1 for row in others)
    if exceptions > _EXCEPTIONS * len(others) or known & set(map(normalise, first[0].morphemes)):
        return rows
    reason = "a header, as it looks: in the other lines the morphs spell the word"
    skips.header = Skipped(reason, 1, first[0].line)
    return rows[1:]


def notice_on(
    entries: Sequence[Entry], lines: Sequence[NumberedLine], spells: bool, unit: str = "line"
) -> str:
    """Return a warning that a file may be misread, with three of its lines; "" if it is fine.

    Either all have one morph, or, where morphs should spell words (``spells``), most do not come
    close. Underlying morphemes do, as they are aligned.
    """
    sample = list(entries[:: -(-len(entries) // _SAMPLE)])
    unlike = [entry for entry in sample if spells and not _is_like(entry)]
    if all(len(entry.morphs) == 1 for entry in entries):
        shown, problem = sample, "Every word has just one morph, so no boundary can be scored"
    elif 2 * len(unlike) > len(sample):
        shown, problem = unlike, "Most words are not spelled by their morphs"
    else:
        return ""
    text = dict(lines)
    quoted = "; ".join(
        f"{unit} {entry.line:,}, “{visible(shortened(text[entry.line], _LINE))}”"
        for entry in shown[:_SHOWN]
        if entry.line in text
    )
    return f"{problem}: {quoted}."


def _is_like(entry: Entry) -> bool:
    """Return whether morphemes could be those of a word: most have a surface, and are like it."""
    own = entry.underlying
    if own is None or _letters("".join(own)) == _letters(entry.word):
        return True
    return 2 * len(entry.morphs) > len(own) and _likeness(entry.word, own) >= _CLOSE
