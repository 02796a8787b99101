"""Annealing: add pair merges that rarely cross a gold boundary.

`preview_annealing` is the algorithm. Source: Bauwens & de Lhoneux 2026, §3.4.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from morphgraph.graph.arrays import MergeArrays, TypeAtoms, merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.graph.plans import Pair, Parts, plan_reify, tuple_merges_by_pair
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import Scope
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Segmentation

MINIMUM_GOOD = 3
MINIMUM_RATIO = 0.80


def preview_annealing(
    tokeniser: BpeTokeniser,
    benchmark: Benchmark,
    *,
    scope: Scope = "morphemic",
    entries: npt.NDArray[np.int64] | None = None,
    minimum_good: int = MINIMUM_GOOD,
    minimum_ratio: float = MINIMUM_RATIO,
    maximum_vocabulary: int | None = None,
) -> Change:
    """Compute annealing without applying it: missing atoms, then merges of good pairs.

    Merges are added up to ``maximum_vocabulary`` types; atoms are added for all words. See
    `annealing_pairs` for the others.

    Ġund and o are adjacent in a morph three times, which is enough; Ġred and o in none.

    >>> import morphgraph as mg
    >>> from morphgraph.tokeniser.loading import load_tokeniser
    >>> tokeniser = load_tokeniser("demo:en")
    >>> gold = mg.read_gold([("undo", ["undo"])] * 3 + [("redo", ["red", "o"])] * 3)
    >>> preview_annealing(tokeniser, Benchmark.on(gold, tokeniser)).step["merges"]
    [['Ġund', 'o']]
    """
    graph = tokeniser.graph
    atoms = missing_atoms(tokeniser, benchmark)
    whole = replace(tokeniser, graph=graph.after(graph.preview_anneal((), atoms)))
    benchmark = benchmark.encoded_for(whole)
    pairs = annealing_pairs(
        whole.graph,
        benchmark,
        segment(whole.graph, benchmark.words),
        scope=scope,
        entries=entries,
        minimum_good=minimum_good,
        minimum_ratio=minimum_ratio,
    )
    merges = within_vocabulary(whole.graph, pairs, whole.vocabulary_size, maximum_vocabulary)
    return graph.preview_anneal(merges, atoms)


@dataclass(frozen=True)
class AnnealingPair:
    """Two tokens that are adjacent ``total`` times, ``good`` of them inside a morph."""

    left: int
    right: int
    good: int
    total: int


def annealing_pairs(
    graph: MergeGraph,
    benchmark: Benchmark,
    segmentation: Segmentation,
    *,
    scope: Scope = "morphemic",
    entries: npt.NDArray[np.int64] | None = None,
    minimum_good: int = MINIMUM_GOOD,
    minimum_ratio: float = MINIMUM_RATIO,
) -> list[AnnealingPair]:
    """Return the pairs of adjacent tokens to merge, best first.

    Those with good ≥ ``minimum_good`` and good ÷ total ≥ ``minimum_ratio``, by good, then ratio,
    both descending, then by their strings. Each entry counts once; with ``entries``, only these
    count. Pairs across the end of a piece, which no merge can cross, and with unknown characters do
    not count. Source: Bauwens & de Lhoneux 2026, §3.4.
    """
    gold = benchmark.gold_gaps(scope)
    words, tokens = segmentation.words, segmentation.token_at
    counted = benchmark.has_gold(scope).copy()
    if entries is not None:
        counted &= np.isin(np.arange(len(counted)), entries)
    ends = np.flatnonzero(tokens >= 0)
    is_last = np.zeros(len(tokens), bool)
    is_last[words.piece_offsets[1:] - 1] = True
    usable = tokens[ends] != UNKNOWN
    if words.unknown:
        alone = np.zeros(len(tokens), bool)
        unknown = np.fromiter(words.unknown, np.int64, len(words.unknown))
        alone[unknown] = tokens[unknown] == words.atoms[unknown]
        usable &= ~alone[ends]
    left = ends[:-1]
    kept = usable[:-1] & usable[1:] & ~is_last[left] & counted[words.word_of_atom[left]]
    left, right = left[kept], ends[1:][kept]
    keys = (tokens[left].astype(np.int64) << 32) | tokens[right]
    pairs, where, total = np.unique(keys, return_inverse=True, return_counts=True)
    good = np.bincount(where, gold[left] == 0, len(pairs)).astype(np.int64)
    chosen = np.flatnonzero((good >= minimum_good) & (good / total >= minimum_ratio))
    found = [
        AnnealingPair(int(pairs[i]) >> 32, int(pairs[i]) & 0xFFFFFFFF, int(good[i]), int(total[i]))
        for i in chosen
    ]
    found.sort(
        key=lambda pair: (
            -pair.good,
            -pair.good / pair.total,
            graph.types[pair.left],
            graph.types[pair.right],
        )
    )
    return found


def within_vocabulary(
    graph: MergeGraph, pairs: Iterable[AnnealingPair], size: int, maximum: int | None
) -> list[tuple[str, str]]:
    """Return the first pairs, as strings, whose new types keep ``size`` within ``maximum``.

    The list ends at the first pair that needs a new type when there is no room.
    """
    made: set[str] = set()
    kept: list[tuple[str, str]] = []
    for pair in pairs:
        left, right = graph.types[pair.left], graph.types[pair.right]
        if left + right not in graph and left + right not in made:
            if maximum is not None and size + len(made) >= maximum:
                break
            made.add(left + right)
        kept.append((left, right))
    return kept


def missing_atoms(tokeniser: BpeTokeniser, benchmark: Benchmark) -> list[str]:
    """Return the atoms that a reference needs and the alphabet lacks, by code point."""
    words = benchmark.words
    affected = dict.fromkeys(int(words.word_of_atom[atom]) for atom in words.unknown)
    return tokeniser.missing_atoms([words.texts[word] for word in affected], bare=benchmark.bare)


def preview_reification(
    graph: MergeGraph,
    blacklist: Collection[Parts] = (),
    *,
    repair: bool = True,
    link: bool = True,
    expand: bool = True,
    atoms: TypeAtoms | None = None,
    among: Collection[int] | None = None,
) -> Change:
    """Compute one pass of repair and reification without applying it.

    The switches leave out repair, linking to existing merges, and creating (expanding) new ones.
    ``blacklist``: the parts of merges knocked out before, which must not return. ``among``: only
    these merges are repaired, and only pairs in them are used, wherever they occur.

    b + c takes the c from a + b + c, which is repaired; x + a + y suggests a + y, which is created.

    >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "b", "c"), ("x", "a", "y")])
    >>> change = graph.apply(preview_reification(graph))
    >>> [graph.describe(merge) for merge in graph.merge_ids()]
    ['b + c → bc', 'a + bc → abc', 'a + y → ay', 'x + ay → xay']
    >>> change.counts()
    {'repaired': 1, 'created': 1}
    """
    repaired = repairs(graph, atoms) if repair else {}
    if among is not None:
        repaired = {merge: parts for merge, parts in repaired.items() if merge in among}
    pairs = suggestions(graph, repaired, blacklist, among) if link or expand else []
    return plan_reify(graph, pairs, repaired, link=link, expand=expand)


def repairs(graph: MergeGraph, atoms: TypeAtoms | None = None) -> dict[int, Parts]:
    """Return new parts for tuple merges that can no longer apply, by merge, in order of rank.

    The string of each tuple merge's result is segmented by the merges of lower rank, as repaired so
    far; if the tokens differ from the merge's parts, they become its parts. A merge whose result
    those merges already make stays as it is. Source: Bauwens & de Lhoneux 2026, §3.1.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("a", "b", "c")])
    >>> [[graph.types[part] for part in parts] for parts in repairs(graph).values()]
    [['ab', 'c']]
    """
    from morphgraph.kernels import repairing

    atoms = atoms or TypeAtoms()
    arrays: MergeArrays = merge_arrays(graph)
    widths = np.diff(arrays.part_offsets)
    tuples = np.flatnonzero(widths > 2)
    if not len(tuples):
        return {}
    strings = [
        atoms.of(graph, arrays.parts[arrays.part_offsets[m] : arrays.part_offsets[m + 1]].tolist())
        for m in tuples
    ]
    atom_offsets = np.zeros(len(tuples) + 1, np.int64)
    np.cumsum([len(string) for string in strings], out=atom_offsets[1:])
    flat = np.array([atom for string in strings for atom in string], np.int32)
    parts, offsets = repairing.repair(
        arrays.parts,
        arrays.part_offsets,
        arrays.results,
        tuples,
        flat,
        atom_offsets,
        arrays.type_count,
    )
    return {
        int(arrays.merge_ids[tuples[i]]): tuple(parts[offsets[i] : offsets[i + 1]].tolist())
        for i in np.flatnonzero(np.diff(offsets))
    }


def suggestions(
    graph: MergeGraph,
    repaired: Mapping[int, Parts],
    blacklist: Collection[Parts],
    among: Collection[int] | None = None,
) -> list[Pair]:
    """Return pairs of adjacent parts in tuple merges, without those on the blacklist.

    Those in most tuple merges come first, then by their strings. ``among``: only pairs in these
    merges. Source: Bauwens & de Lhoneux 2026, §3.2.
    """
    parts = {
        number: repaired.get(number, merge.parts)
        for number, merge in graph.merges().items()
        if len(merge.parts) > 2
    }
    containing = tuple_merges_by_pair(parts)
    types = graph.types
    return sorted(
        (
            pair
            for pair, merges in containing.items()
            if pair not in blacklist and (among is None or not merges.keys().isdisjoint(among))
        ),
        key=lambda pair: (-len(containing[pair]), types[pair[0]], types[pair[1]]),
    )
