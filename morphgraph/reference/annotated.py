"""Formats that annotate each morpheme: CELEX StrucLab's trees, UniSegments' JSON, and DeriNet.

docs/references.md says what they hold, and what is made of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from morphgraph.reference.align import SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import (
    Entry,
    MorphemeKind,
    joins_left,
    processes_of,
    resolve_kinds,
)
from morphgraph.reference.source import NumberedLine, Skips, Unusable, check_morphemes, check_word

FREE, PREFIX, SUFFIX = MorphemeKind.FREE, MorphemeKind.PREFIX, MorphemeKind.SUFFIX

# ------------------------------------------------------------------------------ CELEX

_STEP = re.compile(r"\(([^()\[\],]*)|\)\[([^\[\]()]*)\]|(.)", re.S)
"""An opening bracket with what follows it, a closing one with its tag, or anything else."""


@dataclass(slots=True)
class Node:
    """A node of a tree, and what is below it: the kind of each leaf, and the whole words.

    ``sizes``: the number of leaves in each whole word.
    """

    leaf: str | None = None
    tag: str = ""
    children: list[Node] = field(default_factory=list)
    kinds: list[MorphemeKind] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def close(self, tag: str) -> None:
        """Take the tag, and resolve the children by their order (docs/references.md).

        A child right after a prefix or right before a suffix is one whole word; an affix joins its
        neighbour. A leaf that is alone in a node has the kind of that node.
        """
        self.tag = tag
        if self.leaf is not None:
            self.kinds, self.sizes = sibling_kinds([tag])[0], [1]
            return
        kinds, joins_next, joins_last = sibling_kinds([child.tag for child in self.children])
        last = len(self.children) - 1
        for i, child in enumerate(self.children):
            after_prefix = i > 0 and joins_next[i - 1]
            is_whole = after_prefix or (i < last and joins_last[i + 1])
            sizes = [sum(child.sizes)] if is_whole else child.sizes
            if i > 0 and (after_prefix or joins_last[i]):
                self.sizes[-1] += sizes.pop(0)
            self.sizes += sizes
            self.kinds += [kinds[i]] if len(child.kinds) == 1 else child.kinds


def sibling_kinds(tags: Sequence[str]) -> tuple[list[MorphemeKind], list[bool], list[bool]]:
    """Return the kind of each child of a node; which join the next, and which the one before.

    An affix that may be on either side is a prefix if something follows, a suffix if something
    precedes, and joins both where both are there. [P] is no prefix where nothing follows.
    """
    ends = [tag.endswith(".") for tag in tags]
    begins = ["|." in tag or tag == "P" for tag in tags]
    begins[-1] = "|." in tags[-1]
    within = [MorphemeKind.INTERFIX if "." in tag else FREE for tag in tags]
    shapes = zip(ends, begins, within, strict=True)
    as_suffix = resolve_kinds(
        [SUFFIX if end else PREFIX if begin else kind for end, begin, kind in shapes]
    )
    kinds = [PREFIX if begin else kind for begin, kind in zip(begins, as_suffix, strict=True)]
    kinds[-1] = as_suffix[-1]
    return kinds, begins, [kind is SUFFIX for kind in as_suffix]


def parse_tree(text: str) -> list[Node]:
    """Parse a StrucLab; the nodes come children first, so that the root is the last.

    Raises `Unusable` where the text is not one tree of brackets, each with a tag. Nothing here
    recurses: brackets may be nested as deeply as a line is long.

    >>> parse_tree("((kelder)[N],(((ver)[V|.A],(diep)[A])[V],(ing)[N|V.])[N])[N]")[-1].sizes
    [1, 3]
    """
    done: list[Node] = []
    above = [Node()]
    may_begin = True
    for step in _STEP.finditer(text):
        inside, tag, other = step.groups()
        if inside is not None and may_begin:
            may_begin = not inside and text.startswith("(", step.end())
            above.append(Node(None if may_begin else inside))
        elif tag is not None and not may_begin and len(above) > 1:
            done.append(above.pop())
            done[-1].close(tag)
            above[-1].children.append(done[-1])
        elif other == "," and not may_begin and len(above) > 1 and above[-1].children:
            may_begin = True
        else:
            is_untagged = other == ")" and not may_begin
            problem = (
                "no tag after a closing bracket"
                if is_untagged
                else "something stands between the brackets"
            )
            raise Unusable(f"tree not well-formed: {problem}")
    if may_begin or len(above) > 1:
        raise Unusable("tree not well-formed: a bracket is not closed")
    return done


def split_columns(line: str) -> tuple[str, str] | None:
    r"""Return the word and the tree of a line, or None if no column starts like a tree.

    The word is in the first other column that is not a number.
    """
    separator = next((each for each in "\t\\" if each in line), None)
    columns = [column.strip() for column in line.split(separator, -1 if separator else 1)]
    tree = next((column for column in columns if column.startswith("(")), None)
    if tree is None:
        return None
    others = (c for c in columns if c and not c.startswith("(") and not c.isdecimal())
    return next(others, ""), tree


def looks_like_celex(line: str) -> bool:
    """Return whether a line has a column with a StrucLab tree."""
    columns = split_columns(line) if ")[" in line else None
    return columns is not None and columns[1].endswith("]")


def celex(number: int, line: str, include_foreign: bool = False) -> SourceRow:
    """Return a line of CELEX; a word tagged [F] (foreign) only if asked for."""
    columns = split_columns(line)
    if columns is None:
        raise Unusable("no tree of morphemes")
    word, nodes = check_word(columns[0]), parse_tree(columns[1])
    if not include_foreign and any(node.tag == "F" for node in nodes):
        raise Unusable("foreign word, tagged [F]")
    leaves = [node.leaf for node in nodes if node.leaf is not None]
    check_morphemes(leaves)
    kinds, sizes = nodes[-1].kinds, nodes[-1].sizes
    pieces = [place for place, size in enumerate(sizes) for _ in range(size)]
    formed = processes_of(kinds)
    return SourceRow(number, word, leaves, pieces, kinds=kinds, processes=formed, tree=columns[1])


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


def is_copy_of_morphynet(name: str, layers: Iterable[str]) -> bool:
    """Return whether a file of UniSegments is its part of MorphyNet, which has known faults."""
    return any(map(_MORPHYNET.search, (name, *layers)))


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
