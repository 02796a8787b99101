"""The worked examples of CONTRIBUTING.md do what they say."""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from command import Command
from streamlit.testing.v1 import AppTest

from morphgraph.core import plugins
from morphgraph.reference import readers
from morphgraph.score import metrics
from morphgraph.segment.models import load_segmenter

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(heading: str) -> list[str]:
    """The code under a heading."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```(?:python|toml)?\n(.*?)^```$", section, re.M | re.S)


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
    assert runner.failures == 0
    return module


def as_installed(folder: Path, entry_points: str) -> None:
    """Make a folder of Python's path look as if a distribution with entry points were in it."""
    about = folder / "examples-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: examples\nVersion: 1\n")
    (about / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Install the file and the entry point under a heading, until the test ends."""

    def install(heading: str) -> None:
        file, toml = blocks(heading)
        module_of(file)
        (tmp_path / file.split()[1]).write_text(file, encoding="utf-8")
        groups = tomllib.loads(toml)["project"]["entry-points"].items()
        as_installed(
            tmp_path,
            "".join(
                f"[{group}]\n{name} = {place}\n"
                for group, entries in groups
                for name, place in entries.items()
            ),
        )
        monkeypatch.syspath_prepend(tmp_path)
        forget()

    def forget() -> None:
        plugins.installed.cache_clear()
        for registry in (readers.READERS, metrics.METRICS):
            vars(registry).pop("_known", None)

    yield install
    monkeypatch.undo()
    forget()


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.tsv"
    path.write_text("word\tmorphs\nhouse\thouse\nundesirable\tun desir able\n", encoding="utf-8")
    return path


WITH_A_METHOD = r"""
import json, sys, typer.testing
import morphgraph.segment, morphgraph.standalone
folder, gold = sys.argv[1:]
morphgraph.segment.__path__.append(f"{folder}/segment")
morphgraph.standalone.__path__.append(f"{folder}/standalone")
from morphgraph.batch.configuration import schema_text
from morphgraph.cli import program

def run(*given):
    result = typer.testing.CliRunner().invoke(program, given)
    assert result.exit_code == 0, result.output
    return result.stdout

of_demo = "demo:en",
run("export", *of_demo, "--method", "atoms", "--out", f"{folder}/out")
from transformers import AutoTokenizer
loaded = AutoTokenizer.from_pretrained(f"{folder}/out", trust_remote_code=True)
scored = json.loads(run("score", *of_demo, gold, "--methods", "atoms", "--json"))
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60).run()
app.switch_page("pages/9_Segmentations.py").run()
picker = app.multiselect(key="compare_methods").options
trainers = app.switch_page("pages/8_Train.py").run().radio(key="train_method").options
assert not app.exception
print(json.dumps({
    "segment": run("segment", *of_demo, "--method", "atoms", "house"),
    "row": scored["tables"][0]["rows"][0]["tokeniser"],
    "loaded": loaded.tokenize(" house"),
    "schema": json.loads(schema_text())["$defs"]["Atoms"]["description"],
    "app": [picker, trainers],
}))
"""


def test_a_method(tmp_path: Path, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file and one line: everything that takes methods knows it."""
    pytest.importorskip("transformers")
    file, line, shipped = blocks("Add a method")
    module_of(file)
    for code in (file, shipped):
        path = tmp_path / Path(code.split()[1]).relative_to("morphgraph")
        path.parent.mkdir()
        path.write_text(code, encoding="utf-8")
    as_installed(tmp_path, f"[morphgraph.methods]\n{line}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    run = [sys.executable, "-c", WITH_A_METHOD, *map(str, (tmp_path, gold))]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert all("Atoms" in options for options in found.pop("app"))
    assert found == {
        "segment": "Ġ h o u s e\n",
        "row": "Atoms",
        "loaded": ["Ġ", *"house"],
        "schema": "No merge at all: every atom is a token.",
    }


def test_a_format(tmp_path: Path, plugged: Callable[[str], None]) -> None:
    plugged("Add a format of references")
    path = tmp_path / "gold.txt"
    path.write_text("un-break-able\nhouse\n12\n", encoding="utf-8")
    read = readers.read_reference(path)
    assert read.format == "hyphenated"
    assert [entry.morphs for entry in read.entries] == [("un", "break", "able"), ("house",)]
    assert [(skip.reason, skip.first_line) for skip in read.skipped] == [
        ("not letters and hyphens", 3)
    ]


def test_a_metric(morphgraph: Command, gold: Path, plugged: Callable[[str], None]) -> None:
    plugged("Add a metric")
    to_score = ("demo:en", gold, "--scores", "single", "--json")
    run = morphgraph("score", *to_score)
    assert run.code == 0, run.err
    [table] = run.json["tables"]
    assert table["rows"][0]["scores"]["single"]["value"] == 0.5, "house is one token of two words"


LINES = ("a house", "undesirable houses")
WITH_A_TASK = """
name: lengths
languages: [en]
tokenisers: [{name: demo, file: "demo:en"}]
methods: [standard, flota]
downstream: [{task: lengths, text: lines.txt}]
"""


def test_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that another distribution brings is run in an evaluation."""
    file, toml = blocks("Add a task")
    (tmp_path / file.split()[1]).write_text(file, encoding="utf-8")
    [(group, entries)] = tomllib.loads(toml)["project"]["entry-points"].items()
    [(name, place)] = entries.items()
    as_installed(tmp_path, f"[{group}]\n{name} = {place}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "lines.txt").write_text("\n".join(LINES), encoding="utf-8")
    (tmp_path / "lengths.yaml").write_text(WITH_A_TASK, encoding="utf-8")
    run = [sys.executable, "-m", "morphgraph", "evaluate", str(tmp_path / "lengths.yaml")]
    run += ["--out", str(tmp_path / "run"), "--workers", "1"]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))["rows"]
    values = {
        row["method"]: score["value"]
        for row in rows
        for score in row["scores"]
        if score["metric"] == "tokens_a_line"
    }
    assert (tmp_path / "run" / "report.html").is_file()
    tokeniser = load_segmenter("demo:en")
    expected = [
        len(tokeniser.segment(tokeniser.encode([text], bare=True)).tokens(0)) for text in LINES
    ]
    assert values["as it is"] == sum(expected) / 2
    assert values.keys() == {"as it is", "FLOTA"}
    assert len(rows[0]["inputs"]["downstream"]) == 1, "the sum of its file"


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
