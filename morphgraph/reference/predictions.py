"""Segmentations by other programs, one for each word, scored beside tokenisers.

Three forms. *Plain*: `word⇥morphs separated by spaces`, or whatever else the plain form of
references allows. *SIGMORPHON*: `word⇥seg @@ment`. *Morfessor*: the segmentations that it saves
(`1 un + break + able`, with or without the count) or prints (`un break able`, a word a line), with
the categories of FlatCat (`un/PRE`) or without.

Morphs that concatenate to the word are kept, hyphens too. Others are aligned with the word like
those of gold lists. Scores against the source's own morphemes use the program's output unchanged,
as the SIGMORPHON 2022 script does (Batsuren et al. 2022).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import checksum as sum_of
from morphgraph.core.files import read_bytes
from morphgraph.core.text import SILVER, base_name
from morphgraph.reference.align import HYPHENS, SourceRow, entries_from
from morphgraph.reference.entry import Entry, Reference, Skipped
from morphgraph.reference.lines import official_segments, split_morphemes
from morphgraph.reference.morfessor_lines import segmented_lines
from morphgraph.reference.plain import find_layout
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    decode_text,
    drop_long_lines,
    nothing_read,
    split_lines,
)

PREDICTION_FORMATS: Mapping[str, str] = {
    "plain": "Plain: word and morphs",
    "sigmorphon2022": "SIGMORPHON 2022 words",
    "morfessor": "Morfessor",
}
"""The formats of predictions by name, with their labels."""

_NOTHING = ("",)
"""The segments of a word without a prediction."""
_SHOWN = 3


class PredictedLine(NamedTuple):
    """A line: the word, its segments as written, and its entry if it can be one."""

    number: int
    word: str
    segments: tuple[str, ...]
    entry: Entry | None


_Read = tuple[int, str, Sequence[str], tuple[str, ...]]
"""A line: its number, the word, its morphs, and its segments as written."""


@dataclass(frozen=True)
class Predictions:
    """The segmentations of a file; ``skipped``: its lines without morph boundaries.

    ``lines``: those with a word or segments, by number; ``line_count``: the number of all lines.
    ``checksum``: of the file's bytes, 12 digits.
    """

    name: str
    format: str
    lines: Mapping[int, PredictedLine] = field(repr=False)
    line_count: int
    skipped: tuple[Skipped, ...]
    checksum: str

    def __len__(self) -> int:
        return len(self.by_word)

    @cached_property
    def by_word(self) -> Mapping[str, PredictedLine]:
        """The first line of each word."""
        first: dict[str, PredictedLine] = {}
        for line in self.lines.values():
            first.setdefault(line.word, line)
        return first

    @cached_property
    def _conflicting(self) -> Mapping[str, PredictedLine]:
        """One further line of each word that is segmented in several ways."""
        first = self.by_word
        return {o.word: o for o in self.lines.values() if o.segments != first[o.word].segments}

    def paired(self, reference: Reference) -> tuple[list[Entry], list[str]]:
        """Return the prediction for each entry of a reference, and notes.

        A file with as many lines as the reference is paired line by line, any other by words;
        unaligned entries come last. ``underlying`` are always the program's own segments: a single
        empty one where it has none. ``morphs`` are those given for the same word, else its segments
        aligned with the word, which stays whole without any. `MorphGraphError` if no word has a
        prediction, or if words are paired and one is segmented in several ways.
        """
        is_by_line = self.line_count == reference.lines
        missing, differing = list[str](), list[str]()
        rows, entries = list[SourceRow](), list[Entry]()
        for gold in (*reference.entries, *reference.unaligned):
            same = self.by_word.get(gold.word)
            line = self.lines.get(gold.line) if is_by_line else same
            if not is_by_line and gold.word in self._conflicting:
                first, other = self.by_word[gold.word].number, self._conflicting[gold.word].number
                problem = f"“{gold.word}” is segmented differently on line {first:,}"
                fix = "Keep one of the two."
                raise FileFormatError(self.name, f"line {other:,}", problem, fix)
            if line is not None and line.word == gold.word:
                same = line
            elif line is not None:
                differing.append(f"“{line.word}” for “{gold.word}”")
            segments = _NOTHING if line is None else line.segments
            if not any(segments):
                missing.append(f"“{gold.word}”")
            morphs: tuple[str, ...] = ()
            if same is not None and same.entry is not None:
                morphs = same.entry.morphs
            elif gold.morphs:
                filled = [segment for segment in segments if segment] or [gold.word]
                rows.append(_row(len(entries), gold.word, filled))
            entries.append(Entry(gold.word, morphs, line=gold.line, underlying=segments))
        for aligned in entries_from(rows):
            entries[aligned.line] = replace(entries[aligned.line], morphs=aligned.morphs)
        return entries, self._notes(base_name(reference.name), len(entries), missing, differing)

    def _notes(self, gold: str, asked: int, missing: list[str], differing: list[str]) -> list[str]:
        file = base_name(self.name)
        if len(missing) == asked:
            raise MorphGraphError(
                f"{file} segments none of the {asked:,} words of {gold}: {_listed(missing)}. "
                "Choose the segmentations of these words."
            )
        notes = []
        if missing:
            notes.append(
                f"{file} lacks {len(missing):,} of the {asked:,} words of {gold}, or gives them "
                f"no segments: {_listed(missing)}. Each counts as one empty segment, and as uncut."
            )
        if differing:
            notes.append(
                f"{file} is paired with {gold} by line; the words differ in {len(differing):,} of "
                f"{asked:,} lines: {_listed(differing)}."
            )
        return notes


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_SHOWN]) + ", …" * (len(texts) > _SHOWN)


def read_predictions(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
) -> Predictions:
    """Read segmentations by another program, from a path or from bytes.

    The form is detected from the content unless ``format`` names one of `PREDICTION_FORMATS`; text
    is UTF-8 unless ``encoding`` says otherwise. `FileFormatError` for a file without a single
    segmentation; lines that have no morph boundaries are counted in ``skipped``. Silver is read as
    the plain file that it is.

    >>> found = read_predictions("unbreakable\\tun @@break @@able\\n".encode())
    >>> found.format, found.by_word["unbreakable"].segments
    ('sigmorphon2022', ('un', 'break', 'able'))
    """
    if name is None:
        name = "predictions" if isinstance(source, bytes) else Path(source).name
    if format is not None and format not in PREDICTION_FORMATS:
        problem = f"predictions have no format {format!r}"
        raise FileFormatError(name, "", problem, f"Use one of: {', '.join(PREDICTION_FORMATS)}")
    data = read_bytes(source, name)
    skips = Skips()
    numbered = split_lines(decode_text(data, name, encoding))
    if len(numbered) > 1 and numbered[0][1].startswith(SILVER):
        name, format = f"{name} (silver)", "plain"
        del numbered[0]
    kept = drop_long_lines(numbered, skips)
    format = format or _format_of(kept)
    lines = _lines_of(_READERS[format](kept), skips)
    skipped = skips.sorted()
    if not any(any(line.segments) for line in lines.values()):
        about = PREDICTION_FORMATS[format], PREDICTION_FORMATS, skipped
        raise nothing_read(name, *about, otherwise="there is none")
    return Predictions(name, format, lines, numbered[-1][0], skipped, sum_of(data))


def _format_of(lines: list[NumberedLine]) -> str:
    """Detect the format: a single @@ means SIGMORPHON, as a program may split only few words."""
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
        yield number, word, morphs, tuple(morphs) or _NOTHING


def _sigmorphon(lines: list[NumberedLine]) -> Iterator[_Read]:
    for number, line in lines:
        word, cell = (*line.split("\t"), "")[:2]
        word = word.strip()
        yield number, word, split_morphemes(word, cell), official_segments(cell)


def _morfessor(lines: list[NumberedLine]) -> Iterator[_Read]:
    for line in segmented_lines(lines):
        yield line.number, "".join(line.morphs), line.morphs, tuple(line.morphs)


_READERS = {"plain": _plain, "sigmorphon2022": _sigmorphon, "morfessor": _morfessor}


def _lines_of(read: Iterator[_Read], skips: Skips) -> dict[int, PredictedLine]:
    """Return the lines by number, each with its entry, or the reason for none counted."""
    rows: list[SourceRow] = []
    lines: dict[int, PredictedLine] = {}
    for number, word, morphs, segments in read:
        try:
            if any(segments):
                check_morphemes(segments)
            lines[number] = PredictedLine(number, word, segments, None)
            check_word(word)
            check_morphemes(morphs)
            rows.append(_row(number, word, morphs, segments))
        except Unusable as reason:
            skips.add(str(reason), number)
    for entry in entries_from(rows):
        lines[entry.line] = lines[entry.line]._replace(entry=entry)
    return lines


def _row(
    number: int, word: str, morphs: Sequence[str], segments: tuple[str, ...] | None = None
) -> SourceRow:
    spelt = "".join(morphs) == word
    return SourceRow(number, word, morphs, underlying=segments, is_explicit=spelt)
