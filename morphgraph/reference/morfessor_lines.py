"""Segmentations that Morfessor saves: `12 un + break + able`, with or without the count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Entry
from morphgraph.reference.plain import corpus_count_in, has_word_in_front
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    check_morphemes,
    check_word,
)

_COUNT = re.compile(r"(\d+(?:\.\d+)?)\s+(?=\S)", re.ASCII)
_SEGMENTED = re.compile(r"(?:\d+(?:\.\d+)?\s+)?\S+(?: \+ \S+)+", re.ASCII)
_CATEGORY = re.compile(r"(.+)/(?:PRE|STM|SUF|ZZZ)$")
_COMMENT = "#"


class Segmented(NamedTuple):
    """A line: its number, its count ("" if there is none), and the morphs of its word."""

    number: int
    counted: str
    morphs: list[str]


def looks_like_morfessor(line: str) -> bool:
    """Return whether a line has morphs divided by a plus, and no word in front of them."""
    if not _SEGMENTED.fullmatch(line.strip()):
        return False
    return not any(has_word_in_front(line, sign) for sign in ",;:=|")


def segmented_lines(lines: Sequence[NumberedLine]) -> list[Segmented]:
    """Return the lines that are no comments, without the categories of FlatCat (`un/PRE`)."""
    listed = [(number, line.strip()) for number, line in lines if not line.startswith(_COMMENT)]
    counts = [_COUNT.match(line) for _, line in listed]
    if 2 * sum(map(bool, counts)) <= len(listed):
        counts = [None] * len(listed)  # a word may be a number
    texts = [
        line[count.end() :] if count else line
        for (_, line), count in zip(listed, counts, strict=True)
    ]
    # “+” separates morphs if the file uses it so, else it is a morph.
    is_signed = any(" + " in text for text in texts)
    split = [_between_signs(text) if is_signed else text.split() for text in texts]
    if all(_CATEGORY.fullmatch(morph) for morphs in split for morph in morphs):
        split = [[_CATEGORY.sub(r"\1", morph) for morph in morphs] for morphs in split]
    return [
        Segmented(number, count[1] if count else "", morphs)
        for (number, _), count, morphs in zip(listed, counts, split, strict=True)
    ]


def _between_signs(text: str) -> list[str]:
    """Return the morphs of a text; one of them may be a plus itself."""
    parts = text.split(" ")
    return parts[::2] if {*parts[1::2]} == {"+"} and len(parts) % 2 else text.split(" + ")


def read_morfessor(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read segmentations of Morfessor Baseline or FlatCat (Virpioja et al. 2013)."""
    for number, line in lines:
        if line.startswith(_COMMENT):
            skips.add("a comment (#)", number)
    segmented = [(each.number, each) for each in segmented_lines(lines)]
    return entries_from(skips.usable(segmented, _row))


def _row(number: int, line: Segmented) -> SourceRow:
    word = check_word("".join(line.morphs))
    check_morphemes(line.morphs)
    count = corpus_count_in(line.counted)
    return SourceRow(number, word, line.morphs, corpus_count=count, is_explicit=True)
