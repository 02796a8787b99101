"""Where the vertices of a merge tree stand: leaves on one line, merges centred above them.

A tidy layout after Reingold & Tilford 1981, with boxes of any width: neighbouring subtrees are as
close as their outlines allow, tokens stand clearly apart. A tree that is too wide becomes several.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from morphgraph.core.text import ratio_text
from morphgraph.draw.merge_tree import MergeTree, TreeSpan

LABEL, SMALL_LABEL, SUBLINE = 14.0, 12.0, 12.0
"""Sizes of type labels, of bytes, and of ranks under type labels."""

BESIDE, BETWEEN_TOKENS = 9.0, 28.0
STACK = 6.0
"""How far the stack of cards of a tuple merge stands out to the right, and above."""

_STEM = 7.0
"""Half of the room that a line on its way up takes."""


@dataclass(frozen=True, slots=True)
class Box:
    """A vertex's place: the middle, the width, and the level, 0 for leaves."""

    x: float
    width: float
    level: int


@dataclass(frozen=True)
class TreeLayout:
    """Boxes of leaves, then of merges; x runs from 0 to ``width``, levels from 0 to ``levels``.

    ``splits``: the last leaf of a token → the middle of the gap behind the token.
    """

    boxes: tuple[Box, ...]
    width: float
    levels: int
    splits: Mapping[int, float]

    def gap(self, leaf: int) -> float:
        """The middle between a leaf and the next one, or between their tokens."""
        if leaf in self.splits:
            return self.splits[leaf]
        left, right = self.boxes[leaf], self.boxes[leaf + 1]
        return (left.x + left.width / 2 + right.x - right.width / 2) / 2


def text_width(text: str, size: float, monospace: bool = True) -> float:
    """About how wide a text is, in the units of ``size``.

    >>> text_width("ab", 10), text_width("語", 10)
    (12.2, 10.4)
    """
    letter = 0.61 if monospace else 0.56
    total = 0.0
    for character in text:
        if ord(character) < 0x300:
            total += letter
        elif unicodedata.east_asian_width(character) in "WF":
            total += 1.04
        elif not unicodedata.combining(character):
            total += 0.8
    return round(total * size, 2)


def subline(tree: MergeTree, merge: int) -> str:
    """What is written below a merge's type: its rank, and R where it is defined."""
    found = tree.merges[merge]
    ratio = "" if found.ratio != found.ratio else f" · {ratio_text(found.ratio)}"
    return f"{found.rank:,}{ratio}"


def lay_out(tree: MergeTree) -> TreeLayout:
    """Place the vertices of a tree."""
    leaves = len(tree.leaves)
    widths = [_leaf_width(leaf.label, leaf.is_part) for leaf in tree.leaves]
    levels = [0] * leaves
    outlines = [_Outline([-width / 2], [width / 2]) for width in widths]
    shifts: list[Sequence[float]] = [()] * leaves
    for number, merge in enumerate(tree.merges):
        label = text_width(merge.label, LABEL)
        below = text_width(subline(tree, number), SUBLINE, monospace=False)
        widths.append(max(label, below, 22) + 12)
        levels.append(1 + max(levels[child] for child in merge.children))
        outline, places = _joined([outlines[c] for c in merge.children], widths[-1], levels[-1])
        if len(merge.children) > 2:
            outline.right[-1] += STACK
        for child in merge.children:
            outlines[child] = _Outline([], [])  # its parent's is all that is needed from here
        outlines.append(outline)
        shifts.append(places)
    x = [0.0] * len(widths)
    edge = -BETWEEN_TOKENS
    splits = {}
    for root in tree.roots:
        x[root] = edge + BETWEEN_TOKENS - min(outlines[root].left)
        edge = x[root] + max(outlines[root].right)
        last = root if root < leaves else tree.merges[root - leaves].last
        splits[last] = edge + BETWEEN_TOKENS / 2
    for vertex in range(len(widths) - 1, leaves - 1, -1):
        for child, shift in zip(tree.children(vertex), shifts[vertex], strict=True):
            x[child] = x[vertex] + shift
    boxes = tuple(
        Box(round(place, 1), width, level)
        for place, width, level in zip(x, widths, levels, strict=True)
    )
    return TreeLayout(boxes, max(edge, 0.0), max(levels, default=0), splits)


@dataclass(frozen=True, slots=True)
class _Outline:
    """How far a subtree reaches to either side of its root, by level."""

    left: list[float]
    right: list[float]


def _leaf_width(label: str, is_part: bool) -> float:
    return max(26.0, text_width(label, SMALL_LABEL if is_part else LABEL + 1) + 12)


def _joined(
    children: Sequence[_Outline], width: float, level: int
) -> tuple[_Outline, Sequence[float]]:
    """The outline of a vertex above its children, and where they stand relative to it."""
    places = [0.0]
    left, right = _risen(children[0], level)
    for child in children[1:]:
        child_left, child_right = _risen(child, level)
        place = max(r - c for r, c in zip(right, child_left, strict=True)) + BESIDE
        places.append(place)
        left = [min(a, b + place) for a, b in zip(left, child_left, strict=True)]
        right = [b + place for b in child_right]
    middle = (places[0] + places[-1]) / 2
    outline = _Outline(
        [*(edge - middle for edge in left), -width / 2],
        [*(edge - middle for edge in right), width / 2],
    )
    return outline, [place - middle for place in places]


def _risen(outline: _Outline, level: int) -> tuple[list[float], list[float]]:
    """An outline with the line from its root up to just below a level."""
    stem = [_STEM] * (level - len(outline.left))
    return [*outline.left, *(-s for s in stem)], [*outline.right, *stem]


# --- rows -----------------------------------------------------------------------------------


def wrapped_rows(tree: MergeTree, widest: float) -> list[MergeTree]:
    """The tree in rows of at most a width, as many tokens in each as fit, but at least one.

    Only the first row has the title. A character or morph that continues in the next row is in
    both, with an ellipsis.
    """
    layout = lay_out(tree)
    if layout.width <= widest:
        return [tree]
    starts: list[int] = []
    left = edge = 0.0
    for place, root in enumerate(tree.roots):
        right = layout.splits[_leaves(tree, root)[1]] - BETWEEN_TOKENS / 2
        if not starts or right - left > widest:
            starts.append(place)
            left = edge + BETWEEN_TOKENS if place else 0.0
        edge = right
    ends = [*starts[1:], len(tree.roots)]
    rows = [_part(tree, start, end) for start, end in zip(starts, ends, strict=True)]
    return [rows[0], *(replace(row, title="") for row in rows[1:])]


def _leaves(tree: MergeTree, vertex: int) -> tuple[int, int]:
    """The first and the last leaf of a vertex."""
    if vertex < len(tree.leaves):
        return vertex, vertex
    merge = tree.merges[vertex - len(tree.leaves)]
    return merge.first, merge.last


def _part(tree: MergeTree, start: int, end: int) -> MergeTree:
    """Some of the tokens, from one up to another."""
    roots = tree.roots[start:end]
    first, last = _leaves(tree, roots[0])[0], _leaves(tree, roots[-1])[1]
    kept = [n for n, merge in enumerate(tree.merges) if first <= merge.first and merge.last <= last]
    size = last + 1 - first
    new = {leaf: leaf - first for leaf in range(first, last + 1)}
    new |= {len(tree.leaves) + old: size + number for number, old in enumerate(kept)}
    return replace(
        tree,
        leaves=tree.leaves[first : last + 1],
        merges=tuple(
            replace(
                tree.merges[n],
                children=tuple(new[child] for child in tree.merges[n].children),
                first=tree.merges[n].first - first,
                last=tree.merges[n].last - first,
            )
            for n in kept
        ),
        roots=tuple(new[root] for root in roots),
        gaps=tuple(
            replace(gap, leaf=gap.leaf - first, merge=None if gap.merge is None else new[gap.merge])
            for gap in tree.gaps
            if first <= gap.leaf <= last
        ),
        characters=tuple(_clipped(tree.characters, first, last)),
        morphs=tuple(_clipped(tree.morphs, first, last)),
    )


def _clipped(spans: tuple[TreeSpan, ...], first: int, last: int) -> Iterator[TreeSpan]:
    for span in spans:
        if span.last < first or last < span.first:
            continue
        label = "… " * (span.first < first) + span.label + " …" * (last < span.last)
        yield TreeSpan(max(span.first, first) - first, min(span.last, last) - first, label)
