"""Write docs/seeds.md: each table and figure of the papers, ours beside the published figures.

Run: ``python -m docs.tools.seeds RUN…``, the folders of finished runs of seeds/000 to seeds/004 and
of those with models; the sections of other runs stay as they are.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import pandas as pd

from docs.tools import DOCS, markdown_table
from morphgraph.batch.configuration import Evaluation, parse_evaluation
from morphgraph.batch.report import make_table
from morphgraph.tables.model import Row, Table, value_text

PAGE = DOCS / "seeds.md"
_NAME = re.compile(r"^\[`(seeds/[\w-]+)`\]", re.MULTILINE)
HEADINGS = ["of", "what", "ours", "published", "difference", "why"]
START = """\
# The papers, table by table

Every table and figure of the five papers that morphgraph is built on: what repeats it here, and how
close it comes. *Ours* and *published* are one row as an example, the one where the paper's own
method stands; *difference* is ours less theirs, the mean and the extremes over all figures that
both have. `morphgraph evaluate seeds/000 --out FOLDER` prints all rows; this page is written by
`python -m docs.tools.seeds FOLDER…` from such runs.
"""


def order(of: str) -> tuple[bool, list[int | str]]:
    """Sort tables before figures, by their numbers.

    >>> sorted(["Figure 2", "Table 10", "Table 2"], key=order)
    ['Table 2', 'Table 10', 'Figure 2']
    """
    parts = re.split(r"(\d+)", of)
    return not of.startswith("Table"), [int(part) if part.isdigit() else part for part in parts]


def compared(table: Table) -> tuple[str, str, str]:
    """Return an example of ours, the published figure, and all differences, as texts."""
    example, differences = ("", ""), dict[str, list[float]]()
    for row in table.rows:
        for place, column in enumerate(table.columns[:-2]):
            if not table.columns[place + 1].is_beside or column.is_beside:
                continue
            ours, theirs, less = (cell.value for cell in row.cells[place : place + 3])
            if isinstance(ours, str) or isinstance(theirs, str) or isinstance(less, str):
                continue
            differences.setdefault(column.title, []).append(less)
            named = ", ".join(filter(None, (*row.names, *column.spread)))
            of_row = (f"{named}: {column.header} {value_text(column.form, ours)}", theirs)
            if len(differences) == 1:  # the first metric, in the last row that has it
                example = of_row[0], value_text(column.form, theirs)
    forms = {column.title: column.form for column in table.columns}

    def told(title: str, values: list[float]) -> str:
        scale, digits = {"percent": (100, 1), "count": (1, 0)}.get(forms[title], (1, 3))
        least, middle, most = (f"{scale * of(values):+,.{digits}f}" for of in (min, mean, max))
        several = f" ({least} to {most}, {len(values)})" if len(values) > 1 else ""
        return f"{title.rstrip(' ↑↓')} {middle}{several}"

    return *example, "; ".join(told(*each) for each in differences.items())


def has_ours(table: Table, row: Row) -> bool:
    """Whether a row has a figure of ours, beside the published ones."""
    cells = zip(table.columns, row.cells, strict=True)
    return any(not column.is_beside and not isinstance(cell.value, str) for column, cell in cells)


def rows_of(evaluation: Evaluation, results: pd.DataFrame) -> Iterator[list[str]]:
    """Yield a row for each table and figure of a paper that a run has, and those that it lacks."""
    for number, part in enumerate(evaluation.parts, 1):
        of_part = results[results["part"] == number]
        for spec in part.tables:
            if spec.of is None:
                continue
            table = make_table(of_part, spec)
            own = sum(has_ours(table, row) for row in table.rows)
            drawn = f"{own} rows" if own else "its data are not at hand"
            ours, published, difference = compared(table)
            yield [spec.of, spec.title, ours or drawn, published, difference, spec.note.strip()]
    for missing in evaluation.missing:
        yield [missing.of, "", "–", "", "", missing.why]


def main(folders: list[str]) -> None:
    """Write the sections of the runs in these folders; the page keeps those of other runs."""
    page = PAGE.read_text("utf-8") if PAGE.exists() else ""
    known = [f"## {part}" for part in page.split("\n## ")[1:]]
    sections = {heading[1]: part for part in known if (heading := _NAME.search(part))}
    for folder in map(Path, folders):
        text = (folder / "configuration.yaml").read_text("utf-8")
        evaluation, _ = parse_evaluation(text, str(folder))
        rows = sorted(
            rows_of(evaluation, pd.read_parquet(folder / "results.parquet")),
            key=lambda row: order(row[0]),
        )
        name = evaluation.name.replace("seeds-", "seeds/")
        about = f"## {evaluation.title}\n\n{evaluation.description.strip()}\n\n"
        table = markdown_table([HEADINGS, *rows])
        sections[name] = f"{about}[`{name}`](evaluations/{name}.yaml)\n\n{table}\n"
    written = [sections[name].rstrip() for name in sorted(sections)]
    PAGE.write_text("\n\n".join([START.rstrip(), *written]) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
