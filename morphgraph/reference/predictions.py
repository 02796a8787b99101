"""Segmentations that another program made: one for each word, to be scored beside tokenisers.

Three forms. *Plain*: `word⇥morphs separated by spaces`, or whatever else the plain form of
references allows, `un|break|able` among it. *SIGMORPHON*: `word⇥seg @@ment`. *Morfessor*: the
segmentations that it saves (`1 un + break + able`, with or without the count) or prints
(`un break able`, a word a line), with the categories of FlatCat (`un/PRE`) or without.

Morphs that concatenate to the word are taken as they are, hyphens too. Others are aligned with the
word as those of gold lists are, where a hyphen that is in no morph is a morph of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import checksum as sum_of
from morphgraph.reference.align import HYPHENS, SourceRow, entries_from
from morphgraph.reference.entry import Entry, Skipped
from morphgraph.reference.plain import find_layout
from morphgraph.reference.sigmorphon import split_morphemes
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    check_morphemes,
    check_word,
    decode_text,
    drop_long_lines,
    load_bytes,
    split_lines,
    tab_cells,
    usable_rows,
)

PREDICTION_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "plain": "Plain: word and morphs",
        "sigmorphon2022": "SIGMORPHON 2022 words",
        "morfessor": "Morfessor",
    }
)
"""Name of each form of predictions → its label for people."""

_COUNTED = re.compile(r"\d+(?:\.\d+)?\s+\S")
_CATEGORY = re.compile(r"(.+)/(?:PRE|STM|SUF|ZZZ)$")

_Read = tuple[int, tuple[str, list[str]]]
"""A line: its number, the word, and the morphs as they stand there."""


@dataclass(frozen=True)
class Predictions:
    """The segmentations of a file, by word; ``skipped``: the lines that could not be used.

    An entry's ``morphs`` are pieces of the word, ``underlying`` what the program wrote where that
    is something else (“able” for “abl”). ``checksum``: of the file's bytes, 12 digits.
    """

    name: str
    format: str
    entries: Mapping[str, Entry] = field(repr=False)
    skipped: tuple[Skipped, ...]
    checksum: str

    def __len__(self) -> int:
        return len(self.entries)


def read_predictions(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
) -> Predictions:
    """Read segmentations that another program made, from a path or from bytes.

    The form is detected from the content unless ``format`` names one of `PREDICTION_FORMATS`; text
    is UTF-8 unless ``encoding`` says otherwise. A word may stand there again if it is segmented
    alike. `FileFormatError` for a file without a single word, or with a word that is segmented in
    two ways; lines that cannot be used are counted in ``skipped``.

    >>> found = read_predictions("unbreakable\\tun @@break @@able\\n".encode())
    >>> found.format, found.entries["unbreakable"].morphs
    ('sigmorphon2022', ('un', 'break', 'able'))
    """
    if name is None:
        name = "predictions" if isinstance(source, bytes) else Path(source).name
    if format is not None and format not in PREDICTION_FORMATS:
        raise FileFormatError(
            name,
            "",
            f"predictions have no format {format!r}",
            f"Choose one of: {', '.join(PREDICTION_FORMATS)}",
        )
    data = load_bytes(source, name)
    skips = Skips()
    lines = drop_long_lines(split_lines(decode_text(data, name, encoding)), skips)
    format = format or _format_of(lines)
    entries = _by_word(entries_from(usable_rows(_READERS[format](lines), skips, _row)), name)
    skipped = skips.sorted()
    if not entries:
        reasons = "; ".join(f"{skip.count:,} × {skip.reason}" for skip in skipped)
        raise FileFormatError(
            name,
            "",
            f"no line can be read as {PREDICTION_FORMATS[format]}: {reasons or 'there is none'}",
            f"Check the file, or choose another format: {', '.join(PREDICTION_FORMATS)}",
        )
    return Predictions(name, format, entries, skipped, sum_of(data))


def _format_of(lines: list[NumberedLine]) -> str:
    """A single @@ shows SIGMORPHON's form: a program may split only few words."""
    if any(" @@" in line.partition("\t")[2] for _, line in lines):
        return "sigmorphon2022"
    sample = [line for _, line in lines if not line.startswith("#")][:1000]
    if find_layout(lines).separator or 2 * sum("|" in line for line in sample) > len(sample):
        return "plain"
    return "morfessor"


def _plain(lines: list[NumberedLine]) -> Iterator[_Read]:
    layout = find_layout(lines)
    for number, cells in layout.rows(lines):
        word, morphs = layout.morphs_of(cells)
        if "".join(morphs) != word:
            morphs = [morph.strip(HYPHENS) or morph for morph in morphs]  # marks: un- break -able
        yield number, (word, morphs)


def _sigmorphon(lines: list[NumberedLine]) -> Iterator[_Read]:
    for number, line in lines:
        word, cell = (*tab_cells(line), "")[:2]
        yield number, (word, split_morphemes(word, cell))


def _morfessor(lines: list[NumberedLine]) -> Iterator[_Read]:
    listed = [(number, line.strip()) for number, line in lines if not line.startswith("#")]
    if all(_COUNTED.match(line) for _, line in listed):
        listed = [(number, line.split(maxsplit=1)[1]) for number, line in listed]
    # “+” is a sign between morphs if it stands in the file like that, else a morph.
    signed = any(" + " in line for _, line in listed)
    rows = [(number, line.split(" + ") if signed else line.split()) for number, line in listed]
    is_tagged = all(_CATEGORY.fullmatch(morph) for _, morphs in rows for morph in morphs)
    for number, morphs in rows:
        kept = [_CATEGORY.sub(r"\1", morph) for morph in morphs] if is_tagged else morphs
        yield number, ("".join(kept), kept)


_READERS = {"plain": _plain, "sigmorphon2022": _sigmorphon, "morfessor": _morfessor}


def _row(number: int, read: tuple[str, list[str]]) -> SourceRow:
    word, morphs = read
    check_word(word)
    check_morphemes(morphs)
    return SourceRow(number, word, morphs, is_explicit="".join(morphs) == word)


def _by_word(entries: Iterable[Entry], name: str) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for entry in entries:
        first = found.setdefault(entry.word, entry)
        if (first.morphs, first.underlying) != (entry.morphs, entry.underlying):
            raise FileFormatError(
                name,
                f"line {entry.line:,}",
                f"“{entry.word}” is segmented in another way than on line {first.line:,}",
                "Keep one of the two.",
            )
    return found
