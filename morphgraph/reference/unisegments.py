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
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from morphgraph.reference.align import SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import Entry
from morphgraph.reference.free_and_bound import MorphemeKind, pieces
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


def _row(number: int, line: str) -> SourceRow:
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
    places = morpheme_at(items)
    found = [places.get(at) for at in accumulate(map(len, morphs[:-1]), initial=0)]
    types = [_string(item, "type").lower() for item in found]
    own = tuple(_string(item, "morpheme") for item in found)
    kinds = [
        MorphemeKind.HYPHEN if is_hyphen(morph) else _KINDS.get(type_)
        for morph, type_ in zip(morphs, types, strict=True)
    ]
    known = [kind for kind in kinds if kind is not None]
    has_kinds = any(kind is not MorphemeKind.HYPHEN for kind in known)
    is_whole = has_kinds and _STEM not in types and len(known) == len(morphs)
    return SourceRow(
        number,
        word,
        morphs,
        pieces(known) if is_whole else None,
        kinds=kinds if has_kinds else None,
        underlying=own if all(own) else None,
    )


def read_unisegments(lines: list[NumberedLine], skips: Skips) -> list[Entry]:
    """Read UniSegments 1.0 (Žabokrtský et al. 2022); types of segments become kinds."""
    return entries_from(usable_rows(lines, skips, _row))
