"""ReBPE: anneal, then alternate knockout and reification until nothing changes.

`rebpe` is the algorithm and yields the phases; `preview_annealing` adds pair merges that rarely
cross a gold boundary, `preview_knockout` is in `knockout`, and `preview_reification` repairs tuple
merges so that they apply again, and uses the pairs in them. `rebpe_run.ReBPERun` applies them to a
tokeniser. Source: Bauwens & de Lhoneux 2026, Algorithms 1 and 2.
"""

from collections.abc import Collection, Generator, Iterable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from morphgraph.graph.arrays import TypeAtoms, merge_arrays
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.graph.plans import Pair, Parts, plan_reify, tuple_merges_by_pair
from morphgraph.refine.knockout import BlameSettings, KnockoutSettings
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import Counts
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Segmentation

PhaseKind = Literal["start", "anneal", "knockout", "reify"]
Step = tuple[int, PhaseKind]
"""The next phase: its iteration, 0 before the first one, and its kind."""


class ReBPESettings(BlameSettings):
    """Settings of a run; every part can be switched off.

    With a ``holdout``, annealing does not see held-out entries either, but the alphabet is
    completed for all words, even beyond ``maximum_vocabulary``.
    """

    anneal: bool = Field(default=True, description="First add merges that rarely cross a boundary.")
    reify: bool = Field(default=True, description="false: none of repair, link and expand.")
    repair: bool = Field(
        default=True, description="Give tuple merges that can no longer apply other parts."
    )
    link: bool = Field(default=True, description="Use pair merges inside tuple merges.")
    expand: bool = Field(default=True, description="Create pair merges inside tuple merges.")
    iterations: int = Field(default=10, ge=0, description="At most this many.")
    maximum_vocabulary: int | None = Field(
        default=None, ge=0, description="Annealing adds types up to this number."
    )
    minimum_good: int = Field(
        default=3, ge=1, description="Anneal pairs that are inside a morph at least this often."
    )
    minimum_ratio: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="Anneal pairs that are inside a morph in at least this share.",
    )

    @property
    def reifies(self) -> bool:
        """Whether any part of reification is on."""
        return self.reify and (self.repair or self.link or self.expand)

    def knockout(self) -> KnockoutSettings:
        """Return the settings of each knockout."""
        shared = {name: getattr(self, name) for name in BlameSettings.model_fields}
        return KnockoutSettings(**shared)


def rebpe(settings: ReBPESettings) -> Generator[Step, Change, bool]:
    """Yield each phase of Algorithm 1; receive the change that it made.

    Its return value is whether it converged: the last iteration changed nothing. At the maximum of
    iterations, one more knockout judges the merges reified last. Reification repairs tuple merges,
    then uses pairs in them (links, expands).

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
    reified = Change({})
    for iteration in range(1, settings.iterations + 1):
        removed = yield iteration, "knockout"
        if settings.reifies:
            reified = yield iteration, "reify"
        if removed.is_empty and reified.is_empty:
            return True
    if not reified.is_empty:
        yield settings.iterations + 1, "knockout"
    return False


# ------------------------------------------------------------------------------ annealing


def preview_annealing(
    tokeniser: BpeTokeniser,
    benchmark: Benchmark,
    settings: ReBPESettings | None = None,
    entries: Counts | None = None,
) -> Change:
    """Compute annealing without applying it: missing atoms, then merges of good pairs.

    Merges are added up to ``maximum_vocabulary`` types; atoms are added for all words. See
    `annealing_pairs` for the rest.

    Ġund and o are adjacent in a morph three times, which is enough; Ġred and o in none.

    >>> import morphgraph as mg
    >>> from morphgraph.formats.loading import load_tokeniser
    >>> tokeniser = load_tokeniser("demo:en")
    >>> gold = mg.read_gold([("undo", ["undo"])] * 3 + [("redo", ["red", "o"])] * 3)
    >>> preview_annealing(tokeniser, Benchmark.on(gold, tokeniser)).step["merges"]
    [['Ġund', 'o']]
    """
    settings = settings or ReBPESettings()
    graph = tokeniser.graph
    atoms = missing_atoms(tokeniser, benchmark)
    whole = replace(tokeniser, graph=graph.after(graph.preview_anneal((), atoms)))
    benchmark = benchmark.encoded_for(whole)
    segmentation = segment(whole.graph, benchmark.words)
    pairs = annealing_pairs(whole.graph, benchmark, segmentation, settings, entries)
    most = settings.maximum_vocabulary
    merges = within_vocabulary(whole.graph, pairs, whole.vocabulary_size, most)
    return graph.preview_anneal(merges, atoms)


class AnnealingPair(NamedTuple):
    """Two tokens that are adjacent ``total`` times, ``good`` of them inside a morph."""

    left: int
    right: int
    good: int
    total: int


def annealing_pairs(
    graph: MergeGraph,
    benchmark: Benchmark,
    segmentation: Segmentation,
    settings: ReBPESettings | None = None,
    entries: Counts | None = None,
) -> list[AnnealingPair]:
    """Return the pairs of adjacent tokens to merge, best first.

    Those with good ≥ ``minimum_good`` and good ÷ total ≥ ``minimum_ratio``, by good, then ratio,
    both descending, then by their strings. Each entry counts once; with ``entries``, only these
    count. Pairs across the end of a piece, which no merge can cross, and with unknown characters do
    not count. Source: Bauwens & de Lhoneux 2026, §3.4.
    """
    settings = settings or ReBPESettings()
    scope = settings.scope
    gold = benchmark.gold_gaps(scope)
    words, tokens = segmentation.words, segmentation.token_at
    counted = benchmark.has_gold(scope).copy()
    if entries is not None:
        counted &= np.isin(np.arange(len(counted)), entries)
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
    found = [
        AnnealingPair(int(pairs[i]) >> 32, int(pairs[i]) & 0xFFFFFFFF, int(good[i]), int(total[i]))
        for i in np.flatnonzero(chosen)
    ]
    types = graph.types
    return sorted(found, key=lambda p: (-p.good, -p.good / p.total, types[p.left], types[p.right]))


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
    from morphgraph.kernels.removing import repair

    atoms = atoms or TypeAtoms()
    arrays = merge_arrays(graph)
    widths = np.diff(arrays.part_offsets)
    tuples = np.flatnonzero(widths > 2)
    if not len(tuples):
        return {}
    numbers = arrays.merge_ids[tuples].tolist()
    strings = [atoms.of(graph, graph.merge(number).parts) for number in numbers]
    ends = np.cumsum([0, *map(len, strings)])
    flat = np.array([atom for string in strings for atom in string], np.int32)
    parts, offsets = repair(
        arrays.parts, arrays.part_offsets, arrays.results, tuples, flat, ends, arrays.type_count
    )
    return {
        numbers[i]: tuple(parts[offsets[i] : offsets[i + 1]].tolist())
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
    containing, types = tuple_merges_by_pair(parts), graph.types
    chosen = [
        pair
        for pair, merges in containing.items()
        if pair not in blacklist and (among is None or not merges.keys().isdisjoint(among))
    ]
    return sorted(chosen, key=lambda p: (-len(containing[p]), types[p[0]], types[p[1]]))
