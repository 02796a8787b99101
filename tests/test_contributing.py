"""The worked examples of CONTRIBUTING.md do what they say."""

from __future__ import annotations

import doctest
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from morphgraph.reference import readers
from morphgraph.score import metrics

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

Command = Callable[..., Any]


def blocks(heading: str) -> list[str]:
    """The code under a heading."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```(?:python)?\n(.*?)^```$", section, re.M | re.S)


def module_of(code: str) -> ModuleType:
    """A module of the code, whose doctests hold."""
    path = re.match(r"# (\S+)\.py\n", code)
    assert path
    module = ModuleType(path[1].replace("/", "."))
    exec(code, vars(module))
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for name, value in list(vars(module).items()):
        if getattr(value, "__module__", "") == module.__name__:
            for test in finder.find(value, name, module=False, globs=vars(module)):
                runner.run(test)
    assert (runner.failures, runner.tries > 0) == (0, True)
    return module


def entry_of(code: str, *places: ModuleType) -> dict[str, Any]:
    """The entry of a registry, as the code there and in the new file sees it."""
    names = {name: value for place in places for name, value in vars(place).items()}
    found = eval("{" + code + "}", names)
    assert isinstance(found, dict)
    return found


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.tsv"
    path.write_text("word\tmorphs\nhouse\thouse\nundesirable\tun desir able\n", encoding="utf-8")
    return path


WITH_A_METHOD = r"""
import json, sys, typer.testing
import morphgraph.segment
folder, line, gold, docs, out = sys.argv[1:]
morphgraph.segment.__path__.append(folder)
from morphgraph.segment.registry import METHODS
METHODS.update(eval("{" + line + "}"))

from morphgraph.batch.configuration import parse_evaluation, schema_text
from morphgraph.cli import program
from morphgraph.segment.models import load_segmenter, write_model
from morphgraph.tokeniser.loading import load_tokeniser
import morphgraph as mg

def run(*given):
    result = typer.testing.CliRunner().invoke(program, given, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.stdout

made = mg.load("demo:en").method("atoms")
with open(out, "wb") as file:
    file.write(write_model(made))
sys.path.insert(0, docs)
import make_api
yaml = "name: x\nlanguages: [en]\ntokenisers: [{file: 'demo:{code}'}]\n" \
    "methods: [standard, atoms]\nreferences: ['demo:{code}']\n"
evaluation, _ = parse_evaluation(yaml, "x.yaml")
print(json.dumps({
    "helps": [run(command, "--help") for command in ("segment", "compare", "score")],
    "segment": run("segment", "--method", "atoms", "house"),
    "compare": json.loads(run("compare", "--reference", gold, "--methods", "bpe,atoms", "--json")),
    "model": [type(load_segmenter(out)).__name__, run("segment", "--model", out, "house")],
    "titles": [method.title() for method in evaluation.methods],
    "schema": json.loads(schema_text())["$defs"]["Atoms"],
    "docs": make_api.methods(),
}))
"""


def test_a_method(tmp_path: Path, gold: Path) -> None:
    """One file and one line: everything that takes methods knows it."""
    file, line = blocks("Add a method")
    module_of(file)
    (tmp_path / "atoms.py").write_text(file, encoding="utf-8")
    given = (tmp_path, line, gold, ROOT / "docs", tmp_path / "model.json")
    run = [sys.executable, "-c", WITH_A_METHOD, *map(str, given)]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert all("atoms" in text for text in found["helps"])
    assert found["segment"] == "Ġ h o u s e\n"
    [house, _] = found["compare"]["words"]
    assert house["tokens"]["Atoms"] == ["Ġ", *"house"]
    assert found["model"] == ["Atoms", found["segment"]]
    assert found["titles"] == ["", "Atoms"]
    assert found["schema"]["description"] == "No merge at all: every atom is a token."
    assert "| `atoms` | Atoms | No merge at all: every atom is a token. |" in found["docs"]


def test_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, row = blocks("Add a format of references")
    added = entry_of(row, readers, module_of(file))
    monkeypatch.setattr(readers, "READERS", {**readers.READERS, **added})
    labels = {name: reader.label for name, reader in added.items()}
    monkeypatch.setattr(readers, "FORMATS", {**readers.FORMATS, **labels})
    path = tmp_path / "gold.txt"
    path.write_text("un-break-able\nhouse\n12\n", encoding="utf-8")
    read = readers.read_reference(path)
    assert read.format == "hyphenated"
    assert [entry.morphs for entry in read.entries] == [("un", "break", "able"), ("house",)]
    assert [(skip.reason, skip.first_line) for skip in read.skipped] == [
        ("not letters and hyphens", 3)
    ]


def test_a_metric(morphgraph: Command, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [row] = blocks("Add a metric")
    for name, metric in entry_of(row, metrics).items():
        monkeypatch.setitem(metrics.METRICS, name, metric)  # type: ignore[arg-type]
    to_score = ("--tokenizer", "demo:en", "--reference", gold, "--scores", "single", "--json")
    run = morphgraph("score", *to_score)
    assert run.code == 0, run.err
    [table] = run.json["tables"]
    assert table["rows"][0]["scores"]["single"]["value"] == 0.5, "house is one token of two words"


def test_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, row = blocks("Add a page")
    shutil.copy(ROOT / "app.py", tmp_path)
    shutil.copytree(ROOT / "pages", tmp_path / "pages", ignore=shutil.ignore_patterns("__*"))
    entry = eval(f"{{{row}}}")
    [(path, _)] = entry.values()
    assert file.startswith(f"# {path}\n")
    (tmp_path / path).write_text(file, encoding="utf-8")
    monkeypatch.syspath_prepend(ROOT)
    from web import bootstrap

    monkeypatch.setattr(bootstrap, "PAGES", bootstrap.PAGES | {"New": entry})
    app = AppTest.from_file(str(tmp_path / "app.py"), default_timeout=60).run()
    app.switch_page(path).run()
    assert not app.exception
    assert [(metric.label, metric.value) for metric in app.metric] == [("Types", "8,000")]
    assert sys.modules["web.bootstrap"] is bootstrap


def test_the_commands_are_those_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)$", TEXT, re.M):
        assert re.search(rf"^{target}:", makefile, re.M)
    for place in re.findall(r"`((?:morphgraph|tests|web)/[\w/]+\.py)`", TEXT):
        assert (ROOT / place).is_file(), place
