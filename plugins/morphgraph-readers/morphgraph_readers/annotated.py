"""Formats that annotate each morpheme: UniSegments' JSON, and DeriNet.

docs/reference/formats.md says what they hold, and what is made of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from morphgraph.reference.align import SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import Entry, MorphemeKind, joins_left, resolve_kinds
from morphgraph.reference.readers import ONE_AFFIX, Reader
from morphgraph.reference.source import NumberedLine, Skips, Unusable, check_morphemes, check_word

FREE, PREFIX, SUFFIX = MorphemeKind.FREE, MorphemeKind.PREFIX, MorphemeKind.SUFFIX

# ------------------------------------------------------------------------------ UniSegments

_TYPES = {
    **dict.fromkeys(("root", "stem"), FREE),
    "prefix": PREFIX,
    **dict.fromkeys(("suffix", "ending", "postfix"), SUFFIX),
    **dict.fromkeys(("interfix", "connector"), MorphemeKind.INTERFIX),
    "infix": MorphemeKind.INFIX,
}
_MORPHYNET = re.compile(r"MorphyNet|\?TODO", re.IGNORECASE)
"""In the name of a UniSegments file or layer; the converter has called its layer ?TODO."""
_FAULTS = (
    "This part of UniSegments is made from MorphyNet and has known faults: a prefix is one letter "
    "too short, words of other languages may be among its own, and only derivations are there. "
    "Choose MorphyNet's own files: “morphgraph reference list” names them."
)


def looks_like_unisegments(line: str) -> bool:
    """Return whether a line has five columns, the last JSON, and segments that spell the form."""
    columns = line.split("\t", 4)
    if len(columns) != 5:
        return False
    annotation = columns[4].strip()
    spelt = "".join(columns[3].split(" + ")) == columns[0]
    return spelt and annotation.startswith("{") and annotation.endswith("}")


def _string(item: dict[str, Any], field: str) -> str:
    value = item.get(field)
    return value if isinstance(value, str) else ""


class _Morpheme(NamedTuple):
    """A morpheme, or letters of none: its first and last segment, its type and its name."""

    first: int
    last: int
    type: str
    name: str

    def kind_at(self, place: int) -> MorphemeKind | None:
        """Return the kind of a segment: the first has the morpheme's, others none.

        A circumfix has two.
        """
        if self.type == "circumfix" and self.first < self.last:
            return {self.first: PREFIX, self.last: SUFFIX}.get(place)
        return _TYPES.get(self.type) if place == self.first else None


def _morphemes(items: list[Any], morphs: Sequence[str]) -> list[_Morpheme]:
    """Return morphemes by their first segments, letters of none among them.

    Of several with the same segments the first counts; malformed ones are ignored.
    """
    starts = accumulate(map(len, morphs[:-1]), initial=0)
    at = {start: place for place, start in enumerate(starts)}
    by_place: dict[tuple[int, ...], _Morpheme] = {}
    for item in items:
        span = item.get("span") if isinstance(item, dict) else None
        letters = {each for each in span if isinstance(each, int)} if isinstance(span, list) else ()
        if places := tuple(sorted(at[letter] for letter in letters if letter in at)):
            named = _string(item, "type").lower(), _string(item, "morpheme")
            by_place.setdefault(places, _Morpheme(places[0], places[-1], *named))
    covered = {place for places in by_place for place in places}
    none = [_Morpheme(place, place, "", "") for place in at.values() if place not in covered]
    return sorted([*by_place.values(), *none], key=lambda morpheme: morpheme.first)


def _row(number: int, line: str) -> tuple[str, SourceRow]:
    """Return the layer of a line, and its row."""
    columns = [column.strip() for column in line.split("\t", 4)]
    if len(columns) != 5:
        raise Unusable("fewer than five columns")
    word, segments = check_word(columns[0]), columns[3]
    morphs = segments.split(" + ") if segments else []
    if morphs and ("".join(morphs) != word or not all(morphs)):
        raise Unusable("segments that do not concatenate to the form")
    check_morphemes(morphs)
    annotation: Any = None
    with suppress(ValueError, RecursionError):  # lines are too short for harmful nesting
        annotation = json.loads(columns[4])
    if not isinstance(annotation, dict):
        raise Unusable("annotation that is not a JSON object")
    items = annotation.get("segmentation", [])
    if not isinstance(items, list):
        raise Unusable("segmentation in the annotation that is not a list")
    row = _annotated(number, word, morphs, items)
    # A word that is its own lemma, as all are in some data sets, is linked to nothing.
    linked = (columns[1],) if columns[1] not in ("", word) else None
    return _string(annotation, "annot_name"), row._replace(linked=linked)


def _annotated(number: int, word: str, morphs: Sequence[str], items: list[Any]) -> SourceRow:
    """Return the row of a word in segments, with what is annotated of spans of its letters."""
    morphemes = _morphemes(items, morphs)
    kinds: list[MorphemeKind | None] = [None] * len(morphs)
    for morpheme in reversed(morphemes):
        for place in (morpheme.first, morpheme.last):
            kinds[place] = morpheme.kind_at(place) or kinds[place]
    own = tuple(morpheme.name for morpheme in morphemes)
    underlying = own if all(own) else None
    row = SourceRow(number, word, morphs, underlying=underlying)
    if any(kind and not is_hyphen(morph) for kind, morph in zip(kinds, morphs, strict=True)):
        row = row._replace(kinds=kinds, pieces=_pieces(morphemes, morphs))
    return row


def _pieces(morphemes: list[_Morpheme], morphs: Sequence[str]) -> list[int] | None:
    """Return the index of each segment's whole word; None if unknown, or for a `stem`.

    Whatever is between two segments of a morpheme is in the same whole word; a stem may be an
    undivided compound.
    """
    kinds: list[MorphemeKind] = []
    for each in morphemes:
        is_mark = is_hyphen(morphs[each.first])
        kind = MorphemeKind.HYPHEN if is_mark else each.kind_at(each.first)
        if kind is None or each.type == "stem":
            return None
        kinds.append(kind)
    joins = joins_left(resolve_kinds(kinds))
    within = {m.first for m, joined in zip(morphemes, joins, strict=True) if joined}
    for morpheme in morphemes:
        within.update(range(morpheme.first + 1, morpheme.last + 1))
    begins = [int(place not in within) for place in range(1, len(morphs))]
    return list(accumulate(begins, initial=0))


def read_unisegments(
    lines: list[NumberedLine], skips: Skips, layer: str | None = None
) -> list[Entry]:
    """Read UniSegments 1.0 (Žabokrtský et al. 2022); types of segments become kinds.

    Only lines of a ``layer`` count, by default of each word those of its first layer with types, or
    else of its first.
    """
    rows = skips.usable(lines, _row)
    chosen: dict[str, str] = {}
    for is_typed in (True, False):
        for name, row in rows:
            if row.kinds is not None or not is_typed:
                chosen.setdefault(row.word, name)
    kept: list[SourceRow] = []
    for name, row in rows:
        skips.layers[name] += 1
        if name == (chosen[row.word] if layer is None else layer):
            kept.append(row)
        else:
            skips.add("of another layer", row.line)
    return entries_from(kept)


def faults_of(name: str, layers: Iterable[str]) -> tuple[str, str]:
    """Return how a file of UniSegments is partial, and its faults: its part of MorphyNet has some.

    >>> faults_of("UniSegments-1.0-eng-MorphyNet.useg", [])[0], faults_of("ces.useg", ["DeriNet"])
    ('one affix a word', ('', ''))
    """
    is_copy = any(map(_MORPHYNET.search, (name, *layers)))
    return (ONE_AFFIX, _FAULTS) if is_copy else ("", "")


# ------------------------------------------------------------------------------ DeriNet

_LEXEME = re.compile(r"\d+\.\d+", re.ASCII)


def looks_like_derinet(line: str) -> bool:
    """Return whether a line has ten columns, the first a lexeme's number, the last JSON."""
    columns = line.split("\t", 9)
    return len(columns) == 10 and bool(_LEXEME.fullmatch(columns[0])) and columns[9][:1] == "{"


def derinet(number: int, line: str) -> SourceRow:
    """Return a lexeme of DeriNet 2 (Vidra et al. 2019) with a segmentation."""
    columns = [column.strip() for column in line.split("\t", 9)]
    if len(columns) != 10:
        raise Unusable("fewer than ten columns")
    word, segmentation = check_word(columns[2]), columns[5]
    if not segmentation:
        raise Unusable("no segmentation")
    try:
        parts = [
            dict(pair.split("=", 1) for pair in part.split("&")) for part in segmentation.split("|")
        ]
        spans = [(int(part["Start"]), int(part["End"])) for part in parts]
    except (KeyError, ValueError) as error:
        raise Unusable("segmentation not well-formed") from error
    edges = [0, *chain.from_iterable(spans), len(word)]
    if edges != sorted(edges) or any(start == end for start, end in spans):
        raise Unusable("morphs that overlap, or are outside the word")
    morphs = [word[a:b] for a, b in pairwise(sorted({*edges}))]
    check_morphemes(morphs)
    items = [
        {"span": [*range(*span)], "type": part.get("Type"), "morpheme": part.get("Morph")}
        for part, span in zip(parts, spans, strict=True)
    ]
    # A lexeme's number is that of its tree of derivations, and its own: the parent's has the tree.
    lexemes = (columns[0], columns[6])
    linked = tuple(f"tree {lexeme.partition('.')[0]}" for lexeme in lexemes if lexeme)
    return _annotated(number, word, morphs, items)._replace(linked=linked)


UNISEGMENTS = Reader(
    "UniSegments",
    looks_like=looks_like_unisegments,
    read=read_unisegments,
    options=("layer",),
    faults=faults_of,
)
DERINET = Reader("DeriNet 2", derinet, looks_like_derinet)
