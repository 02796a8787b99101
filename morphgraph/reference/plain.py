"""The plain form: a word and its morphs, and the project's own extension of it.

`word⇥morphs separated by spaces`, optionally a third column with the count; also separated by `,`
or `;`; also one column `un|break|able`, whose word is what the parts concatenate to. A header may
name the columns word, morphs, whole_words, count and kinds in any order.

Hyphens may mark bound morphs: `un- break -able`, interfix `-s-`. Hyphens are marks
where the morphs do not concatenate to the word with them; morphs that do (`co - op`, `co- op`) are
the word's as they are. In a file with
such marks and without a column of whole words, these are derived: prefixes join what follows,
suffixes what precedes, an interfix stands alone unless a suffix follows. In a file with neither,
`whole_words` is None. The kinds are in a column of their own, one for each morph (`prefix free
suffix`, `none` where it is not known), or else shown by the marks.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from types import MappingProxyType
from typing import NamedTuple

from morphgraph.core.errors import FileFormatError
from morphgraph.corpus.counts import LARGEST_COUNT
from morphgraph.reference.align import HYPHENS, SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import Entry, Reference
from morphgraph.reference.free_and_bound import MorphemeKind, pieces
from morphgraph.reference.source import MAX_MORPHEMES, NumberedLine, Skips, word_problem

ALIASES = {
    "word": "word", "form": "word", "surface": "word", "wordform": "word", "word_form": "word",
    "morphs": "morphs", "morph": "morphs", "morphemes": "morphs", "segmentation": "morphs",
    "segments": "morphs", "segmented": "morphs", "analysis": "morphs", "gold": "morphs",
    "whole_words": "whole_words", "whole_word": "whole_words", "wholewords": "whole_words",
    "count": "count", "counts": "count", "freq": "count", "frequency": "count",
    "kinds": "kinds", "kind": "kinds",
}  # fmt: skip
UNKNOWN_KIND = "none"
_KINDS: Mapping[str, MorphemeKind | None] = MappingProxyType(
    {**{kind.value: kind for kind in MorphemeKind}, UNKNOWN_KIND: None}
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)


class Layout(NamedTuple):
    """How a plain file is laid out: its separator ("" for one column) and each column's place."""

    separator: str
    columns: dict[str, int]
    has_header: bool


def cells_of(line: str, separator: str) -> list[str]:
    """The cells of a line, without spaces around them; quotes count in `,` and `;` files only."""
    if separator == "\t":
        cells = line.split("\t")
    elif separator:
        try:
            cells = next(csv.reader([line], delimiter=separator))
        except (csv.Error, StopIteration):
            cells = line.split(separator)
    else:
        cells = [line]
    return [cell.strip() for cell in cells]


def header_columns(cells: list[str]) -> dict[str, int] | None:
    """The columns that a header names, or None if the cells are no header.

    >>> header_columns(["Count", "Word", "Segmentation"])
    {'count': 0, 'word': 1, 'morphs': 2}
    """
    columns: dict[str, int] = {}
    for i, cell in enumerate(cells):
        role = ALIASES.get(re.sub(r"[ -]", "_", cell.lower()))
        if role is not None:
            columns.setdefault(role, i)
    named = "morphs" in columns and ("word" in columns or len(cells) == 1)
    return columns if named else None


def find_layout(lines: list[NumberedLine]) -> Layout:
    """Tell how the lines are laid out, by their first line and by what most of the first 1,000 do.

    Without a header, a third column holds counts, or, if it mostly concatenates to the first, whole
    words.
    """
    sample = [line for _, line in lines[:1000]]
    separator = ""
    for candidate in ("\t", ";", ","):
        if 2 * sum(candidate in line for line in sample) > len(sample):
            separator = candidate
            break
    columns = header_columns(cells_of(sample[0], separator)) if sample else None
    if columns is not None:
        return Layout(separator, columns, True)
    rows = [cells_of(line, separator) for line in sample]
    piped = sum("|" in row[0] and (len(row) < 2 or is_number(row[1])) for row in rows)
    if not separator or 2 * piped > len(rows):
        return Layout(separator, {"morphs": 0, "count": 1}, False)
    votes = Counter(_role(row[0], row[2]) for row in rows if len(row) > 2 and row[2])
    third = votes.most_common(1)[0][0] if votes else "count"
    return Layout(separator, {"word": 0, "morphs": 1, third: 2}, False)


def _role(word: str, cell: str) -> str:
    return "whole_words" if "".join(cell.split()) == word and not is_number(cell) else "count"


def is_number(cell: str) -> bool:
    """Whether a cell is a finite decimal number, as counts are."""
    return _NUMBER.fullmatch(cell) is not None and isfinite(float(cell))


def looks_like_plain(line: str, layout: Layout) -> bool:
    """Whether a line has a word and either two or more morphs, or the word itself as the morph."""
    cells = cells_of(line, layout.separator)
    at = layout.columns["morphs"]
    if len(cells) <= at or len(cells) > 4:
        return False
    morphs = split_morphs(cells[at])
    if "word" not in layout.columns:
        return len(morphs) > 1 and "|" in cells[at] and word_problem("".join(morphs)) is None
    word = cells[layout.columns["word"]] if layout.columns["word"] < len(cells) else ""
    if word_problem(word) or not morphs or any(is_number(morph) for morph in morphs):
        return morphs == [word]
    return len(morphs) > 1 or _without_marks(morphs[0]) == word or morphs[0] == word


def split_morphs(cell: str) -> list[str]:
    """The morphs of a cell, divided by spaces, or by | where it has no space."""
    parts = cell.split()
    if len(parts) == 1 and "|" in cell:
        parts = [part for part in cell.split("|") if part]
    return parts


def _without_marks(morph: str) -> str:
    return morph.strip(HYPHENS) or morph


def _kind(morph: str) -> MorphemeKind:
    if is_hyphen(morph):
        return MorphemeKind.HYPHEN
    before, after = morph[0] in HYPHENS, morph[-1] in HYPHENS
    if before and after:
        return MorphemeKind.INTERFIX
    return MorphemeKind.SUFFIX if before else MorphemeKind.PREFIX if after else MorphemeKind.FREE


class _Found(NamedTuple):
    """One line, read but not yet aligned: its morphs with whatever hyphens they carry."""

    number: int
    word: str
    morphs: list[str]
    whole_words: tuple[str, ...] | None
    corpus_count: float | None
    kinds: tuple[MorphemeKind | None, ...] | None


def read_plain(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read the plain form; morphs that do not concatenate to the word are aligned."""
    layout = find_layout(lines)
    found: list[_Found] = []
    for number, line in lines[1:] if layout.has_header else lines:
        read = _read_line(number, cells_of(line, layout.separator), layout)
        if isinstance(read, str):
            skips.add(read, number)
        else:
            found.append(read)
    spelled = ["".join(each.morphs) == each.word for each in found]
    marked = any(
        not spelt
        and any(_kind(m) not in (MorphemeKind.FREE, MorphemeKind.HYPHEN) for m in each.morphs)
        for each, spelt in zip(found, spelled, strict=True)
    )
    derive = marked and "whole_words" not in layout.columns
    tell = marked and "kinds" not in layout.columns
    rows = []
    for each, spelt in zip(found, spelled, strict=True):
        morphs = each.morphs if spelt else [_without_marks(morph) for morph in each.morphs]
        marks = [_kind(morph) for morph in each.morphs] if marked else []
        kinds: Sequence[MorphemeKind | None] | None = marks if tell else each.kinds
        numbers = pieces(marks) if derive else None
        own = () if spelt else None
        rows.append(
            SourceRow(
                each.number,
                each.word,
                morphs,
                numbers,
                each.corpus_count,
                kinds,
                underlying=own,
                is_explicit=spelt,
            )
        )
    entries = entries_from(rows)
    if "whole_words" not in layout.columns:
        return entries
    return [
        replace(entry, whole_words=each.whole_words) if each.whole_words else entry
        for entry, each in zip(entries, found, strict=True)
    ]


def _read_line(number: int, cells: list[str], layout: Layout) -> _Found | str:
    """The line's content, or the reason to skip it."""

    def cell(role: str) -> str:
        at = layout.columns.get(role, len(cells))
        return cells[at] if at < len(cells) else ""

    if layout.columns["morphs"] >= len(cells):
        return "no column of morphs"
    morphs = split_morphs(cell("morphs"))
    word = cell("word") if "word" in layout.columns else "".join(morphs)
    if "|" in word and "".join(cell("morphs").split()) == word and "word" in layout.columns:
        morphs = cell("morphs").split()  # here the bar is a letter of the word
    problem = word_problem(word)
    if problem:
        return problem
    if not morphs:
        return "no morphs"
    if len(morphs) > MAX_MORPHEMES:
        return f"more than {MAX_MORPHEMES} morphemes"
    joined = tuple(cell("whole_words").split()) or None
    if joined and "".join(joined) != word:
        return "whole words that do not concatenate to the word"
    count = cell("count")
    if count and not is_number(count):
        return "count that is not a number"
    if count and abs(float(count)) > LARGEST_COUNT:
        return "count above 10¹⁵"
    names = cell("kinds").lower().split()
    if names and len(names) != len(morphs):
        return "not one kind for each morph"
    if any(name not in _KINDS for name in names):
        return f"a kind that is not one of {', '.join(_KINDS)}"
    kinds = tuple(_KINDS[name] for name in names) or None
    return _Found(number, word, morphs, joined, float(count) if count else None, kinds)


def write_plain(reference: Reference) -> str:
    """The reference as a plain file: word⇥morphs; whole words, counts, kinds if there are any.

    Reading it gives equal entries with equal kinds. Morphs carry no marks: the whole words and
    kinds say what is bound. Processes and underlying morphemes are not written.

    >>> entry = Entry("unbreakable", ("un", "break", "able"), ("unbreakable",))
    >>> write_plain(Reference("gold.tsv", "plain", (entry,), (), "0" * 12)).splitlines()[1]
    'unbreakable\\tun break able\\tunbreakable'
    """
    has_whole_words, has_counts = reference.has_whole_words, reference.has_counts
    header = ["word", "morphs"]
    header += ["whole_words"] if has_whole_words else []
    header += ["count"] if has_counts else []
    has_kinds = any(entry.kinds is not None for entry in reference.entries)
    header += ["kinds"] if has_kinds else []
    lines = ["\t".join(header)]
    for entry in reference.entries:
        if any(word_problem(part) for part in (entry.word, *entry.morphs)):
            raise FileFormatError(
                reference.name,
                f"line {entry.line}",
                f"{entry.word!r} cannot be written: a word or morph is empty or has a space",
                "Remove the entry.",
            )
        if entry.kinds is not None and len(entry.kinds) != len(entry.morphs):
            raise FileFormatError(
                reference.name,
                f"line {entry.line}",
                f"{entry.word!r} has {len(entry.morphs)} morphs, but {len(entry.kinds)} kinds",
                "Give each morph its kind, or none.",
            )
        cells = [entry.word, " ".join(entry.morphs)]
        if has_whole_words:
            cells.append(" ".join(entry.whole_words or ()))
        if has_counts:
            cells.append("" if entry.count is None else f"{entry.count!r}".removesuffix(".0"))
        if has_kinds:
            cells.append(
                " ".join(kind.value if kind else UNKNOWN_KIND for kind in entry.kinds or ())
            )
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"
