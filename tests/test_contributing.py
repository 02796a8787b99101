"""The worked examples of CONTRIBUTING.md do what they say, installed as any plug-in is."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLUGIN = ROOT / "docs" / "examples" / "plugin"
LINES = ("a house", "undesirable houses")
GOLD = "un-desir-able\nhouse\n12\n"
YAML = """
name: lengths
languages: [en]
tokenisers: [{name: demo, file: "demo:en"}]
methods: [standard, atoms]
references: [gold.txt]
metrics: [f1, single]
downstream: [{task: lengths, text: lines.txt}]
"""
IN_THE_APP = """
import json
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60).run()
app.switch_page("pages/2_Compare.py").run()
[picker] = [one.options for one in app.multiselect if one.label == "Methods"]
card = app.switch_page("pages/3_Build.py").run().radio(key="train_method")
trainers = card.set_value(card.options[2]).run().selectbox(key="train_other").options
assert not app.exception
print(json.dumps(["Atoms" in picker, "Atoms" in trainers]))
"""
COMMANDS = """
import contextlib, io, json, sys
from morphgraph import cli
said = []
for line in sys.argv[1:]:
    sys.argv = ["morphgraph", *line.split()]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            cli.main()
        except SystemExit as ended:
            assert not ended.code, line
    said.append(out.getvalue())
print(json.dumps(said))
"""
LOADED = """
import json
from transformers import AutoTokenizer
loaded = AutoTokenizer.from_pretrained("out", trust_remote_code=True)
print(json.dumps(loaded.tokenize(" house")))
"""
DOCTESTS = """
import doctest, importlib, json
names = ("atoms", "hyphenated")
ran = [doctest.testmod(importlib.import_module(f"morphgraph_examples.{name}")) for name in names]
print(json.dumps([[each.failed, each.attempted > 0] for each in ran]))
"""


def blocks(heading):
    """The code under a heading."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```(?:python|toml)?\n(.*?)^```$", section, re.M | re.S)


def test_the_text_shows_the_files():
    shown = dict(
        re.findall(r"^```python\n# (morphgraph_examples/\S+)\n(.*?)^```$", TEXT, re.M | re.S)
    )
    files = [path for path in PLUGIN.rglob("*.py") if path.name != "__init__.py"]
    assert shown == {str(path.relative_to(PLUGIN)): path.read_text("utf-8") for path in files}
    assert (PLUGIN / "pyproject.toml").read_text("utf-8") in blocks("Write a plug-in")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run Python in a new environment with the plug-in, which pip has installed there."""
    folder = tmp_path_factory.mktemp("newcomer")
    source = shutil.copytree(PLUGIN, folder / "plugin", ignore=shutil.ignore_patterns("__*__"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    [packages] = (folder / "venv").glob("lib/*/site-packages")
    ours = [path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml")]
    others = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "others.pth").write_text("\n".join(map(str, [*others, ROOT, *ours])))
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index"]
    subprocess.run([*install, "--no-deps", "--no-build-isolation", source], check=True)
    (folder / "lines.txt").write_text("\n".join(LINES), encoding="utf-8")
    (folder / "gold.txt").write_text(GOLD, encoding="utf-8")
    (folder / "lengths.yaml").write_text(YAML, encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    # Python would find the packages of the folder that it is run in, so it is run elsewhere.
    modules = {"HF_MODULES_CACHE": str(folder / "modules")}

    def run(*given, cwd=folder):
        command = [str(python), *map(str, given)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=kept | modules)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_command_line_an_evaluation_and_the_examples_in_docstrings(run):
    lines = (
        "segment demo:en --method atoms house",
        "score demo:en gold.txt --scores single --json",
        "reference show gold.txt",
        "train atoms --text lines.txt --vocab-size 260 --out m.json",
        "evaluate lengths.yaml --out run --workers 1",
    )
    said, examples = map(json.loads, run("-c", COMMANDS + DOCTESTS, *lines).splitlines())
    segmented, scored, shown, *_ = said
    assert segmented == "Ġ h o u s e\n"
    [table] = json.loads(scored)["tables"]
    assert table["rows"][0]["scores"]["single"]["value"] == 0.5, "house is one token of two words"
    assert "gold.txt, hyphenated" in shown and "not letters and hyphens" in shown
    assert examples == [[0, True], [0, True]]
    printed = run("-c", "print(open('run/results.json', encoding='utf-8').read())")
    values = {
        (row["method"], score["metric"]): score["value"]
        for row in json.loads(printed)["rows"]
        for score in row["scores"]
    }
    assert values["as it is", "single"] == 0.5
    assert values["Atoms", "tokens_a_line"] == sum(map(len, LINES)) / 2
    assert values["Atoms", "f1"] < values["as it is", "f1"]


def test_the_pages(run):
    assert json.loads(run("-c", IN_THE_APP, cwd=ROOT).splitlines()[-1]) == [True, True]


def test_an_export_is_loaded(run):
    pytest.importorskip("transformers")
    lines = ["export demo:en --method atoms --out out"]
    assert json.loads(run("-c", COMMANDS + LOADED, *lines).splitlines()[-1]) == ["Ġ", *"house"]


def test_a_page(tmp_path, monkeypatch):
    file, row = blocks("Add a page")
    shutil.copy(ROOT / "app.py", tmp_path)
    shutil.copytree(ROOT / "pages", tmp_path / "pages", ignore=shutil.ignore_patterns("__*"))
    entry = eval(f"{{{row}}}")
    [(path, _)] = entry.values()
    assert file.startswith(f"# {path}\n")
    (tmp_path / path).write_text(file, encoding="utf-8")
    monkeypatch.syspath_prepend(ROOT)
    from web import bar

    monkeypatch.setattr(bar, "PAGES", bar.PAGES | entry)
    app = AppTest.from_file(str(tmp_path / "app.py"), default_timeout=60).run()
    app.switch_page(path).run()
    assert not app.exception
    assert [(metric.label, metric.value) for metric in app.metric] == [("Types", "8,000")]
    assert sys.modules["web.bar"] is bar
