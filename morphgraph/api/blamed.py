"""What blame returns: merges with N, B and R; curves of thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import check_share
from morphgraph.core.text import counted, percent
from morphgraph.draw.charts import SCORE_COLOURS, blame_histogram, figure_of
from morphgraph.refine.blame import DEFAULT_THRESHOLD, Blame, blame_columns, records_of
from morphgraph.refine.knockout import ThresholdPoint, candidate_types
from morphgraph.tables.model import Cell, Column, Row, Table
from morphgraph.tables.result import Result
from morphgraph.tables.terminal import text_of
from morphgraph.tokeniser.tokeniser import BpeTokeniser

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_WORST = 20
"""How many merges a notebook shows of a table of blame."""


@dataclass(frozen=True, repr=False)
class BlamedMerges(Result):
    """All merges with N, B and R, worst first; a notebook shows the worst.

    >>> tokeniser.blame(mg.read_gold({"undo": ["un", "do"]}))
    <BlamedMerges: 1 of 7,743 merges with R ≥ 0.5>
    """

    _tokeniser: BpeTokeniser
    _blamed: Blame
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each merge that was applied: rank, type, merge, parts, N, B, R.

        >>> tokeniser.blame(mg.read_gold({"undo": ["un", "do"]})).to_frame()[["N", "B", "R"]]
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

        >>> tokeniser.blame(mg.read_gold({"undo": ["un", "do"]})).to_dict()["merges"][0]["merge"]
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

        >>> tokeniser.blame(mg.read_gold({"undo": ["un", "do"]})).types()
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

        >>> found = tokeniser.blame(mg.read_gold({"undo": ["un", "do"]}))
        >>> found.table(threshold=0.5).rows[0].names[1]
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
        which = f"have R ≥ {threshold}" if threshold else "are applied in these words"
        summary = f"{len(self._places(threshold)):,} of {merges} {which}"
        return "\n".join([text_of(self.table(threshold, limit), width), summary, self.signature])


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
        """The point whose threshold is ``decided`` or nearest to it; None if there is none.

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
        curves = {"points": points, "learned": learned, "decided": self.decided}
        return {**curves, "signature": self.signature}

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
        looks = zip(SCORE_COLOURS.items(), ("dash", "dot", "solid"), strict=True)
        for (name, colour), dash in looks:
            figure.add_scatter(
                x=[point.threshold for point in self.points],
                y=[100 * getattr(point, name.lower()) for point in self.points],
                name=name,
                line={"color": colour, "dash": dash, "width": 3 if name == "F1" else 2},
                mode="lines+markers",
                hovertemplate="%{y:.2f} %",
            )
        return figure

    def __repr__(self) -> str:
        best = self.best
        decided = "" if best is None else f", F1 {percent(best.f1)} % at {best.threshold:g}"
        return f"<ThresholdCurve: {counted(len(self.points), 'threshold')}{decided}>"
