"""The command line: training by every method, and segmenting by every model."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from morphgraph.segment.models import read_model

Command = Callable[..., Any]
METHODS = ["bpe", "bpe-prime", "picky", "scaffold", "unigram", "unigram-prime", "wordpiece"]


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.tsv"
    path.write_text("undo\t50\nundoing\t20\ndoing\t30\ndo\t90\nredo\t12\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("method", METHODS)
def test_train_and_segment(morphgraph: Command, counts: Path, tmp_path: Path, method: str) -> None:
    out = tmp_path / "model.json"
    arguments = ("--counts", counts, "--vocab-size", 260, "--out", out, "--json")
    run = morphgraph("train", "--method", method, *arguments)
    assert run.code == 0, run.err
    report = run.json
    assert list(report) == ["saved", "method", "pipeline", "vocab_size", "signature", "seconds"]
    assert report["method"] == method
    assert report["pipeline"] == ("spaces" if "prime" in method else "plain")
    model = read_model(out.read_bytes(), "model.json")
    assert (model.vocabulary_size, model.signature()) == (report["vocab_size"], report["signature"])
    shown = morphgraph("segment", "--model", out, "undoing", "redoing", "--json").json
    assert shown["signature"] == report["signature"]
    assert [row["word"] for row in shown["words"]] == ["undoing", "redoing"]
    plain = "".join(shown["words"][0]["tokens"]).replace("##", "")
    assert plain.strip("Ġ▁") == "undoing"


def test_plain_train_stays_as_it_was(morphgraph: Command, counts: Path, tmp_path: Path) -> None:
    out = tmp_path / "tokenizer.json"
    run = morphgraph("train", "--counts", counts, "--vocab-size", 260, "--out", out, "--json")
    assert list(run.json) == ["saved", "vocab_size", "merges", "seconds"]
    assert json.loads(out.read_bytes())["model"]["type"] == "BPE"


def test_train_on_text(morphgraph: Command, tmp_path: Path) -> None:
    table, out = tmp_path / "titles.csv", tmp_path / "m.json"
    table.write_text("id,title\n1,undo undo\n2,undo\n", encoding="utf-8")
    arguments = ("train", "--text", table, "--method", "bpe", "--vocab-size", 258, "--out", out)
    run = morphgraph(*arguments)
    assert run.code == 2
    assert "Name the one with the text: “id”, “title”" in run.err
    run = morphgraph(*arguments, "--column", "title")
    assert run.code == 0, run.err
    assert run.out.startswith("258 types: saved ")
    # do and un are as frequent as nd; ids of the atoms decide: d o, then n do.
    assert morphgraph("segment", "--model", out, "undo").out == "Ġ u ndo\n"


def test_a_trained_model_is_exported_as_its_entry_says(
    morphgraph: Command, counts: Path, tmp_path: Path
) -> None:
    out, folder = tmp_path / "m.json", tmp_path / "exported"
    trained = ("train", "--counts", counts, "--vocab-size", 265, "--out", out, "--method")
    exported = ("export", "--tokenizer", out, "--out", folder)
    assert morphgraph(*trained, "bpe").code == 0
    assert "form: tokenizer.json" in morphgraph(*exported).out
    assert Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size() == 265
    assert morphgraph(*trained, "picky").code == 0
    assert "form: folder (Picky BPE is not a model" in morphgraph(*exported).out
    assert not (folder / "tokenizer.json").exists()
    assert json.loads((folder / "tokeniser.method.json").read_text())["model"]["type"] == "picky"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "--vocab-size", "300"], "give either --counts or --text"),
        (["train", "--vocab-size", "300", "--counts", "C", "--text", "C"], "and not both"),
        (["train", "--vocab-size", "9", "--counts", "C", "--pipeline", "plain"], "needs a method"),
        (["train", "--vocab-size", "300", "--counts", "C", "--column", "x"], "--column names"),
        (["train", "--vocab-size", "300", "--counts", "C", "--method", "lzw"],
         "no method “lzw” of"),
        (["train", "--vocab-size", "300", "--counts", "C", "--method", "bpe", "--special", "x"],
         "--special does not go"),
        (["train", "--vocab-size", "300", "--counts", "C", "--method",
          "bpe(threshold=1)"], "bpe has no parameter “threshold”"),
        (["train", "--vocab-size", "9", "--counts", "C", "--method", "bpe"], "no room for the 256"),
    ],
)  # fmt: skip
def test_train_refuses(
    morphgraph: Command, counts: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    given = [str(counts) if argument == "C" else argument for argument in arguments]
    run = morphgraph(*given, "--out", tmp_path / "out.json")
    assert (run.code, run.out) == (2, "")
    assert message in run.err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "lzw"], "no method “lzw”"),
        (["--method", "picky"], "needs a model that was trained so"),
        (["--method", "bpe(k=2)"], "has no parameter “k”"),
        (["--method", "bpe", "--samples", "2"], "--samples is for dropout"),
        (["--method", "trimmed"], "needs the word counts of a second corpus"),
        (["--method", "unigram"], "has no log-probabilities"),
        (["--method", "dropout(p=2)"], "p=2 does not fit. Give a number from 0 to 1."),
        (["--model", "missing.json"], "no such file or directory"),
    ],
)
def test_segment_refuses(morphgraph: Command, arguments: list[str], message: str) -> None:
    run = morphgraph("segment", "word", *arguments)
    assert (run.code, run.out) == (2, "")
    assert message in run.err


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bpe", "picky", "scaffold", None])
def test_ctrl_c_keeps_what_was_trained(
    morphgraph: Command, tmp_path: Path, method: str | None
) -> None:
    """A real signal, as soon as the training says how far it is."""
    out, kept, again = (tmp_path / f"{name}.json" for name in ("out", "kept", "again"))
    random = np.random.default_rng(1)
    words = ("".join(random.choice(list("abcdef"), 12)) for _ in range(3000))
    (tmp_path / "counts.tsv").write_text("".join(f"{word}\t1\n" for word in words))
    given = [
        "train",
        "--counts",
        str(tmp_path / "counts.tsv"),
        *(["--method", method] if method else []),
    ]
    slow = (
        "import time\n"
        "from morphgraph.cli import main, output\n"
        "from morphgraph.kernels import training\n"
        "training.EVENTS_PER_CALL = 40\n"
        "output.BETWEEN_LINES = 0\n"
        "def share(done, of):\n"
        "    time.sleep(0.02)\n"
        "    return done / of\n"
        "training.share_of_work = share\n"
        "main()\n"
    )
    command = [sys.executable, "-c", slow, *given, "--vocab-size", "20000"]
    run = subprocess.Popen(
        [*command, "--out", out, "--checkpoint", kept, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    next(line for line in run.stderr if line.endswith(" left\n"))
    run.send_signal(signal.SIGINT)
    printed, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    assert said.splitlines()[-1] == f"stopped: {kept} has what was trained so far"
    assert not out.exists()
    report = json.loads(printed)
    assert report["saved"] == str(kept)
    assert 256 < report["vocab_size"] < 10_000
    whole = morphgraph(*given, "--vocab-size", report["vocab_size"], "--out", again)
    assert whole.code == 0, whole.err
    assert kept.read_bytes() == again.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of the system")
def test_many_words_fit_into_the_memory_of_a_visitor(tmp_path: Path) -> None:
    """Arrays take what they need, and nothing in advance."""
    given = ["train", "--confined", "--counts", "wordfreq:en", "--vocab-size", "32000"]
    run = subprocess.run(
        [sys.executable, "-m", "morphgraph", *given, "--out", tmp_path / "m.json"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def test_a_checkpoint_needs_steps(morphgraph: Command, counts: Path, tmp_path: Path) -> None:
    arguments = ("--vocab-size", 300, "--out", tmp_path / "m.json", "--checkpoint", tmp_path / "c")
    run = morphgraph("train", "--counts", counts, "--method", "unigram", *arguments)
    assert run.code == 2
    assert "Unigram trains in one go" in run.err
    run = morphgraph("train", "--counts", counts, "--method", "bpe", *arguments)
    assert run.code == 0, run.err
    assert [path.name for path in tmp_path.iterdir() if path != counts] == ["m.json"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["wordpiece", "unigram"])
def test_a_vocabulary_without_capitals_says_so(
    morphgraph: Command, tmp_path: Path, method: str
) -> None:
    """Train and export name the share of a sample that becomes unknown, if there are none."""
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3, "lowest": 4}
    cased = words | {word.upper(): 1 for word in words}
    for counts, warned in ((words, True), (cased, False)):
        path, model = tmp_path / f"{warned}.tsv", tmp_path / f"{warned}.json"
        path.write_text("".join(f"{word}\t{count}\n" for word, count in counts.items()))
        size = 30 if warned else 50
        given = ("--counts", path, "--vocab-size", size, "--method", method)
        runs = [
            morphgraph("train", *given, "--out", model),
            morphgraph("export", "--tokenizer", model, "--out", tmp_path / f"folder {warned}"),
        ]
        for run in runs:
            assert run.code == 0, run.err
            found = re.search(
                r"No capital letter .*: (\S+) % .*, and (\S+) % of it in lower", run.err
            )
            assert (found is not None) == warned, run.err
            assert found is None or 0 < float(found[2]) < float(found[1]) < 100
