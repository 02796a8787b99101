"""Merge trees as SVG: one self-contained file, light or dark, without scripts or style sheets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast
from xml.etree.ElementTree import Element, SubElement, tostring

from morphgraph.draw.merge_tree import GapKind, MergeTree, TreeSpan, printable, visible_in_xml
from morphgraph.draw.merge_tree_layout import (
    LABEL,
    SMALL_LABEL,
    STACK,
    SUBLINE,
    TreeLayout,
    lay_out,
    subline,
    text_width,
)
from morphgraph.draw.merge_tree_rows import wrapped_rows
from morphgraph.draw.scene import BLAME_SCALE, SCENE_COLOURS, Theme

ELEMENTS: Final = frozenset({"svg", "title", "desc", "g", "rect", "path", "text"})
"""The only elements of a picture."""

GAP_COLOURS: Final[Mapping[Theme, Mapping[GapKind, str]]] = {
    "light": {"hit": "#12805c", "missed": "#c2183a", "wrong": "#6d45e0", "split": "#8a93a3"},
    "dark": {"hit": "#46d39a", "missed": "#ff6f83", "wrong": "#b9a2ff", "split": "#7d8798"},
}
_DASHES: Final[Mapping[GapKind, str]] = {
    "hit": "7 4",
    "missed": "7 4",
    "wrong": "0.1 5",
    "split": "0.1 5",
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
_LEAST_WIDTH, _WIDEST_PAIR, _APART = 460.0, 1000.0, 64.0
_MONO, _SANS = "monospace", "sans-serif"


def to_svg(
    trees: MergeTree | Sequence[MergeTree], theme: Theme = "light", widest: float | None = None
) -> str:
    """Draw a tree, or several with their titles: side by side, below each other if they are wide.

    ``widest``: the width of the picture above which the tokens of a tree continue in further rows,
    if there is more than one; else a tree is as wide as it is. Whatever the labels are, the result
    is XML of `ELEMENTS` only.
    """
    if isinstance(trees, MergeTree):
        trees = [trees]
    room = None if widest is None else widest - 2 * MARGIN
    rows = [row for tree in trees for row in ([tree] if room is None else wrapped_rows(tree, room))]
    drawn = [(row, lay_out(row)) for row in rows]
    total = sum(layout.width for _, layout in drawn) + _APART * (len(drawn) - 1)
    stacked = len(rows) > len(trees) or total > min(_WIDEST_PAIR, room or _WIDEST_PAIR)
    wide = max((layout.width for _, layout in drawn), default=0.0) if stacked else total
    titled = any(tree.title for tree in trees)
    width = round(max(wide, _LEAST_WIDTH) + 2 * MARGIN)
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
    _text_child(picture, "title", "Merge tree of " + visible_in_xml(trees[0].word if trees else ""))
    _text_child(picture, "desc", " ".join(_in_words(tree) for tree in trees))
    background = SubElement(picture, "rect", {"fill": SCENE_COLOURS[theme]["background"]})
    x, y = MARGIN, MARGIN
    height = y
    highest = max((layout.levels for _, layout in drawn), default=0)
    for tree, layout in drawn:
        title = _TITLE if tree.title or (titled and not stacked) else 0.0
        levels = layout.levels if stacked else highest
        painter = _Painter(picture, tree, layout, theme, x, y + title, levels)
        if tree.title:
            _text(picture, x, y + 14, printable(tree.title), 14, _SANS, painter.ink, weight="bold")
        bottom = painter.paint()
        height = max(height, bottom)
        if stacked:
            y = bottom + 34
        else:
            x += layout.width + _APART
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
    levels: int

    @property
    def ink(self) -> str:
        return SCENE_COLOURS[self.theme]["text"]

    @property
    def leaf_top(self) -> float:
        return self.y + self.levels * _LEVEL

    def top(self, vertex: int) -> float:
        level = self.layout.boxes[vertex].level
        return self.leaf_top if level == 0 else self.leaf_top - level * _LEVEL

    def bar(self, vertex: int) -> float:
        """The height of the line that joins a merge's children."""
        return self.top(vertex) + _BOX + (_LEVEL - _BOX) / 2

    def paint(self) -> float:
        """Draw everything; returns the lower edge."""
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
            self._bracket(span, characters, SCENE_COLOURS[self.theme]["line"], 13)
        for span in self.tree.morphs:
            self._bracket(span, morphs, GAP_COLOURS[self.theme]["hit"], 13)
        return end

    def _gap_lines(self, leaves_end: float, end: float) -> None:
        for gap in self.tree.gaps:
            x = self.x + self.layout.gap(gap.leaf)
            low = end if gap.kind in ("hit", "missed") else leaves_end
            _line(self.picture, f"M{x:.1f} {self.y - 4:.1f}V{low:.1f}", gap.kind, self.theme)

    def _edges(self) -> None:
        lines = []
        for vertex, box in enumerate(self.layout.boxes):
            x, bar = self.x + box.x, self.bar(vertex)
            children = self.tree.children(vertex)
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
            if children:
                lines.append(f"M{x:.1f} {bar:.1f}V{self.top(vertex) + _BOX:.1f}")
        if lines:
            stroke = {"stroke": _mixed(SCENE_COLOURS[self.theme]["line"], self.ink, 0.15)}
            SubElement(
                self.picture,
                "path",
                {"d": "".join(lines), "fill": "none", "stroke-width": "1.5", **stroke},
            )

    def _box(
        self, parent: Element, vertex: int, fill: str, height: float, shift: float = 0.0
    ) -> Element:
        box = self.layout.boxes[vertex]
        is_token = vertex in self.tree.roots
        edge = self.ink if is_token else _mixed(fill, self.ink, 0.32)
        return SubElement(
            parent,
            "rect",
            {
                "x": f"{self.x + box.x - box.width / 2 + shift:.1f}",
                "y": f"{self.top(vertex) - shift:.1f}",
                "width": f"{box.width:.1f}",
                "height": f"{height:g}",
                "rx": "8" if height > _LEAF else "6",
                "fill": fill,
                "stroke": edge,
                "stroke-width": "2" if is_token else "1.2",
            },
        )

    def _merge(self, vertex: int) -> None:
        number = vertex - len(self.tree.leaves)
        merge = self.tree.merges[number]
        group = SubElement(self.picture, "g", {"data-type": str(merge.type)})
        _text_child(group, "title", merge.tooltip)
        undefined = SCENE_COLOURS[self.theme]["undefined"]
        fill = undefined if merge.ratio != merge.ratio else _blame(merge.ratio, self.theme)
        if len(merge.children) > 2:
            # A stack of cards, as in the merge graph: more than two parts lie under one merge.
            for shift in (STACK, STACK / 2):
                self._box(group, vertex, fill, _BOX, shift)
        self._box(group, vertex, fill, _BOX)
        ink = _ink_on(fill)
        x, top = self.x + self.layout.boxes[vertex].x, self.top(vertex)
        weight = "bold" if vertex in self.tree.roots else "normal"
        _text(group, x, top + 16, merge.label, LABEL, _MONO, ink, "middle", weight)
        faint = _mixed(fill, ink, 0.82)
        _text(group, x, top + 31, subline(self.tree, number), SUBLINE, _SANS, faint, "middle")

    def _leaf(self, vertex: int) -> None:
        leaf = self.tree.leaves[vertex]
        group = SubElement(self.picture, "g")
        _text_child(group, "title", leaf.tooltip)
        fill = SCENE_COLOURS[self.theme]["background"]
        box = self._box(group, vertex, fill, _LEAF)
        if leaf.is_unknown:
            box.set("stroke-dasharray", "3 3")
        size, ink = LABEL + 1, self.ink
        if leaf.is_part:
            size, ink = SMALL_LABEL, _mixed(fill, ink, 0.75)
        weight = "bold" if vertex in self.tree.roots else "normal"
        x = self.x + self.layout.boxes[vertex].x
        y = self.leaf_top + _LEAF / 2 + size * 0.35
        _text(group, x, y, leaf.label, size, _MONO, ink, "middle", weight)

    def _marks(self) -> None:
        """A cross where a merge closed a gold boundary."""
        for gap in self.tree.gaps:
            if gap.merge is not None:
                x, y = self.x + self.layout.gap(gap.leaf), self.bar(gap.merge)
                _cross(self.picture, x, y, self.theme)

    def _bracket(self, span: TreeSpan, y: float, colour: str, size: float) -> None:
        first, last = self.layout.boxes[span.first], self.layout.boxes[span.last]
        left = self.x + first.x - first.width / 2 + 1
        right = self.x + last.x + last.width / 2 - 1
        line = f"M{left:.1f} {y:.1f}v4H{right:.1f}v-4"
        attributes = {"d": line, "fill": "none", "stroke": colour, "stroke-width": "1.5"}
        SubElement(self.picture, "path", attributes)
        middle = (left + right) / 2
        _text(self.picture, middle, y + 18, span.label, size, _MONO, self.ink, "middle")


def _line(parent: Element, path: str, kind: GapKind, theme: Theme) -> None:
    SubElement(
        parent,
        "path",
        {
            "d": path,
            "fill": "none",
            "stroke": GAP_COLOURS[theme][kind],
            "stroke-width": "2.2" if kind in ("wrong", "split") else "1.8",
            "stroke-dasharray": _DASHES[kind],
            "stroke-linecap": "round" if kind in ("wrong", "split") else "butt",
        },
    )


def _cross(parent: Element, x: float, y: float, theme: Theme) -> None:
    background = SCENE_COLOURS[theme]["background"]
    disc = f"M{x - 6:.1f} {y:.1f}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z"
    fill = {"fill": GAP_COLOURS[theme]["missed"], "stroke": background, "stroke-width": "1.5"}
    SubElement(parent, "path", {"d": disc, **fill})
    arms = f"M{x - 2.4:.1f} {y - 2.4:.1f}l4.8 4.8m0 -4.8l-4.8 4.8"
    SubElement(
        parent,
        "path",
        {
            "d": arms,
            "fill": "none",
            "stroke": background,
            "stroke-width": "1.8",
            "stroke-linecap": "round",
        },
    )


def _legend(
    picture: Element, trees: Sequence[MergeTree], theme: Theme, y: float, room: float
) -> float:
    """What occurs in the picture, explained; returns the lower edge."""
    line = SCENE_COLOURS[theme]["line"]
    ink = _mixed(SCENE_COLOURS[theme]["background"], SCENE_COLOURS[theme]["text"], 0.8)
    x = MARGIN
    for sample, words in _explained(trees):
        sample_width = 62.0 if sample == "scale" else 22.0 if sample else 0.0
        width = sample_width + text_width(words, _LEGEND_SIZE, monospace=False)
        if x > MARGIN and x + width > MARGIN + room:
            x, y = MARGIN, y + _LEGEND_ROW
        if sample == "scale":
            for step, colour in enumerate(BLAME_SCALE[theme]):
                place = {"x": f"{x + 11 * step:.1f}", "y": f"{y:.1f}", "width": "11"}
                SubElement(picture, "rect", {**place, "height": "11", "fill": colour})
        elif sample == "tuple":
            for shift in (4, 2, 0):
                place = {"x": f"{x + shift:.1f}", "y": f"{y + 2 - shift:.1f}"}
                size = {"width": "12", "height": "10", "rx": "2"}
                paint = {"fill": SCENE_COLOURS[theme]["undefined"], "stroke": line}
                SubElement(picture, "rect", {**place, **size, **paint})
        elif sample == "morph":
            paint = {"stroke": GAP_COLOURS[theme]["hit"], "stroke-width": "1.5", "fill": "none"}
            SubElement(picture, "path", {"d": f"M{x:.1f} {y + 3:.1f}v4h15v-4", **paint})
        elif sample in _MEANING:
            kind = cast(GapKind, sample)
            _line(picture, f"M{x:.1f} {y + 6:.1f}h16", kind, theme)
            if sample == "missed":
                _cross(picture, x + 8, y + 6, theme)
        _text(picture, x + sample_width, y + 10, words, _LEGEND_SIZE, _SANS, ink)
        x += width + 18
    return y + 14


def _explained(trees: Sequence[MergeTree]) -> Iterator[tuple[str, str]]:
    """Samples and their meanings, for what occurs in the picture only."""
    merges = [merge for tree in trees for merge in tree.merges]
    kinds = {gap.kind for tree in trees for gap in tree.gaps}
    has_ratio = any(merge.ratio == merge.ratio for merge in merges)
    if merges:
        yield "", "in a box: type, rank" + (" · R" if has_ratio else "")
    if has_ratio:
        yield "scale", "blame R from 0 to 1"
    if any(len(merge.children) > 2 for merge in merges):
        yield "tuple", "merge of three parts or more"
    for kind in _MEANING:
        if kind in kinds:
            yield kind, _MEANING[kind]
    if any(tree.morphs for tree in trees):
        yield "morph", "gold morph"


def _text_child(parent: Element, name: str, content: str) -> None:
    SubElement(parent, name).text = content


def _text(
    parent: Element,
    x: float,
    y: float,
    content: str,
    size: float,
    family: str,
    fill: str,
    anchor: str = "start",
    weight: str = "normal",
) -> None:
    attributes = {
        "x": f"{x:.1f}",
        "y": f"{y:.1f}",
        "font-family": family,
        "font-size": f"{size:g}",
        "fill": fill,
    }
    if anchor != "start":
        attributes["text-anchor"] = anchor
    if weight != "normal":
        attributes["font-weight"] = weight
    SubElement(parent, "text", attributes).text = content


# -------------------------------------------------------------------------------- colours


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mixed(first: str, second: str, share: float) -> str:
    pairs = zip(_rgb(first), _rgb(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _blame(ratio: float, theme: Theme) -> str:
    scale = BLAME_SCALE[theme]
    place = min(1.0, max(0.0, ratio)) * (len(scale) - 1)
    step = min(len(scale) - 2, int(place))
    return _mixed(scale[step], scale[step + 1], place - step)


def _ink_on(fill: str) -> str:
    """Black or white, whichever is read more easily on a fill."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255 for value in _rgb(fill))
    ]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (light + 0.05) > (light + 0.05) / 0.06 else "#16181d"
