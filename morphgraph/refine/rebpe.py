"""ReBPE: anneal, then alternate knockout and reification until nothing changes.

`rebpe` is the algorithm and yields the phases; `preview_annealing` adds pair merges that rarely
cross a gold boundary, `preview_knockout` is in `knockout`, and `preview_reification` repairs tuple
merges so that they apply again, and uses the pairs in them. `rebpe_run.ReBPERun` applies them to a
tokeniser. Source: Bauwens & de Lhoneux 2026, Algorithms 1 and 2.
"""

from collections.abc import Collection, Generator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Literal

import numpy as np

from morphgraph.graph.arrays import merge_arrays
from morphgraph.graph.atoms import TypeAtoms
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change, Parts
from morphgraph.graph.plans import Pair, Reification
from morphgraph.refine import ReBPESettings
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN

PhaseKind = Literal["start", "anneal", "knockout", "reify", "portable"]
_LOW = 0xFFFFFFFF
Step = tuple[int, PhaseKind]
"""The next phase: its iteration, 0 before the first one, and its kind."""


def rebpe(settings: ReBPESettings) -> Generator[Step, Change, bool]:
    """Yield each phase of Algorithm 1; receive the change that it made.

    Its return value is whether it converged: the last iteration changed nothing. At the maximum of
    iterations, one more knockout judges the merges reified last. Reification repairs tuple merges,
    then uses pairs in them (links, expands). A ``portable`` run ends by making those that are left
    pairs.

    >>> nothing, something = Change({}), Change({}, removed_types=(7,))
    >>> steps = rebpe(ReBPESettings(iterations=2))
    >>> next(steps), steps.send(something)
    ((0, 'anneal'), (1, 'knockout'))
    >>> steps.send(something), steps.send(nothing), steps.send(nothing)
    ((1, 'reify'), (2, 'knockout'), (2, 'reify'))
    >>> steps.send(nothing)
    Traceback (most recent call last):
    StopIteration: True
    """
    if settings.anneal:
        yield 0, "anneal"
    reified, iteration, converged = Change({}), 0, False
    while iteration < settings.iterations and not converged:
        iteration += 1
        removed = yield iteration, "knockout"
        if settings.reifies:
            reified = yield iteration, "reify"
        converged = removed.is_empty and reified.is_empty
    if not reified.is_empty:
        iteration += 1
        yield iteration, "knockout"
    if settings.portable:
        yield iteration, "portable"
    return converged


# ------------------------------------------------------------------------------ annealing


def preview_annealing(
    tokeniser: BpeTokeniser,
    benchmark: Benchmark,
    settings: ReBPESettings | None = None,
) -> Change:
    """Compute annealing without applying it: missing atoms, then merges of `annealing_pairs`.

    Merges are added up to the first that needs a type more than ``maximum_vocabulary``; atoms for
    all words.

    Ġund and o are adjacent in a morph three times, which is enough; Ġred and o in none.

    >>> import morphgraph as mg
    >>> from morphgraph.formats.loading import load_tokeniser
    >>> tokeniser = load_tokeniser("demo:en")
    >>> gold = mg.read_gold([("undo", ["undo"])] * 3 + [("redo", ["red", "o"])] * 3)
    >>> preview_annealing(tokeniser, Benchmark.on(gold, tokeniser)).step["merges"]
    [['Ġund', 'o']]
    """
    settings = settings or ReBPESettings()
    graph, words, maximum = tokeniser.graph, benchmark.words, settings.maximum_vocabulary
    affected = dict.fromkeys(words.word_of_atom[list(words.unknown)].tolist())
    affected |= dict.fromkeys(each.word for each in words.left_out)
    atoms = tokeniser.missing_atoms([words.texts[n] for n in affected], bare=benchmark.bare)
    whole = replace(tokeniser, graph=graph.after(graph.preview_anneal((), atoms)))
    results: set[str] = set()
    merges: list[tuple[str, str]] = []
    encoded = benchmark.encoded_for(whole)
    for left, right in annealing_pairs(whole, encoded, settings):
        if left + right not in whole.graph and left + right not in results:
            if maximum is not None and whole.vocabulary_size + len(results) >= maximum:
                break
            results.add(left + right)
        merges.append((left, right))
    return graph.preview_anneal(merges, atoms)


def annealing_pairs(
    tokeniser: BpeTokeniser, benchmark: Benchmark, settings: ReBPESettings
) -> list[tuple[str, str]]:
    """Return the pairs of adjacent tokens to merge, best first.

    A pair is adjacent in total, and good where it is inside a morph. Those with good ≥
    ``minimum_good`` and good ÷ total ≥ ``minimum_ratio``, by good, then ratio, both descending,
    then by their strings. Each entry counts once. Pairs across the
    end of a piece, which no merge can cross, with unknown characters, and in words that the
    reference exempts do not count. Source: Bauwens & de Lhoneux 2026, §3.4.
    """
    graph, scope = tokeniser.graph, settings.scope
    gold = benchmark.gold_gaps(scope)
    words, tokens = benchmark.words, segment(graph, benchmark.words).token_at
    counted = benchmark.has_gold(scope) & benchmark.is_learnable
    ends = np.flatnonzero(tokens >= 0)
    is_last = np.zeros(len(tokens), bool)
    is_last[words.piece_offsets[1:] - 1] = True
    usable = tokens != UNKNOWN
    unknown = np.fromiter(words.unknown, np.int64, len(words.unknown))
    usable[unknown] &= tokens[unknown] != words.atoms[unknown]
    usable = usable[ends]
    left = ends[:-1]
    kept = usable[:-1] & usable[1:] & ~is_last[left] & counted[words.word_of_atom[left]]
    left, right = left[kept], ends[1:][kept]
    keys = (tokens[left].astype(np.int64) << 32) | tokens[right]
    pairs, where, total = np.unique(keys, return_inverse=True, return_counts=True)
    good = np.bincount(where, gold[left] == 0, len(pairs)).astype(np.int64)
    chosen = (good >= settings.minimum_good) & (good / total >= settings.minimum_ratio)
    ranked = [
        (-good[i], -good[i] / total[i], graph.types[pairs[i] >> 32], graph.types[pairs[i] & _LOW])
        for i in np.flatnonzero(chosen)
    ]
    return [(left, right) for *_, left, right in sorted(ranked)]


# ------------------------------------------------------------------------------ reification


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
    plan = Reification(graph, repaired, link=link, expand=expand)
    pairs = suggestions(graph, plan.containing, blacklist, among) if link or expand else []
    return plan.change(pairs)


def repairs(graph: MergeGraph, atoms: TypeAtoms | None = None) -> dict[int, Parts]:
    """Return new parts for tuple merges that can no longer apply, by merge, in order of rank.

    The string of each tuple merge's result is segmented by the merges of lower rank, as repaired so
    far; if the tokens differ from the merge's parts, they become its parts. A merge whose result
    those merges already make stays as it is. Source: Bauwens & de Lhoneux 2026, §3.1.

    >>> graph = MergeGraph.from_merges([("a", "b"), ("a", "b", "c")])
    >>> [[graph.types[part] for part in parts] for parts in repairs(graph).values()]
    [['ab', 'c']]
    """
    from morphgraph.kernels.removing import repair

    atoms = atoms or TypeAtoms()
    arrays = merge_arrays(graph)
    widths = np.diff(arrays.part_offsets)
    tuples = np.flatnonzero(widths > 2)
    if not len(tuples):
        return {}
    merges = graph.merges(arrays.merge_ids[tuples])
    numbers = list(merges)
    strings = [atoms.of(graph, merge.parts) for merge in merges.values()]
    ends = np.cumsum([0, *map(len, strings)])
    flat = np.fromiter(chain.from_iterable(strings), np.int32, ends[-1])
    parts, offsets = repair(
        arrays.parts, arrays.part_offsets, arrays.results, tuples, flat, ends, arrays.type_count
    )
    return {
        numbers[i]: tuple(parts[offsets[i] : offsets[i + 1]].tolist())
        for i in np.flatnonzero(np.diff(offsets))
    }


def suggestions(
    graph: MergeGraph,
    containing: Mapping[Pair, Mapping[int, None]],
    blacklist: Collection[Parts] = (),
    among: Collection[int] | None = None,
) -> list[Pair]:
    """Return pairs of adjacent parts in tuple merges, without those on the blacklist.

    ``containing``: the tuple merges that contain each. Those in most tuple merges come first, then
    by their strings. ``among``: only pairs in these merges. Source: Bauwens & de Lhoneux 2026,
    §3.2.
    """
    types = graph.types
    chosen = [
        pair
        for pair, merges in containing.items()
        if pair not in blacklist and (among is None or not merges.keys().isdisjoint(among))
    ]
    return sorted(chosen, key=lambda p: (-len(containing[p]), types[p[0]], types[p[1]]))
