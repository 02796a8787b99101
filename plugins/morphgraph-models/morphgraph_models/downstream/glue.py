"""The tab-separated files of GLUE (Wang et al. 2018), as its archive has them."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from morphgraph.core.errors import FileFormatError
from morphgraph_models.downstream.examples import Examples, text_lines

GlueClasses = Literal["CoLA", "SST-2", "MRPC", "QQP", "MNLI", "QNLI", "RTE", "WNLI"]
GlueNumbers = Literal["STS-B"]


class GlueColumns(NamedTuple):
    """Where a task's files have what is needed.

    ``texts``, ``label``: names of columns. ``columns``: all of them, where files have no header.
    """

    texts: tuple[str, ...]
    label: str = "label"
    columns: tuple[str, ...] = ()


LAYOUTS = {
    "CoLA": GlueColumns(("sentence",), columns=("source", "label", "mark", "sentence")),
    "SST-2": GlueColumns(("sentence",)),
    "MRPC": GlueColumns(("#1 String", "#2 String"), "Quality"),
    "QQP": GlueColumns(("question1", "question2"), "is_duplicate"),
    "STS-B": GlueColumns(("sentence1", "sentence2"), "score"),
    "MNLI": GlueColumns(("sentence1", "sentence2"), "gold_label"),
    "QNLI": GlueColumns(("question", "sentence")),
    "RTE": GlueColumns(("sentence1", "sentence2")),
    "WNLI": GlueColumns(("sentence1", "sentence2")),
}


def read_glue(paths: Sequence[str], task: str) -> Examples:
    """Read a task's texts, one or two columns of them, and its labels.

    Quotes have no meaning. Lines that QQP breaks in the middle are left out; elsewhere a line with
    too few columns raises `FileFormatError`, as does a file without labels, such as GLUE's tests.
    """
    layout = LAYOUTS[task]
    rows: list[tuple[str, ...]] = []
    for path in paths:
        lines = [line.split("\t") for line in text_lines(path)]
        header = layout.columns or lines[0]
        if missing := [name for name in (*layout.texts, layout.label) if name not in header]:
            problem = f"there is no column “{missing[0]}”, so it is not a labelled file of {task}"
            fix = "Give train.tsv, or dev.tsv, of GLUE's archive."
            raise FileFormatError(path, "line 1", problem, fix)
        wanted = [header.index(name) for name in (*layout.texts, layout.label)]
        before = len(rows)
        for number, cells in enumerate(lines[not layout.columns :], 2 - bool(layout.columns)):
            if len(cells) == len(header):
                rows.append(tuple(cells[place].strip() for place in wanted))
            elif task != "QQP":
                problem = f"it has {len(cells)} columns instead of {len(header)}"
                raise FileFormatError(path, f"line {number:,}", problem, "Correct it.")
        if len(rows) == before:
            raise FileFormatError(path, "", "it has no examples", "Give GLUE's own file.")
    columns: Any = zip(*rows, strict=True)
    return tuple(columns)
