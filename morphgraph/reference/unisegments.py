"""UniSegments 1.0: many languages in one form, with an annotation in JSON on each line.

Five columns: form, lemma, word class, `seg + ment + ation`, and
`{"annot_name": …, "segmentation": [{"morpheme": …, "span": [0, 1, 2], "type": "root"}, …]}`. The
fourth column concatenates to the form. A span holds the positions of a morpheme's letters, from 0;
some letters may belong to none, and `morpheme` and `type` may be absent.

Where each morph has a known type, the whole words follow; but not with a `stem`, which may be a
compound that nobody has divided.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from morphgraph.reference.align import SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import Entry
from morphgraph.reference.free_and_bound import MorphemeKind, pieces
from morphgraph.reference.source import MAX_MORPHEMES, NumberedLine, Skips, word_problem

_KINDS: Mapping[str, MorphemeKind] = MappingProxyType(
    {
        "root": MorphemeKind.FREE,
        "stem": MorphemeKind.FREE,
        "prefix": MorphemeKind.PREFIX,
        "suffix": MorphemeKind.SUFFIX,
        "ending": MorphemeKind.SUFFIX,
        "postfix": MorphemeKind.SUFFIX,
        "interfix": MorphemeKind.INTERFIX,
    }
)
_STEM = "stem"


def looks_like_unisegments(line: str) -> bool:
    """Whether a line has five columns, the last a JSON object, and segments that spell the form."""
    columns = line.split("\t", 4)
    if len(columns) != 5:
        return False
    annotation = columns[4].strip()
    spelt = "".join(columns[3].split(" + ")) == columns[0]
    return spelt and annotation.startswith("{") and annotation.endswith("}")


def _annotation(text: str) -> dict[str, Any] | None:
    """The JSON object, or None. Lines are short, so nesting cannot be deep enough to harm."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def morpheme_at(items: list[Any]) -> dict[int, dict[str, Any]]:
    """For each position that a span names, the first item with it; what is malformed is ignored.

    >>> found = morpheme_at([{"span": [0, 1], "type": "root"}, {"span": [1, 2], "type": "suffix"}])
    >>> [found[i]["type"] for i in range(3)]
    ['root', 'root', 'suffix']
    """
    places: dict[int, dict[str, Any]] = {}
    for item in items:
        span = item.get("span") if isinstance(item, dict) else None
        for position in span if isinstance(span, list) else ():
            if isinstance(position, int):
                places.setdefault(position, item)
    return places


def _string(item: dict[str, Any] | None, field: str) -> str:
    value = item.get(field) if item is not None else None
    return value if isinstance(value, str) else ""


def _row_of(number: int, columns: list[str]) -> SourceRow | str:
    """The line's content, or why it cannot be used."""
    word, segments = columns[0], columns[3]
    problem = word_problem(word)
    if problem:
        return problem
    morphs = segments.split(" + ") if segments.strip() else []
    if not morphs:
        return "no morphs"
    if "".join(morphs) != word or not all(morphs):
        return "segments that do not concatenate to the form"
    if len(morphs) > MAX_MORPHEMES:
        return f"more than {MAX_MORPHEMES} morphemes"
    annotation = _annotation(columns[4])
    if annotation is None:
        return "annotation that is not a JSON object"
    items = annotation.get("segmentation", [])
    if not isinstance(items, list):
        return "segmentation in the annotation that is not a list"
    places = morpheme_at(items)
    kinds: list[MorphemeKind | None] = []
    own: list[str] = []
    stem, at = False, 0
    for morph in morphs:
        item = places.get(at)
        type_ = _string(item, "type").lower()
        kinds.append(_KINDS.get(type_) if not is_hyphen(morph) else MorphemeKind.HYPHEN)
        stem = stem or type_ == _STEM
        own.append(_string(item, "morpheme"))
        at += len(morph)
    known = [kind for kind in kinds if kind is not None]
    has_kinds = any(kind is not MorphemeKind.HYPHEN for kind in known)
    return SourceRow(
        number,
        word,
        morphs,
        pieces(known) if has_kinds and not stem and len(known) == len(morphs) else None,
        kinds=kinds if has_kinds else None,
        underlying=tuple(own) if all(own) else None,
    )


def read_unisegments(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read UniSegments 1.0 (Žabokrtský et al. 2022); types of segments become kinds."""
    rows = []
    for number, line in lines:
        columns = [column.strip() for column in line.split("\t", 4)]
        found = _row_of(number, columns) if len(columns) == 5 else "fewer than five columns"
        if isinstance(found, str):
            skips.add(found, number)
        else:
            rows.append(found)
    return entries_from(rows)
