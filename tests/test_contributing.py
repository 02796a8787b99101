"""The worked examples of CONTRIBUTING.md do what they say."""

from __future__ import annotations

import doctest
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from morphgraph.reference import readers
from morphgraph.score import metrics
from morphgraph.segment import registry

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


def test_a_method(morphgraph: Command, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, row = blocks("Add a method")
    for name, method in entry_of(row, registry, module_of(file)).items():
        monkeypatch.setitem(registry.METHODS, name, method)
    to_compare = ("--tokenizer", "demo:en", "--reference", gold, "--methods", "bpe,atoms")
    run = morphgraph("compare", *to_compare, "--json")
    assert run.code == 0, run.err
    [house, _] = run.json["words"]
    assert house["tokens"]["Atoms"] == ["Ġ", *"house"]


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
    [(path, label, icon)] = eval(f"[{row}]")
    assert file.startswith(f"# {path}\n")
    (tmp_path / path).write_text(file, encoding="utf-8")
    monkeypatch.syspath_prepend(ROOT)
    from web import bootstrap

    monkeypatch.setattr(bootstrap, "PAGES", (*bootstrap.PAGES, (path, label, icon)))
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
