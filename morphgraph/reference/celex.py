"""CELEX StrucLab: bracketed trees of morphemes, each node with a word class or affix tag.

`methodically⇥(((method)[N],(ical)[A|N.])[A],(ly)[B|A.])[B]`; WebCelex exports separate columns
with a backslash. The column that holds a tree is the tree; the first other column that is not a
number is the word. Counts in such exports are not read.

The source distinguishes free and bound morphemes, so each entry has its whole words (Bauwens &
Delobelle 2024, §4.1). Trees list underlying morphemes; they are aligned where they do not
concatenate to the word. Nothing here recurses: brackets may be nested as deeply as a line is long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from morphgraph.reference.align import SourceRow
from morphgraph.reference.entry import MorphemeKind, processes_of, resolve_kinds
from morphgraph.reference.source import Unusable, check_morphemes, check_word

_TAG = re.compile(r"\[([^\[\]()]*)\]")
_TEXT = re.compile(r"[^()\[\],]*")


class TreeError(Unusable):
    """Raised for a StrucLab that is not a well-formed tree."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"tree not well-formed: {problem}")


@dataclass(slots=True)
class Node:
    """A node of the tree: its tag, its text if it is a leaf, and its children in order."""

    tag: str = ""
    text: str | None = None
    children: list[Node] = field(default_factory=list)


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
    sizes: dict[int, list[int]] = {}  # id of a node → number of leaves in each whole word
    for node in nodes:
        if node.text is not None:
            sizes[id(node)] = [1]
            continue
        if len(node.children) == 1:
            sizes[id(node)] = sizes.pop(id(node.children[0]))
            continue
        _, joins, is_whole = siblings([child.tag for child in node.children])
        joined: list[int] = []
        for i, child in enumerate(node.children):
            below = sizes.pop(id(child))
            parts = [sum(below)] if is_whole[i] else below
            if joins[i]:
                joined[-1] += parts.pop(0)
            joined += parts
        sizes[id(node)] = joined
    return [number for number, size in enumerate(sizes[id(nodes[-1])]) for _ in range(size)]


def kinds_of(nodes: list[Node]) -> list[MorphemeKind]:
    """Return the kind of each leaf, by its tag and its siblings (see `siblings`).

    >>> [kind.value for kind in kinds_of(parse_tree("((ab)[N],(c)[A|N.x],(d)[A|Nx.])[A]"))]
    ['free', 'suffix', 'suffix']
    """
    leaves: dict[int, MorphemeKind] = {}  # id of a leaf → its kind, in order
    lone: dict[int, int] = {}  # id of a node with one leaf → id of the leaf
    for node in nodes:
        if node.text is not None:
            leaves[id(node)] = siblings([node.tag]).kinds[0]
            lone[id(node)] = id(node)
            continue
        kinds = siblings([child.tag for child in node.children]).kinds
        for child, kind in zip(node.children, kinds, strict=True):
            leaf = lone.pop(id(child), None)
            if leaf is not None:
                leaves[leaf] = kind
                if len(node.children) == 1:
                    lone[id(node)] = leaf
    return list(leaves.values())


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
