"""A corpus measured by a command, in a notebook, in tables, and by other processes."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from command import Command

import morphgraph as mg
from morphgraph.batch.cluster import local_cluster, runner_on
from morphgraph.formats.loading import vocabulary_of
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.flota import Flota
from morphgraph.segment.models import load_segmenter
from morphgraph.tables.writing import to_csv, to_markdown
from morphgraph_corpora.measured import MeasuredCorpus, corpus_table, parity_table
from morphgraph_corpora.measures import CorpusMeasures, measure_corpus


@pytest.fixture
def languages(tmp_path: Path) -> Path:
    (tmp_path / "en.txt").write_text("The dogs run home.\nHouses stand there.\n", encoding="utf-8")
    german = "Die Hunde rennen heim.\nHäuser stehen dort.\n"
    (tmp_path / "de.txt").write_text(german, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_by_file_as_json_by_any_number_of_workers(morphgraph: Command, languages: Path) -> None:
    given = ("measure", "demo:en", "--corpus", languages)
    found = morphgraph(*given, "--json").json
    assert (found["by"], found["unit"]) == ("file", "words")
    assert [(one["text"], one["words"]) for one in found["texts"]] == [("de", 7), ("en", 7)]
    [total] = found["all"]
    assert total["words"] == 14
    assert total["fertility"] == total["tokens"] / 14
    assert total["never_used"] < total["ordinary_types"]
    assert total["relative_tokens"] is None
    assert "parity" not in found
    two = morphgraph(*given, "--json", "--set", "workers=2").json
    assert two == found
    lines = morphgraph(*given, "--limit", 1).out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["File", "de", "all"]
    assert lines[3] == "1 of 2 files; --limit 0 shows all"


def test_a_corpus_is_measured(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("The dogs run home.\nHouses stand there.\n", "utf-8")
    (tmp_path / "de.txt").write_text("Die Hunde rennen heim.\nHäuser stehen dort.\n", "utf-8")
    found = mg.corpora.measure(mg.load("demo:en"), tmp_path, parallel=True, base="en")
    frame = found.to_frame()
    assert list(frame.index) == ["de", "en", "all"]
    assert found.gini == pytest.approx(5 / 34)  # 11 and 6 tokens a line
    assert repr(found).startswith("34 tokens of 14 words, 2.429 per word | corpus:")
    assert "Relative to en" in found._repr_html_()
    one = mg.corpora.measure({"BPE": mg.load("demo:en")}, tmp_path / "en.txt")
    [words] = one.to_frame().loc[["all"], "tokens"]
    assert words == 14


@pytest.fixture
def without_tokens(tmp_path: Path) -> CorpusMeasures:
    """FLOTA leaves out what it does not know: here it is all."""
    for language, text in (("en", "xx"), ("de", "y")):
        (tmp_path / f"{language}.txt").write_text(text)
    flota = Flota(vocabulary_of(tokeniser_of_types("tiny", ["a", "b", "ab"], ["ab"])), k=1)
    return measure_corpus({"FLOTA": flota}, [tmp_path], parallel=True)


def test_what_is_undefined_is_null_or_not_applicable(without_tokens: CorpusMeasures) -> None:
    found = json.loads(json.dumps(MeasuredCorpus(without_tokens).to_dict(), allow_nan=False))
    [parity] = found["parity"]
    assert parity["gini_line"] is None and parity["gini_byte"] is None
    assert [one["relative_tokens"] for one in found["texts"]] == [None, None]
    assert [one["tokens"] for one in found["all"]] == [0]
    for table in (corpus_table(without_tokens), parity_table(without_tokens)):
        assert "nan" not in to_markdown(table) and "n/a" in to_markdown(table)
        assert b"nan" not in to_csv(table).lower()


def test_a_corpus_is_measured_at_an_address(
    scheduler: tuple[str, Path], worker: None, tmp_path: Path, morphgraph: Callable[..., Any]
) -> None:
    for language in ("de", "en"):
        (tmp_path / f"{language}.txt").write_text(f"one two\n{language} three\n")
    measure = "measure", "demo:en", "--corpus", tmp_path, "--json"
    found = morphgraph(*measure, "--set", f"scheduler={scheduler[0]}")
    assert all(line.startswith("measuring") for line in found.err.splitlines()), found.err
    assert found.json == morphgraph(*measure).json
    (tmp_path / "de.txt").write_bytes(b"\xff")
    wrong = morphgraph(*measure, "--set", f"scheduler={scheduler[0]}")
    assert wrong.code == 2 and wrong.out == ""
    assert "de.txt, line 1: it is not valid UTF-8" in wrong.err


@pytest.mark.kills
def test_a_corpus_is_measured_though_its_workers_are_killed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also the only one, with all that was sent to it once for all its tasks."""
    for number in range(20):
        (tmp_path / f"{number}.txt").write_text("the dogs run home\n" * 1000)
    segmenters = {"en": load_segmenter("demo:en")}
    killed = []
    with local_cluster(1) as client:

        def run(function: Callable[..., Any], tasks: Sequence[Any], *common: Any) -> Iterator[Any]:
            for number, result in enumerate(runner_on(client)(function, tasks, *common)):
                if number in (0, 7):
                    killed.extend(client.run(os.getpid).values())
                    os.kill(killed[-1], signal.SIGKILL)
                yield result

        found = measure_corpus(segmenters, [tmp_path], run=run)
    assert len(set(killed)) == 2
    assert found == measure_corpus(segmenters, [tmp_path])
    assert capfd.readouterr() == ("", "")
