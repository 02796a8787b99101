"""The one model of a table, shared by CSV, LaTeX, Markdown, HTML and the screen."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from morphgraph.core.text import UNDEFINED, count_text, percent, ratio_text
from morphgraph.score.table import LEVELS, significance_mark

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.score.comparison import WordPart

CellState = Literal["done", "failed", "not run", "missing"]
Form = Literal["percent", "count", "ratio", "number", "written", "text"]
"""How values are displayed: percent with 2 digits, whole, with 2 digits, with 3 digits; as
preformatted numbers, right-aligned; as text, left-aligned.
"""

ALL_WORDS, HELD_IN = "all words", "scored on the words it learned from"
HELD_IN_NOTE = (
    "It learned from the very words that score it, which flatters it: it is not tested against "
    "other methods, nor marked as the best."
)
_ARROWS = {1: " ↑", -1: " ↓", 0: ""}


def value_text(form: Form, value: float) -> str:
    """Format a value for display; shares in percent, without the sign.

    >>> value_text("percent", 0.5), value_text("count", 32000), value_text("count", 31999.5)
    ('50.00', '32,000', '31,999.5')
    >>> value_text("ratio", 1.25), value_text("number", 0.5), value_text("ratio", float("nan"))
    ('1.25', '0.500', 'n/a')
    """
    if math.isnan(value):
        return UNDEFINED
    if form == "percent":
        return percent(value)
    if form == "count":
        return count_text(value) if float(value).is_integer() else f"{value:,.1f}"
    return ratio_text(value) if form == "ratio" else f"{value:,.3f}"


@dataclass(frozen=True)
class Cell:
    """A value or text of a table, with its interval, spread and marks.

    ``value``: NaN where undefined, a mean where ``defined`` of ``seeds`` values have one; ``low``,
    ``high``: its 95 % interval; ``sd``: the standard deviation (n - 1) over seeds; ``p``: of the
    difference to the baseline; ``over``: what ``seeds`` counts. A text may be ``tokens``, with
    ``pieces`` of the word, as HTML draws them.
    """

    value: float | str = math.nan
    low: float = math.nan
    high: float = math.nan
    sd: float = math.nan
    seeds: int = 0
    defined: int = 0
    state: CellState = "missing"
    is_best: bool = False
    p: float = math.nan
    held_in: bool = False
    over: str = "seeds"
    tokens: tuple[str, ...] = ()
    pieces: tuple[WordPart, ...] = ()

    @property
    def mark(self) -> str:
        """Stars for a significant difference."""
        return significance_mark(self.p)

    @property
    def is_lost(self) -> bool:
        """Whether a value is missing because a cell of an evaluation failed or was not run."""
        return self.state in ("failed", "not run")

    @property
    def is_undefined(self) -> bool:
        """Whether a value is missing for another reason."""
        return not isinstance(self.value, str) and math.isnan(self.value) and not self.is_lost


@dataclass(frozen=True)
class Column:
    """A column: its heading, the format of its values, and which of them are better.

    ``key``: its name in code; ``spread``: the headings above it; ``csv``: its heading in CSV, if
    different, where ``extras`` of each cell follow the value; ``is_beside``: it goes with the
    column before it, and is not drawn.
    """

    header: str
    form: Form = "text"
    better: Literal[-1, 0, 1] = 0
    key: str = ""
    spread: tuple[str, ...] = ()
    csv: str = ""
    extras: tuple[str, ...] = ()
    is_beside: bool = False

    @property
    def title(self) -> str:
        """The heading with its unit, and an arrow in the better direction."""
        return f"{self.header}{' %' * (self.form == 'percent')}{_ARROWS[self.better]}"

    @property
    def path(self) -> str:
        """The headings above it and its title, joined."""
        return " · ".join(filter(None, (*self.spread, self.title)))


def cell_texts(column: Column, cell: Cell) -> tuple[str, str]:
    """Format a cell for display: its value, and what follows it, without stars.

    >>> f1 = Column("F1", "percent")
    >>> cell_texts(f1, Cell(0.5, 0.25, 0.75, seeds=1, defined=1, state="done"))
    ('50.00', '[25.00, 75.00]')
    >>> cell_texts(f1, Cell(0.5, sd=0.01, seeds=3, defined=3, state="done"))
    ('50.00', '± 1.00 (3 seeds)')
    >>> cell_texts(f1, Cell(0.5, seeds=1, defined=1, state="done", held_in=True))
    ('50.00', 'scored on the words it learned from')
    >>> cell_texts(f1, Cell(state="failed")), cell_texts(f1, Cell()), cell_texts(f1, Cell("x"))
    (('failed', ''), ('n/a', ''), ('x', ''))
    """
    if cell.is_lost:
        return cell.state, ""
    if isinstance(cell.value, str):
        return cell.value, ""
    beside = []
    # The spread of identical values is not informative.
    if cell.sd > 0:
        beside.append(f"± {value_text(column.form, cell.sd)}")
    if cell.seeds > 1:
        among = f"{cell.seeds}" if cell.defined == cell.seeds else f"{cell.defined} of {cell.seeds}"
        beside.append(f"({among} {cell.over})")
    if not any(map(math.isnan, (cell.value, cell.low, cell.high))):
        low, high = (value_text(column.form, end) for end in (cell.low, cell.high))
        beside.append(f"[{low}, {high}]")
    if cell.held_in:
        beside.append(HELD_IN)
    return value_text(column.form, cell.value), " ".join(beside)


@dataclass(frozen=True)
class Row:
    """A row: its names and its cells.

    ``group``: rows with the same number compete, those with -1 do not; ``error``: why the whole row
    is missing. ``before`` and ``after``: further CSV columns, by heading.
    """

    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    group: int = 0
    block: int = 0
    error: str = ""
    is_baseline: bool = False
    held_in: bool = False
    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()

    @property
    def shown_names(self) -> tuple[str, ...]:
        """Its names as displayed: the first one says whether it is held in."""
        held_in = f" ({HELD_IN})" if self.held_in else ""
        return (self.names[0] + held_in, *self.names[1:]) if self.names else ()


@dataclass(frozen=True)
class Table:
    """A table to display or write.

    ``names``: the columns that name rows; ``columns``: those of values; ``spread_by``: the titles
    of the headings above them; ``blocks``: titles of blocks of rows; ``constants``: what applies to
    the whole table, by title; ``notes``: sentences below it; ``bold``: the meaning of bold;
    ``against``: what stars are differences to, and by which test. ``label``: in LaTeX, after
    ``tab:``; ``short``: the title for the list of tables there, if that is another one.
    """

    title: str
    names: tuple[Column, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    spread_by: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ("",)
    constants: Mapping[str, str] = field(default_factory=dict)
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    lines: bool = False
    bold: str = "the best"
    against: str = ""
    label: str = ""
    short: str = ""

    @property
    def rows_by(self) -> tuple[str, ...]:
        """The keys of the columns that name rows."""
        return tuple(column.key for column in self.names)

    @property
    def heads(self) -> list[tuple[str, list[tuple[str, int]]]]:
        """The rows of headings above the columns: the title of each, and its texts with widths.

        >>> columns = tuple(Column("F1", spread=(s, w)) for s in "ab" for w in "xy")
        >>> Table("", (), columns, (), ("Scope", "Weighting")).heads
        [('Scope', [('a', 2), ('b', 2)]), ('Weighting', [('x', 1), ('y', 1), ('x', 1), ('y', 1)])]
        """
        rows = []
        for depth, title in enumerate(self.spread_by):
            spans = groupby(column.spread[: depth + 1] for column in self.columns)
            rows.append((title, [(texts[-1], len(list(over))) for texts, over in spans]))
        return rows

    @property
    def by_block(self) -> list[tuple[str, list[Row]]]:
        """The title of each block, and its rows."""
        return [
            (title, [row for row in self.rows if row.block == number])
            for number, title in enumerate(self.blocks)
        ]

    @property
    def parts(self) -> list[tuple[str, Table]]:
        """The title of each block and its table; one without a title goes on the one before."""
        parts: list[tuple[str, list[Row]]] = []
        for title, rows in self.by_block:
            if title or not parts:
                parts.append((title, rows))
            else:
                parts[-1][1].extend(rows)
        return [
            (title, replace(self, rows=tuple(replace(row, block=0) for row in rows), blocks=("",)))
            for title, rows in parts
        ]

    def with_columns(self, places: Iterable[int]) -> Table:
        """Return the same with some of its columns."""
        chosen = list(places)
        rows = (replace(row, cells=tuple(row.cells[n] for n in chosen)) for row in self.rows)
        columns = tuple(self.columns[n] for n in chosen)
        return replace(self, columns=columns, rows=tuple(rows))

    def with_intervals(self, key: str) -> Table:
        """Return the same with intervals only in the column of this key."""

        def short(row: Row) -> Row:
            cells = (
                cell if column.key == key else replace(cell, low=math.nan, high=math.nan)
                for cell, column in zip(row.cells, self.columns, strict=True)
            )
            return replace(row, cells=tuple(cells))

        return replace(self, rows=tuple(map(short, self.rows)))

    def cells(self) -> Iterator[tuple[Cell, Column]]:
        """Every cell of a row without an error, with its column."""
        for row in self.rows:
            if not row.error:
                yield from zip(row.cells, self.columns, strict=True)

    @property
    def explained(self) -> list[str]:
        """The meanings of the marks that occur in it."""
        cells = [(cell, cell_texts(column, cell)[1]) for cell, column in self.cells()]
        notes = []
        if self.bold and any(cell.is_best for cell, _ in cells):
            notes.append(f"Bold: {self.bold}.")
        if any("[" in beside for cell, beside in cells if cell.seeds <= 1):
            notes.append("In brackets: 95 % bootstrap intervals.")
        if any("[" in beside for cell, beside in cells if cell.seeds > 1):
            notes.append(
                "In brackets: 95 % intervals of the mean over seeds, by Student's t, on a log "
                "scale where all are positive."
            )
        if any("±" in beside for _, beside in cells):
            over = " or ".join(dict.fromkeys(cell.over for cell, text in cells if "±" in text))
            notes.append(f"Means over {over}, ± their standard deviation.")
        levels = ", ".join(f"{stars} p < {level:g}" for level, stars in LEVELS[::-1])
        if any(cell.mark and cell.seeds > 1 for cell, _ in cells):
            notes.append(
                "Stars of means over training seeds: different from the first row of those that "
                f"are compared, by Welch's t-test: {levels}."
            )
        is_tested = any(cell.mark and cell.seeds <= 1 for cell, _ in cells)
        if is_tested or any(row.is_baseline for row in self.rows):
            notes.append(f"Stars: different from {self.against}: {levels}.")
        if any(cell.held_in for cell, _ in cells) or any(row.held_in for row in self.rows):
            notes.append(HELD_IN_NOTE)
        if any(cell.is_undefined for cell, _ in cells):
            notes.append(f"{UNDEFINED}: undefined, or not measured.")
        return notes


def with_best(rows: Sequence[Row], columns: Sequence[Column]) -> tuple[Row, ...]:
    """Mark the best of each group as displayed, so that equal texts are best together."""
    members: dict[int, list[Row]] = {}
    for row in rows:
        if row.group >= 0:
            members.setdefault(row.group, []).append(row)
    best: set[tuple[int, int, str, bool]] = set()
    for group, competing in members.items():
        # A method that has not run yet may be better.
        if any(cell.state == "not run" for row in competing for cell in row.cells):
            continue
        for place, column in enumerate(columns):
            cells = [(row.cells[place], row) for row in competing if len(row.cells) > place]
            known = [
                (cell.value, row.held_in or cell.held_in)
                for cell, row in cells
                if not isinstance(cell.value, str) and not math.isnan(cell.value)
            ]
            # A held-in method does not compete with those that have not seen the words.
            fair = [each for each in known if not each[1]] or known
            if column.better and len(fair) > 1:
                top = max(value * column.better for value, _ in fair) * column.better
                best.add((group, place, value_text(column.form, top), fair[0][1]))

    def marked(row: Row) -> Iterator[Cell]:
        for place, (cell, column) in enumerate(zip(row.cells, columns, strict=True)):
            held_in = row.held_in or cell.held_in
            reads = (row.group, place, cell_texts(column, cell)[0], held_in)
            yield replace(cell, is_best=True) if reads in best else cell

    return tuple(replace(row, cells=tuple(marked(row))) for row in rows)


def plain_table(
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[Any]],
    names: int = 1,
    **more: Any,
) -> Table:
    """Return a table of rows of cells, numbers or texts; the first ``names`` columns name rows.

    >>> table = plain_table("Sizes", [Column("type"), Column("count", "count")], [("able", 3)])
    >>> table.rows[0].names, table.rows[0].cells[0].value
    (('able',), 3)
    """

    def row(values: Sequence[Any]) -> Row:
        cells = (each if isinstance(each, Cell) else Cell(each) for each in values[names:])
        return Row(tuple(map(str, values[:names])), tuple(cells))

    return Table(
        title, tuple(columns[:names]), tuple(columns[names:]), tuple(map(row, rows)), **more
    )


def table_of_texts(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    names: int = 1,
    title: str = "",
    texts: Container[str] = (),
) -> Table:
    """Return a table of texts.

    The columns after the first ``names`` are numbers as text, but for those titled in ``texts``.
    """
    columns = [*map(Column, titles[:names])]
    columns += [Column(each, "text" if each in texts else "written") for each in titles[names:]]
    return plain_table(title, columns, rows, names)


def frame_table(frame: pd.DataFrame) -> Table:
    """Return a frame as a table: its first column names rows, and one that is empty is left out.

    Numbers have three digits, but where all are whole.
    """
    import pandas as pd

    known = [name for name in frame.columns if not len(frame) or frame[name].notna().any()]
    columns = []
    for name in known:
        is_number = pd.api.types.is_numeric_dtype(frame[name])
        is_whole = is_number and (frame[name].dropna() % 1 == 0).all()
        form: Form = "text" if not is_number else "count" if is_whole else "number"
        columns.append(Column(str(name).replace("_", " "), form))
    return plain_table("", columns, frame[known].itertuples(index=False))


def text_frame(table: Table) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table as texts, and which are the best, by column number: titles may repeat."""
    import pandas as pd

    lines = shown_texts(table)
    best = [[False] * len(row.names) + [cell.is_best for cell in row.cells] for row in table.rows]
    numbers = [str(number) for number in range(len(table.names) + len(table.columns))]
    return pd.DataFrame(lines, columns=numbers), pd.DataFrame(best, columns=numbers)


def shown_texts(table: Table) -> list[list[str]]:
    """Return the rows of a table as texts, names first."""
    lines = []
    for row in table.rows:
        mark = [" †" * row.is_baseline, *[""] * len(row.names)]
        line = [name + sign for name, sign in zip(row.shown_names, mark, strict=False)]
        if row.error:
            lines.append([*line, "failed", *[""] * (len(row.cells) - 1)])
            continue
        for cell, column in zip(row.cells, table.columns, strict=True):
            text, beside = cell_texts(column, cell)
            line.append(f"{text}{cell.mark} {beside}".rstrip())
        lines.append(line)
    return lines


def common_signature(signatures: Sequence[str]) -> str:
    """Merge signatures: shared fields, and the number of values of the others.

    >>> common_signature(["reference:a|tokeniser:x|version:1", "reference:a|tokeniser:y|version:1"])
    'reference:a|tokeniser:(2 different)|version:1'
    """
    fields: dict[str, dict[str, None]] = {}
    for signature in signatures:
        for part in " ".join(signature.split()).split("|"):
            name, _, value = part.partition(":")
            fields.setdefault(name, {})[value] = None
    return "|".join(
        f"{name}:{next(iter(values))}" if len(values) == 1 else f"{name}:({len(values)} different)"
        for name, values in fields.items()
    )
