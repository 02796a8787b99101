"""The command line: vocabularies measured on texts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "en.txt").write_text("The dogs run home.\nHouses stand there.\n", encoding="utf-8")
    german = "Die Hunde rennen heim.\nHäuser stehen dort.\n"
    (tmp_path / "de.txt").write_text(german, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_parallel_text(morphgraph: Command, texts: Path) -> None:
    both = ("--tokenizer", "demo:en", "--tokenizer", "demo:de")
    run = morphgraph("vocabulary", "--corpus", texts, "--parallel", "--base", "en", *both)
    assert run.code == 0, run.err
    table, parity = run.out.split("\n\n")
    head, *rows = table.splitlines()
    costs = "Tokens per line  Tokens per byte  Relative to en  Tokens per word"
    assert head.startswith(f"Language  Tokeniser  Lines  Words  Tokens  {costs}")
    assert [row.split()[:2] for row in rows] == [
        [text, f"demo:{code}"] for text in ("de", "en", "all") for code in ("en", "de")
    ]
    assert rows[0].split()[5:8] == ["11.000", "0.524", "1.833"]
    assert "Gini, by line" in parity
    # Costs 11 and 6: 2 · 5 over 2 · 4 · 8.5.
    assert parity.splitlines()[1].split() == ["demo:en", "0.147", "0.118", "de", "1.83"]
    assert "lines as whole texts" in parity
    assert "|unit:lines|base:en|" in parity


@pytest.mark.slow
def test_by_file_as_json_by_any_number_of_workers(morphgraph: Command, texts: Path) -> None:
    found = morphgraph("vocabulary", "--corpus", texts, "--json").json
    assert (found["by"], found["unit"]) == ("file", "words")
    assert [(one["text"], one["words"]) for one in found["texts"]] == [("de", 7), ("en", 7)]
    [total] = found["all"]
    assert total["words"] == 14
    assert total["fertility"] == total["tokens"] / 14
    assert total["never_used"] < total["ordinary_types"]
    assert total["relative_tokens"] is None
    assert "parity" not in found
    two = morphgraph("vocabulary", "--corpus", texts, "--json", "--workers", 2).json
    assert two == found
    lines = morphgraph("vocabulary", "--corpus", texts, "--limit", 1).out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["File", "de", "all"]
    assert lines[3] == "1 of 2 files; --limit 0 shows all"


@pytest.mark.slow
def test_what_goes_wrong(morphgraph: Command, texts: Path) -> None:
    def wrong(*arguments: Any) -> str:
        run = morphgraph("vocabulary", *arguments)
        assert run.code == 2
        return str(run.err)

    assert "are for --corpus" in wrong("--parallel")
    assert "measures texts alone" in wrong("--corpus", texts, "--frequencies", "wordfreq:en")
    assert "no such file" in wrong("--corpus", texts / "missing.txt")
    (texts / "de.txt").write_bytes(b"Hunde\nH\xe4user\n")
    assert "line 2" in wrong("--corpus", texts)
    run = morphgraph("vocabulary", "--corpus", texts, "--bad-lines", "skip")
    assert run.code == 0
    assert "left out: 1 line" in run.err
