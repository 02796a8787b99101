"""Downstream tasks in a configuration: what is planned, and errors before anything starts."""

from importlib.util import find_spec as really_find_spec
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from morphgraph.batch.configuration import parse_evaluation
from morphgraph.batch.plan import Plan, make_plan
from morphgraph.cli import main
from morphgraph.core import errors
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import shipped_configurations

TRAIN = "text,label\n" + "".join(f"good {n},yes\nbad {n},no\n" for n in range(4))
TEST = "text,label\ngood,yes\nbad,no\n"
YAML = """\
name: mine
languages: [en]
tokenisers:
  - {name: demo, file: "demo:en"}
methods: [standard, flota]
seeds: [3, 4]
downstream:
  - task: classification
    name: moods
    train: train.csv
    test: test.csv
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.csv").write_text(TRAIN)
    (tmp_path / "test.csv").write_text(TEST)
    (tmp_path / "mine.yaml").write_text(YAML)
    return tmp_path


def planned(folder: Path, text: str = YAML, *, quick: bool = False) -> Plan:
    return make_plan(text, "mine.yaml", folder, quick=quick)


def evaluate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["morphgraph", "evaluate", str(folder / "mine.yaml"), "--out", str(folder / "run")]
    monkeypatch.setattr("sys.argv", command)
    main()


def test_every_method_is_trained_with_every_seed(folder: Path) -> None:
    cells = planned(folder).cells
    told = [(cell.columns["method"], cell.columns["task"], cell.columns["seed"]) for cell in cells]
    assert told == [(m, "moods", s) for m in ("as it is", "FLOTA") for s in (3, 4)]
    assert {cell.columns["reference"] for cell in cells} == {""}
    assert all(cell.resumes and cell.cost > 0 for cell in cells)


def test_a_trial_trains_for_few_steps(folder: Path) -> None:
    cells = planned(folder, quick=True).cells
    assert {cell.spec["downstream"]["settings"]["steps"] for cell in cells} == {20}


def test_what_learns_does_so_from_each_reference(folder: Path) -> None:
    more = YAML.replace("standard, flota", "standard, knockout") + "references: [demo:en]\n"
    cells = [cell for cell in planned(folder, more).cells if cell.columns["task"]]
    references = {cell.columns["method"]: cell.columns["reference"] for cell in cells}
    assert references["as it is"] == "" != references["BPE-knockout"]
    assert len(cells) == 4


def test_a_key_depends_on_what_is_in_the_files_not_where_they_lie(folder: Path) -> None:
    keys = [cell.key for cell in planned(folder).cells]
    other = folder / "other"
    other.mkdir()
    for name in ("train.csv", "test.csv"):
        (other / name).write_text((folder / name).read_text())
    assert [cell.key for cell in planned(other).cells] == keys
    (other / "test.csv").write_text(TEST + "good,no\n")
    assert not {cell.key for cell in planned(other).cells} & set(keys)
    changed = planned(folder, YAML + "    epochs: 4\n")
    assert not {cell.key for cell in changed.cells} & set(keys)


WRONG = [
    "    tasc: 1\n",
    "    epochs: 0\n",
    "    preset: huge\n",
    "    model: x\n    preset: tiny\n",
    "    noise: 2\n",
    "    tokenisers: [x]\n",
    "    label: class\n",
    "    text: class\n",
    "    train: no.csv\n",
    "    model: no\n",
    "  - {task: clasify, train: a, test: b}\n",
    "  - {train: a, test: b}\n",
    "  - {task: classification, test: b}\n",
    "  - {task: classification, name: moods, train: train.csv, test: test.csv, epochs: 1}\n",
]


@pytest.mark.parametrize("more", WRONG)
def test_what_does_not_fit_is_told_with_its_line(folder: Path, more: str) -> None:
    with refused(FileFormatError):
        planned(folder, YAML + more)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("test.csv", TEST + "so,so\n", "no example of training has the label “so”."),
        ("train.csv", TEST + "neither,\n", "example 3: its “label” is empty, or no text."),
        ("train.csv", "text,label\ngood,yes\n", "all examples of training have the label “yes”."),
        ("test.csv", "text,label\n", "it has no text."),
    ],
)
def test_wrong_labels_are_one_line_and_exit_code_2(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    text: str,
    message: str,
) -> None:
    (folder / name).write_text(text)
    with pytest.raises(SystemExit) as ended:
        evaluate(folder, monkeypatch)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert message in said and said.count("morphgraph: ") == 1
    assert not (folder / "run").exists()


def test_without_torch_nothing_starts(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(name: str) -> Any:
        return None if name == "torch" else really_find_spec(name)

    monkeypatch.setattr(errors, "find_spec", without)
    with pytest.raises(SystemExit) as ended:
        evaluate(folder, monkeypatch)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "torch" in said and "pip install 'morphgraph[models]'" in said
    assert not (folder / "run").exists()


def test_none_is_run_for_visitors(folder: Path) -> None:
    with refused(FileFormatError):
        make_plan(YAML, "mine.yaml", folder, confined=True)


def test_what_ships_is_valid_with_three_seeds() -> None:
    """A translator may be trained once: its intervals are those of sentences; so may the 53
    classifiers of a paper, so that they take half an hour."""
    shipped = shipped_configurations()
    found = {name: text for name, text in shipped.items() if "downstream:" in text}
    assert len(found) >= 4
    for name, text in found.items():
        evaluation, _ = parse_evaluation(text, name)
        assert evaluation.name == name.replace("/", "-")
        assert evaluation.title and evaluation.description
        for part in evaluation.parts:
            once = {each.entry.compares for each in part.downstream} == {True}
            assert len(part.seeds) >= (1 if once or name == "seeds/002-models" else 3)
            asked = {metric for table in part.tables for metric in table.metrics}
            assert asked & {key for each in part.downstream for key in each.entry.metrics}
