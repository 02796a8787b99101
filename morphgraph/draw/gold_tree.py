"""The tree of morphemes that a gold gives of a word, as data for the drawing of merge trees."""

from collections.abc import Iterator
from dataclasses import replace
from math import nan
from typing import NamedTuple

from morphgraph.core.text import side_by_side
from morphgraph.draw.merge_tree import MergeTree, TreeMerge, visible_in_xml
from morphgraph.reference.align import align_morphemes
from morphgraph.reference.annotated import parse_tree
from morphgraph.reference.entry import Entry
from morphgraph.refine.study import Study


class Constituent(NamedTuple):
    """A node of a gold tree: the characters it spans, its tag, its own morpheme if it is a leaf.

    ``children``: by their numbers among all, which come before it.
    """

    start: int
    end: int
    tag: str
    morpheme: str
    children: tuple[int, ...]


def constituents(entry: Entry) -> list[Constituent]:
    """Return the nodes of an entry's tree, children first; those without surface are left out.

    >>> tree = "((re)[V|.V],((technisch)[A],(iek)[N|A.])[N])[N]"
    >>> for each in constituents(Entry("retechniek", ("re", "techn", "iek"), tree=tree)):
    ...     print(*each)
    0 2 V|.V re ()
    2 7 A technisch ()
    7 10 N|A. iek ()
    2 10 N  (1, 2)
    0 10 N  (0, 3)
    """
    nodes = parse_tree(entry.tree) if entry.tree else []
    leaves = [node for node in nodes if node.leaf is not None]
    [(morphs, sources)] = align_morphemes([entry.word], [[node.leaf or "" for node in leaves]])
    spans: dict[int, tuple[int, int]] = {}
    owner = place = 0
    for morph, source in zip(morphs, sources, strict=True):
        # What has no morpheme belongs to the morph on its left.
        owner = source if source >= 0 else owner
        spans[owner] = spans.get(owner, (place, 0))[0], place + len(morph)
        place += len(morph)
    numbers = {id(leaf): number for number, leaf in enumerate(leaves)}
    known: dict[int, int] = {}
    found: list[Constituent] = []
    for node in nodes:
        children = tuple(known[id(child)] for child in node.children if id(child) in known)
        below = [found[child][:2] for child in children]
        if (own := spans.get(numbers.get(id(node), -1))) is not None:
            below = [own]
        if below:
            known[id(node)] = len(found)
            found.append(
                Constituent(below[0][0], below[-1][1], node.tag, node.leaf or "", children)
            )
    return found


def gold_trees(study: Study, tree: MergeTree) -> list[MergeTree]:
    """Return the gold's own tree over the atoms of a merge tree; none where the gold has none.

    Its vertices are `TreeMerge` of no merge, with a tag. Source: Bauwens & Delobelle 2024, Fig. 8.
    """
    number = study.number_of(tree.word)
    entry = None if number is None else study.benchmark.reference.entries[number]
    if number is None or entry is None or not entry.tree or not tree.leaves:
        return []
    words = study.benchmark.words
    first = int(words.character_offsets[number])
    atoms = slice(*words.word_offsets[number : number + 2].tolist())
    ends = (words.spans[1][atoms] - first).tolist()
    vertices = list(_vertices(entry, ends))
    above = {child for vertex in vertices for child in vertex.children}
    roots = (n for n in range(len(ends) + len(vertices)) if n not in above)
    plain = replace(tree, gaps=(), morphs=(), characters=(), title="The gold's own tree")
    return [replace(plain, merges=tuple(vertices), roots=tuple(roots), has_gold=False)]


def _vertices(entry: Entry, ends: list[int]) -> Iterator[TreeMerge]:
    """Yield the vertices of a tree; ``ends``: where each atom ends in the word's characters."""
    vertex_of: dict[int, int] = {}
    for number, each in enumerate(constituents(entry)):
        inside = [atom for atom, end in enumerate(ends) if each.start < end <= each.end]
        if not inside:
            continue
        below = (vertex_of[child] for child in each.children if child in vertex_of)
        text = visible_in_xml(entry.word[each.start : each.end])
        tag = visible_in_xml(f"[{each.tag}]")
        if each.morpheme.casefold() not in ("", text.casefold()):
            tag = side_by_side([tag, visible_in_xml(each.morpheme)], " ")
        label = side_by_side([text, tag], " ")
        where = (tuple(below) or tuple(inside), inside[0], inside[-1])
        vertex_of[number] = len(ends) + len(vertex_of)
        yield TreeMerge(text, label, label, None, nan, *where, 0, -1, -1, tag=tag)
