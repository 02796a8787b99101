"""Formats that annotate each morpheme: CELEX StrucLab's trees, and UniSegments' JSON.

*CELEX*: a tree of morphemes, each node with a word class or affix tag
(`methodically⇥(((method)[N],(ical)[A|N.])[A],(ly)[B|A.])[B]`); WebCelex exports separate columns
with a backslash. The column that holds a tree is the tree; the first other column that is not a
number is the word. Counts in such exports are not read. The source distinguishes free and bound
morphemes, so each entry has its whole words (Bauwens & Delobelle 2024, §4.1). Trees list underlying
morphemes; they are aligned where they do not concatenate to the word. Nothing here recurses:
brackets may be nested as deeply as a line is long.

*UniSegments 1.0*: form, lemma, word class, `seg + ment + ation`, and
`{"annot_name": …, "segmentation": [{"morpheme": …, "span": [0, 1, 2], "type": "root"}, …]}`. The
fourth column concatenates to the form. A span holds the positions of a morpheme's letters, from 0;
some letters may belong to none, and `morpheme` and `type` may be absent. A morpheme whose letters
are apart (a circumfix, a root around an infix) is several segments, but one morpheme. `annot_name`
is the layer: one word may have lines of several, of which the first one counts. Where each morph
has a known type, the whole words follow, unless there is a `stem`, which may be an undivided
compound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from morphgraph.reference.align import SourceRow, entries_from, is_hyphen
from morphgraph.reference.entry import (
    Entry,
    MorphemeKind,
    joins_left,
    processes_of,
    resolve_kinds,
)
from morphgraph.reference.source import (
    NumberedLine,
    Skips,
    Unusable,
    check_morphemes,
    check_word,
    usable_rows,
)

# ------------------------------------------------------------------------------ CELEX

_TAG = re.compile(r"\[([^\[\]()]*)\]")
_TEXT = re.compile(r"[^()\[\],]*")


class TreeError(Unusable):
    """Raised for a StrucLab that is not a well-formed tree."""

    def __str__(self) -> str:
        return f"tree not well-formed: {super().__str__()}"


@dataclass(slots=True)
class Node:
    """A node of the tree: its tag, its text if it is a leaf, and its children in order.

    ``sizes``: the number of leaves in each of its whole words.
    """

    tag: str = ""
    text: str | None = None
    children: list[Node] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


def kind_of_tag(tag: str) -> MorphemeKind:
    """Return whether a tag means a free morpheme, a prefix, a suffix or an interfix.

    >>> [kind_of_tag(tag).value for tag in ("N", "N|A.", "V|.V", "P", "N|N.N")]
    ['free', 'suffix', 'prefix', 'prefix', 'interfix']
    """
    if tag.endswith("."):
        return MorphemeKind.SUFFIX
    if "|." in tag or tag == "P":
        return MorphemeKind.PREFIX
    return MorphemeKind.INTERFIX if "." in tag else MorphemeKind.FREE


def _is_either(tag: str) -> bool:
    """Whether a tag has the marks of both a prefix and a suffix, like [V|.] in bemannen."""
    return tag.endswith(".") and "|." in tag


class Siblings(NamedTuple):
    """The children of a node, with their kinds, resolved by their neighbours.

    ``joins``: whether each joins the one before it; ``is_whole``: whether it stays undivided.
    """

    kinds: list[MorphemeKind]
    joins: list[bool]
    is_whole: list[bool]


def siblings(tags: Sequence[str]) -> Siblings:
    """Resolve the kinds of siblings from their tags and order.

    An affix that may be on either side is a prefix if something follows, a suffix if something
    precedes, and joins both where both are there (its kind is then that of a prefix). [P] is no
    prefix where nothing follows.

    >>> found = siblings(["V|.", "N", "V|."])
    >>> [kind.value for kind in found.kinds], found.joins, found.is_whole
    (['prefix', 'free', 'suffix'], [False, True, True], [False, True, False])
    >>> [kind.value for kind in siblings(["B", "P"]).kinds]
    ['free', 'free']
    """
    kinds = [kind_of_tag(tag) for tag in tags]
    if tags[-1] == "P":
        kinds[-1] = MorphemeKind.FREE
    either = [_is_either(tag) for tag in tags]
    as_suffix = as_prefix = resolved = resolve_kinds(kinds)
    if any(either):
        pairs = zip(kinds, either, strict=True)
        as_prefix = resolve_kinds([MorphemeKind.PREFIX if both else kind for kind, both in pairs])
        last = len(tags) - 1
        resolved = [
            as_prefix[i] if both and i < last else as_suffix[i] for i, both in enumerate(either)
        ]
    after_prefix = [False, *(kind is MorphemeKind.PREFIX for kind in as_prefix[:-1])]
    is_suffix = [False, *(kind is MorphemeKind.SUFFIX for kind in as_suffix[1:]), False]
    return Siblings(
        resolved,
        [before or own for before, own in zip(after_prefix, is_suffix[:-1], strict=True)],
        [before or behind for before, behind in zip(after_prefix, is_suffix[1:], strict=True)],
    )


def parse_tree(text: str) -> list[Node]:
    """Parse a StrucLab; the nodes come children first, so that the root is the last.

    Raises `TreeError` where the text is not one tree of brackets, each with a tag.
    """
    done: list[Node] = []
    open_nodes: list[Node] = []
    at, expect_node = 0, True
    while at < len(text):
        char = text[at]
        if expect_node:
            if char != "(":
                raise TreeError("no opening bracket where a morpheme should begin")
            node = Node()
            if open_nodes:
                open_nodes[-1].children.append(node)
            open_nodes.append(node)
            at += 1
            if text[at : at + 1] != "(":
                found = _TEXT.match(text, at)
                node.text = found.group() if found else ""
                at += len(node.text)
                expect_node = False
        elif char == "," and open_nodes and open_nodes[-1].children:
            at += 1
            expect_node = True
        elif char == ")" and open_nodes:
            tag = _TAG.match(text, at + 1)
            if tag is None:
                raise TreeError("no tag after a closing bracket")
            node = open_nodes.pop()
            node.tag = tag.group(1)
            done.append(node)
            at = tag.end()
        else:
            raise TreeError("something stands between the brackets")
    if open_nodes or expect_node:
        raise TreeError("a bracket is not closed")
    return done


def pieces_of(nodes: list[Node]) -> list[int]:
    """Number the whole word of each leaf, from 0, for nodes from `parse_tree`.

    A child right after a prefix sibling or right before a suffix sibling is taken whole, other
    children are segmented in turn, affixes too; an affix joins its neighbour, an interfix
    stands alone unless a prefix precedes or a suffix follows.

    >>> pieces_of(parse_tree("((keizer)[N],(s)[N|N.N],(kroon)[N])[N]"))
    [0, 1, 2]
    >>> pieces_of(parse_tree("((here)[B],((up)[B],(on)[P])[P])[B]"))
    [0, 1, 2]
    >>> pieces_of(parse_tree("((kelder)[N],(((ver)[V|.A],(diep)[A])[V],(ing)[N|V.])[N])[N]"))
    [0, 1, 1, 1]
    """
    for node in nodes:
        if node.text is not None:
            node.sizes = [1]
            continue
        _, joins, is_whole = siblings([child.tag for child in node.children])
        for child, joined, whole in zip(node.children, joins, is_whole, strict=True):
            parts = [sum(child.sizes)] if whole and len(node.children) > 1 else child.sizes
            if joined and node.sizes:
                node.sizes[-1] += parts.pop(0)
            node.sizes += parts
    return [number for number, size in enumerate(nodes[-1].sizes) for _ in range(size)]


def kinds_of(nodes: list[Node]) -> list[MorphemeKind]:
    """Return the kind of each leaf, by its tag and its siblings (see `siblings`).

    A leaf that is alone in a node has the kind of that node.

    >>> [kind.value for kind in kinds_of(parse_tree("((ab)[N],(c)[A|N.x],(d)[A|Nx.])[A]"))]
    ['free', 'suffix', 'suffix']
    """
    leaves = [node for node in nodes if node.text is not None]
    kinds = {id(leaf): siblings([leaf.tag]).kinds[0] for leaf in leaves}
    lone = {id(leaf): id(leaf) for leaf in leaves}
    for node in nodes:
        if node.children:
            for child, kind in zip(
                node.children, siblings([child.tag for child in node.children]).kinds, strict=True
            ):
                leaf = lone.get(id(child))
                if leaf is not None:
                    kinds[leaf] = kind
                    if len(node.children) == 1:
                        lone[id(node)] = leaf
    return list(kinds.values())


def split_columns(line: str) -> tuple[str, str] | None:
    r"""Return the word and the tree of a line, or None if no column starts like a tree.

    >>> split_columns("12\\kroon\\(kroon)[N]")
    ('kroon', '(kroon)[N]')
    """
    if "\t" in line:
        columns = line.split("\t")
    elif "\\" in line:
        columns = line.split("\\")
    else:
        columns = line.split(None, 1)
    columns = [column.strip() for column in columns]
    tree = next((column for column in columns if column.startswith("(")), None)
    if tree is None:
        return None
    others = (c for c in columns if c and not c.startswith("(") and not c.isdecimal())
    return next(others, ""), tree


def looks_like_celex(line: str) -> bool:
    """Return whether a line has a column with a StrucLab tree."""
    found = split_columns(line) if ")[" in line else None
    return found is not None and found[1].endswith("]")


def celex(number: int, line: str, include_foreign: bool = False) -> SourceRow:
    """Return a line of CELEX; a word tagged [F] (foreign) only if asked for."""
    found = split_columns(line)
    if found is None:
        raise Unusable("no tree of morphemes")
    word, tree = check_word(found[0]), found[1]
    nodes = parse_tree(tree)
    if not include_foreign and any(node.tag == "F" for node in nodes):
        raise Unusable("foreign word, tagged [F]")
    leaves = [node.text for node in nodes if node.text is not None]
    check_morphemes(leaves)
    kinds = kinds_of(nodes)
    formed = processes_of(kinds)
    return SourceRow(number, word, leaves, pieces_of(nodes), kinds=kinds, processes=formed)


# ------------------------------------------------------------------------------ UniSegments

_TYPES = {
    **dict.fromkeys(("root", "stem"), MorphemeKind.FREE),
    "prefix": MorphemeKind.PREFIX,
    **dict.fromkeys(("suffix", "ending", "postfix"), MorphemeKind.SUFFIX),
    **dict.fromkeys(("interfix", "connector"), MorphemeKind.INTERFIX),
}
_STEM, _CIRCUMFIX, _INFIX = "stem", "circumfix", "infix"


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
        if self.type == _CIRCUMFIX and self.first < self.last:
            ends = {self.first: MorphemeKind.PREFIX, self.last: MorphemeKind.SUFFIX}
            return ends.get(place)
        return _TYPES.get(self.type) if place == self.first else None

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
    annotation: Any = None
    with suppress(ValueError, RecursionError):  # lines are too short for harmful nesting
        annotation = json.loads(columns[4])
    if not isinstance(annotation, dict):
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
