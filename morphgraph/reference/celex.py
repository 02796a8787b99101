"""CELEX's StrucLab: trees of morphemes in brackets (docs/reference/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from morphgraph.reference.align import SourceRow
from morphgraph.reference.entry import MorphemeKind, processes_of, resolve_kinds
from morphgraph.reference.source import Unusable, check_morphemes, check_word

FREE, PREFIX, SUFFIX = MorphemeKind.FREE, MorphemeKind.PREFIX, MorphemeKind.SUFFIX

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
        """Take the tag, and resolve the children by their order (docs/reference/formats.md).

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
