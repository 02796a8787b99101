"""A merge tree that is too wide, as several, each with some of its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from morphgraph.draw.merge_tree import MergeTree, TreeSpan
from morphgraph.draw.merge_tree_layout import BETWEEN_TOKENS, lay_out


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
