"""Merge trees as SVG: one self-contained file, light or dark, without scripts or style sheets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, cast
from xml.etree.ElementTree import Element, SubElement, tostring

from morphgraph.core.text import shortened, visible, without_nan
from morphgraph.draw.colours import (
    BLAME_SCALE,
    SCENE_COLOURS,
    Theme,
    blame_colour,
    blended,
    ink_on,
    save_picture,
)
from morphgraph.draw.merge_tree import (
    LABEL,
    SMALL_LABEL,
    STACK,
    SUBLINE,
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

if TYPE_CHECKING:
    import pandas as pd

ELEMENTS: Final = frozenset({"svg", "title", "desc", "g", "rect", "path", "text"})
"""The only elements of a drawing."""

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
_LEAST_WIDTH = 460.0
_MONO, _SANS = "monospace", "sans-serif"


def to_svg(
    trees: MergeTree | Sequence[MergeTree], theme: Theme = "light", widest: float | None = None
) -> str:
    """Draw a tree, or several below each other over the same leaves, on one axis.

    ``widest``: the width above which the tokens of a tree continue in further rows, if there are
    several. Whatever the labels are, the result is XML of `ELEMENTS` only. The elements of one
    merge have its position in the order of application as ``data-step``.
    """
    if isinstance(trees, MergeTree):
        trees = [trees]
    room = None if widest is None else widest - 2 * MARGIN
    alike = len({len(tree.leaves) for tree in trees}) == 1
    drawn: list[tuple[MergeTree, TreeLayout]] = []
    for group in [trees] if alike else [[tree] for tree in trees]:
        for row in [group] if room is None else wrapped_rows(group, room):
            drawn += zip(row, aligned_layouts(row), strict=True)
    wide = max((layout.width for _, layout in drawn), default=0.0)
    width = round(max(wide, _LEAST_WIDTH) + 2 * MARGIN)
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
    _add(picture, "title", "Merge tree of " + visible_in_xml(trees[0].word if trees else ""))
    _add(picture, "desc", " ".join(_in_words(tree) for tree in trees))
    background = _add(picture, "rect", fill=SCENE_COLOURS[theme]["background"])
    x, y = max(MARGIN, (width - wide) / 2), MARGIN
    height = y
    for tree, layout in drawn:
        title = _TITLE if tree.title else 0.0
        painter = _Painter(picture, tree, layout, theme, x, y + title)
        if tree.title:
            bold = {"family": _SANS, "anchor": "start", "weight": "bold"}
            _text(picture, MARGIN, y + 14, printable(tree.title), 14, painter.ink, **bold)
        height = painter.paint()
        y = height + 34
    height = _legend(picture, trees, theme, height + 18, width - 2 * MARGIN)
    size = {"width": str(width), "height": str(round(height + MARGIN))}
    picture.attrib |= size | {"viewBox": f"0 0 {size['width']} {size['height']}"}
    background.attrib |= size
    return tostring(picture, encoding="unicode")


def _in_words(tree: MergeTree) -> str:
    tokens = " ".join(tree.label(root) for root in tree.roots)
    gold = f" Gold: {' '.join(span.label for span in tree.morphs)}." if tree.morphs else ""
    title = f"{printable(tree.title)}: " if tree.title else ""
    return f"{title}Tokens: {tokens}.{gold}"


@dataclass
class _Painter:
    """Draws one tree with its upper left corner at (x, y)."""

    picture: Element
    tree: MergeTree
    layout: TreeLayout
    theme: Theme
    x: float
    y: float

    @property
    def ink(self) -> str:
        return SCENE_COLOURS[self.theme]["text"]

    @property
    def leaf_top(self) -> float:
        return self.y + self.layout.levels * _LEVEL

    def top(self, vertex: int) -> float:
        return self.leaf_top - self.layout.boxes[vertex].level * _LEVEL

    def bar(self, vertex: int) -> float:
        """Return the height of the line that joins a merge's children."""
        return self.top(vertex) + _BOX + (_LEVEL - _BOX) / 2

    def paint(self) -> float:
        """Draw everything; return the lower edge."""
        below = self.leaf_top + _LEAF
        characters = below + 6
        morphs = below + 8 + (_ROW if self.tree.characters else 0)
        end = morphs + _ROW if self.tree.morphs else morphs
        self._gap_lines(characters, end)
        self._edges()
        for vertex in range(len(self.layout.boxes)):
            if self.tree.children(vertex):
                self._merge(vertex)
            else:
                self._leaf(vertex)
        self._marks()
        for span in self.tree.characters:
            self._bracket(span, characters, SCENE_COLOURS[self.theme]["line"])
        for span in self.tree.morphs:
            self._bracket(span, morphs, GAP_COLOURS[self.theme]["hit"])
        return end

    def _gap_lines(self, leaves_end: float, end: float) -> None:
        for gap in self.tree.gaps:
            x = self.x + self.layout.gap(gap.leaf)
            low = end if gap.kind in ("hit", "missed") else leaves_end
            _line(self.picture, f"M{x:.1f} {self.y - 4:.1f}V{low:.1f}", gap.kind, self.theme)

    def _edges(self) -> None:
        stroke = blended(SCENE_COLOURS[self.theme]["line"], self.ink, 0.15)
        for number, merge in enumerate(self.tree.merges, start=len(self.tree.leaves)):
            x, bar = self.x + self.layout.boxes[number].x, self.bar(number)
            children = merge.children
            lines = []
            for child in children:
                at = self.x + self.layout.boxes[child].x
                if child not in (children[0], children[-1]):
                    lines.append(f"M{at:.1f} {self.top(child):.1f}V{bar:.1f}")
                    continue
                bend = max(-6.0, min(6.0, x - at))
                lines.append(
                    f"M{at:.1f} {self.top(child):.1f}V{bar + abs(bend):.1f}"
                    f"Q{at:.1f} {bar:.1f} {at + bend:.1f} {bar:.1f}H{x:.1f}"
                )
            lines.append(f"M{x:.1f} {bar:.1f}V{self.top(number) + _BOX:.1f}")
            _path(self.picture, "".join(lines), stroke, data_step=str(merge.step))

    def _box(
        self, parent: Element, vertex: int, fill: str, height: float, shift: float = 0.0
    ) -> Element:
        box = self.layout.boxes[vertex]
        is_token = vertex in self.tree.roots
        edge = self.ink if is_token else blended(fill, self.ink, 0.32)
        return _add(
            parent,
            "rect",
            x=self.x + box.x - box.width / 2 + shift,
            y=self.top(vertex) - shift,
            width=box.width,
            height=height,
            rx=8 if height > _LEAF else 6,
            fill=fill,
            stroke=edge,
            stroke_width=2 if is_token else 1.2,
        )

    def _merge(self, vertex: int) -> None:
        number = vertex - len(self.tree.leaves)
        merge = self.tree.merges[number]
        group = _add(self.picture, "g", data_type=str(merge.type), data_step=str(merge.step))
        _add(group, "title", merge.tooltip)
        fill = blame_colour(merge.ratio, self.theme)
        if len(merge.children) > 2:
            # A stack of cards, as in the merge graph, marks a merge of more than two parts.
            for shift in (STACK, STACK / 2):
                self._box(group, vertex, fill, _BOX, shift)
        self._box(group, vertex, fill, _BOX)
        ink = ink_on(fill)
        x, top = self.x + self.layout.boxes[vertex].x, self.top(vertex)
        weight = "bold" if vertex in self.tree.roots else "normal"
        _text(group, x, top + 16, merge.label, LABEL, ink, weight=weight)
        _text(group, x, top + 31, subline(merge), SUBLINE, ink, _SANS)

    def _leaf(self, vertex: int) -> None:
        leaf = self.tree.leaves[vertex]
        group = _add(self.picture, "g")
        _add(group, "title", leaf.tooltip)
        fill = SCENE_COLOURS[self.theme]["background"]
        box = self._box(group, vertex, fill, _LEAF)
        if leaf.is_unknown:
            box.set("stroke-dasharray", "3 3")
        size, ink = LABEL + 1, self.ink
        if leaf.is_part:
            size, ink = SMALL_LABEL, blended(fill, ink, 0.75)
        weight = "bold" if vertex in self.tree.roots else "normal"
        x = self.x + self.layout.boxes[vertex].x
        y = self.leaf_top + _LEAF / 2 + size * 0.35
        _text(group, x, y, leaf.label, size, ink, weight=weight)

    def _marks(self) -> None:
        """Draw a cross where a merge closed a gold boundary."""
        for gap in self.tree.gaps:
            if gap.merge is not None:
                x, y = self.x + self.layout.gap(gap.leaf), self.bar(gap.merge)
                step = self.tree.merges[gap.merge - len(self.tree.leaves)].step
                _cross(self.picture, x, y, self.theme, str(step))

    def _bracket(self, span: TreeSpan, y: float, colour: str) -> None:
        first, last = self.layout.boxes[span.first], self.layout.boxes[span.last]
        left = self.x + first.x - first.width / 2 + 1
        right = self.x + last.x + last.width / 2 - 1
        _path(self.picture, f"M{left:.1f} {y:.1f}v4H{right:.1f}v-4", colour)
        _text(self.picture, (left + right) / 2, y + 18, span.label, 13, self.ink)


def _line(parent: Element, path: str, kind: GapKind, theme: Theme) -> None:
    dotted = kind in ("wrong", "split")
    _path(
        parent,
        path,
        GAP_COLOURS[theme][kind],
        stroke_width=2.2 if dotted else 1.8,
        stroke_dasharray="0.1 5" if dotted else "7 4",
        stroke_linecap="round" if dotted else "butt",
    )


def _cross(parent: Element, x: float, y: float, theme: Theme, step: str = "") -> None:
    background = SCENE_COLOURS[theme]["background"]
    named = {"data_step": step} if step else {}
    disc = f"M{x - 6:.1f} {y:.1f}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z"
    _path(parent, disc, background, fill=GAP_COLOURS[theme]["missed"], stroke_width=1.5, **named)
    arms = f"M{x - 2.4:.1f} {y - 2.4:.1f}l4.8 4.8m0 -4.8l-4.8 4.8"
    _path(parent, arms, background, stroke_width=1.8, stroke_linecap="round", **named)


def _legend(
    picture: Element, trees: Sequence[MergeTree], theme: Theme, y: float, room: float
) -> float:
    """Explain what occurs in the drawing; return the lower edge."""
    line = SCENE_COLOURS[theme]["line"]
    ink = blended(SCENE_COLOURS[theme]["background"], SCENE_COLOURS[theme]["text"], 0.8)
    x = MARGIN
    for sample, words in _explained(trees):
        sample_width = 62.0 if sample == "scale" else 22.0 if sample else 0.0
        width = sample_width + text_width(words, _LEGEND_SIZE, monospace=False)
        if x > MARGIN and x + width > MARGIN + room:
            x, y = MARGIN, y + _LEGEND_ROW
        if sample == "scale":
            for step, colour in enumerate(BLAME_SCALE[theme]):
                _add(picture, "rect", x=x + 11 * step, y=y, width=11, height=11, fill=colour)
        elif sample == "tuple":
            for shift in (4, 2, 0):
                card = _add(
                    picture, "rect", x=x + shift, y=y + 2 - shift, width=12, height=10, rx=2
                )
                card.attrib |= {"fill": SCENE_COLOURS[theme]["undefined"], "stroke": line}
        elif sample == "morph":
            _path(picture, f"M{x:.1f} {y + 3:.1f}v4h15v-4", GAP_COLOURS[theme]["hit"])
        elif sample in _MEANING:
            kind = cast(GapKind, sample)
            _line(picture, f"M{x:.1f} {y + 6:.1f}h16", kind, theme)
            if sample == "missed":
                _cross(picture, x + 8, y + 6, theme)
        _text(picture, x + sample_width, y + 10, words, _LEGEND_SIZE, ink, _SANS, "start")
        x += width + 18
    return y + 14


def _explained(trees: Sequence[MergeTree]) -> Iterator[tuple[str, str]]:
    """Return samples and meanings of what occurs in the drawing."""
    merges = [merge for tree in trees for merge in tree.merges]
    kinds = {gap.kind for tree in trees for gap in tree.gaps}
    has_ratio = any(merge.ratio == merge.ratio for merge in merges)
    if merges:
        yield "", "in a box: type, rank" + (" · blame" if has_ratio else "")
    if has_ratio:
        yield "scale", "blame from 0 to 100\xa0%"
    if any(len(merge.children) > 2 for merge in merges):
        yield "tuple", "merge of three parts or more"
    for kind in _MEANING:
        if kind in kinds:
            yield kind, _MEANING[kind]
    if any(tree.morphs for tree in trees):
        yield "morph", "gold morph"


def _add(parent: Element, name: str, content: str = "", **attributes: str | float) -> Element:
    """Add a child element; ``_`` stands for ``-``, and numbers have one decimal."""
    written = {
        key.replace("_", "-"): value if isinstance(value, str) else f"{value:.1f}"
        for key, value in attributes.items()
    }
    element = SubElement(parent, name, written)
    element.text = content or None
    return element


def _path(
    parent: Element,
    path: str,
    stroke: str,
    fill: str = "none",
    stroke_width: float = 1.5,
    **attributes: str,
) -> None:
    width = f"{stroke_width:.1f}"
    _add(parent, "path", d=path, fill=fill, stroke=stroke, stroke_width=width, **attributes)


def _text(
    parent: Element,
    x: float,
    y: float,
    content: str,
    size: float,
    fill: str,
    family: str = _MONO,
    anchor: str = "middle",
    weight: str = "normal",
) -> None:
    place: dict[str, str | float] = {"x": x, "y": y, "text_anchor": anchor}
    font: dict[str, str | float] = {"font_family": family, "font_size": size, "font_weight": weight}
    _add(parent, "text", content, fill=fill, **place, **font)


@dataclass(frozen=True, repr=False)
class TreePicture:
    """The merge tree of a word; a notebook displays it.

    >>> tokeniser.tree("houses")
    <TreePicture houses: ␣houses>
    """

    tree: MergeTree

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON: atoms, merges in the order of application, gold boundaries.

        A vertex is the number of an atom, from 0, or of a merge after the last atom. Undefined
        blame is null.

        >>> found = tokeniser.tree("undesirable").to_dict()
        >>> found["merges"][0]["label"], len(found["leaves"])
        ('nd', 12)
        """
        found: dict[str, Any] = without_nan(asdict(self.tree))
        return found

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
        return to_svg(self.tree)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to an SVG file.

        >>> tokeniser.tree("undesirable").save("tree.svg")
        """
        save_picture(path, ".svg", self.to_svg())

    def __repr__(self) -> str:
        """One line: the word and its tokens."""
        tokens = " ".join(self.tree.label(root) for root in self.tree.roots)
        return f"<TreePicture {visible(self.tree.word)}: {shortened(tokens, 200)}>"

    def _repr_svg_(self) -> str:
        return self.to_svg()
