"""The public tokeniser: one class, however it segments and wherever it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from morphgraph.api.base import BaseTokeniser
from morphgraph.api.gold import Gold, read_gold
from morphgraph.core.errors import MorphGraphError, check_share
from morphgraph.core.text import base_name, counted, percent, shortened
from morphgraph.corpus.counts import to_word_counts
from morphgraph.draw.charts import add_score_lines, blame_histogram, figure_of
from morphgraph.draw.merge_tree import describe_in_study, describe_tree
from morphgraph.draw.merge_tree_svg import TreePicture
from morphgraph.graph.view import to_networkx
from morphgraph.methods import METHODS
from morphgraph.reference.entry import Reference
from morphgraph.refine import (
    SHARE_HELD_OUT,
    BlameSettings,
    KnockoutSettings,
    PruningOrder,
    ReBPESettings,
    Selection,
)
from morphgraph.refine.blame import DEFAULT_THRESHOLD, Blame, blame_table
from morphgraph.refine.extending import extend
from morphgraph.refine.knockout import (
    THRESHOLDS,
    ThresholdPoint,
    best_point,
    candidate_types,
    knock_out,
    threshold_curve,
)
from morphgraph.refine.learning import remember
from morphgraph.refine.portable import preview_portable
from morphgraph.refine.pruning import preview_prune, preview_trim
from morphgraph.refine.rebpe_run import Phase, ReBPERun
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.segment.method import Value, method_named
from morphgraph.segment.segmenter import standard_segmenter
from morphgraph.tables.model import Cell, Column, Row, Table
from morphgraph.tables.writing import to_html, without_formulas
from morphgraph.tokeniser.merging import never_formed
from morphgraph.tokeniser.tokeniser import BpeTokeniser, IdChoice

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd
    import plotly.graph_objects as go

    from morphgraph.corpus.counts import WordCountsLike
    from morphgraph.draw.merge_tree_svg import TreePicture
    from morphgraph.draw.scene import GraphPicture
    from morphgraph.graph.merge_table import Change
    from morphgraph.tables.scores import TokeniserScore

_KNOCKOUT, _REBPE = KnockoutSettings(), ReBPESettings()
"""Where the defaults stand."""
Settings = TypeVar("Settings", bound=BlameSettings)
Learnt = TypeVar("Learnt", bound="ScoredKnockout | ReBPEOutcome")

_WORST = 20
"""How many merges a notebook shows of a table of blame."""


class Tokeniser(BaseTokeniser):
    """A vocabulary, how text is prepared for it, and a way to segment.

    It never changes: what edits or trains returns another one. Two are equal if vocabulary, merges,
    method and preprocessing are; names do not matter. `len` is the number of types, `in` looks one
    up, and it can be pickled. What needs merges raises a `MorphGraphError` on one that segments
    otherwise. ``gold`` is whatever `read_gold` takes.

    >>> tokeniser
    <Tokeniser demo:en: BPE, 8,000 types, 7,743 merges>
    >>> tokeniser.method("flota", k=2)
    <Tokeniser demo:en: FLOTA(k=2), 8,000 types>
    """

    # ------------------------------------------------------------------------- blame

    def blame(
        self, gold: Gold, *, scope: Scope = "morphemic", weighting: Weighting = "types"
    ) -> BlamedMerges:
        """Blame merges for gold boundaries that they close: N, B and R = B ÷ N, worst first.

        Source: Bauwens & Delobelle 2024, Algorithm 1.

        >>> tokeniser.blame(gold)
        <BlamedMerges: 274 of 7,743 merges with R ≥ 0.5>
        """
        study, blamed, signature = self._blamed("blame", gold, scope, weighting)
        return BlamedMerges(study.tokeniser, blamed, signature)

    def thresholds(
        self,
        gold: Gold,
        *,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
        thresholds: Sequence[float] | None = None,
    ) -> ThresholdCurve:
        """Score what a knockout by each threshold would give, to choose one; nothing is removed.

        ``thresholds``: every hundredth by default.

        >>> tokeniser.thresholds(gold)
        <ThresholdCurve: 99 thresholds, best F1 71.48 % at 0.28>
        """
        study, blamed, signature = self._blamed("thresholds", gold, scope, weighting)
        points = threshold_curve(
            study.tokeniser,
            study.benchmark,
            blamed,
            scope=scope,
            weighting=weighting,
            thresholds=THRESHOLDS if thresholds is None else thresholds,
        )
        return ThresholdCurve(points, signature)

    def _blamed(
        self, what: str, gold: Gold, scope: Scope = "morphemic", weighting: Weighting = "types"
    ) -> tuple[Study, Blame, str]:
        """Return a study on gold, the blame of merges in it, and its signature."""
        base = self._merges(what)
        benchmark = Benchmark.on(read_gold(gold), base)
        benchmark.weights(weighting)  # fails if there are no frequencies
        study, named = Study(base, benchmark), f"{weighting} {scope}"
        return study, study.blame(weighting, scope), benchmark.signature(base, blame=named)

    # ------------------------------------------------------------------------- refinement

    def knock_out(
        self,
        gold: Gold,
        *,
        threshold: float = _KNOCKOUT.threshold,
        holdout: float = _KNOCKOUT.holdout,
        scope: Scope = _KNOCKOUT.scope,
        weighting: Weighting = _KNOCKOUT.weighting,
        tuples_once: bool = _KNOCKOUT.tuples_once,
        cascade: bool = _KNOCKOUT.cascade,
        minimum_vocabulary: int = _KNOCKOUT.minimum_vocabulary,
        portable: bool = _KNOCKOUT.portable,
        seed: int = _KNOCKOUT.seed,
        select: Selection = _KNOCKOUT.select,
        count: int | None = _KNOCKOUT.count,
        percent: float | None = _KNOCKOUT.percent,
    ) -> ScoredKnockout:
        """Knock out the types whose merges are to blame by gold, or as many others as a baseline.

        The parameters are those of the method `knockout`. Source: Bauwens & Delobelle 2024,
        Algorithm 1.

        >>> tokeniser.knock_out(gold, threshold=0.6)
        <ScoredKnockout: 260 types removed, F1 48.07 % → 70.45 %>
        """
        settings = _settings(KnockoutSettings, locals())
        new, gold_set = self._merges("knock_out").copy(), read_gold(gold)
        result = knock_out(new, Benchmark.on(gold_set, new), settings)
        if result.removed:
            remember(new, gold_set, settings)
        made, never = self._edited(new)
        scores = self._scores(made, result.scored, settings)
        removed, added = tuple(result.removed), result.tokens_added
        again = _again(self.knock_out, gold_set, settings)
        return ScoredKnockout(made, never, removed, result.change, *scores, added, again)

    def knock_out_types(
        self, types: Sequence[str], *, cascade: bool = False, portable: bool = False
    ) -> Knockout:
        """Knock out chosen types, spelled as in the vocabulary.

        ``cascade``: what is made from a removed type goes with it; else it is made of its parts.
        ``portable``: then leave only pair merges; none is added, so that only words change in which
        a type that goes took part.

        >>> tokeniser.knock_out_types(["und"]).tokeniser.segment(["undo"])
        [['Ġund', 'o']]
        """
        new = self._merges("knock_out_types").copy()
        graph = new.graph
        change = (graph.preview_cascade if cascade else graph.preview_knockout)(types)
        return self._removed(new, change, new.id_choice, portable=portable)

    def portable(self, gold: Gold | None = None, *, ids: IdChoice = "keep") -> Knockout:
        """Leave only pair merges, so that every library reads the export.

        A tuple merge becomes a pair, or what it makes goes: of what could be kept through other
        types, what ``gold`` blames. ``ids``: "keep" leaves all types the ids that they have, so
        that no row of a model moves, and old sequences decode; "reuse" gives new types the ids of
        removed ones first; "dense" leaves no gaps.

        >>> found = tokeniser.knock_out(gold).tokeniser.portable(gold)
        >>> found.change.counts()["paired"]
        305
        >>> found.tokeniser.export("folder", words=["undesirable"]).kind
        'tokenizer.json'
        """
        new = self._merges("portable").copy()
        if gold is None:
            return self._removed(new, preview_portable(new.graph), ids)
        benchmark = Benchmark.on(read_gold(gold), new)
        remember(new, benchmark, _REBPE)
        change = preview_portable(new.graph, benchmark)
        return self._removed(new, _REBPE.learned(change, benchmark.reference.checksum), ids)

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
        """Remove the ``count`` types that matter least, with their merges; no other gets lost.

        ``by``: "leaf-frequency" or "merge-based", by their use in word ``counts``, as for `method`;
        "last": by id; "script": those with a character of ``drop_scripts``, or outside
        ``keep_scripts``, all by default. ``ids``: as for `portable`. Source: Purason et al. 2025.

        >>> tokeniser.prune(500, counts={"the": 9, "house": 2})
        <Knockout: 500 types removed>
        """
        new = self._merges("prune").copy()
        known = None if counts is None else to_word_counts(counts)
        scripts: Any = {"keep_scripts": keep_scripts, "drop_scripts": drop_scripts}
        return self._removed(new, preview_prune(new, count, by, known, **scripts), ids)

    def trim(self, counts: WordCountsLike, *, ids: IdChoice = "dense") -> Knockout:
        """Remove the types that counted words do not need; these are segmented as before.

        What words only pass through goes too, where other pair merges can lead past it. ``ids``: as
        for `portable`.

        >>> tokeniser.trim({"undesirable": 1, "houses": 2}).tokeniser.segment(["undesirable"])
        [['Ġund', 'es', 'ir', 'able']]
        """
        new = self._merges("trim").copy()
        return self._removed(new, preview_trim(new, to_word_counts(counts)).change, ids)

    def _removed(
        self, new: BpeTokeniser, change: Change, ids: IdChoice | None, *, portable: bool = False
    ) -> Knockout:
        new.graph.apply(change)
        new.id_choice = ids
        numbers = list(change.removed_types)
        if portable:
            numbers += new.graph.apply(preview_portable(new.graph, chains=False)).removed_types
        removed = tuple(new.types[number] for number in numbers)
        return Knockout(*self._edited(new), removed, change)

    def extend(self, counts: WordCountsLike, add: int, *, replace: bool = False) -> Tokeniser:
        """Go on training on word ``counts`` until ``add`` types are new, or no pairs are left.

        All merges of before are applied first, and types keep their ids. ``replace``: new types get
        the ids of those that `prune` removed. Source: Purason et al. 2025.

        >>> tokeniser.extend({"undesirable": 3}, 2).segment(["undesirable"])
        [['Ġund', 'esirable']]
        """
        new = self._merges("extend").copy()
        extend(new, to_word_counts(counts), add, replace=replace)
        return self._edited(new)[0]

    def rebpe(
        self,
        gold: Gold,
        *,
        threshold: float = _REBPE.threshold,
        holdout: float = _REBPE.holdout,
        scope: Scope = _REBPE.scope,
        weighting: Weighting = _REBPE.weighting,
        tuples_once: bool = _REBPE.tuples_once,
        cascade: bool = _REBPE.cascade,
        minimum_vocabulary: int = _REBPE.minimum_vocabulary,
        portable: bool = _REBPE.portable,
        seed: int = _REBPE.seed,
        anneal: bool = _REBPE.anneal,
        reify: bool = _REBPE.reify,
        repair: bool = _REBPE.repair,
        link: bool = _REBPE.link,
        expand: bool = _REBPE.expand,
        iterations: int = _REBPE.iterations,
        maximum_vocabulary: int | None = _REBPE.maximum_vocabulary,
        minimum_good: int = _REBPE.minimum_good,
        minimum_ratio: float = _REBPE.minimum_ratio,
    ) -> ReBPEOutcome:
        """Run ReBPE: anneal, then knock out and reify in turn until nothing changes.

        The parameters are those of the method `rebpe`. Source: Bauwens & de Lhoneux 2026,
        Algorithm 1.

        >>> tokeniser.rebpe(gold, iterations=1)
        <ReBPEOutcome: 5 phases, F1 48.07 % → 76.26 %>
        """
        settings = _settings(ReBPESettings, locals())
        new, gold_set = self._merges("rebpe").copy(), read_gold(gold)
        run = ReBPERun(new, Benchmark.on(gold_set, new), settings)
        run.finish()
        remember(new, gold_set, settings)
        made, never = self._edited(new)
        scores = self._scores(made, run.scored, settings)
        phases, added = tuple(run.phases), run.tokens_added
        again = _again(self.rebpe, gold_set, settings)
        return ReBPEOutcome(made, never, phases, run.converged, *scores, added, again)

    def learn(self, method: str, gold: Gold, **parameters: Value | None) -> Tokeniser:
        """Return what a method that learns from gold makes of this: ``morphbpe``, ``rebpe``, ….

        ``method``: its name in `METHODS`, with its ``parameters``. `knock_out` and `rebpe` also
        tell what they did.

        >>> tokeniser.learn("morphbpe", gold, holdout=0.2)
        <Tokeniser demo:en: BPE, 1,620 types, 1,363 merges, 2 edits>
        """
        entry: Any = method_named(method, METHODS.learning)
        settings, gold_set = entry.settings(parameters), read_gold(gold)
        made = entry.learn(self._merges(method), gold_set, settings).segmenter
        remember(made.tokeniser, gold_set, settings)
        return Tokeniser(standard_segmenter(made.tokeniser))

    def _edited(self, new: BpeTokeniser) -> tuple[Tokeniser, tuple[str, ...]]:
        """Return an edited copy, and the types that no merge of it can form any more."""
        edits = len(new.graph.history) - len(self._merges("edits").graph.history)
        never = tuple(new.types[number] for number in never_formed(new.graph, edits))
        return Tokeniser(standard_segmenter(new)), never

    def _scores(
        self, made: Tokeniser, gold: GoldSet, settings: BlameSettings
    ) -> tuple[TokeniserScore, TokeniserScore]:
        """Scores before and after, as the settings of a method say."""
        before, after = (
            each.score(gold, scope=settings.scope, weighting=settings.weighting)
            for each in (self, made)
        )
        return before, after

    # ------------------------------------------------------------------------- pictures

    def tree(self, word: str, gold: Gold | None = None) -> TreePicture:
        """Draw the merge tree of a word, with gold boundaries and the blame of its merges.

        A word that the gold does not have is drawn without boundaries.

        >>> tokeniser.tree("undesirable", gold=gold)
        <TreePicture undesirable: ␣und es ir able>
        """
        base = self._merges("tree")
        if not isinstance(word, str) or not word.strip():
            raise MorphGraphError(f"{shortened(repr(word))} is not a word. Give a string.")
        if gold is None:
            return TreePicture(describe_tree(base, base.encode([word]), 0))
        study, blamed, _ = self._blamed("tree", gold)
        return TreePicture(describe_in_study(study, word, blamed))

    def around(
        self, type: str, gold: Gold | None = None, *, up: int = 1, down: int = 2, limit: int = 60
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
        study = Study(base, Benchmark.on(nothing if gold is None else read_gold(gold), base))
        scene = scene_around(study, base.graph.ids[spelled], up=up, down=down, limit=limit)
        return GraphPicture(scene, f"{base_name(self.name)}: {base.readable(spelled)}")

    def to_networkx(self) -> nx.DiGraph:
        """Return the whole merge graph: part → merge → result, with ranks and labels.

        >>> graph = tokeniser.to_networkx()
        >>> sum(kind == "merge" for _, kind in graph.nodes(data="kind"))
        7743
        """
        return to_networkx(self._merges("to_networkx").graph)


def _settings(kind: type[Settings], given: Mapping[str, Any]) -> Settings:
    return kind(**{name: given[name] for name in kind.model_fields})


def _again(
    learn: Callable[..., Learnt], gold: GoldSet, settings: BlameSettings
) -> Callable[[], Learnt] | None:
    """Return what learns once more without a share of the words; None if some were held out."""
    if settings.holdout or not settings.sees_gold:
        return None
    return partial(learn, gold, **dict(settings.changed(holdout=SHARE_HELD_OUT)))


# ----------------------------------------------------------------------------- what they return


@dataclass(frozen=True, repr=False)
class Knockout:
    """A tokeniser without some types.

    ``never_formed``: the types that this leaves in the vocabulary, but no merge can form any more;
    ``tokeniser.knock_out_types(never_formed, cascade=True)`` removes them. ``removed``: the types
    that are gone, first one first; ``change``: all that this changed in the merge graph.

    >>> tokeniser.knock_out_types(["und"])
    <Knockout: 1 type removed>
    """

    tokeniser: Tokeniser
    never_formed: tuple[str, ...]
    removed: tuple[str, ...]
    change: Change = field(compare=False)

    def __repr__(self) -> str:
        did = f"{counted(len(self.removed), 'type')} removed"
        return f"<{type(self).__name__}: {did}{_left(self.never_formed)}>"


@dataclass(frozen=True, repr=False)
class ScoredKnockout(Knockout):
    """A tokeniser after a knockout by gold, with its scores.

    ``before`` and ``after``: on the held-out words if there are some, else on all.
    ``tokens_added``: how many more tokens these have, as a share.

    >>> found = tokeniser.knock_out(gold)
    >>> found.before.f1 < found.after.f1, round(found.tokens_added, 3)
    (True, 0.154)
    """

    before: TokeniserScore
    after: TokeniserScore
    tokens_added: float
    _again: Callable[[], ScoredKnockout] | None = field(compare=False)

    @cached_property
    def held_out(self) -> ScoredKnockout:
        """The same learned from 80 % of the words, and scored on the others: computed on demand.

        The seed draws these. Itself if it was learned with a ``holdout``, or not from gold.

        >>> found = tokeniser.knock_out(gold).held_out
        >>> round(found.before.f1, 3), round(found.after.f1, 3)
        (0.517, 0.637)
        """
        return self._again() if self._again else self

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}{_gain(self.before, self.after)}>"


@dataclass(frozen=True, repr=False)
class ReBPEOutcome:
    """A tokeniser after ReBPE, the phases of the run, and scores before and after.

    ``never_formed``: as of `Knockout`. ``converged``: whether it ended because nothing was left to
    change. ``before`` and ``after``: on the held-out words if there are some, else on all.
    ``tokens_added``: how many more tokens these have, as a share.

    >>> found = tokeniser.rebpe(gold, iterations=1)
    >>> found.converged, [phase.kind for phase in found.phases]
    (False, ['start', 'anneal', 'knockout', 'reify', 'knockout'])
    """

    tokeniser: Tokeniser
    never_formed: tuple[str, ...]
    phases: tuple[Phase, ...]
    converged: bool
    before: TokeniserScore
    after: TokeniserScore
    tokens_added: float
    _again: Callable[[], ReBPEOutcome] | None = field(compare=False)

    @cached_property
    def held_out(self) -> ReBPEOutcome:
        """The same learned from 80 % of the words, and scored on the others: computed on demand.

        As of `ScoredKnockout.held_out`.

        >>> tokeniser.rebpe(gold).held_out
        <ReBPEOutcome: 14 phases, F1 51.68 % → 63.45 %>
        """
        return self._again() if self._again else self

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each phase: its iteration and kind, sizes, scores, and what it changed.

        >>> list(tokeniser.rebpe(gold, iterations=1).to_frame()["phase"])
        ['start', 'anneal', 'knockout', 'reify', 'knockout']
        """
        import pandas as pd

        frame = pd.DataFrame([phase.to_dict() | phase.counts for phase in self.phases])
        kinds = {kind for phase in self.phases for kind in phase.counts}
        whole = frame.fillna(dict.fromkeys(kinds, 0)).astype(dict.fromkeys(kinds, "int64"))
        return whole.drop(columns=["changes", "removed_by_origin"])

    def __repr__(self) -> str:
        did = counted(len(self.phases), "phase") + _left(self.never_formed)
        return f"<ReBPEOutcome: {did}{_gain(self.before, self.after)}>"


def _left(never_formed: Sequence[str]) -> str:
    return f", {counted(len(never_formed), 'type')} never formed" if never_formed else ""


def _gain(before: TokeniserScore, after: TokeniserScore) -> str:
    return f", F1 {percent(before.f1)} % → {percent(after.f1)} %"


@dataclass(frozen=True, repr=False)
class BlamedMerges:
    """All merges with N, B and R, worst first; a notebook shows the worst.

    >>> tokeniser.blame([("undo", ["un", "do"])])
    <BlamedMerges: 1 of 7,743 merges with R ≥ 0.5>
    """

    _tokeniser: BpeTokeniser
    _blamed: Blame
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each merge that was applied: rank, type, merge, parts, N, B, R.

        >>> tokeniser.blame([("undo", ["un", "do"])]).to_frame()[["N", "B", "R"]]
             N    B    R
        0  1.0  1.0  1.0
        1  1.0  0.0  0.0
        2  1.0  0.0  0.0
        """
        table = blame_table(self._tokeniser, self._blamed).iloc[self._blamed.order]
        return table.drop(columns="merge_id").reset_index(drop=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the signature and the rows of `to_frame`, as JSON.

        >>> tokeniser.blame([("undo", ["un", "do"])]).to_dict()["merges"][0]["merge"]
        'n + d'
        """
        merges = self.to_frame().to_dict(orient="records")
        return {"signature": self.signature, "merges": merges}

    def types(self, threshold: float = DEFAULT_THRESHOLD) -> list[str]:
        """Return the types that a knockout with this threshold removes, worst first.

        >>> tokeniser.blame([("undo", ["un", "do"])]).types()
        ['nd']
        """
        check_share("threshold", threshold)
        return candidate_types(self._tokeniser, self._blamed, threshold)

    def plot(self, threshold: float = DEFAULT_THRESHOLD) -> go.Figure:
        """Chart how many merges have which R, and which of them a threshold removes.

        >>> tokeniser.blame(gold).plot(threshold=0.6).layout.yaxis.title.text
        'merges (log)'
        """
        check_share("threshold", threshold)
        return blame_histogram(self.to_frame(), threshold)

    def __repr__(self) -> str:
        merges = counted(len(self._blamed.arrays), "merge")
        return f"<BlamedMerges: {len(self._blamed.candidates()):,} of {merges} with R ≥ 0.5>"

    def _repr_html_(self) -> str:
        counts = (Column("N", "count"), Column("B", "count"), Column("R", "ratio"))
        columns = (Column("merge"), *counts)
        rows = tuple(
            Row((f"{row['rank']:,}",), tuple(Cell(row[column.header]) for column in columns))
            for row in self.to_frame().head(_WORST).to_dict(orient="records")
        )
        table = Table("Blame", (Column("rank"),), columns, rows, signatures=(self.signature,))
        return without_formulas(to_html(table))


@dataclass(frozen=True, repr=False)
class ThresholdCurve:
    """What knocking out by each threshold would give, lowest first; nothing is removed.

    >>> [point.removed for point in tokeniser.thresholds(gold, thresholds=[0.4, 0.8]).points]
    [276, 252]
    """

    points: Sequence[ThresholdPoint]
    signature: str

    @property
    def best(self) -> ThresholdPoint | None:
        """The lowest threshold with the highest F1; None where F1 is undefined everywhere.

        >>> tokeniser.thresholds(gold).best.threshold
        0.28
        """
        return best_point(self.points)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each threshold: types removed and scores, NaN where undefined.

        >>> list(tokeniser.thresholds(gold, thresholds=[0.4, 0.8]).to_frame()["removed"])
        [276, 252]
        """
        import pandas as pd

        return pd.DataFrame([asdict(point) for point in self.points])

    def to_dict(self) -> dict[str, Any]:
        """Return the signature and the points, as data.

        >>> sorted(tokeniser.thresholds(gold, thresholds=[0.4]).to_dict())
        ['points', 'signature']
        """
        return {"signature": self.signature, "points": [asdict(point) for point in self.points]}

    def plot(self) -> go.Figure:
        """Chart precision, recall and F1 over thresholds.

        >>> [line.name for line in tokeniser.thresholds(gold, thresholds=[0.4, 0.8]).plot().data]
        ['precision', 'recall', 'F1']
        """
        figure = figure_of("threshold: types with this blame or more are removed", "%")
        add_score_lines(figure, [point.threshold for point in self.points], self.points)
        return figure

    def __repr__(self) -> str:
        best = self.best
        said = "" if best is None else f", best F1 {percent(best.f1)} % at {best.threshold:g}"
        return f"<ThresholdCurve: {counted(len(self.points), 'threshold')}{said}>"
