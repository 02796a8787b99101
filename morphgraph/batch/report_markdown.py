"""The report of an evaluation as Markdown (of GitHub's kind)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from morphgraph.batch.report_data import FinishedRun, Published
from morphgraph.batch.report_facts import (
    KIND_TITLES,
    MOST_FAILURES,
    SLOW_TITLES,
    command_of,
    headline,
    numbered_signatures,
    numbers_text,
    run_facts,
    slowest_tasks,
    tasks_by_kind,
)
from morphgraph.batch.report_latex import marks_explained
from morphgraph.batch.report_table import TITLES, Column, Row, Table, cell_texts
from morphgraph.core.numbers import UNDEFINED
from morphgraph.core.text import shortened
from morphgraph.tables.writing import markdown as escaped
from morphgraph.tables.writing import markdown_code as code
from morphgraph.tables.writing import one_line

_MESSAGE_LENGTH = 400


def report_markdown(run: FinishedRun, tables: Sequence[Table]) -> str:
    """A run as Markdown: what it is, its tables with the figures of papers, failures, times."""
    numbers = numbered_signatures(tables)
    lines = [f"# {_text(run.title)}", ""]
    if run.description.strip():
        lines += [_text(run.description), ""]
    lines += [", ".join(f"{escaped(value)} {what}" for value, what in headline(run)) + ".", ""]
    if not any(table.rows for table in tables):
        lines += ["**There are no results.** See the failures below and run.log.", ""]
    for table in tables:
        lines += _table(table, numbers)
        for published in run.published:
            if published.table == table.title:
                lines += _published(published, "###")
    lines += _unplaced(run, tables)
    lines += _failures(run)
    lines += ["## Time and memory", "", *_simple(KIND_TITLES, tasks_by_kind(run.tasks), 1)]
    slow = slowest_tasks(run.tasks)
    if slow:
        lines += ["The slowest tasks:", "", *_simple(SLOW_TITLES, slow, 2)]
    lines += ["## The run", ""]
    lines += [f"- {_text(name)}: {_text(text)}" for name, text in run_facts(run.run)]
    command = command_of(run.run)
    if command:
        lines += ["", "To repeat it:", "", *_fenced(command, "sh")]
    lines += ["", "## Signatures", ""] if numbers else [""]
    lines += [f"{number}. {code(one_line(text))}" for text, number in numbers.items()]
    lines += ["", "## Configuration", "", *_fenced(run.configuration, "yaml")]
    return "\n".join(lines).rstrip("\n") + "\n"


def _text(text: str) -> str:
    return escaped(one_line(text))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _simple(titles: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> Iterator[str]:
    """A table of texts, the first ``texts`` columns of which are no numbers."""
    yield _row([_text(title) for title in titles])
    yield _row(["---"] * texts + ["---:"] * (len(titles) - texts))
    yield from (_row([_text(text) for text in row]) for row in rows)
    yield ""


def table_markdown(table: Table) -> str:
    """A table alone, without title and notes."""
    heads = [TITLES.get(name, name) for name in table.rows_by]
    heads += [_head(column) for column in table.columns]
    lines = [_row([_text(head) for head in heads])]
    lines.append(_row(["---"] * len(table.rows_by) + ["---:"] * len(table.columns)))
    lines += [_row(_cells(row, table.columns)) for row in table.rows]
    return "\n".join(lines)


def _head(column: Column) -> str:
    return " · ".join(filter(None, [*column.spread, column.title]))


def _cells(row: Row, columns: Sequence[Column]) -> list[str]:
    cells = [_text(name) for name in row.names]
    for cell, column in zip(row.cells, columns, strict=True):
        text, beside = cell_texts(column.metric, cell)
        shown = f"**{text}**" if cell.is_best else text
        cells.append(f"{shown}{escaped(cell.mark)} {beside}".rstrip())
    return cells


def _table(table: Table, numbers: dict[str, int]) -> Iterator[str]:
    yield from (f"## {_text(table.title)}", "")
    known = [f"{TITLES[name]}: {text}" for name, text in table.constants.items()]
    if known:
        yield from (_text(" · ".join(known)), "")
    yield from (table_markdown(table), "")
    notes = [*table.notes, *marks_explained(table)]
    own = numbers_text([numbers[text] for text in table.signatures])
    notes += [f"Signatures: {own}."] if own else []
    if notes:
        yield from (" ".join(map(_text, notes)), "")


def _published(published: Published, level: str) -> Iterator[str]:
    heading, width = paper_heading(published), len(published.columns)
    yield from (f"{level} {_text(heading)}", "")
    yield from _simple(published.columns, [published_texts(r, width) for r in published.rows], 1)
    notes = list(filter(None, [one_line(published.note), one_line(published.url)]))
    if notes:
        yield from (" ".join(map(_text, notes)), "")


def paper_heading(published: Published) -> str:
    """What stands above the figures of a paper, so that nobody takes them for ours.

    >>> paper_heading(Published("A 2024", "the vocabulary of B", [], []))
    'Figures of the paper: A 2024, on other data: the vocabulary of B'
    """
    data = f": {one_line(published.data)}" if published.data.strip() else ""
    return f"Figures of the paper: {one_line(published.source)}, on other data{data}"


def published_texts(row: Sequence[str | float], width: int) -> list[str]:
    """Figures as they were published, as many as there are columns.

    >>> published_texts(["BPE", 52.5, float("nan")], 4)
    ['BPE', '52.5', 'n/a', '']
    """
    texts = [UNDEFINED if isinstance(c, float) and math.isnan(c) else str(c) for c in row]
    return (texts + [""] * width)[:width]


def _unplaced(run: FinishedRun, tables: Sequence[Table]) -> Iterator[str]:
    for published in unplaced(run, tables):
        yield from _published(published, "##")


def unplaced(run: FinishedRun, tables: Sequence[Table]) -> list[Published]:
    """Figures of papers that belong to no table."""
    titles = {table.title for table in tables}
    return [published for published in run.published if published.table not in titles]


def _failures(run: FinishedRun) -> Iterator[str]:
    if not run.failures:
        return
    yield from ("## Failures", "")
    for failure in run.failures[:MOST_FAILURES]:
        message = shortened(one_line(failure.message), _MESSAGE_LENGTH)
        yield f"- **{_text(failure.label)}**: {escaped(message)}"
    more = len(run.failures) - MOST_FAILURES
    yield from ("", *([f"… and {more:,} more."] if more > 0 else []))
    yield from ("Tracebacks are in run.log.", "")


def _fenced(text: str, language: str) -> list[str]:
    """Text as a block of code, whatever is in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text.rstrip("\n"), fence]
