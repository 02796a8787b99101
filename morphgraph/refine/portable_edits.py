"""An edit after which every library reads the tokeniser: only pair merges are left."""

from dataclasses import replace

from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.refine import BlameSettings
from morphgraph.refine.blame import blame
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment, unformed_types


def preview_portable(
    graph: MergeGraph,
    benchmark: Benchmark | None = None,
    settings: BlameSettings | None = None,
    *,
    chains: bool = True,
) -> Change:
    """Compute the edit without applying it.

    What a tuple merge makes is kept, if it can be, by pair merges through types that are there. It
    goes if those are to blame by ``benchmark``, as ``settings`` say. Types that no merge can form
    any more, but could in the tokeniser as loaded, go as well, also where they would stay whole
    (``ignore_merges``). ``chains``: whether merges may be added, which join their parts earlier
    than before in any text.

    >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "bc"), ("x", "y"), ("xy", "z")])
    >>> change = graph.knockout(["bc", "xy"])
    >>> change = graph.apply(preview_portable(graph))
    >>> "abc" in graph, graph.has_tuples, change.counts()
    (False, False, {'removed': 2})
    """
    already = set(unformed_types(graph.original()))
    drop: set[str] = set()
    while True:
        change = graph.preview_portable(drop)
        after = graph.after(change)
        unformed = {after.types[n] for n in unformed_types(after) if n not in already}
        if not chains:
            unformed |= _made_through(after, change, set(change.added_merges))
        elif benchmark is not None:
            asked, words = settings or BlameSettings(), segment(after, benchmark.words)
            blamed = blame(benchmark, words, scope=asked.scope, weighting=asked.weighting)
            places = blamed.candidates(asked.threshold)
            bad = set(blamed.arrays.merge_ids[places].tolist())
            unformed |= _made_through(after, change, bad)
        if not unformed - drop:
            return replace(change, step={**change.step, "drop": sorted(drop)})
        drop |= unformed


def _made_through(graph: MergeGraph, change: Change, bad: set[int]) -> set[str]:
    """Return the types whose new merges, or those that lead to these, are ``bad``."""
    through = {merge.result for number, merge in change.added_merges.items() if number in bad}
    for merge in change.added_merges.values():
        if not through.isdisjoint(merge.parts):
            through.add(merge.result)
    return {
        graph.types[graph.merge(entry.merge).result]
        for entry in change.rewired
        if entry.merge in bad or not through.isdisjoint(entry.new_parts)
    }
