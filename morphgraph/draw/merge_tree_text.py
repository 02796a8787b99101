"""Merge trees in characters, for a terminal."""

import math
from collections.abc import Iterator

from morphgraph.core.text import side_by_side
from morphgraph.draw.merge_tree import MergeTree


def in_characters(tree: MergeTree) -> str:
    """Draw a tree from its tokens down to its atoms, a line each, with the ranks of its merges.

    Before a line stand the rank of the merge and, if any is known, its blame R (n/a: it joins in no
    word of the gold); behind it, where it closed gold boundaries, a × and the parts that it joined.
    """
    lines = [*_lines(tree)]
    merges = [tree.merge_at(vertex) for vertex, _ in lines]
    ranks = ("rank", *(f"{m.rank:,}" if m and m.rank is not None else "" for m in merges))
    blame = (
        "R",
        *("" if m is None else "n/a" if math.isnan(m.ratio) else f"{m.ratio:.2f}" for m in merges),
    )
    is_known = any(math.isfinite(merge.ratio) for merge in tree.merges)
    columns = [ranks, blame] if is_known else [ranks]
    aligned = [[f"{cell:>{max(map(len, each))}}" for cell in each] for each in columns]
    drawn = zip(*aligned, ["", *(line for _, line in lines)], strict=True)
    return "\n".join("  ".join(row).rstrip() for row in drawn)


def _lines(tree: MergeTree) -> Iterator[tuple[int, str]]:
    """Yield each vertex, before those below it, with its line."""
    waiting = [(root, "", "") for root in reversed(tree.roots)]
    while waiting:
        vertex, before, below = waiting.pop()
        children, merge = tree.children(vertex), tree.merge_at(vertex)
        closed = f"  × {side_by_side([*map(tree.label, children)], ' | ')}"
        yield vertex, f"{before}{tree.label(vertex)}{closed if merge and merge.closes else ''}"
        for child in reversed(children):
            branch, ahead = ("└─ ", "   ") if child == children[-1] else ("├─ ", "│  ")
            waiting.append((child, below + branch, below + ahead))
