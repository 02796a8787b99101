"""An edit after which every library reads the tokeniser: only pair merges are left."""

from collections.abc import Callable
from dataclasses import replace

from morphgraph.graph.atoms import atoms_of
from morphgraph.graph.keeping import affected_types, missing_types
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change
from morphgraph.graph.portable import UsualPairs
from morphgraph.refine import BlameSettings
from morphgraph.refine.blame import blame
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment, unformed_types


def preview_portable(
    graph: MergeGraph,
    benchmark: Benchmark | None = None,
    settings: BlameSettings | None = None,
) -> Change:
    """Compute the edit without applying it.

    What a tuple merge makes is kept, if it can be, by pair merges through types that are there. It
    goes if those are to blame by ``benchmark``, as ``settings`` say. Types that no merge can form
    any more, but could in the tokeniser as loaded, go as well, also where they would stay whole
    (``ignore_merges``). Merges that are added join their parts earlier than before in any text.

    >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "bc"), ("x", "y"), ("xy", "z")])
    >>> change = graph.knockout(["bc", "xy"])
    >>> change = graph.apply(preview_portable(graph))
    >>> "abc" in graph, graph.has_tuples, change.counts()
    (False, False, {'removed': 2})
    """
    original, usual, atoms = graph.original(), UsualPairs(graph), atoms_of(graph)
    drop, formed, already = set[str](), set[int](), set[int]()
    while True:
        change = graph.preview_portable(drop, usual)
        after = graph.after(change)
        found = set(unformed_types(after, atoms=atoms))
        new = {each for each in found if each < graph.loaded_type_count} - formed - already
        already |= set(unformed_types(original, new))
        formed |= new - already
        unformed = set(map(after.types.__getitem__, found - already))
        if benchmark is not None:
            asked, words = settings or BlameSettings(), segment(after, benchmark.words)
            blamed = blame(benchmark, words, scope=asked.scope, weighting=asked.weighting)
            places = blamed.candidates(asked.threshold)
            bad = set(blamed.arrays.merge_ids[places].tolist())
            unformed |= _made_through(after, change, bad)
        if not unformed - drop:
            return replace(change, step={**change.step, "drop": sorted(drop)})
        drop |= unformed


def preview_keeping(graph: MergeGraph, *, reuse: bool = False) -> Change:
    """Compute the edit that leaves only pair merges, without applying it, and keeps what it can.

    What used a removed type is formed by other pairs, in texts where it was formed before, and no
    other text changes; see `plan_keeping`. ``reuse``: as many new types as there are ids of removed
    ones may lead there; the only texts that change for them are those where one is a token. What
    nothing formed in the tokeniser as loaded goes.

    >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "bc"), ("x", "y"), ("xy", "z")])
    >>> change = graph.knockout(["bc", "xy"])
    >>> preview_keeping(graph).counts(), preview_keeping(graph, reuse=True).counts()
    ({'removed': 2}, {'chained': 2, 'paired': 2})
    """
    affected = affected_types(graph)
    loaded = [number for number in affected if number < graph.loaded_type_count]
    drop = {graph.types[number] for number in unformed_types(graph.original(), loaded)}
    room = max(0, graph.loaded_type_count - graph.type_count) if reuse else 0
    while True:
        change = graph.preview_keeping(drop, room)
        after = graph.after(change)
        kept = [number for number in affected if after.is_present(number)]
        unformed = {after.types[number] for number in unformed_types(after, kept)}
        if not unformed:
            return change
        drop |= unformed


def explain_lost(
    graph: MergeGraph, change: Change, readable: Callable[[str], str] = str
) -> dict[str, str]:
    """Return why each type goes that `preview_keeping` gives up; tokens are spelt ``readable``.

    >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "bc")])
    >>> change = graph.knockout(["bc"])
    >>> explain_lost(graph, preview_keeping(graph))
    {'abc': 'a b c, and joining two takes a new type, “ab”'}
    """
    after = graph.after(change)
    why = dict.fromkeys(change.step["drop"], "what no merges formed")
    for number, (tokens, new) in missing_types(graph, after, change.removed_types).items():
        spent = ", for which no id is free" * bool(change.step["room"])
        joins = f"joining two takes a new type, “{readable(new)}”{spent}"
        if not new:
            joins = "what joins two is gone"
            if len(tokens) == 2:
                joins = "its id now belongs to another type"
        why.setdefault(graph.types[number], f"{' '.join(map(readable, tokens))}, and {joins}")
    return why


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
