r"""A table in LaTeX: a tabular as wide as the text at most, or a longtable where it is too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from morphgraph.core.text import shortened
from morphgraph.tables.model import Cell, Column, Row, Table, cell_texts, common_signature
from morphgraph.tables.writing import ERROR_LENGTH, environment, latex, latex_breakable, one_line

if TYPE_CHECKING:
    from jinja2 import Environment

LINES_OF_PAGE = 42
"""More lines than these, notes among them, do not fit a page: they are a longtable."""

_LONG_TEXT = 40
"""Columns with texts of more characters are broken into lines."""
_WRAPPED = r">{\raggedright\arraybackslash}p{0.3\linewidth}"
_NOTE_LETTERS = 92
_MOST_SIGNATURES = 4


def to_latex(table: Table, label: str = "", short: str = "") -> str:
    r"""A table in LaTeX that needs adjustbox, array and booktabs, or longtable if it is long.

    Bold is the best; intervals and spreads stand below their values. Notes and signatures stand
    below the table. ``label``: what stands after ``tab:``; ``short``: the title for the list of
    tables, if that is another one.
    """
    laid = _Layout(table, label, short or table.title)
    return _environment().get_template("table.tex.j2").render(part=laid)


@cache
def _environment() -> Environment:
    """As for other templates, but with marks that LaTeX does not use."""
    return environment().overlay(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )


def _tex(text: str) -> str:
    return latex(one_line(text))


class _Layout:
    """A table as its template writes it."""

    def __init__(self, table: Table, label: str, short: str) -> None:
        self.table = table
        self.columns = [*table.names, *table.columns]
        texts = [
            [*row.shown_names, *([] if row.error else map(_plain, row.cells, table.columns))]
            for row in table.rows
        ]
        self._wraps = [
            column.form == "text"
            and any(len(text) > _LONG_TEXT for row in texts for text in row[place : place + 1])
            for place, column in enumerate(self.columns)
        ]
        # The braces hide a ] in it.
        self.title = f"{{{_tex(short)}}}"
        self.name = latex(f"tab:{label}") if label else ""
        self.body = list(self._body())
        lines = len(self.body) + sum(len(note) for note in self.notes) // _NOTE_LETTERS
        lines += sum(max(map(len, row), default=0) // _LONG_TEXT for row in texts)
        self.is_long = lines > LINES_OF_PAGE
        if self.is_long:
            # A page neither begins nor ends with a row alone.
            for place in (0, 1, len(self.body) - 3, len(self.body) - 2):
                self.body[place] = self.body[place].removesuffix("*") + "*"

    @property
    def spec(self) -> str:
        """The columns of the tabular."""
        return "".join(
            _WRAPPED if wraps else "l" if column.form == "text" else "r"
            for column, wraps in zip(self.columns, self._wraps, strict=True)
        )

    @property
    def caption(self) -> str:
        """The title, with what is the same in all rows."""
        texts = [f"{self.table.title}."]
        if self.table.constants:
            known = (f"{title.lower()} {text}" for title, text in self.table.constants.items())
            texts.append(f"({'; '.join(known)}).")
        return " ".join(map(_tex, texts))

    @property
    def notes(self) -> list[str]:
        """What stands below: what marks mean, and the signatures."""
        notes = [_tex(note) for note in (*self.table.notes, *self.table.explained)]
        signatures = [text for text in self.table.signatures if text]
        if len(signatures) > _MOST_SIGNATURES:
            signatures = [common_signature(signatures)]
        lines = (latex_breakable(one_line(text), "|:,()=+ ") for text in signatures)
        return notes + [rf"Signature: \texttt{{{line}}}." for line in lines]

    @property
    def heads(self) -> Iterator[str]:
        """Spread columns above, each over what it spans, then the headings."""
        before = len(self.table.names)
        for _, spans in self.table.heads:
            cells, rules, at = [], [], before + 1
            for text, width in spans:
                cells.append(rf"\multicolumn{{{width}}}{{c}}{{{_tex(text)}}}")
                if text:
                    rules.append(rf"\cmidrule(lr){{{at}-{at + width - 1}}}")
                at += width
            yield " & ".join([*[""] * before, *cells]) + r" \\" + "".join(rules)
        yield "{}" + " & ".join(_tex(column.title) for column in self.columns) + r" \\"

    def _body(self) -> Iterator[str]:
        """The lines of rows, each with its end; a star there keeps it with the next one."""
        for number, (title, rows) in enumerate(self.table.by_block):
            rule = "\\midrule\n" if number else ""
            if title:
                width = len(self.columns)
                yield rf"{rule}\multicolumn{{{width}}}{{l}}{{\textit{{{_tex(title)}}}}} \\*"
                rule = ""
            above: Sequence[str] = ()
            for row in rows:
                if len(row.names) > 1 and above and row.names[0] != above[0]:
                    rule = "\\addlinespace\n"
                above = row.names
                yield from self._lines(row, rule)
                rule = ""
        if not self.table.rows:
            yield rf"\multicolumn{{{max(1, len(self.columns))}}}{{l}}{{no results}} \\"

    def _lines(self, row: Row, rule: str) -> Iterator[str]:
        """A line of values, and one of intervals or spreads if there are any."""
        names = [self._text(name, place) for place, name in enumerate(row.shown_names)]
        # The braces keep a [ or * at the start from being an option of the line before.
        start = rule + "{}"
        if row.is_baseline:
            names[0] += r"$^{\dagger}$"
        if row.error:
            error = f"failed: {shortened(one_line(row.error), ERROR_LENGTH)}"
            kind = _WRAPPED if len(error) > _LONG_TEXT else "l"
            names.append(rf"\multicolumn{{{len(row.cells)}}}{{{kind}}}{{{_tex(error)}}}")
            yield start + " & ".join(names) + r" \\"
            return
        cells, small = [], []
        for place, cell in enumerate(row.cells, len(names)):
            text, beside = cell_texts(self.columns[place], cell)
            shown = self._tokens(cell, place) if cell.tokens else self._text(text, place)
            shown = rf"\textbf{{{shown}}}" if cell.is_best else shown
            # Stars take no room, so that digits stay below each other.
            cells.append(shown + (rf"\rlap{{$^{{{cell.mark}}}$}}" if cell.mark else ""))
            small.append(rf"{{\scriptsize {_tex(beside)}}}" if beside else "")
        yield start + " & ".join([*names, *cells]) + (r" \\*" if any(small) else r" \\")
        if any(small):
            yield " & ".join([*[""] * len(names), *small]) + r" \\"

    def _text(self, text: str, place: int) -> str:
        """A text, which may be broken anywhere in long words of a column that is wrapped."""
        return " ".join(
            latex_breakable(word, "") if self._wraps[place] and len(word) > 15 else latex(word)
            for word in one_line(text).split(" ")
        )

    def _tokens(self, cell: Cell, place: int) -> str:
        """Tokens with bars between them."""
        bar = r"\,\textbar\," + (r"\allowbreak{}" if self._wraps[place] else "")
        return bar.join(self._text(token, place) for token in cell.tokens)


def _plain(cell: Cell, column: Column) -> str:
    return "|".join(cell.tokens) if cell.tokens else cell_texts(column, cell)[0]
