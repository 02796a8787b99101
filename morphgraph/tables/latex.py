r"""A table in LaTeX that fits its page: split where it is too wide, a longtable where too long.

Widths are estimated from those of Computer Modern, a little too wide rather than too narrow.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from morphgraph.core.text import columns_by_room, shortened
from morphgraph.tables.model import Cell, Column, Row, Table, cell_texts, common_signature
from morphgraph.tables.writing import ERROR_LENGTH, environment, latex, latex_breakable, one_line

if TYPE_CHECKING:
    from jinja2 import Environment

ROOM = 345.0
"""How wide the text of a page is, in points: that of LaTeX's article at 10 points."""
LINES_OF_PAGE = 42
"""More lines than these, notes among them, do not fit a page: they are a longtable."""

_SIZES = (("small", 9.0, False), ("small", 9.0, True), ("footnotesize", 8.0, True))
"""What is tried until a table fits: a size, its points, whether headings are broken into lines."""
_GAP = 8.0
_WRAPPED = 130.0
"""Text that is wider than this is broken into lines."""
_NARROW, _WIDE = frozenset("iljtfrI.,:;|!'()[]- "), frozenset("mwMW%@&—…±×≥≤−→")
_NOTE_LETTERS = 92
_MOST_SIGNATURES = 4


def to_latex(table: Table, label: str = "", short: str = "") -> str:
    r"""A table in LaTeX that needs array and booktabs, and longtable if it is long.

    Bold is the best; intervals and spreads stand below their values. Notes and signatures stand
    below the table. ``label``: what stands after ``tab:``; ``short``: the title for the list of
    tables, if that is another one.
    """
    parts = list(_parts(table))
    laid = [
        _Layout(part, natural, number, len(parts), label, short or table.title)
        for number, (part, natural) in enumerate(parts, 1)
    ]
    packages = "array,booktabs" + (",longtable" if any(each.is_long for each in laid) else "")
    template = _environment().get_template("table.tex.j2")
    return template.render(parts=laid, packages=packages)


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


def _width(text: str, size: float = 10.0) -> float:
    """About how many points a text takes."""
    return sum(map(_letter_width, text)) * size / 10


@cache
def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 3.9
    if letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
        return 10.0
    return 7.6 if letter.isupper() else 5.4


class _Natural(NamedTuple):
    """How wide a column is: its cells, its heading, and the widest word of that, at 10 points; and
    what stands beside its values, in points.
    """

    cells: float
    heading: float
    word: float
    beside: float = 0.0


def _natural(table: Table) -> list[_Natural]:
    rows = [row for row in table.rows if not row.error]

    def of(
        column: Column, texts: Iterable[str], beside: Iterable[str] = (), bold: float = 1.0
    ) -> _Natural:
        cells = bold * max(map(_width, map(one_line, texts)), default=0.0)
        words = max(map(_width, _words(column)))
        small = max((_width(text, 7.0) for text in beside), default=0.0)
        return _Natural(cells, _width(one_line(column.title)), words, small)

    found = [
        of(column, (row.shown_names[place] for row in table.rows))
        for place, column in enumerate(table.names)
    ]
    for place, column in enumerate(table.columns):
        shown = [_measured(column, row.cells[place]) for row in rows]
        bold = 1.15 if any(row.cells[place].is_best for row in rows) else 1.0
        found.append(of(column, (a for a, _ in shown), (b for _, b in shown), bold))
    for _, spans in table.heads:
        at = len(table.names)
        for text, over in spans:
            share = _width(one_line(text)) / over
            for place in range(at, at + over):
                each = found[place]
                wider = max(each.heading, share), max(each.word, share)
                found[place] = each._replace(heading=wider[0], word=wider[1])
            at += over
    return found


def _measured(column: Column, cell: Cell) -> tuple[str, str]:
    """The texts of a cell; bars between tokens are about as wide as a digit."""
    return ("0".join(cell.tokens), "") if cell.tokens else cell_texts(column, cell)


def _words(column: Column) -> list[str]:
    """The words of a heading, its unit and arrow being one."""
    words = one_line(column.header).split(" ")
    sign = one_line(column.title.removeprefix(column.header)).strip()
    return [*words, sign] if sign else words


class _Fitted(NamedTuple):
    """The widths of columns in the largest size that fits, its name and points."""

    widths: list[float]
    size: str
    points: float

    @property
    def whole(self) -> float:
        return sum(self.widths) + _GAP * len(self.widths)


def _fitted(table: Table, natural: Sequence[_Natural]) -> _Fitted:
    for size, points, broken in _SIZES:
        found = _Fitted(_widths(table, natural, points / 10, broken), size, points)
        if found.whole <= ROOM:
            break
    return found


def _widths(table: Table, natural: Sequence[_Natural], scale: float, broken: bool) -> list[float]:
    widths = []
    for column, each in zip((*table.names, *table.columns), natural, strict=True):
        heading = each.word if broken and column.form != "text" else each.heading
        width = max(scale * max(each.cells, heading), each.beside)
        widths.append(min(width, _WRAPPED) if column.form == "text" else width)
    before = len(table.names)
    if sum(widths[:before]) > 0.5 * ROOM:
        widths[:before] = [min(width, 0.5 * ROOM / before) for width in widths[:before]]
    return widths


def _parts(table: Table) -> Iterator[tuple[Table, list[_Natural]]]:
    """The table, or as many of its columns at a time as fit a page, about as many in each part."""
    natural = _natural(table)
    fitted = _fitted(table, natural)
    if fitted.whole <= ROOM:
        yield table, natural
        return
    keys, gap = len(table.names), int(_GAP)
    widths = [math.ceil(width) for width in fitted.widths]
    parts = columns_by_room(widths, keys, int(ROOM) - gap, gap)
    for room in range(int(ROOM) - gap, 0, -gap):
        narrower = columns_by_room(widths, keys, room, gap)
        if len(narrower) > len(parts):
            break
        parts = narrower
    for part in parts:
        yield table.with_columns(n - keys for n in part[keys:]), [natural[n] for n in part]


@dataclass
class _Layout:
    """One part of a table as its template writes it."""

    table: Table
    natural: Sequence[_Natural]
    number: int
    of: int
    label: str
    short: str

    def __post_init__(self) -> None:
        self.widths, self.size, self._points = _fitted(self.table, self.natural)
        self.columns = [*self.table.names, *self.table.columns]
        self._wraps = [
            column.form == "text" and max(each.cells, each.heading) * self._points / 10 > room + 0.1
            for column, each, room in zip(self.columns, self.natural, self.widths, strict=True)
        ]
        self.body = list(self._body())
        lines = len(self.body) + sum(len(note) for note in self.notes) // _NOTE_LETTERS
        lines += sum(self._further_lines(row) for row in self.table.rows)
        self.is_long = lines > LINES_OF_PAGE
        if self.is_long:
            # A page neither begins nor ends with a row alone.
            for place in (0, 1, len(self.body) - 3, len(self.body) - 2):
                self.body[place] = self.body[place].removesuffix("*") + "*"

    def _further_lines(self, row: Row) -> int:
        """About how many lines the texts of a row take behind their first one."""
        values = zip(self.table.columns, row.cells, strict=True)
        texts = [*row.names, *(_measured(column, cell)[0] for column, cell in values)]
        return max(
            int(_width(one_line(text), self._points) / room) if wraps else 0
            for text, room, wraps in zip(texts, self.widths, self._wraps, strict=True)
        )

    @property
    def spec(self) -> str:
        """The columns of the tabular."""
        return "".join(
            rf">{{\raggedright\arraybackslash}}p{{{width:.0f}pt}}"
            if wraps
            else "l" if column.form == "text" else "r"
            for column, width, wraps in zip(self.columns, self.widths, self._wraps, strict=True)
        )  # fmt: skip

    @property
    def caption(self) -> str:
        """The title, with what is the same in all rows."""
        texts = [f"{self.table.title}{self._part}."]
        if self.table.constants:
            known = (f"{title.lower()} {text}" for title, text in self.table.constants.items())
            texts.append(f"({'; '.join(known)}).")
        return " ".join(map(_tex, texts))

    @property
    def title(self) -> str:
        """The title for the list of tables; the braces hide a ] in it."""
        return f"{{{_tex(self.short + self._part)}}}"

    @property
    def _part(self) -> str:
        return f", part {self.number} of {self.of}" if self.of > 1 else ""

    @property
    def name(self) -> str:
        """The label of this part."""
        name = self.label if self.number == 1 else f"{self.label}-{self.number}"
        return latex(f"tab:{name}") if self.label else ""

    @property
    def notes(self) -> list[str]:
        """What stands below: what marks mean, and below the last part the signatures."""
        notes = [_tex(note) for note in (*self.table.notes, *self.table.explained)]
        signatures = [text for text in self.table.signatures if text]
        if len(signatures) > _MOST_SIGNATURES:
            signatures = [common_signature(signatures)]
        if self.number < self.of:
            signatures = []
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
        yield "{}" + " & ".join(self._heading(place) for place in range(len(self.columns))) + r" \\"

    def _heading(self, place: int) -> str:
        """A heading, in lines if it is wider than its column."""
        column = self.columns[place]
        if column.form == "text":
            return self._text(column.title, place)
        lines: list[str] = []
        for word in _words(column):
            wider = f"{lines[-1]} {word}" if lines else word
            if lines and _width(wider, self._points) <= self.widths[place]:
                lines[-1] = wider
            else:
                lines.append(word)
        if len(lines) == 1:
            return _tex(lines[0])
        stack = r"\\".join(map(_tex, lines))
        return rf"\shortstack[r]{{{stack}}}"

    def _body(self) -> Iterator[str]:
        """The lines of rows, each with its end; a star there keeps it with the next one."""
        for number, (title, rows) in enumerate(self.table.by_block):
            rule = "\\midrule\n" if number else ""
            if title:
                text = self._spanning(len(self.columns), rf"\textit{{{_tex(title)}}}", title)
                yield rf"{rule}{text} \\*"
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

    def _spanning(self, columns: int, text: str, plain: str) -> str:
        """A cell over the last columns, in lines if it is too wide for one."""
        room = sum(self.widths[-columns:]) + _GAP * (columns - 1)
        fits = _width(plain, self._points) <= room
        kind = "l" if fits else rf">{{\raggedright\arraybackslash}}p{{{max(room, 60):.0f}pt}}"
        return rf"\multicolumn{{{columns}}}{{{kind}}}{{{text}}}"

    def _lines(self, row: Row, rule: str) -> Iterator[str]:
        """A line of values, and one of intervals or spreads if there are any."""
        names = [self._text(name, place) for place, name in enumerate(row.shown_names)]
        # The braces keep a [ or * at the start from being an option of the line before.
        start = rule + "{}"
        if row.is_baseline:
            names[0] += r"$^{\dagger}$"
        if row.error:
            error = f"failed: {shortened(one_line(row.error), ERROR_LENGTH)}"
            names.append(self._spanning(len(row.cells), _tex(error), error))
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
        """A text, which may be broken anywhere in words that are wider than their column."""
        line = one_line(text)
        if not self._wraps[place]:
            return latex(line)
        room = self.widths[place]
        return " ".join(
            latex_breakable(word, "") if _width(word, 1.15 * self._points) > room else latex(word)
            for word in line.split(" ")
        )

    def _tokens(self, cell: Cell, place: int) -> str:
        """Tokens with bars between them."""
        bar = r"\,\textbar\," + (r"\allowbreak{}" if self._wraps[place] else "")
        return bar.join(self._text(token, place) for token in cell.tokens)
