"""Merge trees as SVG: one self-contained file, light or dark, without scripts or style sheets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from morphgraph.core.text import shortened, visible, without_nan
from morphgraph.draw import (
    BLAME_SCALE,
    SCENE_COLOURS,
    Theme,
    blame_colour,
    blended,
    ink_on,
    save_picture,
)
from morphgraph.draw.merge_tree import (
    STACK,
    GapKind,
    MergeTree,
    TreeLayout,
    TreeSpan,
    aligned_layouts,
    printable,
    subline,
    text_width,
    visible_in_xml,
    wrapped_rows,
)
from morphgraph.draw.merge_tree_text import in_characters
from morphgraph.tables.writing import rendered

if TYPE_CHECKING:
    import pandas as pd

GAP_COLOURS: Final[Mapping[Theme, Mapping[GapKind, str]]] = {
    "light": {"hit": "#12805c", "missed": "#c2183a", "wrong": "#6d45e0", "split": "#8a93a3"},
    "dark": {"hit": "#46d39a", "missed": "#ff6f83", "wrong": "#b9a2ff", "split": "#7d8798"},
}
_MEANING: Final[Mapping[GapKind, str]] = {
    "hit": "gold boundary, split",
    "missed": "gold boundary, closed by the merge at ×",
    "wrong": "split inside a morph",
    "split": "split",
}

MARGIN = 16.0
_LEAF, _BOX, _LEVEL, _TITLE, _ROW = 28.0, 38.0, 62.0, 30.0, 24.0
_LEGEND_ROW, _LEGEND_SIZE = 22.0, 12.0
_LEGEND_LEAST, _LEGEND_MOST = 300.0, 460.0  # widths that it makes a narrower tree have


def to_svg(
    trees: MergeTree | Sequence[MergeTree],
    theme: Theme = "light",
    widest: float | None = None,
    *,
    has_legend: bool = True,
) -> str:
    """Draw a tree, or several below each other over the same leaves, on one axis.

    ``widest``: the width above which a tree continues in further rows. Whatever the labels are, the
    result is XML of a few known elements only. The elements of a merge have its ``data-step``.
    """
    if isinstance(trees, MergeTree):
        trees = [trees]
    room = None if widest is None else widest - 2 * MARGIN
    alike = len({len(tree.leaves) for tree in trees}) == 1
    pairs: list[tuple[MergeTree, TreeLayout]] = []
    for group in [trees] if alike else [[tree] for tree in trees]:
        for row in [group] if room is None else wrapped_rows(group, room):
            pairs += zip(row, aligned_layouts(row), strict=True)
    wide = max((layout.width for _, layout in pairs), default=0.0)
    least = min(max(room or _LEGEND_MOST, _LEGEND_LEAST), _LEGEND_MOST) if has_legend else 0
    width = round(max(wide, least) + 2 * MARGIN)
    x, y = max(MARGIN, (width - wide) / 2), MARGIN
    drawn: list[_Placed] = []
    for tree, layout in pairs:
        drawn.append(_Placed(tree, layout, x, y + (_TITLE if tree.title else 0.0)))
        y = drawn[-1].end + 34
    below = (drawn[-1].end if drawn else y) + 18
    legend = list(_legend(trees if has_legend else (), below, width - 2 * MARGIN))
    bottom = legend[-1][3] if legend else below - 18
    functions = (blame_colour, blended, ink_on, subline, printable)
    svg = rendered(
        "merge_tree.svg.j2",
        word=visible_in_xml(trees[0].word if trees else ""),
        described=" ".join(map(_in_words, trees)),
        width=width,
        height=round(bottom + 14 + MARGIN),
        drawn=drawn,
        legend=legend,
        theme=theme,
        colours=SCENE_COLOURS[theme],
        gaps=GAP_COLOURS[theme],
        scale=BLAME_SCALE[theme],
        margin=MARGIN,
        stack=STACK,
        **{function.__name__: function for function in functions},
    )
    return re.sub(r">\s+<", "><", svg.strip())


def _in_words(tree: MergeTree) -> str:
    tokens = " ".join(tree.label(root) for root in tree.roots)
    gold = f" Gold: {' '.join(span.label for span in tree.morphs)}." if tree.morphs else ""
    title = f"{printable(tree.title)}: " if tree.title else ""
    if tree.merges and tree.merges[-1].tag:
        return f"{title}{'; '.join(vertex.description for vertex in tree.merges)}."
    return f"{title}Tokens: {tokens}.{gold}"


@dataclass
class _Placed:
    """A tree with its upper left corner at (x, y), and where its template draws things."""

    tree: MergeTree
    layout: TreeLayout
    x: float
    y: float

    def __post_init__(self) -> None:
        self.leaf_top = self.y + self.layout.levels * _LEVEL
        self.characters = self.leaf_top + _LEAF + 6
        self.morphs = self.characters + 2 + (_ROW if self.tree.characters else 0)
        self.end = self.morphs + _ROW if self.tree.morphs else self.morphs

    def at(self, vertex: int) -> float:
        return self.x + self.layout.boxes[vertex].x

    def top(self, vertex: int) -> float:
        return self.leaf_top - self.layout.boxes[vertex].level * _LEVEL

    def bar(self, vertex: int) -> float:
        """Return the height of the line that joins a merge's children."""
        return self.top(vertex) + _BOX + (_LEVEL - _BOX) / 2

    def gap(self, leaf: int) -> float:
        return self.x + self.layout.gap(leaf)

    def edges(self, span: TreeSpan) -> tuple[float, float]:
        first, last = self.layout.boxes[span.first], self.layout.boxes[span.last]
        return (self.x + first.x - first.width / 2 + 1, self.x + last.x + last.width / 2 - 1)

    def branches(self, merge: int) -> str:
        """Return the path from a merge's children to it."""
        vertex, children = len(self.tree.leaves) + merge, self.tree.merges[merge].children
        x, bar = self.at(vertex), self.bar(vertex)
        lines = []
        for child in children:
            at, start = self.at(child), f"M{self.at(child):.1f} {self.top(child):.1f}V"
            if child not in (children[0], children[-1]):
                lines.append(f"{start}{bar:.1f}")
                continue
            bend = max(-6.0, min(6.0, x - at))
            curve = f"Q{at:.1f} {bar:.1f} {at + bend:.1f} {bar:.1f}H{x:.1f}"
            lines.append(f"{start}{bar + abs(bend):.1f}{curve}")
        return "".join([*lines, f"M{x:.1f} {bar:.1f}V{self.top(vertex) + _BOX:.1f}"])


def _legend(
    trees: Sequence[MergeTree], y: float, room: float
) -> Iterator[tuple[str, str, float, float, float]]:
    """Yield samples of what occurs, their meanings, places, and the width of the sample."""
    x = MARGIN
    for sample, words in _explained(trees):
        sample_width = 62.0 if sample == "scale" else 22.0 if sample else 0.0
        width = sample_width + text_width(words, _LEGEND_SIZE, monospace=False)
        if x > MARGIN and x + width > MARGIN + room:
            x, y = MARGIN, y + _LEGEND_ROW
        yield sample, words, x, y, sample_width
        x += width + 18


def _explained(trees: Sequence[MergeTree]) -> Iterator[tuple[str, str]]:
    """Yield samples and meanings of what occurs in the drawing."""
    merges = [merge for tree in trees for merge in tree.merges if not merge.tag]
    kinds = {gap.kind for tree in trees for gap in tree.gaps}
    has_ratio = any(merge.ratio == merge.ratio for merge in merges)
    if merges:
        yield "", "in a box: type, rank" + (" · blame" if has_ratio else "")
    if has_ratio:
        yield "scale", "blame from 0 to 100\xa0%"
    if any(len(merge.children) > 2 for merge in merges):
        yield "tuple", "merge of three parts or more"
    yield from ((kind, meaning) for kind, meaning in _MEANING.items() if kind in kinds)
    if any(tree.morphs for tree in trees):
        yield "morph", "gold morph"
    if any(merge.tag for tree in trees for merge in tree.merges):
        yield "", "in the gold's tree: letters, tag, morpheme if spelled differently"


@dataclass(frozen=True, repr=False)
class TreePicture:
    """The merge tree of a word, with the gold's own tree where it has one; a notebook displays it.

    In a shell ``print`` draws it in characters, with the rank of each merge and its blame R.

    >>> tokeniser.tree("houses")
    <TreePicture houses: ␣houses>
    >>> print(tokeniser.tree("two"))
    rank
     390  ␣two
     314  ├─ ␣tw
       0  │  ├─ ␣t
          │  │  ├─ ␣
          │  │  └─ t
          │  └─ w
          └─ o
    """

    tree: MergeTree
    gold: Sequence[MergeTree] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON: atoms, merges in the order of application, gold boundaries.

        A vertex is the number of an atom, from 0, or of a merge after the last atom. Undefined
        blame is null. Constituents of the gold's tree are in ``gold``.

        >>> found = tokeniser.tree("undesirable").to_dict()
        >>> found["merges"][0]["label"], len(found["leaves"])
        ('nd', 12)
        """
        plain: dict[str, Any] = without_nan(asdict(self.tree))
        if self.gold:
            plain["gold"] = without_nan(
                [asdict(each) for tree in self.gold for each in tree.merges]
            )
        return plain

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each merge that was applied, in order: its rank, parts, type and blame.

        ``first`` and ``last`` are the outermost atoms below it, ``closes`` is how many gold
        boundaries it closed in this word.

        >>> list(tokeniser.tree("undesirable").to_frame()["merge"])[:2]
        ['n + d → nd', 'e + s → es']
        """
        import pandas as pd

        rows = [
            (m.rank, m.description, m.label, m.ratio, m.first, m.last, m.closes)
            for m in self.tree.merges
        ]
        return pd.DataFrame(rows, columns=["rank", "merge", "type", "R", "first", "last", "closes"])

    def to_svg(self) -> str:
        """Return the drawing as SVG.

        >>> tokeniser.tree("undesirable").to_svg()[:4]
        '<svg'
        """
        return to_svg([self.tree, *self.gold])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to an SVG file.

        >>> tokeniser.tree("undesirable").save("tree.svg")
        """
        save_picture(path, ".svg", self.to_svg())

    def __str__(self) -> str:
        return in_characters(self.tree)

    def __repr__(self) -> str:
        tokens = " ".join(self.tree.label(root) for root in self.tree.roots)
        return f"<TreePicture {visible(self.tree.word)}: {shortened(tokens, 200)}>"

    def _repr_svg_(self) -> str:
        return self.to_svg()
