"""What edits return: the edited tokeniser, what changed, and scores on the words kept aside."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import check_share
from morphgraph.core.text import counted, percent, shortened, signed, visible, without_nan
from morphgraph.draw.charts import add_score_lines, blame_histogram, figure_of
from morphgraph.refine.blame import DEFAULT_THRESHOLD, Blame, blame_columns, records_of
from morphgraph.refine.knockout import (
    KnockoutResult,
    ThresholdPoint,
    candidate_types,
    share_of_leaves,
)
from morphgraph.refine.languages import BlameByLanguage
from morphgraph.refine.learning import has_seen
from morphgraph.refine.rebpe_run import Phase
from morphgraph.refine.study import Preview
from morphgraph.score.boundaries import Benchmark, BoundaryScore, score_report
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.segment.models import export_to
from morphgraph.tables.edits import change_table, phases_table
from morphgraph.tables.model import Cell, Column, Row, Table
from morphgraph.tables.result import Result
from morphgraph.tables.terminal import text_of
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from morphgraph.api.tokeniser import Tokeniser
    from morphgraph.formats.export import Export
    from morphgraph.graph.merge_table import Change
    from morphgraph.tables.score_views import TokeniserScore

_WORST = 20
"""How many merges a notebook shows of a table of blame."""


class Effect:
    """An edit on some words: scores before and after it, computed on demand.

    >>> found = tokeniser.knock_out(gold)
    >>> found.learned.before.f1 < found.learned.after.f1
    True
    """

    def __init__(
        self,
        start: Tokeniser,
        made: Tokeniser,
        gold: GoldSet,
        scope: Scope = "morphemic",
        weighting: Weighting = "types",
    ) -> None:
        self._pair, self.gold = (start, made), gold
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
        found = []
        for each in self._pair:
            base = each._merges("scores")
            benchmark = Benchmark.on(self.gold, base)
            words = segment(base.graph, benchmark.words)
            scores = benchmark.scores(words)
            told = [one for one in scores if one.relevant > 0] or scores[:1]
            found.append((benchmark, told, benchmark.signature(base), words.token_count))
        return found

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
        """The scores before and after of each scope and weighting that gold has boundaries of.

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
    """An edited tokeniser, and the types that this leaves, but no merge can form any more."""

    tokeniser: Tokeniser
    never_formed: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what changed as JSON data."""
        return {"never_formed": list(self.never_formed), "vocab_size": len(self.tokeniser)}

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
    that are gone, first one first; ``change``: all that this changed in the merge graph; ``cost``:
    what it does to the words of gold, if that is known.

    >>> print(tokeniser.knock_out_types(["und"]))
    1 type removed; |V| is now 7,999
    """

    removed: tuple[str, ...]
    change: Change = field(compare=False)
    cost: Preview | None = field(default=None, compare=False)

    @property
    def words(self) -> Sequence[str] | None:
        """The words that an export is checked on first; None for common ones.

        >>> tokeniser.knock_out_types(["und"], gold=[("undo", ["un", "do"])]).words
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
        return [*cost, f"{removed}; |V| is now {len(self.tokeniser):,}", *self._left()]

    def __repr__(self) -> str:
        did = f"{counted(len(self.removed), 'type')} removed"
        return f"<{type(self).__name__}: {did}{_left(self.never_formed)}>"


@dataclass(frozen=True, repr=False)
class LearnedEdit(EditResult):
    """What a method learned from gold makes of a tokeniser, and scores before and after.

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
        how = f" ({gold.drawn.removeprefix('kept aside ')})" if gold.parts else ""
        blocks = {f"On the {self.on}{how}": self.scored.pairs}
        if self.learned is not self.scored:
            words = counted(self.learned.gold.size, "word")
            blocks[f"On the {words} it learned from"] = self.learned.pairs
        return change_table(blocks, self.scored.signatures)

    def to_dict(self) -> dict[str, Any]:
        """Return scores and what changed, as JSON data; ``learned`` is None if it is the same.

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


@dataclass(frozen=True, repr=False)
class BlamedMerges(Result):
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
        import pandas as pd

        return pd.DataFrame(self._columns(self._blamed.order))

    def to_dict(self, threshold: float = 0.0, limit: int = 0) -> dict[str, Any]:
        """Return the signature and the merges with R ≥ ``threshold``, as JSON data.

        ``limit``: at most this many merges; 0 for all.

        >>> tokeniser.blame([("undo", ["un", "do"])]).to_dict()["merges"][0]["merge"]
        'n + d'
        """
        places = self._places(threshold)
        return {
            "merges": records_of(self._columns(places[: limit or None])),
            "threshold": threshold,
            "candidates": len(places),
            "merges_in_all": len(self._blamed.arrays),
            "dropout_rate": self._blamed.dropout_rate(places),
            "signature": self.signature,
        }

    def _places(self, threshold: float) -> npt.NDArray[np.int64]:
        check_share("threshold", threshold)
        return self._blamed.candidates(threshold)

    def _columns(self, places: npt.NDArray[np.int64]) -> dict[str, Any]:
        columns = blame_columns(self._tokeniser, self._blamed, places)
        del columns["merge_id"]
        return columns

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

    def table(self, threshold: float = 0.0, limit: int = _WORST) -> Table:
        """Return the worst merges with R ≥ ``threshold``, at most ``limit`` of them; 0 for all.

        >>> tokeniser.blame([("undo", ["un", "do"])]).table(threshold=0.5).rows[0].names[1]
        'n + d'
        """
        numbers = (Column("N", "count"), Column("B", "count"), Column("R", "number"))
        columns = (Column("type"), *numbers)
        places = self._places(threshold)[: limit or None]
        rows = tuple(
            Row(
                (f"{row['rank']:,}", row["merge"]),
                tuple(Cell(row[column.header]) for column in columns),
            )
            for row in records_of(self._columns(places))
        )
        by = (Column("rank", "written"), Column("merge"))
        return Table("Blame", by, columns, rows, signatures=(self.signature,))

    def report(
        self, width: int | None = None, *, threshold: float = 0.0, limit: int = _WORST
    ) -> str:
        """Return the table in lines, as the terminal shows it, and how many merges there are.

        >>> print(tokeniser.blame(gold).report(threshold=0.5, limit=1).splitlines()[-2])
        274 of 7,743 merges have R ≥ 0.5
        """
        merges = counted(len(self._blamed.arrays), "merge")
        said = f"{len(self._places(threshold)):,} of {merges} have R ≥ {threshold}"
        return "\n".join([text_of(self.table(threshold, limit), width), said, self.signature])


_TOLD = ("rank", "merge", "type", "spread", "worst in", "best in")


@dataclass(frozen=True, repr=False)
class LanguageBlame(Result):
    """Merges with N, B and R in each of several languages, the largest spread of R first.

    >>> golds = [("undo", ["un", "do"])], [("undo", ["und", "o"])]
    >>> tokeniser.blame(*golds, min_joins=1).to_dict(limit=1)["merges"][0]["merge"]
    'n + d'
    """

    _tokeniser: BpeTokeniser
    _blamed: BlameByLanguage
    signatures: tuple[str, ...]

    def to_frame(self, threshold: float = 0.0, limit: int = 0) -> pd.DataFrame:
        """Return a row for each merge that is to blame (R ≥ ``threshold``) in a language at least.

        Its spread, where it is worst and best, and for each language ``… N``, ``… B``, ``… R``.

        >>> golds = [("undo", ["un", "do"])], [("undo", ["und", "o"])]
        >>> list(tokeniser.blame(*golds, min_joins=1).to_frame().columns)[:4]
        ['rank', 'merge', 'type', 'spread']
        """
        import pandas as pd

        return pd.DataFrame(self._columns(threshold, limit))

    def _columns(self, threshold: float, limit: int) -> dict[str, Any]:
        places = self._blamed.order(threshold)[: limit or None]
        return self._blamed.columns(self._tokeniser, places)

    def to_dict(self, threshold: float = 0.0, limit: int = 0) -> dict[str, Any]:
        """Return the rows of `to_frame` and the signatures, as JSON data.

        >>> golds = [("undo", ["un", "do"])], [("undo", ["und", "o"])]
        >>> tokeniser.blame(*golds, min_joins=1).to_dict()["min_joins"]
        1
        """
        rows = [
            {name.replace(" ", "_"): row[name] for name in _TOLD}
            | {
                "languages": {
                    name: {key: row[f"{name} {key}"] for key in "NBR"}
                    for name in self._blamed.languages
                }
            }
            for row in records_of(self._columns(threshold, limit))
        ]
        more = {"min_joins": self._blamed.minimum, "candidates": len(self._blamed.order(threshold))}
        return {"merges": rows, **more, "signatures": list(self.signatures)}

    def table(self, threshold: float = 0.0, limit: int = _WORST) -> Table:
        """Return the merges with the largest spread, at most ``limit`` of them; 0 for all.

        >>> golds = [("undo", ["un", "do"])], [("undo", ["und", "o"])]
        >>> tokeniser.blame(*golds, min_joins=1).table(limit=1).rows[0].names[1]
        'n + d'
        """
        names = tuple(self._blamed.languages)
        rows = []
        for row in records_of(self._columns(threshold, limit)):
            judged = (_judged(*(row[f"{name} {key}"] for key in "NBR")) for name in names)
            cells = (row["type"], row["spread"], row["worst in"], row["best in"], *judged)
            rows.append(Row((f"{row['rank']:,}", row["merge"]), tuple(map(Cell, cells))))
        told = (Column("type"), Column("spread", "number"), Column("worst in"), Column("best in"))
        return Table(
            "Blame by language",
            (Column("rank", "written"), Column("merge")),
            (*told, *(Column(name, "written") for name in names)),
            tuple(rows),
            signatures=self.signatures,
            notes=("In each language: R (B of N), - where the merge is never applied.",),
        )

    def report(
        self, width: int | None = None, *, threshold: float = 0.0, limit: int = _WORST
    ) -> str:
        """Return the table in lines, as the terminal shows it.

        >>> golds = [("undo", ["un", "do"])], [("undo", ["und", "o"])]
        >>> print(tokeniser.blame(*golds, min_joins=1).report().splitlines()[-3])
        3 merges with 1 joins or more in two languages
        """
        table, number = self.table(threshold, limit), len(self._blamed.order(threshold))
        joins = f"with {self._blamed.minimum:,} joins or more in two languages"
        said = [*table.notes, f"{counted(number, 'merge')} {joins}", *self.signatures]
        return "\n".join([text_of(table, width), *said])

    def __repr__(self) -> str:
        languages = counted(len(self._blamed.languages), "language")
        return f"<LanguageBlame: {counted(len(self._blamed.order()), 'merge')} in {languages}>"


def _judged(joins: float, wrong: float, ratio: float) -> str:
    """Write R with B and N; R is n/a below the minimum of joins."""
    if not joins:
        return "-"
    return f"{'n/a' if ratio != ratio else f'{ratio:.2f}'} ({wrong:,.0f} of {joins:,.0f})"


@dataclass(frozen=True, repr=False)
class ThresholdCurve(Result):
    """What knocking out by each threshold would give, lowest first; nothing is removed.

    ``points``: scores on the words kept aside; ``learned``: on those learned from, the same without
    a holdout. ``decided``: the threshold that is best on an eighth of the words learned from, so
    that no word scored decides anything; None if there are too few.

    >>> [point.removed for point in tokeniser.thresholds(gold, thresholds=[0.4, 0.8]).points]
    [236, 214]
    """

    points: Sequence[ThresholdPoint]
    learned: Sequence[ThresholdPoint]
    decided: float | None
    signature: str

    @property
    def best(self) -> ThresholdPoint | None:
        """The point of the decided threshold, or of the nearest one; None if none is decided.

        >>> tokeniser.thresholds(gold).best.threshold
        0.23
        """
        if self.decided is None:
            return None
        at = self.decided
        return min(self.points, key=lambda point: abs(point.threshold - at), default=None)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each threshold: types removed and scores, NaN where undefined.

        ``learned f1``: on the words learned from.

        >>> list(tokeniser.thresholds(gold, thresholds=[0.4, 0.8]).to_frame()["removed"])
        [236, 214]
        """
        import pandas as pd

        frame = pd.DataFrame([asdict(point) for point in self.points])
        return frame.assign(**{"learned f1": [point.f1 for point in self.learned]})

    def to_dict(self) -> dict[str, Any]:
        """Return the signature and the points, as data.

        >>> sorted(tokeniser.thresholds(gold, thresholds=[0.4]).to_dict())
        ['decided', 'learned', 'points', 'signature']
        """
        points, learned = (list(map(asdict, each)) for each in (self.points, self.learned))
        found = {"points": points, "learned": learned, "decided": self.decided}
        return {**found, "signature": self.signature}

    def table(self) -> Table:
        """Return a row for each threshold.

        >>> tokeniser.thresholds(gold, thresholds=[0.4]).table().rows[0].cells[0].value
        236
        """
        keys = ("precision", "recall", "f1")
        shares = (Column(name, "percent") for name in ("precision", "recall", "F1"))
        rows = (
            Row(
                (f"{point.threshold:g}",),
                (Cell(point.removed), *(Cell(getattr(point, key)) for key in keys)),
            )
            for point in self.points
        )
        columns = (Column("types removed", "count"), *shares)
        by = (Column("threshold", "written"),)
        return Table("Thresholds", by, columns, tuple(rows), signatures=(self.signature,))

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
        said = "" if best is None else f", F1 {percent(best.f1)} % at {best.threshold:g}"
        return f"<ThresholdCurve: {counted(len(self.points), 'threshold')}{said}>"
