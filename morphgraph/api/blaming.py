"""What merges are to blame for, as data and as charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import check_share
from morphgraph.core.text import counted, percent
from morphgraph.refine.blame import DEFAULT_THRESHOLD, Blame, blame_table
from morphgraph.refine.knockout import ThresholdPoint, best_point, candidate_types
from morphgraph.tables.model import Cell, Column, Form, Row, Table
from morphgraph.tables.writing import to_html, without_formulas
from morphgraph.tokeniser.tokeniser import BpeTokeniser

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_WORST = 20
"""How many merges a notebook shows of a table of blame."""
_BLAME: tuple[tuple[str, Form], ...] = (("N", "count"), ("B", "count"), ("R", "ratio"))


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
        from morphgraph.draw.charts import blame_histogram

        check_share("threshold", threshold)
        return blame_histogram(self.to_frame(), threshold)

    def __repr__(self) -> str:
        """Return one line."""
        merges = counted(len(self._blamed.arrays), "merge")
        return f"<BlamedMerges: {len(self._blamed.candidates()):,} of {merges} with R ≥ 0.5>"

    def _repr_html_(self) -> str:
        columns = (Column("merge"), *(Column(n, f) for n, f in _BLAME))
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
        from morphgraph.draw.charts import add_score_lines, figure_of

        figure = figure_of("threshold: types with this blame or more are removed", "%")
        add_score_lines(figure, [point.threshold for point in self.points], self.points)
        return figure

    def __repr__(self) -> str:
        """Return one line."""
        best = self.best
        said = "" if best is None else f", best F1 {percent(best.f1)} % at {best.threshold:g}"
        return f"<ThresholdCurve: {counted(len(self.points), 'threshold')}{said}>"
