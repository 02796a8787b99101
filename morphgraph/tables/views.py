"""Tables of scores and blame that display themselves in a notebook."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, percent, visible
from morphgraph.score.corpus_measures import CorpusMeasures
from morphgraph.score.metrics import check_metrics
from morphgraph.score.table import ScoreTable
from morphgraph.tables.corpus import corpus_table, measured_rows
from morphgraph.tables.scores import score_rows, scores_latex, scores_markdown, scores_table
from morphgraph.tables.writing import to_html

if TYPE_CHECKING:
    import pandas as pd


class ScoreView:
    """A table of scores, one row for each tokeniser."""

    def __init__(self, table: ScoreTable) -> None:
        self.table = table

    @property
    def signature(self) -> str:
        """One line with everything that the scores depend on.

        >>> tokeniser.score(gold).signature.partition("|")[0]
        'reference:demo:en@be1dd82ec9f8'
        """
        return self.table.signature

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each tokeniser: its scores, their 95 % intervals and p-values.

        Shares are from 0 to 1, and NaN where undefined.

        >>> list(tokeniser.score(gold).to_frame().columns)[:3]
        ['vocabulary size', 'precision', 'precision low']
        """
        import pandas as pd

        return pd.DataFrame(score_rows(self.table)).set_index("label")

    def to_latex(self) -> str:
        """Return a LaTeX table; it needs adjustbox, array, booktabs, or longtable if long.

        >>> "toprule" in tokeniser.score(gold).to_latex()
        True
        """
        return scores_latex([self.table])

    def to_markdown(self) -> str:
        """Return a Markdown table, with its marks explained and its signature.

        >>> "| F1" in tokeniser.score(gold).to_markdown()
        True
        """
        return scores_markdown([self.table])

    def _repr_html_(self) -> str:
        return without_formulas(to_html(scores_table([self.table])))

    def _shown(self, number: int) -> str:
        found = self.table.estimates[number]
        if found is None:
            return "failed"
        value = self.table.of(number, ["f1"])["f1"].value
        return f"F1 {percent(value)} %"


class TokeniserScore(ScoreView):
    """The scores of one tokeniser; shares are from 0 to 1, NaN where undefined.

    >>> round(tokeniser.score(gold, metrics=["exact"])["exact"], 3)
    0.248
    """

    @property
    def precision(self) -> float:
        """The share of its splits that are gold boundaries.

        >>> round(tokeniser.score(gold).precision, 3)
        0.483
        """
        return self["precision"]

    @property
    def recall(self) -> float:
        """The share of gold boundaries that it splits.

        >>> round(tokeniser.score(gold).recall, 3)
        0.478
        """
        return self["recall"]

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall.

        >>> round(tokeniser.score(gold).f1, 3)
        0.481
        """
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
    """The scores of several tokenisers on the same gold, tested against the first or a baseline.

    >>> print(repr(mg.compare({"a": tokeniser, "b": tokeniser}, gold)).partition(" | ")[0])
    a F1 48.07 %, b F1 48.07 %
    """

    def __repr__(self) -> str:
        """Return one line: the F1 of each, and the signature."""
        rows = enumerate(self.table.labels)
        shown = ", ".join(f"{visible(label)} {self._shown(number)}" for number, label in rows)
        return f"{shown} | {self.signature}"


@dataclass(frozen=True, repr=False)
class MeasuredCorpus:
    """What a tokeniser makes of a corpus, by file or language.

    >>> print(repr(tokeniser.measure("text.txt")).partition(" | ")[0])
    7 tokens of 4 words, 1.750 per word
    """

    measures: CorpusMeasures

    @property
    def signature(self) -> str:
        """One line with everything that the measures depend on.

        >>> tokeniser.measure("text.txt").signature.partition("@")[0]
        'corpus:text.txt'
        """
        return self.measures.signature

    @property
    def gini(self) -> float:
        """The Gini coefficient of tokens per line, over languages or files.

        >>> tokeniser.measure("text.txt").gini
        0.0
        """
        return self.measures.gini(self.measures.tokenisers[0])

    @property
    def lorenz(self) -> "pd.DataFrame":
        """The Lorenz curve of the same: shares of ``languages``, cheapest first, and ``costs``.

        >>> tokeniser.measure("text.txt").lorenz["costs"].tolist()
        [0.0, 1.0]
        """
        import pandas as pd

        shares, costs = self.measures.lorenz(self.measures.tokenisers[0])
        return pd.DataFrame({"languages": shares, "costs": costs})

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each file or language, and one for all; NaN where undefined.

        >>> list(tokeniser.measure("text.txt").to_frame().index)
        ['text.txt', 'all']
        """
        import pandas as pd

        rows = measured_rows((*self.measures.texts, *self.measures.totals))
        return pd.DataFrame(rows).set_index("text").drop(columns="tokeniser")

    def __repr__(self) -> str:
        """Return one line: tokens and words of all, and the signature."""
        [total] = self.measures.totals
        tokens = f"{counted(total.tokens, 'token')} of {counted(total.words, 'word')}"
        return f"{tokens}, {total.fertility:.3f} per word | {self.signature}"

    def _repr_html_(self) -> str:
        return without_formulas(to_html(corpus_table(self.measures)))


def without_formulas(page: str) -> str:
    """Return HTML in which a notebook finds no formulas."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{page}</div>'
