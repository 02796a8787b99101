"""What edits return: the edited tokeniser, what changed, and scores on the words kept aside."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from morphgraph.core.text import counted, percent, shortened, signed, visible, without_nan
from morphgraph.formats.hugging_face import id_counts
from morphgraph.refine.knockout import (
    KnockoutResult,
    share_of_leaves,
)
from morphgraph.refine.learning import has_seen
from morphgraph.refine.rebpe_run import Phase
from morphgraph.refine.study import Preview
from morphgraph.score.boundaries import Benchmark, BoundaryScore, score_report
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.segment.models import export_to
from morphgraph.tables.edits import change_table, phases_table
from morphgraph.tables.model import Column, Row, Table
from morphgraph.tables.result import Result
from morphgraph.tables.terminal import text_of
from morphgraph.tokeniser.merging import segment

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.api.with_merges import Tokeniser
    from morphgraph.formats.export import Export
    from morphgraph.graph.merge_table import Change
    from morphgraph.tables.score_views import TokeniserScore


class Effect:
    """The effect of an edit on some words: scores before and after it, computed on demand.

    >>> found = tokeniser.knock_out(gold)
    >>> found.learned.before.f1 < found.learned.after.f1
    True
    """

    def __init__(
        self,
        start: Tokeniser,
        edited: Tokeniser,
        gold: GoldSet,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
    ) -> None:
        self._pair, self.gold = (start, edited), gold
        self._how: Any = {"scope": scope, "weighting": weighting}

    @cached_property
    def before(self) -> TokeniserScore:
        """The scores of the tokeniser before."""
        return self._pair[0].score(self.gold, **self._how)

    @cached_property
    def after(self) -> TokeniserScore:
        """The scores of the tokeniser after."""
        return self._pair[1].score(self.gold, **self._how)

    @cached_property
    def _made(self) -> list[tuple[Benchmark, list[BoundaryScore], str, int]]:
        scored = []
        for each in self._pair:
            base = each._merges("scores")
            benchmark = Benchmark.on(self.gold, base)
            words = segment(base.graph, benchmark.words)
            scores = benchmark.scores(words)
            told = [one for one in scores if one.relevant > 0] or scores[:1]
            scored.append((benchmark, told, benchmark.signature(base), words.token_count))
        return scored

    @property
    def tokens_added(self) -> float:
        """How many more tokens the words have, as a share; NaN without words.

        >>> round(tokeniser.knock_out(gold).learned.tokens_added, 3)
        0.16
        """
        (*_, before), (*_, after) = self._made
        return after / before - 1 if before else float("nan")

    @property
    def pairs(self) -> list[tuple[BoundaryScore, BoundaryScore]]:
        """The scores before and after, for each scope and weighting that the gold supports.

        >>> [(after.scope, after.weighting) for _, after in tokeniser.knock_out(gold).scored.pairs]
        [('morphemic', 'types'), ('whole-word', 'types')]
        """
        return list(zip(self._made[0][1], self._made[1][1], strict=True))

    @property
    def signatures(self) -> tuple[str, str]:
        """The lines with all that the scores before and after depend on.

        >>> tokeniser.knock_out(gold).scored.signatures[1].partition("|")[0]
        'reference:demo:en@be1dd82ec9f8'
        """
        return self._made[0][2], self._made[1][2]

    def to_dict(self) -> dict[str, Any]:
        """Return the words that are scored, and their scores before and after, as JSON data.

        >>> tokeniser.knock_out(gold).scored.to_dict()["words"]
        'kept aside 0.2 by families, seed 0'
        """
        before, after = (score_report(*each[:3]) for each in self._made)
        return {"words": self.gold.drawn or "all", "before": before, "after": after}

    def __repr__(self) -> str:
        return f"<Effect: F1 {percent(self.before.f1)} % → {percent(self.after.f1)} %>"


@dataclass(frozen=True, repr=False)
class EditResult(Result):
    """An edited tokeniser, and the types left in it that no merge can form any more."""

    tokeniser: Tokeniser
    never_formed: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what changed as JSON data; ``ids``: how many types keep theirs, and so on."""
        ids = id_counts(self.tokeniser._merges("report"))
        size = len(self.tokeniser)
        return {"never_formed": list(self.never_formed), "vocab_size": size, "ids": ids}

    def _left(self) -> list[str]:
        if not self.never_formed:
            return []
        first = ", ".join(f"“{shortened(visible(text), 20)}”" for text in self.never_formed[:10])
        more = ", …" if len(self.never_formed) > 10 else ""
        number = counted(len(self.never_formed), "type")
        return [f"{number} that no merge forms any more: {first}{more}"]

    def save(self, folder: str | os.PathLike[str], *, words: Sequence[str] | None = None) -> Export:
        """Export the tokeniser to a folder, see `Tokeniser.export`, with `to_dict` as log.json.

        >>> made = tokeniser.knock_out_types(["und"]).save("folder", words=["undo"])
        >>> "log.json" in made.files
        True
        """
        log = json.dumps(without_nan(self.to_dict()), ensure_ascii=False, indent=1)
        return export_to(self.tokeniser._segmenter, folder, words, {"log.json": log.encode()})


@dataclass(frozen=True, repr=False)
class Knockout(EditResult):
    """A tokeniser without some types.

    ``never_formed``: the types that this leaves in the vocabulary, but no merge can form any more;
    ``tokeniser.knock_out_types(never_formed, cascade=True)`` removes them. ``removed``: the types
    that are gone, in order; ``change``: all that changed in the merge graph; ``cost``: what changed
    on the words of gold, if it is known. For a portable knockout, ``lost``: why each type that was
    not asked for is gone; ``added``: new types through which others are formed.

    >>> print(tokeniser.knock_out_types(["und"]))
    1 type removed; |V| is now 7,999
    """

    removed: tuple[str, ...]
    change: Change = field(compare=False)
    cost: Preview | None = field(default=None, compare=False)
    lost: Mapping[str, str] = field(default_factory=dict, compare=False)
    added: tuple[str, ...] = ()

    @property
    def words(self) -> Sequence[str] | None:
        """The words that an export is checked on first; None for common ones.

        >>> tokeniser.knock_out_types(["und"], gold=mg.read_gold({"undo": ["un", "do"]})).words
        ('undo',)
        """
        return None if self.cost is None else self.cost.segmentation.words.texts

    def to_dict(self) -> dict[str, Any]:
        """Return what changed as JSON data.

        >>> tokeniser.knock_out_types(["und"]).to_dict()["vocab_size"]
        7999
        """
        return {
            **({} if self.cost is None else {"cost": self.cost.to_dict()}),
            "removed": list(self.removed),
            "lost": dict(self.lost),
            "added": list(self.added),
            **super().to_dict(),
        }

    def table(self) -> Table:
        """Return the removed types, a row each.

        >>> tokeniser.knock_out_types(["und"]).table().rows[0].names
        ('und',)
        """
        rows = tuple(Row((visible(text),), ()) for text in self.removed)
        return Table("Removed types", (Column("type"),), (), rows)

    def report(self, width: int | None = None) -> str:
        """Return what changed in lines, as the terminal shows it.

        >>> tokeniser.knock_out_types(["und"]).report()
        '1 type removed; |V| is now 7,999'
        """
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        removed = f"{counted(len(self.removed), 'type')} removed"
        cost = [] if self.cost is None else self.cost.cost()
        readable = self.tokeniser._merges("report").readable
        return [
            *cost,
            f"{removed}; |V| is now {len(self.tokeniser):,}",
            *(f"lost: “{readable(text)}” is {why}" for text, why in self.lost.items()),
            *self._left(),
        ]

    def __repr__(self) -> str:
        did = f"{counted(len(self.removed), 'type')} removed"
        return f"<{type(self).__name__}: {did}{_left(self.never_formed)}>"


@dataclass(frozen=True, repr=False)
class LearnedEdit(EditResult):
    """A tokeniser edited by a method that learns from gold, with scores before and after.

    ``never_formed``: as of `Knockout`. ``scored``: the effect on the words kept aside; ``learned``:
    on those learned from, which is the same without a holdout, or of very few families.
    """

    scored: Effect = field(compare=False)
    learned: Effect = field(compare=False)

    @property
    def before(self) -> TokeniserScore:
        """The scores of the tokeniser before, on the words that are scored.

        >>> round(tokeniser.knock_out(gold).before.f1, 3)
        0.499
        """
        return self.scored.before

    @property
    def after(self) -> TokeniserScore:
        """The scores of the tokeniser after, on the words that are scored.

        >>> round(tokeniser.knock_out(gold).after.f1, 3)
        0.61
        """
        return self.scored.after

    @property
    def words(self) -> Sequence[str]:
        """The words that an export is checked on first.

        >>> len(tokeniser.knock_out(gold).words)
        188
        """
        return self.scored.gold.texts

    @property
    def is_held_in(self) -> bool:
        """Whether it is scored on words that it learned from, now or before.

        >>> [tokeniser.knock_out(gold, holdout=share).is_held_in for share in (0.2, 0)]
        [False, True]
        """
        return has_seen(self.tokeniser._merges("scores"), self.scored.gold)

    @property
    def tokens_added(self) -> float:
        """How many more tokens the words scored have, as a share.

        >>> round(tokeniser.knock_out(gold).tokens_added, 3)
        0.064
        """
        return self.scored.tokens_added

    @property
    def on(self) -> str:
        """The words scored, for people to read.

        >>> tokeniser.knock_out(gold).on, tokeniser.knock_out(gold, holdout=0).on
        ('188 words kept aside', '939 words it learned from')
        """
        gold = self.scored.gold
        which = " it learned from" if self.is_held_in else " kept aside" if gold.parts else ""
        return counted(gold.size, "word") + which

    def scores(self) -> Table:
        """Return the scores before and after, of the words kept aside and of those learned from.

        >>> tokeniser.knock_out(gold).scores().rows[0].cells[2].value
        '49.89 → 60.98'
        """
        gold = self.scored.gold
        drawn = f" ({gold.drawn.removeprefix('kept aside ')})" if gold.parts else ""
        blocks = {f"On the {self.on}{drawn}": self.scored.pairs}
        if self.learned is not self.scored:
            words = counted(self.learned.gold.size, "word")
            blocks[f"On the {words} it learned from"] = self.learned.pairs
        return change_table(blocks, self.scored.signatures)

    def to_dict(self) -> dict[str, Any]:
        """Return scores and what changed, as JSON data; ``learned`` is None without any kept aside.

        >>> tokeniser.knock_out(gold).to_dict()["on"]
        '188 words kept aside'
        """
        return {
            "on": self.on,
            **self.scored.to_dict(),
            "learned": None if self.learned is self.scored else self.learned.to_dict(),
            "tokens_added": self.tokens_added,
            **super().to_dict(),
        }

    def table(self) -> Table:
        """Return `scores`.

        >>> tokeniser.knock_out(gold).table().title
        'Scores before and after'
        """
        return self.scores()

    def report(self, width: int | None = None) -> str:
        """Return scores and what changed in lines, as the terminal shows it.

        >>> print(tokeniser.knock_out(gold).report().splitlines()[0])
        On the 188 words kept aside (0.2 by families, seed 0)
        """
        added = signed(100 * self.tokens_added, unit=" %")
        skipped = [f"skipped {each}" for each in self.scored.gold.reference.left_out]
        return "\n".join(
            [
                *self._first(width),
                text_of(self.scores(), width),
                f"tokens added: {added}",
                *self._did(),
                *self._left(),
                *skipped,
                self.scored.signatures[1],
            ]
        )

    def _first(self, width: int | None) -> list[str]:
        return []

    def _did(self) -> list[str]:
        raise NotImplementedError

    def __repr__(self) -> str:
        gain = f"F1 {percent(self.before.f1)} % → {percent(self.after.f1)} % on {self.on}"
        told = f"{self._short()}{_left(self.never_formed)}, {gain}"
        return f"<{type(self).__name__}: {told}>"

    def _short(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class ScoredKnockout(LearnedEdit):
    """A tokeniser after a knockout by gold, with scores before and after.

    ``removed`` and ``change``: as of `Knockout`.

    >>> tokeniser.knock_out(gold, threshold=0.6)
    <ScoredKnockout: 219 types removed, F1 49.89 % → 59.84 % on 188 words kept aside>
    """

    removed: tuple[str, ...]
    result: KnockoutResult = field(compare=False)

    @property
    def change(self) -> Change:
        """All that this changed in the merge graph.

        >>> tokeniser.knock_out(gold).change.counts()["removed"]
        231
        """
        return self.result.change

    def to_dict(self) -> dict[str, Any]:
        """Return scores and what changed, as JSON data.

        >>> found = tokeniser.knock_out(gold).to_dict()
        >>> found["words"], len(found["removed"])
        ('kept aside 0.2 by families, seed 0', 231)
        """
        portable = self.result.portable
        return {
            **super().to_dict(),
            "removed": list(self.removed),
            "portable": None if portable is None else portable.counts(),
            "dropout_rate": self.result.dropout_rate,
            "share_of_merges": self.result.share_of_merges,
            "share_of_leaves_in_last_half": self._leaves,
        }

    @property
    def _leaves(self) -> float:
        return share_of_leaves(self.tokeniser._merges("leaves").graph)

    def _did(self) -> list[str]:
        result = self.result
        lines = [
            f"{counted(len(self.removed), 'type')} removed ({result.share_of_merges:.1%} of the "
            f"merges, effective dropout rate {percent(result.dropout_rate)} %); |V| is now "
            f"{len(self.tokeniser):,}"
        ]
        return [*lines, *([] if result.portable is None else [portable_line(result.portable)])]

    def _short(self) -> str:
        return f"{counted(len(self.removed), 'type')} removed"


@dataclass(frozen=True, repr=False)
class ReBPEOutcome(LearnedEdit):
    """A tokeniser after ReBPE, the phases of the run, and scores before and after.

    ``converged``: whether it ended because nothing was left to change.

    >>> found = tokeniser.rebpe(gold, iterations=1)
    >>> found.converged, [phase.kind for phase in found.phases]
    (False, ['start', 'anneal', 'knockout', 'reify', 'knockout'])
    """

    phases: tuple[Phase, ...]
    converged: bool

    def to_dict(self) -> dict[str, Any]:
        """Return phases and scores, as JSON data.

        >>> tokeniser.rebpe(gold, iterations=1).to_dict()["converged"]
        False
        """
        return {
            **super().to_dict(),
            "phases": [phase.to_dict() for phase in self.phases],
            "converged": self.converged,
        }

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

    def table(self) -> Table:
        """Return a row for each phase.

        >>> tokeniser.rebpe(gold, iterations=1).table().columns[0].title
        '|V|'
        """
        return phases_table(self.phases)

    def _first(self, width: int | None) -> list[str]:
        return [text_of(self.table(), width)]

    def _did(self) -> list[str]:
        end = "converged" if self.converged else "stopped at the limit of iterations"
        return [f"{end}; |V| is now {len(self.tokeniser):,}"]

    def _short(self) -> str:
        return counted(len(self.phases), "phase")


def _left(never_formed: Sequence[str]) -> str:
    return f", {counted(len(never_formed), 'type')} never formed" if never_formed else ""


def portable_line(change: Change) -> str:
    """Say what it took to leave only pair merges.

    >>> from morphgraph.graph.merge_graph import MergeGraph
    >>> graph = MergeGraph.from_merges([("b", "c"), ("a", "b", "c"), ("x", "y", "z")])
    >>> portable_line(graph.portable())
    'portable: 1 tuple merge became a pair, 0 more merges lead there, 1 type is gone'
    """
    pairs, gone = change.counts().get("paired", 0), len(change.removed_types)
    return (
        f"portable: {counted(pairs, 'tuple merge became a pair', 'tuple merges became pairs')}, "
        f"{len(change.added_merges):,} more merges lead there, "
        + counted(gone, "type is gone", "types are gone")
    )
