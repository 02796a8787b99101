"""The report of an evaluation as a web page that stands alone: no network, light and dark."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from morphgraph.batch.report_charts import chart_note, chart_of
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
    short_facts,
    slowest_tasks,
    tasks_by_kind,
)
from morphgraph.batch.report_latex import marks_explained
from morphgraph.batch.report_markdown import paper_heading, published_texts, unplaced
from morphgraph.batch.report_style import NAMES_STAY, SCRIPT, STYLE
from morphgraph.batch.report_table import TITLES, Cell, Column, Row, Table, cell_texts
from morphgraph.core.text import shortened
from morphgraph.tables.writing import one_line

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Whatever stands in the page, it fetches nothing and sends nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_TRACEBACK_LENGTH = 6000
_LONG_NAME = 28


def report_html(run: FinishedRun, tables: Sequence[Table]) -> str:
    """A run as one page of HTML, with all that it needs; every text from outside is escaped."""
    numbers = numbered_signatures(tables)
    charts = [chart_of(table) for table in tables]
    sections: list[tuple[str, str, Iterator[str]]] = [
        (f"table-{number}", table.title, _table(run, table, chart, numbers))
        for number, (table, chart) in enumerate(zip(tables, charts, strict=True), 1)
    ]
    others = unplaced(run, tables)
    if others:
        sections.append(("papers", "Figures of papers", _papers(others)))
    if run.failures:
        sections.append(("failures", "Failures", _failures(run)))
    sections.append(("time", "Time and memory", _times(run)))
    sections.append(("run", "The run", _facts(run, numbers)))
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(run.title)}</title><style>{STYLE}</style></head><body>",
        *_summary(run, tables),
        '<nav aria-label="Contents"><ul>',
        *(f'<li><a href="#{key}">{_text(title)}</a></li>' for key, title, _ in sections),
        "</ul></nav><main>",
    ]
    for key, title, content in sections:
        parts += [f'<section id="{key}"><h2>{_text(title)}</h2>', *content, "</section>"]
    parts.append(f"</main><script>{NAMES_STAY}</script>")
    if any(chart is not None for chart in charts):
        from plotly.offline import get_plotlyjs

        parts += [f"<script>{get_plotlyjs()}</script>", f"<script>{SCRIPT}</script>"]
    parts.append("</body></html>\n")
    return "\n".join(parts)


def _text(text: str) -> str:
    """A text in one line, escaped for any place of HTML."""
    return html.escape(one_line(text))


def _summary(run: FinishedRun, tables: Sequence[Table]) -> Iterator[str]:
    yield f"<header><h1>{_text(run.title)}</h1>"
    for paragraph in run.description.split("\n\n"):
        if paragraph.strip():
            yield f'<p class="quiet">{_text(paragraph)}</p>'
    yield '<ul class="tiles">'
    for value, what in headline(run):
        kind = ' class="bad"' if what == "cells failed" else ""
        yield f"<li{kind}><b>{_text(value)}</b><span>{_text(what)}</span></li>"
    yield "</ul>"
    short = short_facts(run.run)
    if short:
        yield f'<p class="note">{_text(" · ".join(short))}</p>'
    if not any(table.rows for table in tables):
        yield '<p class="alarm">There are no results. See the failures below and run.log.</p>'
    yield "</header>"


def _table(
    run: FinishedRun, table: Table, chart: go.Figure | None, numbers: Mapping[str, int]
) -> Iterator[str]:
    known = [f"{TITLES[name]}: {text}" for name, text in table.constants.items()]
    if known:
        yield f'<p class="quiet">{_text(" · ".join(known))}</p>'
    yield from table_html(table)
    notes = [*table.notes, *marks_explained(table)]
    own = numbers_text([numbers[text] for text in table.signatures])
    notes += [f"Signatures: {own}."] if own else []
    if notes:
        yield f'<p class="note">{_text(" ".join(notes))}</p>'
    for published in run.published:
        if published.table == table.title:
            yield from _published(published)
    if chart is not None:
        yield f'<div class="chart"><script type="application/json">{_json(chart)}</script></div>'
    note = chart_note(table)
    if note:
        yield f'<p class="note">{_text(note)}</p>'


def _json(chart: go.Figure) -> str:
    """A figure as JSON that may stand inside a script element: it has no < at all."""
    figure = chart.to_plotly_json()
    figure["layout"].pop("template", None)
    from plotly.utils import PlotlyJSONEncoder

    text = json.dumps(figure, cls=PlotlyJSONEncoder)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def table_html(table: Table) -> Iterator[str]:
    """A table alone, without title and notes."""
    yield '<div class="wide" tabindex="0"><table><thead>'
    before = len(table.rows_by)
    for title, spans in table.heads:
        yield "<tr>"
        if before:
            yield f'<th class="spread" colspan="{before}"><span hidden>{_text(title)}</span></th>'
        for text, width in spans:
            named = " named" if text else ""
            yield f'<th class="spread{named}" colspan="{width}" scope="colgroup">{_text(text)}</th>'
        yield "</tr>"
    yield "<tr>"
    for name in table.rows_by:
        yield f'<th scope="col" class="name">{_text(TITLES.get(name, name))}</th>'
    yield from (f'<th scope="col" class="number">{_text(c.title)}</th>' for c in table.columns)
    yield "</tr></thead><tbody>"
    earlier: Row | None = None
    for row in table.rows:
        yield from _row(row, earlier, table.columns)
        earlier = row
    if not table.rows:
        yield f'<tr><td colspan="{before + len(table.columns)}">There are no results.</td></tr>'
    yield "</tbody></table></div>"


def _row(row: Row, earlier: Row | None, columns: Sequence[Column]) -> Iterator[str]:
    is_new = earlier is None or (len(row.names) > 1 and earlier.names[0] != row.names[0])
    yield '<tr class="block">' if is_new else "<tr>"
    told = earlier is not None
    for place, name in enumerate(row.names):
        told = told and earlier is not None and earlier.names[place] == name
        # What the row above says too is only hinted at.
        again = ' class="again"' if told and place < len(row.names) - 1 else ""
        kind = "name long" if len(name) > _LONG_NAME else "name"
        tag, scope = ("th", ' scope="row"') if place == 0 else ("td", "")
        yield f'<{tag}{scope} class="{kind}"><span{again}>{_text(name)}</span></{tag}>'
    for cell, column in zip(row.cells, columns, strict=True):
        yield _cell(cell, column)
    yield "</tr>"


def _cell(cell: Cell, column: Column) -> str:
    text, beside = cell_texts(column.metric, cell)
    kind = "failed" if cell.is_lost else "none" if math.isnan(cell.value) else ""
    kind = "best" if cell.is_best else kind
    small = f"<small>{_text(beside)}</small>" if beside else ""
    mark = f"<sup>{cell.mark}</sup>" if cell.mark else ""
    return f'<td class="number {kind}">{_text(text)}{mark}{small}</td>'


def _papers(others: Sequence[Published]) -> Iterator[str]:
    for published in others:
        yield from _published(published)


def _published(published: Published) -> Iterator[str]:
    yield f'<aside class="theirs"><h3>{_text(paper_heading(published))}</h3>'
    width = len(published.columns)
    rows = [published_texts(row, width) for row in published.rows]
    yield from _simple(published.columns, rows, 1)
    if published.note.strip():
        yield f'<p class="note">{_text(published.note)}</p>'
    if published.url.strip():
        yield f'<p class="note">{_link(published.url.strip())}</p>'
    yield "</aside>"


def _link(url: str) -> str:
    """An address to click, if it is one of the web; else a text."""
    try:
        is_web = urlsplit(url).scheme in ("http", "https")
    except ValueError:
        is_web = False
    shown = _text(url)
    return f'<a href="{shown}" rel="noreferrer noopener">{shown}</a>' if is_web else shown


def _simple(titles: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> Iterator[str]:
    """A table of texts, the first ``texts`` columns of which are no numbers."""

    def kind(place: int) -> str:
        return "name" if place < texts else "number"

    yield '<div class="wide" tabindex="0"><table><thead><tr>'
    for place, title in enumerate(titles):
        yield f'<th scope="col" class="{kind(place)}">{_text(title)}</th>'
    yield "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>"
        for place, text in enumerate(row):
            tag = 'th scope="row"' if place == 0 else "td"
            yield f'<{tag} class="{kind(place)}">{_text(text)}</{tag[:2]}>'
        yield "</tr>"
    yield "</tbody></table></div>"


def _failures(run: FinishedRun) -> Iterator[str]:
    yield '<p class="quiet">The full log is in run.log.</p><ul class="failures">'
    for failure in run.failures[:MOST_FAILURES]:
        yield f"<li><b>{_text(failure.label)}</b><br>{_text(failure.message)}"
        trace = failure.traceback[-_TRACEBACK_LENGTH:]
        if trace.strip():
            yield f"<details><summary>Traceback</summary><pre>{html.escape(trace)}</pre></details>"
        yield "</li>"
    yield "</ul>"
    more = len(run.failures) - MOST_FAILURES
    if more > 0:
        yield f"<p>… and {more:,} more, in run.log.</p>"


def _times(run: FinishedRun) -> Iterator[str]:
    yield from _simple(KIND_TITLES, tasks_by_kind(run.tasks), 1)
    slow = slowest_tasks(run.tasks)
    if slow:
        yield "<h3>The slowest tasks</h3>"
        yield from _simple(SLOW_TITLES, [shorter(row) for row in slow], 2)


def shorter(row: Sequence[str]) -> list[str]:
    """A row of texts, none of them very long."""
    return [shortened(text, 120) for text in row]


def _facts(run: FinishedRun, numbers: Mapping[str, int]) -> Iterator[str]:
    facts = run_facts(run.run)
    if facts:
        yield "<dl>"
        yield from (f"<dt>{_text(name)}</dt><dd>{_text(text)}</dd>" for name, text in facts)
        yield "</dl>"
    command = command_of(run.run)
    if command:
        yield f"<h3>To repeat it</h3><pre>{_text(command)}</pre>"
    if numbers:
        yield f"<details><summary>Signatures ({len(numbers):,})</summary><ol class='signatures'>"
        yield from (f"<li><code>{_text(text)}</code></li>" for text in numbers)
        yield "</ol></details>"
    if run.configuration:
        yield "<details><summary>Configuration</summary>"
        yield f"<pre>{html.escape(run.configuration)}</pre></details>"
