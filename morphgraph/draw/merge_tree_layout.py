"""The layout of a merge tree: leaves on one line, merges centred above them.

A tidy layout after Reingold & Tilford 1981, with boxes of any width: neighbouring subtrees are as
close as their outlines allow, with more space between tokens. A tree that is too wide is split.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from morphgraph.core.text import in_percent
from morphgraph.draw.merge_tree import MergeTree, TreeSpan

LABEL, SMALL_LABEL, SUBLINE = 14.0, 12.0, 12.0
"""Sizes of type labels, of bytes, and of ranks under type labels."""

BESIDE, BETWEEN_TOKENS = 9.0, 28.0
STACK = 6.0
"""The offset of the stacked cards of a tuple merge, to the right and upwards."""

_STEM = 7.0
"""Half of the space that a vertical line takes."""


@dataclass(frozen=True, slots=True)
class Box:
    """A vertex's position: its centre, its width, and its level, 0 for leaves."""

    x: float
    width: float
    level: int


@dataclass(frozen=True)
class TreeLayout:
    """Boxes of leaves, then of merges; x runs from 0 to ``width``, levels from 0 to ``levels``.

    ``splits``: the last leaf of a token → the middle of the gap after the token.
    """

    boxes: tuple[Box, ...]
    width: float
    levels: int
    splits: Mapping[int, float]

    def gap(self, leaf: int) -> float:
        """Return the middle between a leaf and the next one, or between their tokens."""
        if leaf in self.splits:
            return self.splits[leaf]
        left, right = self.boxes[leaf], self.boxes[leaf + 1]
        return (left.x + left.width / 2 + right.x - right.width / 2) / 2


def text_width(text: str, size: float, monospace: bool = True) -> float:
    """Return the approximate width of a text, in the units of ``size``.

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
    """Return the text below a merge's type: its rank, and its blame if defined."""
    found = tree.merges[merge]
    ratio = "" if found.ratio != found.ratio else f" · {in_percent(found.ratio, 0)}"
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
            outlines[child] = _Outline([], [])  # from here on only its parent's is needed
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


def aligned_layouts(trees: Sequence[MergeTree]) -> list[TreeLayout]:
    """Lay out trees over the same leaves with each leaf at one x in all.

    Neighbouring leaves are as far apart as in the tree that needs most space; wider gaps bring
    nothing closer together.
    """
    layouts = [lay_out(tree) for tree in trees]
    leaves = len(trees[0].leaves)
    if len(trees) == 1 or not leaves:
        return layouts
    places = [max(layout.boxes[0].x for layout in layouts)]
    for leaf in range(1, leaves):
        gaps = (layout.boxes[leaf].x - layout.boxes[leaf - 1].x for layout in layouts)
        places.append(places[-1] + max(gaps))
    return [_moved(tree, lay, places) for tree, lay in zip(trees, layouts, strict=True)]


def _moved(tree: MergeTree, layout: TreeLayout, places: Sequence[float]) -> TreeLayout:
    """Return a layout with its leaves moved further apart."""
    old = [box.x for box in layout.boxes]
    x = list(places)
    for vertex in range(len(places), len(old)):
        children = tree.children(vertex)
        x.append((x[children[0]] + x[children[-1]]) / 2)
    splits = {}
    for leaf, split in layout.splits.items():
        more = 0.0
        if leaf + 1 < len(places):
            more = (places[leaf + 1] - places[leaf]) - (old[leaf + 1] - old[leaf])
        splits[leaf] = places[leaf] + split - old[leaf] + more / 2
    boxes = tuple(
        replace(box, x=round(place, 1)) for box, place in zip(layout.boxes, x, strict=True)
    )
    width = layout.width + max(new - before for new, before in zip(x, old, strict=True))
    return TreeLayout(boxes, width, layout.levels, splits)


@dataclass(frozen=True, slots=True)
class _Outline:
    """The extent of a subtree on either side of its root, by level."""

    left: list[float]
    right: list[float]


def _leaf_width(label: str, is_part: bool) -> float:
    return max(26.0, text_width(label, SMALL_LABEL if is_part else LABEL + 1) + 12)


def _joined(
    children: Sequence[_Outline], width: float, level: int
) -> tuple[_Outline, Sequence[float]]:
    """Return the outline of a vertex over its children, and their offsets from it."""
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
    """Return an outline with the line from its root extended to just below a level."""
    stem = [_STEM] * (level - len(outline.left))
    return [*outline.left, *(-s for s in stem)], [*outline.right, *stem]


# --- rows -----------------------------------------------------------------------------------


def wrapped_rows(trees: Sequence[MergeTree], widest: float) -> list[list[MergeTree]]:
    """Split trees over the same leaves into rows of at most a width, or of one token.

    A row ends where a token ends in all trees. Only the first row has titles. A character or morph
    that continues in the next row is in both, with an ellipsis.
    """
    layouts = aligned_layouts(trees)
    if not trees[0].leaves or max(layout.width for layout in layouts) <= widest:
        return [list(trees)]
    ends = set.intersection(*({_leaves(tree, root)[1] for root in tree.roots} for tree in trees))
    starts: list[int] = []
    left = edge = 0.0
    first = 0
    for end in sorted(ends):
        right = max(layout.splits[end] for layout in layouts) - BETWEEN_TOKENS / 2
        if not starts or right - left > widest:
            starts.append(first)
            left = edge + BETWEEN_TOKENS if first else 0.0
        edge, first = right, end + 1
    lasts = [*(start - 1 for start in starts[1:]), len(trees[0].leaves) - 1]
    rows = [
        [_part(tree, first, last) for tree in trees]
        for first, last in zip(starts, lasts, strict=True)
    ]
    return [rows[0], *([replace(part, title="") for part in row] for row in rows[1:])]


def _leaves(tree: MergeTree, vertex: int) -> tuple[int, int]:
    """Return the first and the last leaf of a vertex."""
    if vertex < len(tree.leaves):
        return vertex, vertex
    merge = tree.merges[vertex - len(tree.leaves)]
    return merge.first, merge.last


def _part(tree: MergeTree, first: int, last: int) -> MergeTree:
    """Return the tokens from one leaf up to another."""
    ends = [(root, _leaves(tree, root)) for root in tree.roots]
    roots = [root for root, (start, end) in ends if first <= start and end <= last]
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
