"""The tree of morphemes that a gold gives of a word, as data for the drawing of merge trees."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import nan

from morphgraph.core.text import side_by_side
from morphgraph.draw.merge_tree import MergeTree, TreeMerge, visible_in_xml
from morphgraph.reference.align import align_morphemes
from morphgraph.reference.celex import parse_tree
from morphgraph.reference.entry import Entry
from morphgraph.refine.study import Study


def gold_trees(study: Study, tree: MergeTree) -> list[MergeTree]:
    """Return the gold's own tree over the atoms of a merge tree; none where the gold has none.

    Source: Bauwens & Delobelle 2024, Fig. 8.
    """
    number, words = study.number_of(tree.word), study.benchmark.words
    entry = None if number is None else study.benchmark.reference.entries[number]
    if number is None or entry is None or not entry.tree or not tree.leaves:
        return []
    atoms = slice(*words.word_offsets[number : number + 2].tolist())
    ends = (words.spans[1][atoms] - words.character_offsets[number]).tolist()
    vertices = tuple(constituents(entry, ends))
    above = {child for vertex in vertices for child in vertex.children}
    roots = tuple(n for n in range(len(ends) + len(vertices)) if n not in above)
    plain = replace(tree, gaps=(), morphs=(), characters=(), title="The gold's own tree")
    return [replace(plain, merges=vertices, roots=roots, has_gold=False)]


def constituents(entry: Entry, ends: Sequence[int]) -> Iterator[TreeMerge]:
    """Yield the nodes of an entry's tree, children first, as merges of no rank with a tag.

    ``ends``: where each atom ends in the word's characters. Nodes without atoms are left out.

    >>> tree = "((re)[V|.V],((technisch)[A],(iek)[N|A.])[N])[N]"
    >>> entry = Entry("retechniek", ("re", "techn", "iek"), tree=tree)
    >>> for each in constituents(entry, range(1, 11)):
    ...     print(each.description, each.children)
    re [V|.V] (0, 1)
    techn [A] technisch (2, 3, 4, 5, 6)
    iek [N|A.] (7, 8, 9)
    techniek [N] (11, 12)
    retechniek [N] (10, 13)
    """
    nodes, vertices = parse_tree(entry.tree), list[TreeMerge]()
    leaves = [node.leaf for node in nodes if node.leaf is not None]
    [(morphs, sources)] = align_morphemes([entry.word], [leaves])
    atoms: dict[int, list[int]] = {}
    owner = start = leaf = 0
    for morph, source in zip(morphs, sources, strict=True):
        owner = source if source >= 0 else owner  # without a morpheme it is of that on its left
        start += len(morph)
        inside = [n for n, end in enumerate(ends) if start - len(morph) < end <= start]
        atoms.setdefault(owner, []).extend(inside)
    known: dict[int, int] = {}
    for node in nodes:
        children = [known[id(child)] for child in node.children if id(child) in known]
        below = [vertices[child - len(ends)] for child in children]
        span = [n for each in below for n in (each.first, each.last)]
        if node.leaf is not None:
            children = span = atoms.get(leaf, [])
            leaf += 1
        if not span:
            continue
        before = ends[span[0] - 1] if span[0] else 0
        text = visible_in_xml(entry.word[before : ends[span[-1]]])
        tag = visible_in_xml(f"[{node.tag}]")
        if node.leaf and node.leaf != text:
            tag = side_by_side([tag, visible_in_xml(node.leaf)], " ")
        label = side_by_side([text, tag], " ")
        where = (tuple(children), span[0], span[-1])
        vertices.append(TreeMerge(text, label, label, None, nan, *where, 0, -1, -1, tag=tag))
        known[id(node)] = len(ends) + len(vertices) - 1
        yield vertices[-1]
