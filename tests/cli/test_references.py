"""Several references joined, samples, and references from standard input, on the command line."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphgraph.reference.entry import join_references
from morphgraph.reference.readers import read_reference

Command = Callable[..., Any]

INFLECTIONS = "do\tdoing\tV|V.PTCP;PRS\tdo|ing\nsing\tsang\tV|PST\t-\n"
DERIVATIONS = "do\tundo\tV\tV\tun\tprefix\ndo\tredo\tV\tV\tre\tprefix\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "inflections.tsv", tmp_path / "derivations.tsv"
    first.write_text(INFLECTIONS, encoding="utf-8")
    second.write_text(DERIVATIONS, encoding="utf-8")
    return first, second


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    class Piped:
        buffer = io.BytesIO(data)

        def isatty(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdin", Piped())


def test_references_are_scored_one_by_one_or_joined(
    morphgraph: Command, files: tuple[Path, Path]
) -> None:
    given = ("score", "--tokenizer", "demo:en", "--reference", files[0], "--reference", files[1])
    given = (*given, "--resamples", "0", "--scope", "morphemic", "--json")
    apart = morphgraph(*given).json
    assert [Path(table["reference"]).name for table in apart["tables"]] == [
        "inflections.tsv", "derivations.tsv"]  # fmt: skip
    joined = morphgraph(*given, "--join").json
    table = joined["tables"][0]
    assert joined["entries"] == 3 and len(joined["tables"]) == 1
    assert table["reference"] == "inflections.tsv + derivations.tsv"
    assert "derivations.tsv: one affix a word" in table["partial"]
    assert "inflections.tsv: irregular form without segmentation (-)" in joined["skipped"]


@pytest.mark.slow
def test_what_takes_one_reference_joins_several_only_if_asked(
    morphgraph: Command, files: tuple[Path, Path]
) -> None:
    for command in ("blame", "knockout", "rebpe", "compare"):
        run = morphgraph(
            command, "--tokenizer", "demo:en", "--reference", files[0], "--reference", files[1]
        )
        assert run.code == 2 and "given 2 times" in run.err and "--join" in run.err, command
    given = ("blame", "--tokenizer", "demo:en", "--json", "--join")
    run = morphgraph(*given, "--reference", files[0], "--reference", files[1])
    assert "reference:inflections.tsv + derivations.tsv@" in run.json["signature"]
    assert "entries:3@" in run.json["signature"]
    together = join_references([read_reference(file) for file in files])
    assert f"@{together.checksum}" in run.json["signature"]


def test_a_sample(morphgraph: Command) -> None:
    given = ("score", "--tokenizer", "demo:en", "--reference", "demo:en", "--resamples", "0")
    given = (*given, "--sample", "40")
    first = morphgraph(*given, "--json").json
    assert first["entries"] == 40
    assert "entries, seed 0)@" in first["signature"]
    assert morphgraph(*given, "--json").json == first
    other = morphgraph(*given, "--sample-seed", "1", "--json").json
    assert other["entries"] == 40 and other["signature"] != first["signature"]
    assert morphgraph(*given[:-1], "0").code != 0
    # joined first, then drawn
    run = morphgraph(*given, "--reference", "demo:de", "--join", "--json")
    assert run.json["entries"] == 40


def test_a_reference_from_standard_input(
    morphgraph: Command, monkeypatch: pytest.MonkeyPatch, files: tuple[Path, Path]
) -> None:
    given = ("blame", "--tokenizer", "demo:en", "--json", "--reference")
    from_file = morphgraph(*given, files[1]).json
    piped(monkeypatch, DERIVATIONS.encode())
    run = morphgraph(*given, "-")
    assert run.code == 0 and run.json["merges"] == from_file["merges"]
    assert "reference:standard input@" in run.json["signature"]
    piped(monkeypatch, DERIVATIONS.encode())
    assert "2 entries" in morphgraph("reference", "show", "-").out


def test_standard_input_that_cannot_be_a_reference(
    morphgraph: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("blame", "--tokenizer", "demo:en", "--reference", "-")
    piped(monkeypatch, b"")
    run = morphgraph(*given)
    assert run.code == 2 and run.err == (
        "morphgraph: standard input: it is empty. "
        "Pipe a reference into the command, or name its file.\n"
    )
    piped(monkeypatch, b"\xff\xfe\xfd")
    run = morphgraph(*given)
    assert (
        run.code == 2
        and run.err.startswith("morphgraph: standard input")
        and "Traceback" not in run.err
    )
    run = morphgraph(*given, "--reference", "-", "--join")
    assert run.code == 2 and "Give it once" in run.err
