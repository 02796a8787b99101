"""Tables of scores and blame that display themselves in a notebook."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from morphgraph.core.errors import MorphGraphError, check_share
from morphgraph.core.text import counted, percent, visible
from morphgraph.refine.blame import Blame, blame_table
from morphgraph.refine.knockout import candidate_types
from morphgraph.score.corpus_measures import CorpusMeasures
from morphgraph.score.metrics import check_metrics
from morphgraph.score.table import ScoreTable
from morphgraph.tables.corpus import corpus_table, measured_rows
from morphgraph.tables.model import Cell, Column, Form, Row, Table
from morphgraph.tables.scores import score_rows, scores_latex, scores_markdown, scores_table
from morphgraph.tables.writing import to_html
from morphgraph.tokeniser.tokeniser import BpeTokeniser

if TYPE_CHECKING:
    import pandas as pd

_WORST = 20
"""The number of merges that a notebook shows of a table of blame."""
_BLAME: tuple[tuple[str, Form], ...] = (("N", "count"), ("B", "count"), ("R", "ratio"))


class ScoreView:
    """A table of scores, one row for each tokeniser."""

    def __init__(self, table: ScoreTable) -> None:
        self.table = table

    @property
    def signature(self) -> str:
        """One line with everything that the scores depend on."""
        return self.table.signature

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each tokeniser: its scores, their 95 % intervals and p-values.

        Shares are from 0 to 1, and NaN where undefined.
        """
        import pandas as pd

        return pd.DataFrame(score_rows(self.table)).set_index("label")

    def to_latex(self) -> str:
        """Return a LaTeX table; it needs adjustbox, array, booktabs, or longtable if long."""
        return scores_latex([self.table])

    def to_markdown(self) -> str:
        """Return a Markdown table, with its marks explained and its signature."""
        return scores_markdown([self.table])

    def _repr_html_(self) -> str:
        return _without_formulas(to_html(scores_table([self.table])))

    def _shown(self, number: int) -> str:
        found = self.table.estimates[number]
        if found is None:
            return "failed"
        value = self.table.of(number, ["f1"])["f1"].value
        return f"F1 {percent(value)} %"


class TokeniserScore(ScoreView):
    """The scores of one tokeniser; shares are from 0 to 1, NaN where undefined."""

    @property
    def precision(self) -> float:
        """The share of its splits that are gold boundaries."""
        return self["precision"]

    @property
    def recall(self) -> float:
        """The share of gold boundaries that it splits."""
        return self["recall"]

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return self["f1"]

    def __getitem__(self, metric: str) -> float:
        """Return a score by name; `MorphGraphError` if there is none of that name."""
        names = check_metrics([metric])
        if len(names) != 1:
            raise MorphGraphError(f"“{metric}” is several scores. Use one: {', '.join(names)}.")
        return self.table.of(0, names)[names[0]].value

    def __repr__(self) -> str:
        """Return the printed line, with its signature."""
        named = (("precision", self.precision), ("recall", self.recall), ("F1", self.f1))
        shares = ", ".join(f"{name} {percent(value)} %" for name, value in named)
        return f"{shares} | {self.signature}"


class ComparedScores(ScoreView):
    """The scores of several tokenisers on the same gold, tested against the first or a baseline."""

    def __repr__(self) -> str:
        """Return one line: the F1 of each, and the signature."""
        rows = enumerate(self.table.labels)
        shown = ", ".join(f"{visible(label)} {self._shown(number)}" for number, label in rows)
        return f"{shown} | {self.signature}"


@dataclass(frozen=True, repr=False)
class BlamedMerges:
    """All merges with N, B and R, worst first."""

    tokeniser: BpeTokeniser
    blamed: Blame
    signature: str

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each applied merge: rank, type, merge, parts, N, B, R."""
        table = blame_table(self.tokeniser, self.blamed).iloc[self.blamed.order]
        return table.drop(columns="merge_id").reset_index(drop=True)

    def types(self, threshold: float = 0.5) -> list[str]:
        """The types that a knockout with this threshold removes, worst first."""
        check_share("threshold", threshold)
        return candidate_types(self.tokeniser, self.blamed, threshold)

    def __repr__(self) -> str:
        """One line."""
        merges = counted(len(self.blamed.arrays), "merge")
        return f"<BlamedMerges: {len(self.blamed.candidates()):,} of {merges} with R ≥ 0.5>"

    def _repr_html_(self) -> str:
        columns = (Column("merge"), *(Column(n, f) for n, f in _BLAME))
        rows = tuple(
            Row((f"{row['rank']:,}",), tuple(Cell(row[column.header]) for column in columns))
            for row in self.to_frame().head(_WORST).to_dict(orient="records")
        )
        names = (Column("rank"),)
        table = Table("Blame", names, columns, rows, signatures=(self.signature,))
        return _without_formulas(to_html(table))


@dataclass(frozen=True, repr=False)
class MeasuredCorpus:
    """The measures of a corpus under a tokeniser, by file or language."""

    measures: CorpusMeasures

    @property
    def signature(self) -> str:
        """One line with everything that the measures depend on."""
        return self.measures.signature

    @property
    def gini(self) -> float:
        """The Gini coefficient of tokens per line, over languages or files."""
        return self.measures.gini(self.measures.tokenisers[0])

    @property
    def lorenz(self) -> "pd.DataFrame":
        """The Lorenz curve of the same: shares of ``languages``, cheapest first, and ``costs``."""
        import pandas as pd

        shares, costs = self.measures.lorenz(self.measures.tokenisers[0])
        return pd.DataFrame({"languages": shares, "costs": costs})

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each file or language, and one for all; NaN where undefined."""
        import pandas as pd

        rows = measured_rows((*self.measures.texts, *self.measures.totals))
        return pd.DataFrame(rows).set_index("text").drop(columns="tokeniser")

    def __repr__(self) -> str:
        """Return one line: tokens and words of all, and the signature."""
        [total] = self.measures.totals
        tokens = f"{counted(total.tokens, 'token')} of {counted(total.words, 'word')}"
        return f"{tokens}, {total.fertility:.3f} per word | {self.signature}"

    def _repr_html_(self) -> str:
        return _without_formulas(to_html(corpus_table(self.measures)))


def _without_formulas(page: str) -> str:
    """Return HTML in which a notebook finds no formulas."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{page}</div>'
