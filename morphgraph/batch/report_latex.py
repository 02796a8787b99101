"""A table of an evaluation for a paper (LaTeX, booktabs), and with all digits (CSV)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from morphgraph.batch.names import metric_label
from morphgraph.batch.report_data import HELD_IN
from morphgraph.batch.report_facts import common_signature
from morphgraph.batch.report_table import COMPETITORS, TITLES, Cell, Column, Row, Table, cell_texts
from morphgraph.core.numbers import UNDEFINED
from morphgraph.score.table import LEVELS
from morphgraph.tables.writing import csv_bytes, harmless, latex, latex_breakable, one_line

ROWS_OF_PAGE = 34
"""Lines of a table that fit a page; the rest of a longer one stands in tables that follow."""

_MATHS = {
    "α": r"\alpha", "β": r"\beta", "θ": r"\theta", "Δ": r"\Delta", "≥": r"\ge", "≤": r"\le",
    "±": r"\pm", "−": "-", "↑": r"\uparrow", "↓": r"\downarrow", "×": r"\times", "→": r"\to",
}  # fmt: skip
"""What fonts of pdfLaTeX lack as letters."""


def table_latex(table: Table, label: str = "") -> str:
    r"""A table in LaTeX that needs nothing but booktabs and graphicx, no wider than its page.

    Bold is the best of a group; intervals and spreads over seeds stand below their values. The
    caption explains both and names the signature. ``label``: what stands after ``tab:``.
    """
    columns = len(table.rows_by) + len(table.columns)
    parts = list(_pages(table))
    lines = [
        r"% needs \usepackage{booktabs,graphicx}; XeLaTeX or LuaLaTeX for letters that are not "
        "Latin"
    ]
    for number, rows in enumerate(parts, 1):
        of = f", part {number} of {len(parts)}" if len(parts) > 1 else ""
        caption = _caption(table, of) if number == 1 else [f"{_text(table.title + of)}."]
        name = label if number == 1 else f"{label}-{number}"
        lines += [
            r"\begin{table}",
            r"\centering",
            r"\small\setlength{\tabcolsep}{4pt}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{'l' * len(table.rows_by)}{'r' * len(table.columns)}}}",
            r"\toprule",
            *_heads(table),
        ]
        earlier: tuple[str, ...] | None = None
        for row in rows:
            block = row.names[:1] if len(row.names) > 1 else ()
            if block != earlier:
                lines.append(r"\midrule" if earlier is None else r"\addlinespace")
            lines += _row(table, row)
            earlier = block
        if not rows:
            lines += [r"\midrule", rf"\multicolumn{{{max(1, columns)}}}{{l}}{{no results}} \\"]
        lines += [
            r"\bottomrule",
            r"\end{tabular}}",
            # The list of tables gets the short one, without signatures.
            rf"\caption[{_braced(table.title + of)}]{{{' '.join(caption)}}}",
            *([rf"\label{{tab:{latex(name)}}}"] if label else []),
            r"\end{table}",
            "",
        ]
    return "\n".join(lines)


def _text(text: str) -> str:
    """A text in one line, escaped."""
    return "".join(map(_letter, one_line(text)))


def _letter(letter: str) -> str:
    """A letter, escaped; maths for what has none."""
    return f"${_MATHS[letter]}$" if letter in _MATHS else latex(letter)


def _breakable(signature: str) -> str:
    """A signature, escaped, that may be broken between its fields."""
    return "".join(latex_breakable(c) if c in "|:" else _letter(c) for c in signature)


def _braced(text: str) -> str:
    """A text for an optional argument: a ] in it is not its end."""
    return f"{{{_text(text)}}}"


def _pages(table: Table) -> list[list[Row]]:
    """The rows of each page."""
    pages: list[list[Row]] = [[]]
    used = 0
    for row in table.rows:
        lines = len(_row(table, row))
        if used + lines > ROWS_OF_PAGE and pages[-1]:
            pages.append([])
            used = 0
        pages[-1].append(row)
        used += lines
    return pages


def _heads(table: Table) -> list[str]:
    """Spread columns above, each over what it spans, then the metrics."""
    before = len(table.rows_by)
    lines = []
    for _, spans in table.heads:
        cells, rules, at = [], [], before + 1
        for text, width in spans:
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_text(text)}}}")
            if text:
                rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
            at += width
        lines += [" & ".join([*[""] * before, *cells]) + r" \\", "".join(rules)]
    names = [_text(TITLES.get(name, name)) for name in table.rows_by]
    lines.append(" & ".join([*names, *(_text(c.title) for c in table.columns)]) + r" \\")
    return [line for line in lines if line]


def _row(table: Table, row: Row) -> list[str]:
    """A line of values, and one of intervals or spreads if there are any."""
    # The braces keep a [ or * at the start from being an option of the line before.
    cells = ["{}" + _text(row.names[0]), *map(_text, row.names[1:])] if row.names else []
    small = [""] * len(cells)
    for cell, column in zip(row.cells, table.columns, strict=True):
        text, beside = cell_texts(column.metric, cell)
        # Stars take no room, so that digits stay below each other.
        mark = rf"\rlap{{$^{{{cell.mark}}}$}}" if cell.mark else ""
        cells.append((rf"\textbf{{{_text(text)}}}" if cell.is_best else _text(text)) + mark)
        small.append(rf"{{\scriptsize {_text(beside)}}}" if beside else "")
    lines = [" & ".join(cells) + r" \\"]
    if any(small):
        lines.append(" & ".join(small) + r" \\")
    return lines


def _caption(table: Table, of: str) -> list[str]:
    """What stands below a table, or below its first part; later parts have the title only."""
    texts = [f"{_text(table.title + of)}."]
    if table.constants:
        known = (f"{TITLES[name].lower()} {text}" for name, text in table.constants.items())
        texts.append(_text(f"({'; '.join(known)})."))
    texts += [_text(note) for note in (*table.notes, *marks_explained(table))]
    if table.signatures:
        signature = _breakable(common_signature(table.signatures))
        texts.append(rf"Signature: \texttt{{{signature}}}")
    return texts


def marks_explained(table: Table) -> list[str]:
    """What the marks in a table mean, of those that it has."""
    pairs = [(c, cell_texts(k.metric, c)) for r in table.rows for c, k in _with(r, table)]
    notes = []
    if any(cell.is_best for cell, _ in pairs):
        same = [TITLES[name].lower() for name in table.rows_by if name not in COMPETITORS]
        among = f" of those with the same {' and '.join(same)}" if same else ""
        notes.append(f"Bold: the best{among}.")
    if any(beside.startswith("[") for _, (_, beside) in pairs):
        notes.append("In brackets: 95 % intervals.")
    if any(beside.startswith("±") for _, (_, beside) in pairs):
        notes.append("Means over seeds, ± their standard deviation.")
    notes += comparisons_explained(table)
    if any(text == UNDEFINED for _, (text, _) in pairs):
        notes.append(f"{UNDEFINED}: undefined, or not measured.")
    return notes


def comparisons_explained(table: Table) -> list[str]:
    """What stars mean, and what is held in, if there are any."""
    cells = [cell for row in table.rows for cell in row.cells]
    notes = []
    if any(cell.mark for cell in cells):
        levels = ", ".join(f"{stars} p < {level:g}" for level, stars in LEVELS[::-1])
        notes.append(
            "Stars: different from the first method that does not learn from the reference, by "
            f"paired approximate randomisation: {levels}."
        )
    if any(cell.held_in for cell in cells):
        notes.append(
            f"{HELD_IN[0].upper()}{HELD_IN[1:]}: the method learned from the very words that it "
            "is scored on, so it is neither tested nor best beside others."
        )
    return notes


def _with(row: Row, table: Table) -> list[tuple[Cell, Column]]:
    return list(zip(row.cells, table.columns, strict=True))


def table_csv(table: Table) -> bytes:
    """A table as CSV with all digits: shares from 0 to 1, n/a where undefined, with signatures.

    Beside each value stand its interval, or its standard deviation and its number of seeds, if
    any cell of the column has them.
    """
    extras = [_extras([row.cells[n] for row in table.rows]) for n in range(len(table.columns))]
    head = [TITLES.get(name, name) for name in table.rows_by]
    for column, names in zip(table.columns, extras, strict=True):
        title = " ".join(filter(None, [metric_label(column.metric), *column.spread]))
        head += [harmless(f"{title} {name}".rstrip()) for name in ("", *names)]
    lines: list[list[object]] = [[*head]]
    for row in table.rows:
        line: list[object] = [harmless(one_line(name)) for name in row.names]
        for cell, names in zip(row.cells, extras, strict=True):
            line.append(cell.state if cell.is_lost else _number(cell.value))
            line += [_extra(cell, name) for name in names]
        lines.append(line)
    lines += [["signature", harmless(one_line(text))] for text in table.signatures]
    return csv_bytes(lines)


_NUMBERS = ("low", "high", "p", "sd")


def _extras(cells: Sequence[Cell]) -> list[str]:
    found = [n for n in _NUMBERS if any(not math.isnan(getattr(c, n)) for c in cells)]
    found += ["seeds"] if any(cell.seeds > 1 for cell in cells) else []
    return [*found, HELD_IN] if any(cell.held_in for cell in cells) else found


def _extra(cell: Cell, name: str) -> str:
    if name == HELD_IN:
        return "yes" if cell.held_in else "no"
    return _number(getattr(cell, name))


def _number(value: float) -> str:
    if math.isnan(value):
        return UNDEFINED
    return str(int(value)) if float(value).is_integer() else repr(float(value))
