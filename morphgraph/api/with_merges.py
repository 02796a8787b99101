"""The public tokeniser: one class, however it segments and wherever it comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from morphgraph.api.base import BaseTokeniser
from morphgraph.api.blamed import BlamedMerges, ThresholdCurve
from morphgraph.api.edited import Effect, Knockout, ReBPEOutcome, ScoredKnockout
from morphgraph.api.keywords import taking
from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.core.text import base_name, shortened
from morphgraph.corpus.counts import to_word_counts
from morphgraph.draw.gold_tree import gold_trees
from morphgraph.draw.merge_tree import describe_in_study, describe_tree
from morphgraph.draw.merge_tree_svg import TreePicture
from morphgraph.graph.view import to_networkx
from morphgraph.reference.entry import Reference
from morphgraph.refine import (
    BlameSettings,
    KnockoutOptions,
    KnockoutSettings,
    PruningOrder,
    ReBPEOptions,
    ReBPESettings,
    learned_from,
)
from morphgraph.refine.blame import blame
from morphgraph.refine.extending import add_types, extend, preview_words
from morphgraph.refine.knockout import THRESHOLDS, decided_threshold, threshold_curve
from morphgraph.refine.learning import learnable
from morphgraph.refine.portable_edits import explain_lost, preview_keeping, preview_portable
from morphgraph.refine.pruning import preview_prune
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.refine.study import Study
from morphgraph.score import SHARE_KEPT
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet, Scope, Weighting, check_gold
from morphgraph.segment.method import METHODS, Parameters, Value, method_named
from morphgraph.segment.segmenter import standard_segmenter
from morphgraph.tokeniser.merging import never_formed, segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser, IdChoice

if TYPE_CHECKING:
    import networkx as nx

    from morphgraph.corpus.counts import WordCountsLike
    from morphgraph.draw.scene import GraphPicture
    from morphgraph.graph.merge_table import Change


class Tokeniser(BaseTokeniser):
    """A vocabulary, how text is prepared for it, and a way to segment.

    It never changes: what edits or trains returns another one. Two are equal if vocabulary, merges,
    method and preprocessing are; names do not matter. `len` is the number of types, `in` looks one
    up, and it can be pickled. Methods that need merges raise a `MorphGraphError` if the tokeniser
    segments in another way. ``gold`` is what `read_gold` returns.

    >>> tokeniser
    <Tokeniser demo:en: BPE, 8,000 types, 7,743 merges>
    >>> tokeniser.method("flota", k=2)
    <Tokeniser demo:en: FLOTA(k=2), 8,000 types>
    """

    # ------------------------------------------------------------------------- blame

    def blame(
        self,
        gold: GoldSet,
        *,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
        tuples_once: bool = False,
    ) -> BlamedMerges:
        """Blame merges for gold boundaries that they close: N, B and R = B ÷ N, worst first.

        ``tuples_once``: a tuple merge counts once for each application. Source: Bauwens & Delobelle
        2024, Algorithm 1.

        >>> tokeniser.blame(gold)
        <BlamedMerges: 274 of 7,743 merges with R ≥ 0.5>
        """
        base = self._merges("blame")
        benchmark = Benchmark.on(check_gold(gold), base)
        benchmark.weights(weighting)  # fails if there are no frequencies
        counted: Any = {"scope": scope, "weighting": weighting, "tuples_once": tuples_once}
        blamed = blame(benchmark, segment(base.graph, benchmark.words), **counted)
        named = f"{weighting} {scope}" + " tuples once" * tuples_once
        return BlamedMerges(base, blamed, benchmark.signature(base, blame=named))

    def thresholds(
        self,
        gold: GoldSet,
        *,
        holdout: float = SHARE_KEPT,
        seed: int = 0,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
        thresholds: Sequence[float] = THRESHOLDS,
    ) -> ThresholdCurve:
        """Score what a knockout by each threshold would give, to choose one; nothing is removed.

        ``holdout`` and ``seed``: as of `knock_out`. ``thresholds``: every hundredth by default.

        >>> tokeniser.thresholds(gold)
        <ThresholdCurve: 99 thresholds, F1 59.70 % at 0.23>
        """
        base = self._merges("thresholds")
        rest, kept = check_gold(gold).set_aside(holdout, seed)
        study = Study(base, Benchmark.on(rest, base))
        study.benchmark.weights(weighting)  # fails if there are no frequencies
        blamed, benchmark, curves = study.blame(weighting, scope), study.benchmark, []
        counted: Any = {"scope": scope, "weighting": weighting}
        for gold_set in (rest,) if kept is rest else (kept, rest):
            on = benchmark if gold_set is rest else Benchmark.on(gold_set, base)
            curves.append(threshold_curve(base, on, blamed, thresholds=thresholds, **counted))
        named = f"{weighting} {scope}"
        signature = Benchmark.on(kept, base).signature(base, blame=named)
        decided = decided_threshold(base, rest, scope, weighting)
        return ThresholdCurve(curves[0], curves[-1], decided, signature)

    # ------------------------------------------------------------------------- refinement

    @taking(KnockoutSettings)
    def knock_out(
        self,
        gold: GoldSet,
        *,
        holdout: float = SHARE_KEPT,
        seed: int = 0,
        **settings: Unpack[KnockoutOptions],
    ) -> ScoredKnockout:
        """Knock out the types whose merges are to blame by gold, or as many others as a baseline.

        ``holdout``: the share of gold that is kept aside, by families of words, and scored on;
        0 learns from all words and scores on the same. ``seed``: of that share. ``settings``: those
        of the method `knockout`. Source: Bauwens & Delobelle 2024, Algorithm 1.

        >>> tokeniser.knock_out(gold)
        <ScoredKnockout: 231 types removed, F1 49.89 % → 60.98 % on 188 words kept aside>
        """
        chosen = KnockoutSettings(**settings, seed=seed)
        learned, rest, kept = self._learn("knockout", gold, holdout, seed, chosen)
        new, result = learned.segmenter.tokeniser, learned.result
        removed = tuple(new.types[number] for number in result.change.removed_types)
        return ScoredKnockout(*self._learned(new, rest, kept, chosen), removed, result)

    def _learn(
        self, method: str, gold: GoldSet, holdout: float, seed: int, settings: Parameters
    ) -> tuple[Any, GoldSet, GoldSet]:
        """Return what a method makes of all gold but a share, the words learned from, and others.

        Where none are kept aside, the others are the same.
        """
        entry: Any = METHODS[method]
        rest, kept = check_gold(gold).set_aside(holdout, seed)
        return entry.learn(self._merges(method), rest, settings), rest, kept

    def _learned(
        self, new: BpeTokeniser, rest: GoldSet, kept: GoldSet, settings: BlameSettings
    ) -> tuple[Tokeniser, tuple[str, ...], Effect, Effect]:
        """Return an edited copy, what it leaves, and the effects on words kept aside and others."""
        edited, never = self._edited(new)
        counted = settings.scope, settings.weighting
        learned = Effect(self, edited, rest, *counted)
        return (
            edited,
            never,
            learned if kept is rest else Effect(self, edited, kept, *counted),
            learned,
        )

    def knock_out_types(
        self,
        types: Sequence[str],
        *,
        cascade: bool = False,
        portable: bool = False,
        ids: IdChoice | None = None,
        gold: GoldSet | None = None,
    ) -> Knockout:
        """Knock out chosen types, spelled as in the vocabulary.

        ``cascade``: also remove the types made from them; else these are made from the parts of
        removed types. ``portable``: then leave only pair merges. A type that used a removed one is
        kept if other pairs form it, and only words with a removed type change. ``ids``: as for
        `portable`; "reuse" adds a type for each free id, so that more types are kept, and changes
        the words in which one is a token. ``gold``: compute the ``cost`` on its words.

        >>> tokeniser.knock_out_types(["und"]).tokeniser.segment(["undo"])
        [['Ġund', 'o']]
        """
        new, cost, types = self._merges("knock_out_types").copy(), None, check_list(types, "types")
        if gold is not None:
            study = Study(new, Benchmark.on(check_gold(gold), new))
            how: Any = {"cascade": cascade, "portable": portable, "reuse": ids == "reuse"}
            cost = study.preview(types, **how)
        graph = new.graph
        change = (graph.preview_cascade if cascade else graph.preview_knockout)(types)
        edited = self._removed(new, change, ids or new.id_choice, portable=portable)
        return replace(edited, cost=cost)

    def portable(self, gold: GoldSet | None = None, *, ids: IdChoice = "keep") -> Knockout:
        """Leave only pair merges, so that every library reads the export.

        Each tuple merge becomes a pair merge, or the type that it makes is removed. With ``gold``,
        a type is also removed if the pair merges that would keep it are to blame; words that were
        kept aside before do not count. ``ids``: "keep" leaves all ids as they are, so that no row
        of a model moves, and old sequences decode; "reuse" gives new types the ids of removed ones
        first; "dense" leaves no gaps.

        >>> found = tokeniser.knock_out(gold).tokeniser.portable(gold)
        >>> found.change.counts()["paired"]
        277
        >>> found.tokeniser.export("folder", words=["undesirable"]).kind
        'tokenizer.json'
        """
        new = self._merges("portable").copy()
        if gold is None:
            return self._removed(new, preview_portable(new.graph), ids)
        benchmark = Benchmark.on(learnable(new, check_gold(gold)), new)
        change = learned_from(preview_portable(new.graph, benchmark), benchmark)
        return self._removed(new, change, ids)

    def prune(
        self,
        count: int | None = None,
        *,
        by: PruningOrder = "leaf-frequency",
        counts: WordCountsLike | None = None,
        keep_scripts: Sequence[str] = (),
        drop_scripts: Sequence[str] = (),
        ids: IdChoice = "dense",
    ) -> Knockout:
        """Remove the ``count`` types that matter least, with their merges; no other type is lost.

        ``by``: "leaf-frequency" or "merge-based": by their use in word ``counts``, as for `method`;
        "last": by id; "script": those with a character of ``drop_scripts``, or outside
        ``keep_scripts``, without a ``count`` all of them. ``ids``: as for `portable`. Source:
        Purason et al. 2025.

        >>> tokeniser.prune(500, counts={"the": 9, "house": 2})
        <Knockout: 500 types removed>
        """
        new = self._merges("prune").copy()
        known = None if counts is None else to_word_counts(counts)
        scripts: Any = {"keep_scripts": keep_scripts, "drop_scripts": drop_scripts}
        return self._removed(new, preview_prune(new, count, by, known, **scripts), ids)

    def _removed(
        self, new: BpeTokeniser, change: Change, ids: IdChoice | None, *, portable: bool = False
    ) -> Knockout:
        new.graph.apply(change)
        new.id_choice = ids
        numbers, made = list(change.removed_types), tuple[int, ...]()
        lost: dict[str, str] = {}
        if portable:
            then = preview_keeping(new.graph, reuse=ids == "reuse")
            lost = explain_lost(new.graph, then, new.readable)
            numbers += new.graph.apply(then).removed_types
            made = then.added_types
        removed, added = (tuple(new.types[n] for n in each) for each in (numbers, made))
        return Knockout(*self._edited(new), removed, change, lost=lost, added=added)

    def extend(
        self,
        source: WordCountsLike | Tokeniser,
        add: int | None = None,
        *,
        replace: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> Tokeniser:
        """Train further on word counts, or take over the types of another tokeniser.

        New merges come after the existing ones, and types keep their ids. Training ends with
        ``add`` new types, or when no pairs are left. Another tokeniser has to spell words alike:
        all types that its merges make are added, with other merges where this one would cut their
        strings differently. ``replace``: new types get the ids of those that `prune` removed.
        ``progress``: called with the share done. Source: Purason et al. 2025; Delobelle et al.
        2022.

        >>> tokeniser.extend({"undesirable": 3}, 2).segment(["undesirable"])
        [['Ġund', 'esirable']]
        """
        new = self._merges("extend").copy()
        given: Any = source
        given = given._merges("extend") if isinstance(source, Tokeniser) else to_word_counts(source)
        extend(new, given, add, replace=replace, progress=progress)
        return self._edited(new)[0]

    def extend_by_words(
        self, words: Sequence[str], *, replace: bool = False
    ) -> tuple[Tokeniser, dict[str, str]]:
        """Make each word one token in running text; return also why this fails for some words.

        New merges come after the existing ones. There are as few as training on these words finds,
        by the most frequent pair. ``replace``: as for `extend`.

        >>> longer, why = tokeniser.extend_by_words(["undesirable", "well-known"])
        >>> longer.segment(["undesirable"]), len(longer) - len(tokeniser), why
        ([['Ġundesirable']], 3, {'well-known': 'is cut before any merge: ␣well - known'})
        """
        new = self._merges("extend").copy()
        change, why = preview_words(new, check_list(words, "words"))
        add_types(new, change, replace)
        return self._edited(new)[0], why

    @taking(ReBPESettings)
    def rebpe(
        self,
        gold: GoldSet,
        *,
        holdout: float = SHARE_KEPT,
        seed: int = 0,
        progress: Callable[[float], None] | None = None,
        **settings: Unpack[ReBPEOptions],
    ) -> ReBPEOutcome:
        """Run ReBPE: anneal, then knock out and reify in turn until nothing changes.

        ``holdout`` and ``seed``: as of `knock_out`. ``progress``: called with the share done.
        ``settings``: those of the method `rebpe`. Source: Bauwens & de Lhoneux 2026, Algorithm 1.

        >>> tokeniser.rebpe(gold, iterations=1)
        <ReBPEOutcome: 5 phases, F1 49.89 % → 59.79 % on 188 words kept aside>
        """
        chosen = ReBPESettings(**settings)
        new = self._merges("rebpe").copy()
        rest, kept = check_gold(gold).set_aside(holdout, seed)
        benchmark = Benchmark.on(rest, new)
        on = benchmark if kept is rest else Benchmark.on(kept, new)
        run = ReBPERun(new, benchmark, chosen, on)
        run.finish(progress)
        edited = self._learned(new, rest, kept, chosen)
        return ReBPEOutcome(*edited, tuple(run.phases), run.converged)

    def learn(
        self,
        method: str,
        gold: GoldSet,
        *,
        holdout: float = SHARE_KEPT,
        seed: int = 0,
        **parameters: Value | None,
    ) -> Tokeniser:
        """Apply a method that learns from gold, such as ``knockout``; return the new tokeniser.

        ``method``: its name in `METHODS`, with its ``parameters``. ``holdout`` and ``seed``: as of
        `knock_out`, which, like `rebpe`, also reports what it changed.

        >>> tokeniser.learn("knockout", gold)
        <Tokeniser demo:en: BTE, 7,769 types, 7,512 merges, 1 edit>
        """
        settings = method_named(method, METHODS.learning).settings(parameters)
        learned, _, _ = self._learn(method, gold, holdout, seed, settings)
        return Tokeniser(standard_segmenter(learned.segmenter.tokeniser))

    def _edited(self, new: BpeTokeniser) -> tuple[Tokeniser, tuple[str, ...]]:
        """Return an edited copy, and the types that no merge of it can form any more."""
        edits = len(new.graph.history) - len(self._merges("edits").graph.history)
        never = tuple(new.types[number] for number in never_formed(new.graph, edits))
        return Tokeniser(standard_segmenter(new)), never

    # ------------------------------------------------------------------------- pictures

    def tree(self, word: str, gold: GoldSet | None = None) -> TreePicture:
        """Draw the merge tree of a word, with gold boundaries and the blame of its merges.

        A word that the gold does not have is drawn without boundaries. Where the gold gives a tree
        of its morphemes, as CELEX does, that is drawn below.

        >>> tokeniser.tree("undesirable", gold=gold)
        <TreePicture undesirable: ␣und es ir able>
        """
        base = self._merges("tree")
        if not isinstance(word, str) or not word.strip():
            raise MorphGraphError(f"{shortened(repr(word))} is not a word. Give a string.")
        if gold is None:
            return TreePicture(describe_tree(base, base.encode([word]), 0))
        study = Study(base, Benchmark.on(check_gold(gold), base))
        tree = describe_in_study(study, word, study.blame())
        return TreePicture(tree, gold_trees(study, tree))

    def around(
        self, type: str, gold: GoldSet | None = None, *, up: int = 1, down: int = 2, limit: int = 60
    ) -> GraphPicture:
        """Draw the merge graph around a type, coloured by blame if there is gold.

        ``type``: as the vocabulary spells it, or readable, with or without its marker. ``up`` and
        ``down``: how many merges away from it towards longer types, and towards its parts;
        ``limit``: at most this many vertices.

        >>> tokeniser.around("able", up=0)
        <GraphPicture demo:en: able: 3 merges>
        """
        from morphgraph.draw.scene import GraphPicture, scene_around

        base = self._merges("around")
        spelled = base.type_from(str(type))
        if spelled is None:
            raise MorphGraphError(
                f"“{shortened(str(type))}” is not a type of this tokeniser. Check its spelling; "
                "types lists them all."
            )
        nothing = GoldSet(reference=Reference("none", "pairs", (), (), ""))
        study = Study(base, Benchmark.on(nothing if gold is None else check_gold(gold), base))
        scene = scene_around(study, base.graph.ids[spelled], up=up, down=down, limit=limit)
        return GraphPicture(scene, f"{base_name(self.name)}: {base.readable(spelled)}")

    def to_networkx(self) -> nx.DiGraph:
        """Return the whole merge graph: part → merge → result, with ranks and labels.

        >>> graph = tokeniser.to_networkx()
        >>> sum(kind == "merge" for _, kind in graph.nodes(data="kind"))
        7743
        """
        return to_networkx(self._merges("to_networkx").graph)
