"""Parity-aware BPE and MorphBPE on the command line."""

from pathlib import Path

import pytest
from command import Command
from refusals import expect

import morphgraph as mg

LANGUAGES = {"en": "undoing\t9\nundo\t5\n", "tr": "evlerde\t7\nevler\t6\n", "empty": "\n"}


@pytest.fixture
def languages(folder: Path) -> Path:
    for name, lines in LANGUAGES.items():
        (folder / f"{name}.tsv").write_text(lines, encoding="utf-8")
    return folder


def test_train_on_several_languages(morphgraph: Command, languages: Path) -> None:
    out, two = languages / "m.json", ("en=en.tsv", "tr=tr.tsv")
    learn = ("train", "--vocab-size", 265, "--out", out)
    counts = {"en": {"undoing": 9, "undo": 5}, "tr": {"evlerde": 7, "evler": 6}}

    def made() -> tuple[str, ...]:
        return mg.load(out).types

    assert morphgraph(*learn, "parity", *two, "--json").json["name"] == "parity-plain-265"
    assert made() == mg.train("parity", counts, 265).types
    run = morphgraph(*learn, "parity(window=2, alpha=1.0, global_merges=2)", *two)
    assert run.code == 0, run.err
    assert made() != mg.train("parity", counts, 265).types
    # Development texts: Turkish stays behind.
    long = ("--development", "en=en.tsv", "--development", "tr=wordfreq:tr")
    assert morphgraph(*learn, "parity", *two, *long).code == 0
    development = {"en": counts["en"], "tr": "wordfreq:tr"}
    assert made() == mg.train("parity", counts, 265, development=development).types
    assert {text.strip("Ġ")[:1] for text in made()[256:]} <= set("evlrd")
    # The other methods train on the sums.
    assert morphgraph(*learn, "bpe", *two, "--pipeline", "plain").code == 0
    assert made() == mg.train("bpe", counts["en"] | counts["tr"], 265).types
    assert morphgraph("train", "bpe", *two, "--vocab-size", 260, "--out", "t.json").code == 0


@pytest.mark.parametrize(
    "given",
    [
        ["en.tsv"],
        ["en=en.tsv"],
        ["en=en.tsv", "tr.tsv"],
        ["en=en.tsv", "en=tr.tsv"],
        ["en=en.tsv", "x=empty.tsv"],
        ["en=en.tsv", "tr=tr.tsv", "--development", "tr=tr.tsv"],
    ],
)
def test_languages_that_are_refused(morphgraph: Command, languages: Path, given: list[str]) -> None:
    run = morphgraph("train", "parity", *given, "--vocab-size", 265, "--out", "m.json")
    assert run.code == 2, run.err
    expect(run.err.splitlines()[-1])
    assert not (languages / "m.json").exists()


def test_morphbpe_learns_from_a_reference(morphgraph: Command, folder: Path) -> None:
    (folder / "gold.txt").write_text("undoing\tun @@do @@ing\t100\nundo\tun @@do\t100\n")
    (folder / "words.tsv").write_text("undoing\t40\nundo\t30\nxyxy\t5\n")
    given = ("words.tsv", "--vocab-size", 261, "--out", "m.json")
    run = morphgraph("train", "morphbpe", *given, "--gold", "gold.txt", "--json")
    assert run.code == 0, run.err
    assert run.json["vocab_size"] == 261
    assert run.json["name"] == "morphbpe-plain-261"
    assert mg.load(folder / "m.json").segment(["undoing"]) == [["Ġun", "do", "ing"]]
    (folder / "plus.txt").write_text("undoing\tun+do+ing\nundo\tun+do\n")
    how = ("--gold", "plus.txt", "--read", "format=plain,separator=+")
    assert morphgraph("train", "morphbpe", *given, *how).code == 0
    assert mg.load(folder / "m.json").segment(["undoing"]) == [["Ġun", "do", "ing"]]
    stems = [chr(97 + n) * 4 for n in range(25)]
    words = "".join(f"{stem}ing\t{stem} ing\n" for stem in stems)
    (folder / "many.txt").write_text(words)
    signatures = []
    for method in ("morphbpe", "morphbpe(holdout=0)", "morphbpe(holdout=0.2)"):
        size = ("--vocab-size", 300, "--out", "m.json", "--gold", "many.txt", "--json")
        run = morphgraph("train", method, "words.tsv", *size)
        signatures.append(run.json["signature"])
    assert signatures[0] == signatures[2] != signatures[1], "a fifth of the families is kept aside"
    run = morphgraph("train", "morphbpe", *given)
    assert (run.code, "learns from gold. Give some" in run.err) == (2, True), run.err
