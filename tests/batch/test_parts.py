"""Evaluations of several parts: what they share, what is left out, what a paper has printed."""

import numpy as np
import pytest
from refusals import refused

from morphgraph.batch.configuration import parse_evaluation
from morphgraph.batch.plan import make_plan
from morphgraph.batch.report import make_table
from morphgraph.batch.results import TableSpec, results_of_rows
from morphgraph.core.errors import FileFormatError

PARTS = """\
name: paper
languages: [en, de, nl]
tokenisers: [{name: demo, file: "demo:{code}"}]
references:
  - "{language}.tsv"
  - catalogue:nothing
parts:
  - methods:
      - standard
      - {method: dropout, p: [0, 0.1, 0.2], languages: [de]}
    seeds: [3, 4]
  - languages: [en]
    holdout: 0
    methods: [standard, knockout]
missing: [{of: Table 3, why: It has to be bought.}]
"""


@pytest.fixture
def folder(tmp_path):
    for language, line in {"en": "kindness\tkind ness\n", "de": "Kindheit\tKind heit\n"}.items():
        (tmp_path / f"{language}.tsv").write_text(line)
    return tmp_path


def cells(plan, part):
    names = ("language", "method", "parameters", "seed")
    return [tuple(cell.columns[name] for name in names) for cell in plan.parts[part]]


def test_parts_share_what_stands_beside_them(folder):
    plan = make_plan(PARTS, "paper.yaml", folder)
    drops = [("de", "BPE-dropout", f"p={p}", n) for p in ("0", "0.1", "0.2") for n in (3, 4)]
    # Without a rate nothing is random.
    drops = [drop for drop in drops if drop[2] != "p=0"]
    assert set(cells(plan, 0)) >= {
        ("en", "as it is", "", None),
        ("de", "as it is", "", None),
        *drops,
    }
    assert [cell[:2] for cell in cells(plan, 1)] == [("en", "as it is"), ("en", "BPE-knockout")]
    same = {cell.key for cell in plan.parts[0]} & {cell.key for cell in plan.parts[1]}
    assert len(same) == 1, "BPE on the same words is measured once"
    assert len(plan.cells) == len(plan.parts[0]) + 1


def test_what_is_not_there_is_left_out_with_its_line(folder):
    plan = make_plan(PARTS, "paper.yaml", folder)
    assert {cell.columns["language"] for cell in plan.cells} == {"en", "de"}
    dutch = [why for why in plan.left_out if "nl.tsv" in why]
    assert dutch[0].startswith("paper.yaml, line 5, field references[0].source: ")
    assert len(plan.left_out) == len({*plan.left_out}) == 4
    for file in folder.iterdir():
        file.unlink()
    with refused(FileFormatError):
        make_plan(PARTS, "paper.yaml", folder)


def test_a_quick_run_is_small(folder):
    plan = make_plan(PARTS, "paper.yaml", folder, ["de", "en"], quick=True)
    assert {cell[0] for cell in cells(plan, 0)} == {"en"}
    plan = make_plan(PARTS.replace("[en, de, nl]", "[nl, de]"), "paper.yaml", folder, quick=True)
    assert {cell[0] for cell in cells(plan, 0)} == {"de"}, "the first that is there"
    assert {cell[2:] for cell in cells(plan, 0)} == {("", None), ("p=0", None), ("p=0.2", 3)}


ERRORS = [
    ("[de]}\n", "[de], q: 1}\n"),
    ("- standard\n", "- dropot\n"),
    ("    holdout: 0\n", "    holdout: 2\n"),
    ("    holdout: 0\n", "    hold: 2\n"),
    ("file:", "x: 1, file:"),
    ("languages: [en, de, nl]\n", ""),
    ("nl]", "3]"),
]


@pytest.mark.parametrize("change", ERRORS)
def test_errors_name_the_line_of_the_part_or_of_what_is_shared(change):
    assert change[0] in PARTS
    with refused(FileFormatError):
        parse_evaluation(PARTS.replace(*change), "paper.yaml")


ROWS = [
    {"language": "eng", "method": "BPE", "value": 0.5},
    {"language": "eng", "method": "KO", "value": 0.75},
    {"language": "deu", "method": "BPE", "value": 0.25},
]
PUBLISHED = """
language | method | f1
eng      | BPE    | 48.5
nld      | BPE    | 30
deu      | BPE    |
"""


def test_published_figures_stand_beside_ours():
    results = results_of_rows({"metric": "f1", **row} for row in ROWS)
    spec = TableSpec(
        title="T", of="Table 2", rows=["language", "method"], metrics=["f1"], published=PUBLISHED
    )
    table = make_table(results, spec)
    assert table.title == "Table 2: T"
    assert [column.header for column in table.columns] == ["F1", "published", "difference"]
    rows = {row.names: [cell.value for cell in row.cells] for row in table.rows}
    assert rows[("eng", "BPE")] == [0.5, 0.485, pytest.approx(0.015)]
    assert rows[("eng", "KO")] == [0.75, "", ""]
    assert rows[("deu", "BPE")] == [0.25, "", ""]
    assert rows[("nld", "BPE")] == ["–", 0.3, ""]
    assert len(rows) == 4


@pytest.mark.parametrize("published", ["colour | f1\nx | 1", "f1\n1,5", "method | f1\nBPE"])
def test_published_figures_are_checked(published):
    with pytest.raises(ValueError, match="published"):
        TableSpec(title="T", rows=["method"], metrics=["f1"], published=published)


def test_means_over_languages():
    results = results_of_rows({"metric": "f1", **row, "reference": row["language"]} for row in ROWS)
    asked = ["language", "reference"]
    table = make_table(results, TableSpec(title="T", rows=["method"], average=asked))
    [bpe, knockout] = [row.cells[0] for row in table.rows]
    assert (bpe.value, bpe.seeds, bpe.over) == (0.375, 2, "languages")
    assert bpe.sd == pytest.approx(np.std([0.5, 0.25], ddof=1))
    assert (knockout.value, knockout.seeds) == (0.75, 1)
