"""The command line: training by every method, and segmenting by every model."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from effort import one_of, share_of

import morphgraph as mg

SLOW = """
import time
from morphgraph.cli import main, output
from morphgraph.kernels import merge_training
merge_training.EVENTS_PER_CALL = 40
output.BETWEEN_LINES = 0
def share(done, of):
    time.sleep(0.02)
    return done / of
merge_training.share_of_work = share
main()
"""
METHODS = ["wordpiece-prime", "bpe", "bpe-prime", "morfessor", "picky", "scaffold", "unigram"]
METHODS += ["unigram-prime", "wordpiece"]


@pytest.mark.parametrize("method", one_of(*METHODS))
def test_train_and_segment(morphgraph, folder, method):
    out = folder / "model.json"
    arguments = ("counts.tsv", "--pipeline", "spaces" if "prime" in method else "plain", "--json")
    run = morphgraph("train", method, *arguments, "--vocab-size", 260, "--out", out)
    assert run.code == 0, run.err
    loses = method in ("morfessor", "unigram", "unigram-prime", "wordpiece")
    loses |= method == "wordpiece-prime"
    assert ("capital letter" in run.err) == loses
    report = run.json
    name = f"{method}-{'spaces' if 'prime' in method else 'plain'}"
    assert report["name"].startswith(name)
    model = mg.load(out)
    assert len(model) == report["vocab_size"]
    assert model.signature.split("@")[1] == report["signature"].split("@")[1]
    shown = morphgraph("segment", out, "undoing", "redoing", "--json").json
    assert shown["signature"] == model.signature
    assert [row["word"] for row in shown["words"]] == ["undoing", "redoing"]
    plain = "".join(shown["words"][0]["tokens"]).replace("##", "")
    assert plain.strip("Ġ▁") == "undoing"


def test_counts_of_several_languages_are_summed(morphgraph, folder):
    (folder / "en.tsv").write_text("undoing\t9\nundo\t5\n")
    (folder / "tr.tsv").write_text("evlerde\t7\nevler\t6\n")
    out = folder / "m.json"
    run = morphgraph("train", "bpe", "en=en.tsv", "tr=tr.tsv", "--vocab-size", 265, "--out", out)
    assert run.code == 0, run.err
    counts = {"undoing": 9, "undo": 5, "evlerde": 7, "evler": 6}
    assert mg.load(out).types == mg.train("bpe", counts, 265).types


@pytest.mark.slow
@pytest.mark.parametrize("method", one_of("bpe --pipeline plain", "picky", "scaffold", "bpe"))
def test_ctrl_c_keeps_what_was_trained(morphgraph, tmp_path, method):
    """A real signal, as soon as the training says how far it is."""
    out, kept, again = (tmp_path / f"{name}.json" for name in ("out", "kept", "again"))
    random = np.random.default_rng(1)
    words = ("".join(random.choice(list("abcdef"), 12)) for _ in range(3000))
    (tmp_path / "counts.tsv").write_text("".join(f"{word}\t1\n" for word in words))
    given = ["train", *method.split(), str(tmp_path / "counts.tsv")]
    command = [sys.executable, "-c", SLOW, *given, "--vocab-size", "20000"]
    run = subprocess.Popen(
        [*command, "--out", out, "--checkpoint", kept, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
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
def test_many_words_fit_into_the_memory_of_a_visitor(tmp_path):
    """Arrays take what they need, and nothing in advance."""
    given = ["train", "bpe", "wordfreq:en", "--confined", "--vocab-size", str(share_of(32_000))]
    run = subprocess.run(
        [sys.executable, "-m", "morphgraph", *given, "--out", tmp_path / "m.json"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
