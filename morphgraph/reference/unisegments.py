"""UniSegments 1.0: one format for many languages, with a JSON annotation on each line.

Five columns: form, lemma, word class, `seg + ment + ation`, and
`{"annot_name": …, "segmentation": [{"morpheme": …, "span": [0, 1, 2], "type": "root"}, …]}`. The
fourth column concatenates to the form. A span holds the positions of a morpheme's letters, from 0;
some letters may belong to none, and `morpheme` and `type` may be absent. A morpheme whose letters
are apart (a circumfix, a root around an infix) is several segments, but one morpheme.

`annot_name` is the layer: one word may have lines of several, of which the first one counts.

Where each morph has a known type, the whole words follow, unless there is a `stem`, which may be an
undivided compound.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple

from morphgraph.reference.align import SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import Entry, MorphemeKind, joins_left, resolve_kinds
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    usable_rows,
)

_KINDS: Mapping[str, MorphemeKind] = MappingProxyType(
    {
        "root": MorphemeKind.FREE,
        "stem": MorphemeKind.FREE,
        "prefix": MorphemeKind.PREFIX,
        "suffix": MorphemeKind.SUFFIX,
        "ending": MorphemeKind.SUFFIX,
        "postfix": MorphemeKind.SUFFIX,
        "interfix": MorphemeKind.INTERFIX,
        "connector": MorphemeKind.INTERFIX,
    }
)
_STEM, _CIRCUMFIX, _INFIX = "stem", "circumfix", "infix"


def looks_like_unisegments(line: str) -> bool:
    """Return whether a line has five columns, the last JSON, and segments that spell the form."""
    columns = line.split("\t", 4)
    if len(columns) != 5:
        return False
    annotation = columns[4].strip()
    spelt = "".join(columns[3].split(" + ")) == columns[0]
    return spelt and annotation.startswith("{") and annotation.endswith("}")


def _annotation(text: str) -> dict[str, Any] | None:
    """Return the JSON object, or None. Lines are too short for harmful nesting."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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
        if self.type == _CIRCUMFIX and self.first < self.last:
            ends = {self.first: MorphemeKind.PREFIX, self.last: MorphemeKind.SUFFIX}
            return ends.get(place)
        return _KINDS.get(self.type) if place == self.first else None

    @property
    def own_kind(self) -> MorphemeKind | None:
        """How it joins its neighbours; infixes join in any case."""
        return MorphemeKind.SUFFIX if self.type == _INFIX else self.kind_at(self.first)


def _morphemes(items: list[Any], morphs: Sequence[str]) -> list[_Morpheme]:
    """Return morphemes by their first segments, letters of none among them.

    Of several with the same segments the first counts; malformed ones are ignored.
    """
    starts = accumulate(map(len, morphs[:-1]), initial=0)
    at = {start: place for place, start in enumerate(starts)}
    found: dict[tuple[int, ...], _Morpheme] = {}
    for item in items:
        span = item.get("span") if isinstance(item, dict) else None
        letters = {each for each in span if isinstance(each, int)} if isinstance(span, list) else ()
        places = tuple(sorted(at[letter] for letter in letters if letter in at))
        if places:
            named = _string(item, "type").lower(), _string(item, "morpheme")
            found.setdefault(places, _Morpheme(places[0], places[-1], *named))
    covered = {place for places in found for place in places}
    none = [_Morpheme(place, place, "", "") for place in at.values() if place not in covered]
    return sorted([*found.values(), *none], key=lambda morpheme: morpheme.first)


def _row(number: int, line: str) -> tuple[str, SourceRow]:
    """Return the layer of a line, and its row."""
    columns = [column.strip() for column in line.split("\t", 4)]
    if len(columns) != 5:
        raise Unusable("fewer than five columns")
    word, segments = check_word(columns[0]), columns[3]
    morphs = segments.split(" + ") if segments.strip() else []
    if morphs and ("".join(morphs) != word or not all(morphs)):
        raise Unusable("segments that do not concatenate to the form")
    check_morphemes(morphs)
    annotation = _annotation(columns[4])
    if annotation is None:
        raise Unusable("annotation that is not a JSON object")
    items = annotation.get("segmentation", [])
    if not isinstance(items, list):
        raise Unusable("segmentation in the annotation that is not a list")
    morphemes = _morphemes(items, morphs)
    kinds: list[MorphemeKind | None] = [None] * len(morphs)
    for morpheme in reversed(morphemes):
        for place in (morpheme.first, morpheme.last):
            kinds[place] = morpheme.kind_at(place) or kinds[place]
    kinds = [MorphemeKind.HYPHEN if is_hyphen(m) else k for m, k in zip(morphs, kinds, strict=True)]
    own = tuple(morpheme.name for morpheme in morphemes)
    has_kinds = any(kind not in (None, MorphemeKind.HYPHEN) for kind in kinds)
    row = SourceRow(
        number,
        word,
        morphs,
        _pieces(morphemes, morphs) if has_kinds else None,
        kinds=kinds if has_kinds else None,
        underlying=own if all(own) else None,
    )
    return _string(annotation, "annot_name"), row


def _pieces(morphemes: list[_Morpheme], morphs: Sequence[str]) -> list[int] | None:
    """Return the index of each segment's whole word; None if unknown.

    Whatever is between two segments of a morpheme is in the same whole word.
    """
    kinds = [
        MorphemeKind.HYPHEN if is_hyphen(morphs[each.first]) else each.own_kind
        for each in morphemes
    ]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds) or any(morpheme.type == _STEM for morpheme in morphemes):
        return None
    joins = joins_left(resolve_kinds(known))
    within = {m.first for m, joined in zip(morphemes, joins, strict=True) if joined}
    for morpheme in morphemes:
        within.update(range(morpheme.first + 1, morpheme.last + 1))
    begins = [int(place not in within) for place in range(1, len(morphs))]
    return list(accumulate(begins, initial=0))


def read_unisegments(
    lines: list[NumberedLine], skips: Skips, layer: str | None = None
) -> list[Entry]:
    """Read UniSegments 1.0 (Žabokrtský et al. 2022); types of segments become kinds.

    Only lines of a ``layer`` count, by default the first one of each word.
    """
    first: dict[str, str] = {}
    kept: list[SourceRow] = []
    for name, row in usable_rows(lines, skips, _row):
        wanted = first.setdefault(row.word, name) if layer is None else layer
        if name == wanted:
            kept.append(row)
        else:
            skips.add("of another layer", row.line)
    return entries_from(kept)
