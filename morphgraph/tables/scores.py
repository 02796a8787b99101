"""Tables of scores and of segmentations, which display themselves in a notebook."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import check_ending, write_file
from morphgraph.core.text import (
    UNDEFINED,
    base_name,
    counted,
    percent,
    shortened,
    visible,
)
from morphgraph.score.comparison import ComparedWord, Comparison
from morphgraph.score.languages import LANGUAGE_METRICS, LanguageRow, labels_of
from morphgraph.score.metrics import METRICS, Metric, check_metrics
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import BREAKDOWNS, Estimate, ScoreTable, SegmentationFailure
from morphgraph.tables.model import (
    ALL_WORDS,
    HELD_IN,
    Cell,
    Column,
    Form,
    Row,
    Table,
    table_of,
    with_best,
)
from morphgraph.tables.result import Result
from morphgraph.tables.terminal import text_of
from morphgraph.tables.writing import (
    frame_csv,
    one_line,
    rendered,
    to_csv,
    to_latex,
    to_markdown,
)

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.score.comparison import ErrorBrowser
    from morphgraph.score.flota import FlotaScores
    from morphgraph.score.table import Breakdown

_NAME_LENGTH, _FEW = 60, 3
_TITLE = "Comparison of segmentations"
MIXED = (
    "Silver and gold references are mixed: a program found the morphs of silver ones, so scores on "
    "them do not compare with scores on gold."
)
"""The note of a table with both."""


def words_of(table: ScoreTable) -> str:
    """Describe the words of the reference that a table covers."""
    drawn = "" if table.gold_set is None else table.gold_set.drawn
    return drawn or ALL_WORDS


def _form(metric: Metric) -> Form:
    return "percent" if metric.unit == "%" else "ratio"


def _cell(estimate: Estimate) -> Cell:
    low, high = estimate.interval.low, estimate.interval.high
    return Cell(estimate.value, low, high, estimate.deviation, p=estimate.p, state="done")


def scores_table(tables: Sequence[ScoreTable]) -> Table:
    """Return the scores of tokenisers, a block for each of ``tables``; there has to be one."""
    names = list(dict.fromkeys(name for table in tables for name in table.metrics))
    if not any(table.outcomes for table in tables) or not names:
        raise MorphGraphError(
            "There are no scores to write. Score at least one tokeniser by at least one metric."
        )
    columns = [Column("|V|", "count", csv="vocabulary size"), *_columns(tables, names)]
    rows = [row for block, table in enumerate(tables) for row in _rows(table, block, names)]
    kinds = _kinds(tables)
    return Table(
        f"Scores of tokenisers against {' and '.join(kinds)} segmentations",
        (Column("Tokeniser", csv="tokeniser"),),
        tuple(columns),
        with_best(rows, columns),
        blocks=tuple(map(_title, tables)),
        signatures=tuple(dict.fromkeys(table.signature for table in tables if table.signature)),
        notes=_notes(tables),
        bold="the best of its block",
        against="the baseline (†) of the block",
        label="scores",
        short="Scores of tokenisers",
    )


def _columns(tables: Sequence[ScoreTable], names: Iterable[str]) -> list[Column]:
    """Return the columns of metrics by name."""
    extras = ("low", "high", "p", *(["sd"] if any(table.runs > 1 for table in tables) else []))
    metrics = [(name, METRICS[name]) for name in names]
    return [Column(m.title, _form(m), m.better, n, csv=n, extras=extras) for n, m in metrics]


def _rows(table: ScoreTable, block: int, names: Sequence[str]) -> Iterable[Row]:
    place = {"reference": _reference(table), "scope": table.scope, "weighting": table.weighting}
    place["words"] = words_of(table)
    is_tested = any(
        not math.isnan(one.p) for found in table.estimates for one in (found or {}).values()
    )
    for number, (outcome, found) in enumerate(zip(table.outcomes, table.estimates, strict=True)):
        error, size, held_in, alone = "", None, False, False
        if isinstance(outcome, SegmentationFailure):
            error = outcome.message
        else:
            size, held_in, alone = outcome.vocabulary_size, outcome.held_in, outcome.is_gold
        cells = [Cell(math.nan if size is None else size)]
        for name in names:
            none = Cell() if name in table.metrics else Cell("")
            cells.append(none if found is None or name not in found else _cell(found[name]))
        after = {HELD_IN: "yes" if held_in else "no", "error": error}
        after["signature"] = table.signature_of(number)
        yield Row(
            (outcome.label,),
            tuple(cells),
            group=-1 if alone else block,
            block=block,
            error=error,
            is_baseline=is_tested and number == table.baseline,
            held_in=held_in,
            before=tuple(place.items()),
            after=tuple(after.items()),
        )


_UNCUT = Column("Cut nowhere", "percent", csv="uncut")


def languages_table(
    found: Sequence[LanguageRow], metrics: Sequence[str] = LANGUAGE_METRICS
) -> Table:
    """Return one tokeniser's scores, a row for each language.

    Those of the same scope, weighting and share of the words are a block. Rows do not compete: a
    language is not better than another.
    """
    blocks: dict[object, list[LanguageRow]] = {}
    for row in found:
        key = (row.table.scope, row.table.weighting, words_of(row.table))
        blocks.setdefault(key, []).append(row)
    rows: list[Row] = []
    tables = [row.table for row in found]
    names = [name for name in metrics if all(name in table.metrics for table in tables)]
    for number, block in enumerate(blocks.values()):
        for label, row in zip(labels_of(block), block, strict=True):
            [line] = _rows(row.table, number, names)
            told = {**dict(line.before), "tokeniser": line.names[0]}
            rows.append(
                replace(
                    line,
                    names=(label, row.script),
                    cells=(Cell(row.entries), *line.cells[1:], Cell(row.uncut)),
                    group=-1,
                    before=tuple(told.items()),
                )
            )
    return Table(
        f"{tables[0].labels[0]} by language" if tables else "By language",
        (Column("Language", csv="language"), Column("Script", csv="script")),
        (Column("Entries", "count", csv="entries"), *_columns(tables, names), _UNCUT),
        tuple(rows),
        blocks=tuple(
            _titled(block[0].table.labels[0], block[0].table) for block in blocks.values()
        ),
        signatures=tuple(dict.fromkeys(table.signature for table in tables if table.signature)),
        notes=_notes(tables),
        bold="",
        label="languages",
        short="Scores by language",
    )


def _kinds(tables: Sequence[ScoreTable]) -> list[str]:
    known = [table.gold_set.reference for table in tables if table.gold_set is not None]
    return sorted({"silver" if each.is_silver else "gold" for each in known}) or ["gold"]


def _notes(tables: Sequence[ScoreTable]) -> tuple[str, ...]:
    """What to know of references beside their scores, once for all that it is said of."""
    said: dict[str, dict[str, None]] = {}
    for table in tables:
        note = "" if table.gold_set is None else table.gold_set.reference.partial_note
        for each in (*table.notes, *([note] if note else [])):
            said.setdefault(each, {})[_reference(table)] = None
    mixed = [MIXED] * (len(_kinds(tables)) > 1)
    return (*mixed, *(f"{_listed(list(names))}: {note}" for note, names in said.items()))


def _listed(names: Sequence[str]) -> str:
    """List some names, the first ones of many.

    >>> _listed(["a", "b"]), _listed(["a", "b", "c", "d"])
    ('a, b', 'a, b and 2 more')
    """
    few = names if len(names) <= _FEW else names[: _FEW - 1]
    more = f" and {len(names) - len(few):,} more" if len(few) < len(names) else ""
    return ", ".join(few) + more


def _reference(table: ScoreTable) -> str:
    gold_set = table.gold_set
    return UNDEFINED if gold_set is None else base_name(gold_set.reference.name)


def _title(table: ScoreTable) -> str:
    return _titled(shortened(one_line(_reference(table)), _NAME_LENGTH), table)


def _titled(name: str, table: ScoreTable) -> str:
    words = words_of(table)
    held_out = "" if words == ALL_WORDS else f", {words}"
    return f"{name}, {table.scope} boundaries over word {table.weighting}{held_out}"


def breakdown_table(found: Breakdown) -> Table:
    """Return a score of each group of words, with a column for each tokeniser."""
    metric = METRICS[found.metric]
    form = _form(metric)
    columns = [Column("group"), Column(found.counted, "count")]
    columns += [Column(label, form, extras=("low", "high")) for label in found.labels]
    rows = [
        (name, size, *(_cell(row[place]) for row in found.rows))
        for place, (name, size) in enumerate(found.groups)
    ]
    title = f"{metric.title}{' %' * (form == 'percent')} by {BREAKDOWNS[found.by].lower()}"
    return table_of(title, columns, rows, signatures=(found.signature,))


def flota_table(found: FlotaScores) -> Table:
    """Return FLOTA's own scores, a row for each method and k."""
    shares = [Column(t, "percent") for t in ("coverage C", "stem recall R", "full match M")]
    counts = [Column(title, "count") for title in ("words", "with a stem")]
    columns = [Column("method"), Column("k", "written"), *shares, *counts]
    rows = [astuple(each) for each in found.scores]
    rows = [(method, "∞" if k is None else k, *values) for method, k, *values in rows]
    return table_of("FLOTA's scores", columns, rows, names=2, signatures=(found.signature,))


def errors_csv(browser: ErrorBrowser, entries: Iterable[int]) -> bytes:
    """Return words with gold segments, tokens and errors, one per row, and the signature."""
    signature = browser.outcome.signature(scores=f"{browser.scope} errors")
    heads = {"wrong": "wrong splits", "missed": "missed boundaries"}
    return frame_csv(browser.words(entries).rename(columns=heads).assign(signature=signature))


def words_table(comparison: Comparison, rows: Sequence[ComparedWord]) -> Table:
    """Return the table of words by methods: tokens separated by spaces, exact words in bold."""
    columns = [Column("Word"), Column("Gold"), *map(Column, comparison.labels)]
    lines = [
        (
            row.text,
            " | ".join(row.gold or ()),
            *(
                Cell(" ".join(c.tokens), is_best=bool(c.exact), tokens=c.tokens, pieces=c.pieces)
                for c in row.cells
            ),
        )
        for row in rows
    ]
    signatures, bold = (comparison.signature,), "cut just as in the gold"
    about: Any = {"signatures": signatures, "bold": bold, "label": "comparison"}
    return table_of(_TITLE, columns, lines, names=2, **about)


def summary_table(comparison: Comparison) -> Table:
    """Return the scores of each method over all compared words."""
    scores = scores_table([comparison.scores]).with_intervals("f1")
    columns = (*scores.columns, Column("Tokens per word", "ratio", -1, "fertility"))
    rows = [
        replace(row, cells=(*row.cells, Cell(length)))
        for row, length in zip(scores.rows, comparison.tokens_per_word, strict=True)
    ]
    table = replace(
        scores,
        title="Summary",
        columns=columns,
        rows=with_best(rows, columns),
        blocks=("",),
        signatures=(*(each.tokeniser for each in comparison.outcomes), comparison.signature),
    )
    return table if any(comparison.gold) else table.with_columns([0, len(columns) - 1])


def agreement_table(comparison: Comparison) -> Table:
    """Return the share of words that each two methods cut alike, in percent."""
    columns = [Column("cut alike, %"), *(Column(each, "written") for each in comparison.labels)]
    shares = comparison.agreement.tolist()
    rows = [
        (label, *(percent(share, 1) for share in row))
        for label, row in zip(comparison.labels, shares, strict=True)
    ]
    return table_of("Agreement", columns, rows)


def comparison_html(
    comparison: Comparison, rows: Sequence[ComparedWord], title: str = _TITLE
) -> bytes:
    """Return rows and summaries as one stand-alone HTML file; all text is escaped."""
    tables = {"words": words_table(comparison, rows), "summary": summary_table(comparison)}
    return rendered("comparison.html.j2", title=title, **tables).encode("utf-8", "replace")


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
        """Return the one table, a row for each tokeniser.

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
            found = self.scores.of(number, ["f1"]).get("f1")
            text = "failed" if found is None else f"F1 {percent(found.value)} %"
            shown.append(f"{visible(label)} {text}")
        return f"{', '.join(shown)} | {self.signature}"

    def side_by_side(self) -> SideBySide:
        """Return how each tokeniser segments the words that are scored, and how far they agree.

        Errors: `MorphGraphError` for what failed, and for predictions, which are no tokeniser.

        >>> both = {"BPE": tokeniser, "FLOTA": tokeniser.method("flota", k=2)}
        >>> mg.compare(both, gold).side_by_side().comparison.rows[0].text
        'abilities'
        """
        return SideBySide(self.scores.outcomes)


class SideBySide(Result):
    """The words of gold as several tokenisers segment them, with scores and agreement.

    ``comparison``: its rows, one for each word, in order of the gold.
    """

    def __init__(self, outcomes: Sequence[Outcome | SegmentationFailure]) -> None:
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

    def table(self) -> Table:
        """Return the scores of each tokeniser."""
        return summary_table(self.comparison)

    def agreement(self) -> Table:
        """Return the share of words that each two tokenisers cut alike, in percent."""
        return agreement_table(self.comparison)

    def report(self, width: int | None = None) -> str:
        """Return scores and agreement in lines, as the terminal shows them."""
        table = self.table()
        made = (text_of(table, width), "", text_of(self.agreement(), width), *table.signatures)
        return "\n".join(made if self.on == ALL_WORDS else (f"On {self.on}", *made))

    def to_dict(self) -> dict[str, Any]:
        """Return scores, agreement, and all words with their tokens, as JSON data."""
        made = self.comparison
        methods = []
        for number, outcome in enumerate(made.outcomes):
            scores = made.scores.of(number, made.scores.metrics)
            interval = scores["f1"].interval
            methods.append(
                {
                    "label": outcome.label,
                    **{name: estimate.value for name, estimate in scores.items()},
                    "f1_interval": [interval.low, interval.high],
                    "tokens_per_word": made.tokens_per_word[number],
                    "vocab_size": outcome.vocabulary_size,
                    "signature": outcome.tokeniser,
                }
            )
        return {
            "methods": methods,
            "on": self.on,
            "signature": made.signature,
            "agreement": made.agreement.tolist(),
            "words": [
                {
                    "word": row.text,
                    "gold": row.gold,
                    "tokens": {
                        name: c.tokens for name, c in zip(made.labels, row.cells, strict=True)
                    },
                    "exact": {
                        name: c.exact for name, c in zip(made.labels, row.cells, strict=True)
                    },
                }
                for row in made.rows
            ],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the words to a file: .csv, .tex or .html."""
        made = self.comparison
        writers: dict[str, Callable[[], bytes | str]] = {
            ".csv": lambda: to_csv(words_table(made, made.rows)),
            ".tex": lambda: to_latex(words_table(made, made.rows)),
            ".html": lambda: comparison_html(made, made.rows),
        }
        file = Path(path)
        check_ending(file, *writers)
        write_file(file, writers[file.suffix]())
