"""Tables of scores and of segmentations, which display themselves in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import (
    UNDEFINED,
    base_name,
    percent,
    shortened,
)
from morphgraph.score.breakdowns import BREAKDOWNS
from morphgraph.score.by_language import LANGUAGE_METRICS, LanguageRow, labels_of
from morphgraph.score.comparison import ComparedWord, Comparison
from morphgraph.score.metrics import METRICS, Metric
from morphgraph.score.table import Estimate, ScoreTable, SegmentationFailure
from morphgraph.tables.model import (
    ALL_WORDS,
    HELD_IN,
    Cell,
    Column,
    Form,
    Row,
    Table,
    plain_table,
    with_best,
)
from morphgraph.tables.writing import (
    one_line,
    rendered,
)

if TYPE_CHECKING:
    from morphgraph.score.breakdowns import Breakdown

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
        against="the baseline (†) of the block, by paired approximate randomisation",
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
    languages: Sequence[LanguageRow], metrics: Sequence[str] = LANGUAGE_METRICS
) -> Table:
    """Return one tokeniser's scores, a row for each language.

    Those of the same scope, weighting and share of the words are a block. Rows do not compete: a
    language is not better than another.
    """
    tables = [row.table for row in languages]
    names = [name for name in metrics if all(name in table.metrics for table in tables)]
    blocks: dict[str, list[LanguageRow]] = {}
    for row in languages:
        blocks.setdefault(_titled(row.table.labels[0], row.table), []).append(row)
    rows: list[Row] = []
    for number, block in enumerate(blocks.values()):
        for label, row in zip(labels_of(block), block, strict=True):
            [line] = _rows(row.table, number, names)
            cells = (Cell(row.entries), *line.cells[1:], Cell(row.uncut))
            before = (*line.before, ("tokeniser", line.names[0]))
            named = (label, row.script)
            rows.append(replace(line, names=named, cells=cells, group=-1, before=before))
    return Table(
        f"{tables[0].labels[0]} by language" if tables else "By language",
        (Column("Language", csv="language"), Column("Script", csv="script")),
        (Column("Entries", "count", csv="entries"), *_columns(tables, names), _UNCUT),
        tuple(rows),
        blocks=tuple(blocks),
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
    """Return the notes on references and outcomes, each once, with the references that it is on."""
    references_of: dict[str, dict[str, None]] = {}
    for table in tables:
        note = "" if table.gold_set is None else table.gold_set.reference.partial_note
        for each in (*table.notes, *([note] if note else [])):
            references_of.setdefault(each, {})[_reference(table)] = None
    mixed = [MIXED] * (len(_kinds(tables)) > 1)
    return (*mixed, *(f"{_listed(list(names))}: {note}" for note, names in references_of.items()))


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


def breakdown_table(breakdown: Breakdown) -> Table:
    """Return a score of each group of words, with a column for each tokeniser."""
    metric = METRICS[breakdown.metric]
    form = _form(metric)
    columns = [Column("group"), Column(breakdown.counted, "count")]
    columns += [Column(label, form, extras=("low", "high")) for label in breakdown.labels]
    rows = [
        (name, size, *(_cell(row[place]) for row in breakdown.rows))
        for place, (name, size) in enumerate(breakdown.groups)
    ]
    title = f"{metric.title}{' %' * (form == 'percent')} by {BREAKDOWNS[breakdown.by].lower()}"
    return plain_table(title, columns, rows, signatures=(breakdown.signature,))


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
    return plain_table(_TITLE, columns, lines, names=2, **about)


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
    return plain_table("Agreement", columns, rows)


def comparison_html(
    comparison: Comparison, rows: Sequence[ComparedWord], title: str = _TITLE
) -> bytes:
    """Return rows and summaries as one stand-alone HTML file; all text is escaped."""
    tables = {"words": words_table(comparison, rows), "summary": summary_table(comparison)}
    return rendered("comparison.html.j2", title=title, **tables).encode("utf-8", "replace")
