"""The merge tree of a word as plain data, and where its vertices stand."""

import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from morphgraph.core.text import in_percent, side_by_side
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.blame import Blame
from morphgraph.refine.study import Study
from morphgraph.tokeniser.merging import Derivation, derive
from morphgraph.tokeniser.preprocess import shown_token
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import INSIDE_CHARACTER, NO_GAP, UNKNOWN, Words

GapKind = Literal["hit", "missed", "wrong", "split"]


@dataclass(frozen=True, slots=True)
class TreeLeaf:
    """An atom; ``is_part``: it is no whole character; ``is_unknown``: outside the alphabet."""

    label: str
    tooltip: str
    is_part: bool
    is_unknown: bool
    type: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class TreeMerge:
    """One application of a merge, or a piece that stays whole, with the first merge of its type.

    ``children``: leaf i is i, merge k is the number of leaves + k. ``first`` and ``last`` are the
    outermost leaves below it; ``closes`` counts gold boundaries that it closed; ``merge`` and
    ``type`` are ids in the graph. If it stays whole, ``rank`` is None, and ``merge`` is -1 if no
    merge makes the type. A constituent of a gold tree has a ``tag`` and neither.
    """

    label: str
    tooltip: str
    description: str
    rank: int | None
    ratio: float
    children: tuple[int, ...]
    first: int
    last: int
    closes: int
    merge: int
    type: int
    step: int = 0
    tag: str = ""


@dataclass(frozen=True, slots=True)
class TreeGap:
    """A marked gap after a leaf.

    "hit": a split on a gold boundary; "missed": one closed by the vertex ``merge``; "wrong": a
    split inside a morph; "split": one that counts in no score.
    """

    leaf: int
    kind: GapKind
    merge: int | None = None


@dataclass(frozen=True, slots=True)
class TreeSpan:
    """Adjacent leaves, ``last`` included: the bytes of a character, or a morph."""

    first: int
    last: int
    label: str


@dataclass(frozen=True)
class MergeTree:
    """The derivation of a word's tokens; ``roots`` are these, as vertices."""

    word: str
    leaves: tuple[TreeLeaf, ...]
    merges: tuple[TreeMerge, ...]
    roots: tuple[int, ...]
    gaps: tuple[TreeGap, ...]
    characters: tuple[TreeSpan, ...]
    morphs: tuple[TreeSpan, ...]
    has_gold: bool
    title: str = ""

    def merge_at(self, vertex: int) -> TreeMerge | None:
        """Return the merge of a vertex; None for a leaf."""
        return None if vertex < len(self.leaves) else self.merges[vertex - len(self.leaves)]

    def label(self, vertex: int) -> str:
        """Return the label of a leaf or merge."""
        return (self.merge_at(vertex) or self.leaves[vertex]).label

    def children(self, vertex: int) -> tuple[int, ...]:
        """Return the children of a vertex; a leaf has none."""
        merge = self.merge_at(vertex)
        return () if merge is None else merge.children

    def ends(self, vertex: int) -> tuple[int, int]:
        """Return the first and the last leaf of a vertex."""
        merge = self.merge_at(vertex)
        return (vertex, vertex) if merge is None else (merge.first, merge.last)


def describe_tree(
    tokeniser: BpeTokeniser,
    words: Words,
    word: int,
    *,
    graph: MergeGraph | None = None,
    blame: Blame | None = None,
    gold: Collection[int] | None = None,
    title: str = "",
) -> MergeTree:
    """Segment a word and describe its merge tree.

    ``graph``, ``blame``: of one state; ``gold``: the atoms, counted within the word, that precede a
    gold boundary, if known.
    """
    graph = tokeniser.graph if graph is None else graph
    derivation, text = derive(graph, words, word), words.texts[word]
    start = int(words.word_offsets[word])
    positions = [int(p) for p in words.gap_position[start : start + derivation.atom_count]]
    characters = _characters(text, positions)
    owner = {leaf: span for span in characters for leaf in range(span.first, span.last + 1)}
    gaps = tuple(_gaps(derivation, positions, gold))
    leaves = []
    behind = [(each.atom - start - 1, each.text) for each in words.left_out_of(word)]
    for place, vertex in enumerate(derivation.vertices[: derivation.atom_count]):
        is_unknown = vertex.type == UNKNOWN or start + place in words.unknown
        label = visible_in_xml(shown_token(tokeniser.token_text(words, start + place, vertex.type)))
        if label and unicodedata.combining(label[0]):
            label = f"◌{label}"
        about = f"atom, part of {owner[place].label}" if place in owner else "atom"
        about = "not in the alphabet of this tokeniser" if is_unknown else about
        left_out = [text for atom, text in behind if max(atom, 0) == place]
        if left_out:  # without an atom, it belongs to this one
            named = side_by_side(list(map(visible_in_xml, left_out)), " ")
            about += f"\nbeside it, not in the alphabet and left out: {named}"
        is_part = place in owner
        leaves.append(TreeLeaf(label, f"{label}\n{about}", is_part, is_unknown, vertex.type))
    merges = tuple(_merges(tokeniser, graph, derivation, blame, gaps))
    morphs = () if gold is None else _morphs(text, positions, gold)
    has_gold = gold is not None
    return MergeTree(
        text, tuple(leaves), merges, derivation.roots, gaps, characters, morphs, has_gold, title
    )


def describe_in_study(
    study: Study,
    word: int | str,
    blame: Blame | None,
    *,
    graph: MergeGraph | None = None,
    title: str = "",
) -> MergeTree:
    """Describe a tree with the gold boundaries of a study's reference, if it has the word."""
    tokeniser, benchmark = study.tokeniser, study.benchmark
    number = study.number_of(word) if isinstance(word, str) else word
    if number is None:
        words, number, gold = tokeniser.encode([str(word)]), 0, None
    else:
        words = benchmark.words
        start, end = (int(offset) for offset in words.word_offsets[number : number + 2])
        gold = None
        if benchmark.reference.entries[number].morphs:
            gold = {int(gap) for gap in benchmark.gold_gaps()[start:end].nonzero()[0]}
    return describe_tree(tokeniser, words, number, graph=graph, blame=blame, gold=gold, title=title)


def _merges(
    tokeniser: BpeTokeniser,
    graph: MergeGraph,
    derivation: Derivation,
    blame: Blame | None,
    gaps: Sequence[TreeGap],
) -> Iterator[TreeMerge]:
    closes = Counter(gap.merge for gap in gaps if gap.merge is not None)
    applied = ((n, v) for n, v in enumerate(derivation.vertices) if v.children)
    for step, (number, vertex) in enumerate(applied, start=1):
        merge = vertex.merge
        parts = tuple(derivation.vertices[child].type for child in vertex.children)
        *names, label = (
            visible_in_xml("�" if type_ == UNKNOWN else tokeniser.readable(graph.types[type_]))
            for type_ in (*parts, vertex.type)
        )
        description = side_by_side([side_by_side(names, " + "), label], " → ")
        rank, about, ratio = None, "stays whole, as merges would cut it", math.nan
        if merge is not None and graph.merge(merge).parts == parts:
            rank = graph.merge(merge).rank
            about = f"rank {rank:,}" + (f", {len(parts)} parts" * (len(parts) > 2))
        lines = [description, about]
        if blame is not None and merge is not None:
            ratio = blame.shown_ratio(merge)
            lines += filter(None, [blame.described(merge)])
        if closed := closes[number]:
            some = "a gold boundary" if closed == 1 else f"{closed} gold boundaries"
            lines.append(f"closes {some} of this word")
        told = (label, "\n".join(lines), description, rank, ratio)
        where = (vertex.children, vertex.first, vertex.last)
        yield TreeMerge(*told, *where, closed, -1 if merge is None else merge, vertex.type, step)


def _gaps(
    derivation: Derivation, positions: Sequence[int], gold: Collection[int] | None
) -> Iterator[TreeGap]:
    for leaf, closed in enumerate(derivation.closed_by()[:-1]):
        is_gold = gold is not None and leaf in gold
        if closed is not None:
            if is_gold:
                yield TreeGap(leaf, "missed", closed)
        elif is_gold:
            yield TreeGap(leaf, "hit")
        else:
            counts = gold is not None and positions[leaf] > 0
            yield TreeGap(leaf, "wrong" if counts else "split")


def _characters(word: str, positions: Sequence[int]) -> tuple[TreeSpan, ...]:
    """Return the characters that consist of several atoms."""
    spans = []
    first, left = 0, 0
    for leaf, position in enumerate(positions):
        if position == INSIDE_CHARACTER:
            continue
        right = position if position > 0 else len(word) if leaf == len(positions) - 1 else left
        if leaf > first:
            spans.append(TreeSpan(first, leaf, visible_in_xml(word[left:right])))
        first, left = leaf + 1, right
    return tuple(spans)


def _morphs(word: str, positions: Sequence[int], gold: Collection[int]) -> tuple[TreeSpan, ...]:
    if not positions:
        return ()
    has_marker = positions[0] == NO_GAP and len(positions) > 1
    spans, first, left = [], int(has_marker), 0
    for leaf, position in enumerate(positions[:-1]):
        if leaf in gold:
            spans.append(TreeSpan(first, leaf, visible_in_xml(word[left:position])))
            first, left = leaf + 1, position
    return (*spans, TreeSpan(first, len(positions) - 1, visible_in_xml(word[left:])))


def visible_in_xml(text: str) -> str:
    """Return text with every character visible and valid in XML.

    >>> visible_in_xml("a b\\x00\\u202e")
    'a␣b⟨00⟩⟨202E⟩'
    """
    return printable(text).replace(" ", "␣")


def printable(text: str) -> str:
    """Replace unprintable characters by hexadecimal numbers; keep spaces.

    >>> printable("a b\\x00")
    'a b⟨00⟩'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"⟨{ord(c):02X}⟩" for c in text)


# ------------------------------------------------------------------------------------- layout

# Leaves stand on one line, merges centred above them: a tidy layout after Reingold & Tilford 1981,
# with boxes of any width. Neighbouring subtrees are as close as their outlines allow, with more
# space between tokens. A tree that is too wide is split into rows.

LABEL, SMALL_LABEL, SUBLINE = 14.0, 12.0, 12.0
"""Sizes of type labels, of bytes, and of ranks under type labels."""
BESIDE, BETWEEN_TOKENS = 9.0, 28.0
STACK = 6.0
"""The offset of the stacked cards of a tuple merge, to the right and upwards."""
_STEM = 7.0
"""Half of the space that a vertical line takes."""

_Outline = tuple[list[float], list[float]]
"""The extent of a subtree to the left and the right of its root, by level."""


@dataclass(frozen=True, slots=True)
class Box:
    """A vertex's position: its centre, its width, and its level, 0 for leaves."""

    x: float
    width: float
    level: int


@dataclass(frozen=True)
class TreeLayout:
    """Boxes of leaves, then of merges; ``splits``: from a token's last leaf to the gap after it."""

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


def subline(merge: TreeMerge) -> str:
    """Return the text below a merge's type: its rank or "whole", and its blame if defined.

    Below a constituent it is the tag.
    """
    if merge.tag:
        return merge.tag
    ratio = "" if math.isnan(merge.ratio) else f" · {in_percent(merge.ratio, 0)}"
    return ("whole" if merge.rank is None else f"{merge.rank:,}") + ratio


def lay_out(tree: MergeTree) -> TreeLayout:
    """Place the vertices of a tree."""
    leaves = len(tree.leaves)
    sizes = (SMALL_LABEL if leaf.is_part else LABEL + 1 for leaf in tree.leaves)
    labels = (text_width(leaf.label, size) for leaf, size in zip(tree.leaves, sizes, strict=True))
    widths = [max(26.0, label + 12) for label in labels]
    levels = [0] * leaves
    outlines: list[_Outline] = [([-width / 2], [width / 2]) for width in widths]
    shifts: list[Sequence[float]] = [()] * leaves
    for merge in tree.merges:
        below = text_width(subline(merge), SUBLINE, monospace=False)
        widths.append(max(text_width(merge.label, LABEL), below, 22) + 12)
        levels.append(1 + max(levels[child] for child in merge.children))
        outline, places = _joined([outlines[c] for c in merge.children], widths[-1], levels[-1])
        if len(merge.children) > 2:
            outline[1][-1] += STACK
        for child in merge.children:
            outlines[child] = [], []  # from here on only its parent's is needed
        outlines.append(outline)
        shifts.append(places)
    x = [0.0] * len(widths)
    edge = -BETWEEN_TOKENS
    splits = {}
    for root in tree.roots:
        left, right = outlines[root]
        x[root] = edge + BETWEEN_TOKENS - min(left)
        edge = x[root] + max(right)
        splits[tree.ends(root)[1]] = edge + BETWEEN_TOKENS / 2
    for vertex in range(len(widths) - 1, leaves - 1, -1):
        for child, shift in zip(tree.children(vertex), shifts[vertex], strict=True):
            x[child] = x[vertex] + shift
    places = [round(place, 1) for place in x]
    boxes = tuple(map(Box, places, widths, levels))
    return TreeLayout(boxes, max(edge, 0.0), max(levels, default=0), splits)


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
    around = ([edge - middle for edge in left], [edge - middle for edge in right])
    outline = ([*around[0], -width / 2], [*around[1], width / 2])
    return outline, [place - middle for place in places]


def _risen(outline: _Outline, level: int) -> _Outline:
    """Return an outline with the line from its root extended to just below a level."""
    left, right = outline
    stem = [_STEM] * (level - len(left))
    return [*left, *(-s for s in stem)], [*right, *stem]


def aligned_layouts(trees: Sequence[MergeTree]) -> list[TreeLayout]:
    """Lay out trees over the same leaves with each leaf at one x in all."""
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
    old, x = [box.x for box in layout.boxes], list(places)
    for merge in tree.merges:
        x.append((x[merge.children[0]] + x[merge.children[-1]]) / 2)
    splits = {}
    for leaf, split in layout.splits.items():
        more = 0.0
        if leaf + 1 < len(places):
            more = (places[leaf + 1] - places[leaf]) - (old[leaf + 1] - old[leaf])
        splits[leaf] = places[leaf] + split - old[leaf] + more / 2
    boxes = tuple(replace(b, x=round(place, 1)) for b, place in zip(layout.boxes, x, strict=True))
    width = layout.width + max(new - before for new, before in zip(x, old, strict=True))
    return TreeLayout(boxes, width, layout.levels, splits)


def wrapped_rows(trees: Sequence[MergeTree], widest: float) -> list[list[MergeTree]]:
    """Split trees over the same leaves into rows of at most a width, or of one token.

    A row ends where a token ends in all trees; a morph that continues in the next is in both.
    """
    layouts = aligned_layouts(trees)
    if not trees[0].leaves or max(layout.width for layout in layouts) <= widest:
        return [list(trees)]
    starts: list[int] = []
    left = edge = 0.0
    first = 0
    for end in sorted(set.intersection(*(set(layout.splits) for layout in layouts))):
        right = max(layout.splits[end] for layout in layouts) - BETWEEN_TOKENS / 2
        if not starts or right - left > widest:
            starts.append(first)
            left = edge + BETWEEN_TOKENS if first else 0.0
        edge, first = right, end + 1
    lasts = [*(start - 1 for start in starts[1:]), len(trees[0].leaves) - 1]
    parts = [[_part(tree, *ends) for tree in trees] for ends in zip(starts, lasts, strict=True)]
    return [parts[0], *([replace(part, title="") for part in row] for row in parts[1:])]


def _part(tree: MergeTree, first: int, last: int) -> MergeTree:
    """Return the tokens from one leaf up to another."""

    def is_kept(vertex: int) -> bool:
        start, end = tree.ends(vertex)
        return first <= start and end <= last

    vertices = filter(is_kept, range(len(tree.leaves) + len(tree.merges)))
    new = {old: number for number, old in enumerate(vertices)}
    merges = []
    for merge in (tree.merge_at(old) for old in new):
        if merge is not None:
            children = tuple(new[child] for child in merge.children)
            ends = merge.first - first, merge.last - first
            merges.append(replace(merge, children=children, first=ends[0], last=ends[1]))
    gaps = (
        replace(gap, leaf=gap.leaf - first, merge=None if gap.merge is None else new[gap.merge])
        for gap in tree.gaps
        if first <= gap.leaf <= last
    )
    return replace(
        tree,
        leaves=tree.leaves[first : last + 1],
        merges=tuple(merges),
        roots=tuple(new[root] for root in tree.roots if root in new),
        gaps=tuple(gaps),
        characters=tuple(_clipped(tree.characters, first, last)),
        morphs=tuple(_clipped(tree.morphs, first, last)),
    )


def _clipped(spans: tuple[TreeSpan, ...], first: int, last: int) -> Iterator[TreeSpan]:
    for span in spans:
        if first <= span.last and span.first <= last:
            label = "… " * (span.first < first) + span.label + " …" * (last < span.last)
            yield TreeSpan(max(span.first, first) - first, min(span.last, last) - first, label)
