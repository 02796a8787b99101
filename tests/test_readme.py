"""The lines of docs/reference/commands.md, one after the other, and the README's Python."""

import json
import re
import shlex
from pathlib import Path

import pytest
from effort import EFFORT, share_of
from tokenizers import Tokenizer

from morphgraph.core.files import demo_gold_path, demo_tokeniser_path
from morphgraph.formats.loading import load_tokeniser

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")

NOT_RUN = ("morphgraph reference get", "morphgraph app")
"""One needs the network, the other never ends."""
SHORTER = {"wordfreq:de": "wordfreq:vi", "tr=wordfreq:tr": "tr=wordfreq:vi", "16000": "1000"}
"""What lines name, for less than a soak."""


LINES = [
    " ".join(shlex.split(line, comments=True, posix=False))
    for line in COMMANDS.partition("```sh\n")[2].partition("```")[0].splitlines()
]


def test_the_lines_are_those_of_the_command():
    assert len(LINES) > 10
    assert all(line.startswith("morphgraph ") for line in LINES)
    for left_out in NOT_RUN:
        assert sum(line.startswith(left_out) for line in LINES) == 1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the lines take for granted, small: a tokeniser, a gold list and a corpus."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes(demo_tokeniser_path("en").read_bytes())
    gold = demo_gold_path("en").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "gold.tsv").write_text("".join(gold[:200]), encoding="utf-8")
    (tmp_path / "types.txt").write_text("able\n␣und\n", encoding="utf-8")
    (tmp_path / "counts.tsv").write_text("undesirable\t3\nhouses\t2\n", encoding="utf-8")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "text.txt").write_text("the undesirable house\n" * 12, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_one_after_the_other(morphgraph, folder):
    ended = {}
    first = load_tokeniser("tokenizer.json")  # a line further down writes another one there
    for line in LINES:
        if line.startswith(NOT_RUN):
            continue
        arguments = shlex.split(line)[1:]
        if "silver" in arguments:
            arguments += ["--words", str(share_of(1000))]  # of 50,000, which take a minute
        if EFFORT != "soak":
            arguments = [SHORTER.get(each, each) for each in arguments]
            arguments += ["--quick", "--workers", "1"] if "evaluate" in arguments else []
        ended[" ".join(arguments[:1])] = run = morphgraph(*arguments)
        assert run.code == 0, f"{line}\n{run.err}"
        assert "Traceback" not in run.err
        if "--out" in arguments:
            out = folder / arguments[arguments.index("--out") + 1]
            assert out.exists(), line
            assert str(out.name) in run.out, f"{line} does not say what it wrote"
    assert ended["segment"].out.split(), "a word has tokens"
    assert (folder / "demo-run" / "report.html").is_file()
    assert Tokenizer.from_file("tokenizer.json").get_vocab_size() == 8000
    # Exported from ReBPE's folder, the map leads from the ids of what ReBPE was given.
    exported = load_tokeniser(folder / "for-transformers")
    old = dict(zip(first.graph.types, first.vocabulary_ids, strict=True))
    new = dict(zip(exported.graph.types, exported.vocabulary_ids, strict=True))
    ids = json.loads((folder / "for-transformers" / "ids.json").read_text())
    assert ids == {str(old[text]): number for text, number in new.items() if text in old}
    assert len(ids) > 7000


@pytest.mark.slow
def test_the_python_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [lines] = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
    assert len(lines.replace("\n\n", "\n").splitlines()) == 5
    exec(lines, {})
    before, after = map(float, capsys.readouterr().out.split())
    assert 0 < before < after < 1
    assert load_tokeniser(tmp_path / "better").vocabulary_size > 7000


def test_the_container_starts_with_a_command_that_there_is(morphgraph, monkeypatch):
    """Its options are taken, and its files are there."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    [line] = re.findall(r"^CMD \[(.*)\]$", text, re.M)
    program, *arguments = shlex.split(line.replace(",", " "))
    assert program == "morphgraph"
    given = []
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("os.execv", lambda _, command: given.extend(command))
    assert morphgraph(*arguments).code == 0
    assert given[given.index("--server.address") + 1] == "0.0.0.0"
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not {"morphgraph", "web", "pages", "assets", "docs"} & set(ignored)
    # It writes where the volume is, and nowhere else.
    assert all(value.startswith("/state") for value in re.findall(r"MORPHGRAPH_\w+=(\S+)", text))
