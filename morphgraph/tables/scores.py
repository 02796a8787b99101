"""Scores to take away: as plain rows, as CSV, as LaTeX for a paper, and as Markdown."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.numbers import UNDEFINED, count_text, percent, ratio_text
from morphgraph.core.text import shortened
from morphgraph.score.metrics import METRICS
from morphgraph.score.table import LEVELS, Estimate, ScoreTable, SegmentationFailure
from morphgraph.tables.writing import (
    csv_bytes,
    harmless,
    latex,
    latex_breakable,
    markdown,
    markdown_code,
    one_line,
)
from morphgraph.tokeniser.tokeniser import base_name

ALL_WORDS = "all words"
HELD_IN = "held in"
HELD_IN_NOTE = (
    "Held in: learned from the very words that it is scored on, so neither tested nor best beside "
    "others."
)
_PARTS = ("", " low", " high", " p")
_LABEL_LENGTH, _ERROR_LENGTH = 60, 120
_ARROWS = {1: "↑", -1: "↓", 0: ""}
_LATEX_ARROWS = {1: r" $\uparrow$", -1: r" $\downarrow$", 0: ""}


def score_text(name: str, value: float) -> str:
    """A score as people read it: shares in percent, the others as they are, both with 2 digits.

    >>> score_text("f1", 0.5), score_text("fertility", 1.5), score_text("f1", float("nan"))
    ('50.00', '1.50', 'n/a')
    """
    return percent(value) if METRICS[name].unit == "%" else ratio_text(value)


def deviation_text(name: str, estimate: Estimate) -> str:
    """The standard deviation behind a mean over runs: `` ± 0.12``; nothing where there is none."""
    known = not math.isnan(estimate.deviation)
    return f" ± {score_text(name, estimate.deviation)}" if known else ""


def score_rows(table: ScoreTable) -> list[dict[str, str | float]]:
    """A row for each tokeniser: ``label``, ``vocabulary size``, and for each metric, by its name,
    its value, ``… low`` and ``… high`` of its 95 % interval, and ``… p``; then ``error``. Where
    scores are means over runs, ``… sd`` is their standard deviation.

    Shares are numbers from 0 to 1. What is undefined is NaN, and so is everything of a tokeniser
    that failed, whose ``error`` says why; that of others is empty.
    """
    return [
        {
            "label": outcome.label,
            "vocabulary size": _size(table, number),
            **_numbers(table, number),
            "error": outcome.message if isinstance(outcome, SegmentationFailure) else "",
        }
        for number, outcome in enumerate(table.outcomes)
    ]


def _size(table: ScoreTable, number: int) -> float:
    outcome = table.outcomes[number]
    size = None if isinstance(outcome, SegmentationFailure) else outcome.vocabulary_size
    return math.nan if size is None else size


def _numbers(table: ScoreTable, number: int) -> dict[str, float]:
    found = table.estimates[number]
    numbers: dict[str, float] = {}
    for name in table.metrics:
        values = [math.nan] * 5
        if found is not None:
            estimate = found[name]
            interval = estimate.interval
            values = [estimate.value, interval.low, interval.high, estimate.p, estimate.deviation]
        parts = _parts([table])
        numbers |= {f"{name}{part}": value for part, value in zip(parts, values, strict=False)}
    return numbers


def _parts(tables: Sequence[ScoreTable]) -> tuple[str, ...]:
    return (*_PARTS, " sd") if any(table.runs > 1 for table in tables) else _PARTS


def scores_csv(tables: Sequence[ScoreTable]) -> bytes:
    """Scores as CSV, one row for each tokeniser of each table, with its signature.

    Shares are numbers from 0 to 1; undefined numbers are n/a, and a metric that is not in a table
    is empty there. `MorphGraphError` if there is nothing to write.
    """
    names = _names(tables)
    numbers = [f"{name}{part}" for name in names for part in _parts(tables)]
    before = ["reference", "scope", "weighting", "words", "tokeniser", "vocabulary size"]
    lines: list[list[object]] = [[*before, *numbers, "held in", "error", "signature"]]
    for table in tables:
        place = [_reference(table), table.scope, table.weighting, words_of(table)]
        for number, row in enumerate(score_rows(table)):
            texts = [*place, str(row["label"])]
            line: list[object] = [harmless(text) for text in texts]
            line += [_number(row.get(key, "")) for key in ("vocabulary size", *numbers)]
            line.append("yes" if _is_held_in(table, number) else "no")
            line += [harmless(str(row["error"])), harmless(table.signature_of(number))]
            lines.append(line)
    return csv_bytes(lines)


def _number(value: str | float) -> str:
    """A number with all its digits; text as it is."""
    if isinstance(value, str):
        return value
    return UNDEFINED if math.isnan(value) else str(value)


def _names(tables: Sequence[ScoreTable]) -> list[str]:
    """The metrics of all tables, in the order in which tables show them."""
    wanted = {name for table in tables for name in table.metrics}
    if not any(table.outcomes for table in tables) or not wanted:
        raise MorphGraphError(
            "There are no scores to write. Score at least one tokeniser by at least one metric."
        )
    return [name for name in METRICS if name in wanted]


def _reference(table: ScoreTable) -> str:
    gold_set = table.gold_set
    return UNDEFINED if gold_set is None else base_name(gold_set.reference.name)


class _Cell(NamedTuple):
    """A score to be shown; all empty if it was not computed."""

    text: str = ""
    mark: str = ""
    interval: str = ""
    is_best: bool = False
    deviation: str = ""


class _Line(NamedTuple):
    """A tokeniser to be shown: a cell for each metric, or none and why."""

    label: str
    size: str = ""
    is_baseline: bool = False
    cells: tuple[_Cell, ...] = ()
    error: str = ""


def _lines(table: ScoreTable, names: Sequence[str], intervals: bool) -> list[_Line]:
    best = {name: _best(table, name) for name in names}
    baseline = table.baseline if _has_tests(table) else None
    lines = []
    for number, (outcome, found) in enumerate(zip(table.outcomes, table.estimates, strict=True)):
        label = shortened(one_line(outcome.label), _LABEL_LENGTH)
        label += f" ({HELD_IN})" if _is_held_in(table, number) else ""
        if isinstance(outcome, SegmentationFailure) or found is None:
            message = outcome.message if isinstance(outcome, SegmentationFailure) else ""
            lines.append(_Line(label, error=shortened(one_line(message), _ERROR_LENGTH)))
            continue
        aims = best if _competes(table, number) else {}
        cells = tuple(
            _cell(name, found[name], aims.get(name, ""), intervals) if name in found else _Cell()
            for name in names
        )
        lines.append(_Line(label, count_text(_size(table, number)), number == baseline, cells))
    return lines


def _cell(name: str, estimate: Estimate, best: str, intervals: bool) -> _Cell:
    text = score_text(name, estimate.value)
    low, high = estimate.interval.low, estimate.interval.high
    is_known = intervals and not any(map(math.isnan, (estimate.value, low, high)))
    interval = f"[{score_text(name, low)}, {score_text(name, high)}]" if is_known else ""
    is_best = text == best
    return _Cell(text, estimate.mark, interval, is_best, deviation_text(name, estimate))


def _competes(table: ScoreTable, number: int) -> bool:
    """Whether a row may be the best: the gold itself, the ceiling of all others, is none, nor is
    what was learned from these very words, beside others that have not seen them.
    """
    outcome = table.outcomes[number]
    if isinstance(outcome, SegmentationFailure) or outcome.is_gold:
        return False
    return not outcome.held_in or all(
        isinstance(other, SegmentationFailure) or other.is_gold or other.held_in
        for other in table.outcomes
    )


def _is_held_in(table: ScoreTable, number: int) -> bool:
    outcome = table.outcomes[number]
    return not isinstance(outcome, SegmentationFailure) and outcome.held_in


def words_of(table: ScoreTable) -> str:
    """Which words of the reference a table is about."""
    drawn = "" if table.gold_set is None else table.gold_set.drawn
    return f"held out: {drawn}" if drawn else ALL_WORDS


def _best(table: ScoreTable, name: str) -> str:
    """The best score as it reads, so that rows that read alike are best together; none of one."""
    better = METRICS[name].better
    values = [
        found[name].value
        for number, found in enumerate(table.estimates)
        if found is not None and name in found and _competes(table, number)
    ]
    values = [value for value in values if not math.isnan(value)]
    if not better or len(values) < 2:
        return ""
    return score_text(name, max(values) if better > 0 else min(values))


def _has_tests(table: ScoreTable) -> bool:
    return any(
        not math.isnan(estimate.p)
        for found in table.estimates
        for estimate in (found or {}).values()
    )


def _title(table: ScoreTable) -> str:
    name = shortened(one_line(_reference(table)), _LABEL_LENGTH)
    words = words_of(table)
    held_out = "" if words == ALL_WORDS else f", {words}"
    return f"{name}, {table.scope} boundaries over word {table.weighting}{held_out}"


def _units(names: Sequence[str]) -> str:
    """In which unit the scores are.

    >>> _units(["f1", "exact"]), _units(["fertility"])
    (' in %', '')
    >>> _units(["f1", "fertility"])
    ' in % (not: Tokens per word)'
    """
    others = [METRICS[name].title for name in names if METRICS[name].unit != "%"]
    if len(others) == len(names):
        return ""
    return f" in % (not: {', '.join(others)})" if others else " in %"


def _signatures(tables: Sequence[ScoreTable]) -> list[str]:
    found = (one_line(table.signature) for table in tables)
    return list(dict.fromkeys(signature for signature in found if signature))


def scores_latex(tables: Sequence[ScoreTable], *, intervals: bool = True) -> str:
    r"""Scores as a LaTeX table that needs nothing but booktabs, a block for each of ``tables``.

    Stars mark significant differences to the baseline, bold the best of a block; each score has
    its 95 % interval below it, unless ``intervals`` is off. The caption explains both and names the
    signatures. `MorphGraphError` if there is nothing to write.
    """
    names = _names(tables)
    blocks = [(_title(table), _lines(table, names, intervals)) for table in tables]
    heads = [f"{latex(METRICS[n].title)}{_LATEX_ARROWS[METRICS[n].better]}" for n in names]
    lines = [
        r"% needs \usepackage{booktabs}; XeLaTeX or LuaLaTeX for letters that are not Latin",
        r"\begin{table}",
        r"\centering",
        r"\small\setlength{\tabcolsep}{4pt}",
        rf"\begin{{tabular}}{{lr{'r' * len(names)}}}",
        r"\toprule",
        " & ".join(["Tokeniser", "$|V|$", *heads]) + r" \\",
    ]
    for title, rows in blocks:
        lines.append(r"\midrule")
        lines.append(
            rf"\multicolumn{{{2 + len(names)}}}{{l}}{{\textit{{{latex(title)}}}}} \\",
        )
        lines += [text for row in rows for text in _latex_rows(row, len(names))]
    notes = _notes([row for _, rows in blocks for row in rows], _superscript, "$p<{}$")
    caption = [
        f"Scores of tokenisers against gold segmentations{_units(names)}.".replace("%", r"\%"),
        *(note.replace("%", r"\%") for note in notes),
        *(rf"Signature: \texttt{{{latex_breakable(text)}}}" for text in _signatures(tables)),
    ]
    lines += [
        r"\bottomrule",
        r"\end{tabular}",
        # The list of tables gets the short one, without signatures.
        rf"\caption[Scores of tokenisers.]{{{' '.join(caption)}}}",
        r"\label{tab:scores}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _latex_rows(line: _Line, columns: int) -> list[str]:
    """A line with scores, and one with their intervals if there are any."""
    # The braces keep a [ or * at the start from being an option of the line before.
    label = "{}" + latex(line.label) + (_superscript("†") if line.is_baseline else "")
    if not line.cells:
        failed = f"failed: {latex(line.error)}"
        return [rf"{label} & & \multicolumn{{{columns}}}{{l}}{{{failed}}} \\"]
    cells = [
        (rf"\textbf{{{cell.text}}}" if cell.is_best else cell.text)
        + cell.deviation.replace("±", r"$\pm$")
        # Stars take no room, so that digits stay below each other.
        + (rf"\rlap{{{_superscript(cell.mark)}}}" if cell.mark else "")
        for cell in line.cells
    ]
    rows = [" & ".join([label, line.size, *cells]) + r" \\"]
    if any(cell.interval for cell in line.cells):
        small = [
            rf"{{\scriptsize {cell.interval}}}" if cell.interval else "" for cell in line.cells
        ]
        rows.append(" & ".join(["", "", *small]) + r" \\")
    return rows


def _superscript(mark: str) -> str:
    shown = mark.replace("†", r"\dagger")
    return f"$^{{{shown}}}$"


def _notes(rows: Sequence[_Line], mark: Callable[[str], str], probability: str) -> list[str]:
    """What the marks in a table mean, of those that it may have."""
    cells = [cell for row in rows for cell in row.cells]
    notes = []
    if any(cell.is_best for cell in cells):
        notes.append("Bold: the best of its block.")
    if any(cell.interval for cell in cells):
        notes.append("In brackets: 95 % bootstrap intervals.")
    if any(cell.deviation for cell in cells):
        notes.append("±: standard deviation over seeds.")
    if any(row.is_baseline for row in rows):
        levels = ", ".join(
            f"{mark(stars)} {probability.format(f'{level:g}')}" for level, stars in LEVELS[::-1]
        )
        notes.append(
            f"{mark('†')} Baseline of its block; differences to it by paired approximate "
            f"randomisation: {levels}."
        )
    if any(row.label.endswith(f" ({HELD_IN})") for row in rows):
        notes.append(HELD_IN_NOTE)
    if any(cell.text == UNDEFINED for cell in cells):
        notes.append(f"{UNDEFINED}: undefined.")
    return notes


def scores_markdown(tables: Sequence[ScoreTable]) -> str:
    """Scores as Markdown (of GitHub's kind), one table for each of ``tables``, then what the marks
    mean and the signatures. `MorphGraphError` if there is nothing to write.
    """
    names = _names(tables)
    heads = [f"{METRICS[name].title} {_ARROWS[METRICS[name].better]}".rstrip() for name in names]
    blocks = [(_title(table), _lines(table, names, True)) for table in tables]
    lines = []
    for title, rows in blocks:
        lines += [f"**{markdown(title)}**", ""]
        lines.append(_markdown_row(["Tokeniser", r"\|V\|", *heads]))
        lines.append(_markdown_row(["---", *["---:"] * (1 + len(names))]))
        lines += [_markdown_row(_markdown_cells(row, len(names))) for row in rows]
        lines.append("")
    notes = _notes([row for _, rows in blocks for row in rows], markdown, "p < {}")
    lines += [" ".join([f"Scores{_units(names)}.", *notes]), ""]
    lines += [f"- {markdown_code(text)}" for text in _signatures(tables)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cells(line: _Line, columns: int) -> list[str]:
    label = markdown(line.label) + (" †" if line.is_baseline else "")
    if not line.cells:
        return [label, "", f"failed: {markdown(line.error)}", *[""] * (columns - 1)]
    return [
        label,
        line.size,
        *(
            " ".join(
                filter(
                    None,
                    [
                        (f"**{cell.text}**" if cell.is_best else cell.text)
                        + cell.deviation
                        + markdown(cell.mark),
                        cell.interval,
                    ],
                )
            )
            for cell in line.cells
        ),
    ]
