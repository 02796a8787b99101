"""Scores that print, display and save themselves: of one tokeniser, and of several."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import check_ending, write_file
from morphgraph.core.text import counted, percent, visible
from morphgraph.score.comparison import Comparison
from morphgraph.score.metrics import check_metrics
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import ScoreTable, SegmentationFailure
from morphgraph.tables.model import ALL_WORDS, Table
from morphgraph.tables.result import Result
from morphgraph.tables.scores import (
    agreement_table,
    comparison_html,
    scores_table,
    summary_table,
    words_of,
    words_table,
)
from morphgraph.tables.terminal import text_of
from morphgraph.tables.writing import to_csv, to_latex, to_markdown

if TYPE_CHECKING:
    import pandas as pd


def table_report(table: ScoreTable) -> dict[str, Any]:
    """Return the scores of tokenisers, their intervals and p-values as JSON data."""
    rows: list[dict[str, Any]] = []
    for number, (outcome, found) in enumerate(zip(table.outcomes, table.estimates, strict=True)):
        row: dict[str, Any] = {"error": getattr(outcome, "message", "")}
        if isinstance(outcome, Outcome) and found is not None:
            row = {
                "error": None,
                "vocab_size": outcome.vocabulary_size,
                "held_in": outcome.held_in,
                "scores": {name: each.to_dict() for name, each in found.items()},
            }
        rows.append({"tokeniser": outcome.label, **row, "signature": table.signature_of(number)})
    gold = table.gold_set.reference if table.gold_set else None
    return {
        "reference": gold.name if gold else None,
        "partial": gold.partial if gold else "",
        "skipped": {skip.reason: skip.count for skip in gold.left_out} if gold else {},
        "scope": table.scope,
        "weighting": table.weighting,
        "words": words_of(table),
        "rows": rows,
        "signature": table.signature,
    }


class ScoreView(Result):
    """A table of scores, one row for each tokeniser."""

    def __init__(self, table: ScoreTable) -> None:
        self.scores = table

    @property
    def signature(self) -> str:
        """One line with everything that the scores depend on.

        >>> tokeniser.score(gold).signature.partition("|")[0]
        'reference:demo:en@be1dd82ec9f8'
        """
        return self.scores.signature

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each tokeniser: its scores, their 95 % intervals and p-values.

        For each metric, by its name: its value, ``… low`` and ``… high``, ``… p``, and where it is
        a mean over runs, ``… sd``. Shares are from 0 to 1, and NaN where undefined. ``error``: why
        a tokeniser has no scores.

        >>> list(tokeniser.score(gold).to_frame().columns)[:3]
        ['vocabulary size', 'precision', 'precision low']
        """
        import pandas as pd

        shown = self.table()
        rows = []
        for row in shown.rows:
            line: dict[str, object] = {"label": row.names[0]}
            for column, cell in zip(shown.columns, row.cells, strict=True):
                line[column.csv] = cell.value
                line |= {f"{column.csv} {extra}": getattr(cell, extra) for extra in column.extras}
            rows.append(line | {"error": row.error})
        return pd.DataFrame(rows).set_index("label")

    def to_dict(self) -> dict[str, Any]:
        """Return scores, intervals, p-values and signatures, as JSON data.

        >>> tokeniser.score(gold).to_dict()["words"]
        'all words'
        """
        return table_report(self.scores)

    def table(self) -> Table:
        """Return the table, with a row for each tokeniser.

        >>> [column.header for column in tokeniser.score(gold).table().columns][:3]
        ['|V|', 'Precision', 'Recall']
        """
        return scores_table([self.scores])

    def to_latex(self) -> str:
        """Return a LaTeX table; it needs adjustbox, array and booktabs.

        >>> "toprule" in tokeniser.score(gold).to_latex()
        True
        """
        return to_latex(self.table())

    def to_markdown(self) -> str:
        """Return a Markdown table, with its marks explained and its signature.

        >>> "| F1" in tokeniser.score(gold).to_markdown()
        True
        """
        return to_markdown(self.table())


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
        return self.scores.of(0, names)[names[0]].value

    def __repr__(self) -> str:
        named = (("precision", self.precision), ("recall", self.recall), ("F1", self.f1))
        shares = ", ".join(f"{name} {percent(value)} %" for name, value in named)
        return f"{shares} | {self.signature}"


class ComparedScores(ScoreView):
    """The scores of several tokenisers on the same gold, tested against the first or a baseline.

    >>> print(repr(mg.compare({"a": tokeniser, "b": tokeniser}, gold)).partition(" | ")[0])
    a F1 48.07 %, b F1 48.07 %
    """

    def __repr__(self) -> str:
        shown = []
        for number, label in enumerate(self.scores.labels):
            f1 = self.scores.of(number, ["f1"]).get("f1")
            text = "failed" if f1 is None else f"F1 {percent(f1.value)} %"
            shown.append(f"{visible(label)} {text}")
        return f"{', '.join(shown)} | {self.signature}"

    def side_by_side(self) -> SideBySide:
        """Return how each tokeniser segments the words that are scored, and how far they agree.

        Errors: `MorphGraphError` for tokenisers that failed, and for predictions.

        >>> both = {"BPE": tokeniser, "FLOTA": tokeniser.method("flota", k=2)}
        >>> mg.compare(both, gold).side_by_side().comparison.rows[0].text
        'abilities'
        """
        return SideBySide(self.scores.outcomes)


class SideBySide(Result):
    """The words of gold as several tokenisers segment them, with scores and agreement.

    ``comparison``: its rows, one for each word, in order of the gold. ``limit``: at most this many
    words are listed, in files and as data; 0 for all.
    """

    def __init__(self, outcomes: Sequence[Outcome | SegmentationFailure], limit: int = 0) -> None:
        self.limit = limit
        known = []
        for each in outcomes:
            if isinstance(each, SegmentationFailure):
                raise MorphGraphError(f"{each.label}: {each.message}")
            if each.segmenter is None:
                raise MorphGraphError(
                    f"{each.label} holds segmentations, not a model. Use score, which takes both."
                )
            known.append(each)
        gold_set = known[0].gold_set
        self.comparison = Comparison(
            [each.segmenter for each in known if each.segmenter is not None],
            gold_set.texts,
            [entry.morphs or None for entry in gold_set],
            labels=[each.label for each in known],
            bare=gold_set.bare,
            outcomes=known,
        )
        self.on = ALL_WORDS
        if gold_set.parts:
            self.on = f"{counted(len(gold_set), 'word')} {gold_set.drawn}"

    def __repr__(self) -> str:
        words = counted(len(self.comparison.texts), "word")
        return f"<SideBySide: {words}, {counted(len(self.comparison.labels), 'tokeniser')}>"

    def table(self) -> Table:
        """Return the scores of each tokeniser."""
        return summary_table(self.comparison)

    def agreement(self) -> Table:
        """Return the share of words that each two tokenisers cut alike, in percent."""
        return agreement_table(self.comparison)

    def report(self, width: int | None = None) -> str:
        """Return scores and agreement in lines, as the terminal shows them."""
        table = self.table()
        lines = (text_of(table, width), "", text_of(self.agreement(), width), *table.signatures)
        return "\n".join(lines if self.on == ALL_WORDS else (f"On {self.on}", *lines))

    def to_dict(self) -> dict[str, Any]:
        """Return scores, agreement, and all words with their tokens, as JSON data."""
        comparison = self.comparison
        methods = []
        for number, outcome in enumerate(comparison.outcomes):
            scores = comparison.scores.of(number, comparison.scores.metrics)
            interval = scores["f1"].interval
            methods.append(
                {
                    "label": outcome.label,
                    **{name: estimate.value for name, estimate in scores.items()},
                    "f1_interval": [interval.low, interval.high],
                    "tokens_per_word": comparison.tokens_per_word[number],
                    "vocab_size": outcome.vocabulary_size,
                    "signature": outcome.tokeniser,
                }
            )
        return {
            "methods": methods,
            "on": self.on,
            "signature": comparison.signature,
            "agreement": comparison.agreement.tolist(),
            "words": [
                {
                    "word": row.text,
                    "gold": row.gold,
                    "tokens": {
                        name: c.tokens for name, c in zip(comparison.labels, row.cells, strict=True)
                    },
                    "exact": {
                        name: c.exact for name, c in zip(comparison.labels, row.cells, strict=True)
                    },
                }
                for row in comparison.rows[: self.limit or None]
            ],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the words to a file: .csv, .tex or .html."""
        comparison, rows = self.comparison, self.comparison.rows[: self.limit or None]
        writers: dict[str, Callable[[], bytes | str]] = {
            ".csv": lambda: to_csv(words_table(comparison, rows)),
            ".tex": lambda: to_latex(words_table(comparison, rows)),
            ".html": lambda: comparison_html(comparison, rows),
        }
        file = Path(path)
        check_ending(file, *writers)
        write_file(file, writers[file.suffix]())
