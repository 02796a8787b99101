"""The merge tree of a word as plain data: atoms, applied merges and gold boundaries.

`describe_tree` collects the data; `draw.merge_tree_svg` draws them.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from morphgraph.core.text import side_by_side
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
    """An atom of a word.

    ``is_part``: it is not a whole character; ``is_unknown``: it is outside the alphabet; ``type``:
    its id in the graph, or `UNKNOWN`.
    """

    label: str
    tooltip: str
    is_part: bool
    is_unknown: bool
    type: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class TreeMerge:
    """One application of a merge.

    ``children`` are from left to right: leaf i is i, merge k is the number of leaves + k.
    ``first`` and ``last`` are the outermost leaves below it. ``ratio`` is R, or NaN; ``closes`` is
    the number of gold boundaries that it closed here. ``merge`` and ``type`` are ids in the graph.
    ``step``: its position in the order of application, from 1.
    """

    label: str
    tooltip: str
    description: str
    rank: int
    ratio: float
    children: tuple[int, ...]
    first: int
    last: int
    closes: int
    merge: int
    type: int
    step: int = 0


@dataclass(frozen=True, slots=True)
class TreeGap:
    """A marked gap after a leaf.

    "hit": a split on a gold boundary; "missed": a gold boundary closed by ``merge`` (a vertex, as
    in `TreeMerge.children`); "wrong": a split inside a morph; "split": one that counts in no score.
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
    """The derivation of a word's tokens.

    ``merges`` are in the order of application; ``roots`` are the tokens, vertices as in
    `TreeMerge.children`. ``characters``: those of several atoms. ``morphs`` are empty, and
    ``has_gold`` is False, where no gold segmentation is known.
    """

    word: str
    leaves: tuple[TreeLeaf, ...]
    merges: tuple[TreeMerge, ...]
    roots: tuple[int, ...]
    gaps: tuple[TreeGap, ...]
    characters: tuple[TreeSpan, ...]
    morphs: tuple[TreeSpan, ...]
    has_gold: bool
    title: str = ""

    def label(self, vertex: int) -> str:
        """Return the label of a leaf or merge."""
        leaves = len(self.leaves)
        return self.leaves[vertex].label if vertex < leaves else self.merges[vertex - leaves].label

    def children(self, vertex: int) -> tuple[int, ...]:
        """Return the children of a vertex; a leaf has none."""
        leaves = len(self.leaves)
        return () if vertex < leaves else self.merges[vertex - leaves].children


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

    ``words`` are encoded by the tokeniser; ``graph`` is a state of its graph, the present one by
    default; ``blame`` that of the same state, for R. ``gold``: the atoms, counted within the word,
    that precede a gold boundary; None if no gold segmentation is known.
    """
    graph = tokeniser.graph if graph is None else graph
    found = derive(graph, words, word)
    start = int(words.word_offsets[word])
    positions = [int(p) for p in words.gap_position[start : start + found.atom_count]]
    characters = _characters(words.texts[word], positions)
    gaps = tuple(_gaps(found, positions, gold))
    leaves = tuple(_leaves(tokeniser, words, start, found, characters))
    return MergeTree(
        words.texts[word],
        leaves,
        tuple(_merges(tokeniser, graph, found, blame, gaps)),
        found.roots,
        gaps,
        characters,
        () if gold is None else _morphs(words.texts[word], positions, gold),
        gold is not None,
        title,
    )


def describe_in_study(
    study: Study,
    word: int | str,
    blame: Blame | None,
    *,
    graph: MergeGraph | None = None,
    title: str = "",
) -> MergeTree:
    """Describe a tree with the gold boundaries of a study's reference, if it has the word.

    ``word``: an index in the reference, or any text, which is looked up in it.
    """
    tokeniser, benchmark = study.tokeniser, study.benchmark
    number = study.number_of(word) if isinstance(word, str) else word
    if number is None:
        encoded = tokeniser.encode([str(word)])
        return describe_tree(tokeniser, encoded, 0, graph=graph, blame=blame, title=title)
    start, end = (int(offset) for offset in benchmark.words.word_offsets[number : number + 2])
    gold = {int(gap) for gap in benchmark.morphemic.boundary[start:end].nonzero()[0]}
    return describe_tree(
        tokeniser, benchmark.words, number, graph=graph, blame=blame, gold=gold, title=title
    )


def _leaves(
    tokeniser: BpeTokeniser,
    words: Words,
    start: int,
    found: Derivation,
    characters: Sequence[TreeSpan],
) -> Iterator[TreeLeaf]:
    owner = {leaf: span for span in characters for leaf in range(span.first, span.last + 1)}
    for place, vertex in enumerate(found.vertices[: found.atom_count]):
        is_unknown = vertex.type == UNKNOWN or start + place in words.unknown
        label = _leaf_label(shown_token(tokeniser.token_text(words, start + place, vertex.type)))
        tooltip = f"{label}\natom"
        if place in owner:
            tooltip += f", part of {owner[place].label}"
        if is_unknown:
            tooltip = f"{label}\nnot in the alphabet of this tokeniser"
        yield TreeLeaf(label, tooltip, place in owner, is_unknown, vertex.type)


def _merges(
    tokeniser: BpeTokeniser,
    graph: MergeGraph,
    found: Derivation,
    blame: Blame | None,
    gaps: Sequence[TreeGap],
) -> Iterator[TreeMerge]:
    closes: dict[int, int] = {}
    for gap in gaps:
        if gap.merge is not None:
            closes[gap.merge] = closes.get(gap.merge, 0) + 1
    step = 0
    for number, vertex in enumerate(found.vertices):
        if vertex.merge is None:
            continue
        step += 1
        rank, parts, result = graph.merge(vertex.merge)
        names = [visible_in_xml(tokeniser.readable(graph.types[part])) for part in parts]
        label = visible_in_xml(tokeniser.readable(graph.types[result]))
        description = side_by_side([side_by_side(names, " + "), label], " → ")
        lines = [description, f"rank {rank:,}" + (f", {len(parts)} parts" * (len(parts) > 2))]
        ratio = math.nan
        place = None if blame is None else blame.place(vertex.merge)
        if blame is not None and place is not None:
            ratio = blame.shown_ratio(place)
            lines.append(blame.described(vertex.merge))
        closed = closes.get(number, 0)
        if closed:
            some = "a gold boundary" if closed == 1 else f"{closed} gold boundaries"
            lines.append(f"closes {some} of this word")
        yield TreeMerge(
            label,
            "\n".join(lines),
            description,
            rank,
            ratio,
            vertex.children,
            vertex.first,
            vertex.last,
            closed,
            vertex.merge,
            result,
            step,
        )


def _gaps(
    found: Derivation, positions: Sequence[int], gold: Collection[int] | None
) -> Iterator[TreeGap]:
    for leaf, closed in enumerate(found.closed_by()[:-1]):
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
    spans = []
    has_marker = positions[0] == NO_GAP and len(positions) > 1
    first, left = int(has_marker), 0
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


def _leaf_label(text: str) -> str:
    """Return an atom's label, with a dotted circle below a lone combining mark."""
    shown = visible_in_xml(text)
    return f"◌{shown}" if shown and unicodedata.combining(shown[0]) else shown
