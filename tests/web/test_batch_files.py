"""What runs leave behind, read with care, and shown as tables of texts."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow
import pytest
from pyarrow import parquet

from morphgraph.batch.background import Run
from morphgraph.batch.comparing_runs import compare_runs
from morphgraph.batch.progress import Progress
from morphgraph.batch.report_data import RESULT_COLUMNS, TableSpec
from morphgraph.batch.report_making import make_table
from morphgraph.errors import FileFormatError
from web.batch_comparing import filtered, named_apart, shown_comparison
from web.batch_failed import failed_cells, failed_keys
from web.batch_files import (
    column_titles,
    files_in,
    first_of,
    frame_csv,
    results_from,
    shown_table,
    table_has_intervals,
)
from web.batch_progress import buttons_of, is_over, state_of, times_of, visible_lines
from web.batch_runs import command_of
from web.batch_state import Settings, settings_of

NAN = math.nan


def row(method: str, metric: str, value: float, **others: Any) -> dict[str, Any]:
    """A row of results in long form."""
    known = {
        **dict.fromkeys(RESULT_COLUMNS, ""),
        "cell": method,
        "language": "en",
        "vocab_size": None,
        "method": method,
        "scope": "morphemic",
        "weighting": "types",
        "seed": None,
        "entries": 10,
        "metric": metric,
        "value": value,
        "low": NAN,
        "high": NAN,
    }
    return known | others


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    kinds = {"vocab_size": "Int64", "seed": "Int64", "entries": "Int64"}
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS)).astype(kinds)


def as_parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


RESULTS = frame(
    row("BPE", "f1", 0.5, low=0.4, high=0.6),
    row("BPE", "types", 8000.0, scope="", weighting=""),
    row("FLOTA", "f1", 0.625),
    row("FLOTA", "types", NAN, scope="", weighting=""),
)


# ------------------------------------------------------------------------------------- reading


def test_results_come_back_as_they_were_written() -> None:
    found = results_from(as_parquet(RESULTS), "r.parquet")
    assert list(found["value"][:3]) == [0.5, 8000.0, 0.625]
    assert list(found.columns) == list(RESULT_COLUMNS)


def twice(data: pd.DataFrame) -> bytes:
    table = pyarrow.Table.from_pandas(data, preserve_index=False)
    table = table.append_column("metric", table.column("metric"))
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def bomb() -> bytes:
    """A small file with a great number of equal rows."""
    buffer = io.BytesIO()
    zeros = pyarrow.array([0.0]).take(pyarrow.array([0] * 2_000_001))
    parquet.write_table(pyarrow.table({"value": zeros}), buffer)
    assert len(buffer.getvalue()) < 100_000
    return buffer.getvalue()


GOOD = as_parquet(RESULTS)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"PAR1", "no Parquet file"),
        (b"<b>no</b>" * 100, "no Parquet file"),
        (GOOD[: len(GOOD) // 2], "no Parquet file"),
        (GOOD[:50] + b"\xff" * 200 + GOOD[250:], ""),
        (bomb(), "2,000,001 rows"),
        (as_parquet(RESULTS.drop(columns="value")), "no column value"),
        (as_parquet(RESULTS.assign(value="x")), "a column is of another kind"),
        (as_parquet(RESULTS.assign(value=[[1]] * 4)), "a column is of another kind"),
        (as_parquet(RESULTS.assign(seed=0.5)), "a column is of another kind"),
        (twice(RESULTS), ""),
    ],
)
def test_a_file_that_holds_no_results_is_an_error_by_its_name(data: bytes, problem: str) -> None:
    with pytest.raises(FileFormatError) as found:
        results_from(data, "<b>.parquet")
    assert str(found.value).startswith("<b>.parquet")
    assert problem in str(found.value)


@pytest.mark.parametrize("text", ["", "[1]", '{"workers": 0}', '{"workers": "2", "languages": 5}'])
def test_settings_that_make_no_sense_are_the_usual_ones(text: str, tmp_path: Path) -> None:
    (tmp_path / "started.json").write_text(text)
    found = settings_of(tmp_path)
    assert found.workers >= 1
    assert (found.languages, found.folder) == (None, None)


def test_settings_are_kept(tmp_path: Path) -> None:
    kept = {"workers": 3, "languages": ["en", "de"], "folder": "/a b"}
    (tmp_path / "started.json").write_text(json.dumps(kept))
    assert settings_of(tmp_path) == Settings(3, ["en", "de"], "/a b")
    command = command_of(Run("x", tmp_path, None))
    assert command.endswith("--workers 3 --languages en,de --folder '/a b'")


def test_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_bytes(b"A")
    (tmp_path / "b.csv").write_bytes(b"B")
    (tmp_path / "c.tex").mkdir()
    assert files_in(tmp_path, "*.tex") == {"a.tex": b"A"}


# ------------------------------------------------------------------------------------- states


def test_the_state_of_a_run(tmp_path: Path) -> None:
    def state(progress: Progress | None) -> str:
        return state_of(Run("x", tmp_path, progress))

    assert state(Progress("running")) == "running"
    assert state(Progress("<b>")) == "failed"  # type: ignore[arg-type]
    assert state(None) == "never"
    (tmp_path / "console.log").write_bytes(b"")
    assert state(None) == "beginning"
    assert buttons_of(Run("x", tmp_path, None)) == "wait"
    (tmp_path / "console.log").write_text("it said no")
    assert state(None) == "never"
    running = Run("x", tmp_path, Progress("running"))
    assert (buttons_of(running), is_over(running)) == ("stop", False)
    (tmp_path / "stop").touch()
    assert buttons_of(running) == "stopping"
    assert buttons_of(Run("x", tmp_path, Progress("interrupted"))) == "over"


def test_times_of_a_run() -> None:
    over = times_of(Progress("done", started=1_000_000.0, updated=1_000_090.0, workers=1))
    assert over.endswith(" · 1 worker · took 2 min")
    assert times_of(Progress("done")) == ""


def test_what_a_run_said_is_shown_without_its_traceback() -> None:
    said = "Traceback (most recent call last):\n" + '  File "x.py", line 1\n' * 50 + "OSError: no"
    assert visible_lines(said) == "OSError: no"
    assert visible_lines("a\n\n\x1b[31mb\n") == "a\n\\x1b[31mb"
    assert visible_lines("\n".join(map(str, range(99))), 2) == "97\n98"


# ------------------------------------------------------------------------------------- tables


def test_a_table_reads_as_its_report_does() -> None:
    spec = TableSpec("T", ["method"], [], ["f1", "types"])
    table = make_table(RESULTS, spec)
    texts, best = shown_table(table, intervals=True)
    assert column_titles(table) == [
        "Method",
        *(column.title for column in table.columns),
    ]
    methods, f1 = (
        list(texts["0"]),
        next(
            list(texts[str(n)])
            for n, title in enumerate(column_titles(table))
            if title.startswith("F1 %") or "F1 %" in title
        ),
    )
    assert methods[:2] == ["BPE", "FLOTA"]
    assert "50.00 [40.00, 60.00]" in f1
    assert "62.50" in f1
    assert best.to_numpy().sum() == 1
    assert table_has_intervals(table)
    plain_texts, _ = shown_table(table, intervals=False)
    assert "n/a" in plain_texts.to_numpy().ravel()
    assert not any("[" in text for text in plain_texts.to_numpy().ravel())


def test_csv_is_exact_and_no_formula() -> None:
    data = pd.DataFrame(
        {"=a": ["=1+1", "b"], "value": [0.1, NAN], "n": pd.array([1, None], "Int64")}
    )
    assert frame_csv(data).decode() == "'=a,value,n\n'=1+1,0.1,1\nb,n/a,n/a\n"
    assert frame_csv(data[:0]).decode() == "'=a,value,n\n"


def test_what_is_shown_first() -> None:
    assert first_of(["a", "b", "c", "d"], ["x"]) == ["a", "b", "c"]
    assert named_apart("a", {}) == "a"


# ------------------------------------------------------------------------------------- comparing


OTHER = frame(
    row("BPE", "f1", 0.75),
    row("BPE", "types", 7990.0, scope="", weighting=""),
    row("ReBPE", "f1", 0.25),
)


def test_differences_to_the_first_run() -> None:
    compared = compare_runs({"one": RESULTS, "two": OTHER})
    texts, titles, same = shown_comparison(compared, ["one", "two"])
    assert titles[-4:] == ["Metric", "one", "two", "Δ two"]
    lines = {
        (a, b): rest
        for a, b, *rest in zip(
            texts[str(titles.index("Method"))],
            *(texts[str(n)] for n in range(len(titles) - 4, len(titles))),
            strict=True,
        )
    }
    assert lines[("BPE", "F1 %")] == ["50.00", "75.00", "+25.00"]
    assert lines[("BPE", "Types, |V|")] == ["8,000", "7,990", "−10"]
    assert lines[("FLOTA", "F1 %")] == ["62.50", "n/a", "n/a"]
    assert lines[("ReBPE", "F1 %")] == ["n/a", "25.00", "n/a"]
    assert same == ["language en"]


def test_rows_that_are_asked_for() -> None:
    compared = compare_runs({"one": RESULTS, "two": OTHER, "three": RESULTS})

    def rows(metrics: list[str], scopes: list[str], *, only: bool = False) -> list[str]:
        found = filtered(compared, "one", metrics=metrics, scopes=scopes, only_different=only)
        return [f"{m} {k}" for m, k in zip(found["method"], found["metric"], strict=True)]

    assert rows(["f1"], ["morphemic", ""]) == ["BPE f1", "FLOTA f1", "ReBPE f1"]
    assert rows(["f1", "types"], [""]) == ["BPE types", "FLOTA types"]
    # FLOTA's number of types is undefined in all runs: that is no difference.
    everything = rows(["f1", "types"], ["morphemic", ""], only=True)
    assert everything == ["BPE f1", "BPE types", "FLOTA f1", "ReBPE f1"]
    same = compare_runs({"one": RESULTS, "two": RESULTS})
    assert not len(
        filtered(
            same, "one", metrics=["f1", "types"], scopes=["morphemic", ""], only_different=True
        )
    )


# ------------------------------------------------------------------------------------- failed cells


def test_cells_that_failed_are_rows(tmp_path: Path) -> None:
    from morphgraph.batch.evaluating import prepare_text

    text = "name: x\nlanguages: [en]\ntokenisers: [{file: 'demo:en'}]\n"
    text += "methods: [standard, flota]\nreferences: ['demo:en']\n"
    (tmp_path / "configuration.yaml").write_text(text)
    cells = prepare_text(text, "configuration.yaml", tmp_path, None).plan.cells
    tasks = pd.DataFrame(
        {"key": [cell.key for cell in cells], "kind": "cell", "state": ["done", "failed"]}
    )
    tasks.to_parquet(tmp_path / "tasks.parquet")
    assert failed_keys(tmp_path) == {cells[1].key}
    found = failed_cells(tmp_path, RESULTS[:1].assign(cell=cells[0].key))
    assert list(found["method"]) == ["BPE", "FLOTA"]
    assert list(found["metric"]) == ["f1", ""]
    (tmp_path / "tasks.parquet").write_bytes(b"PAR1 broken")
    assert failed_keys(tmp_path) == set()
    assert failed_cells(tmp_path, RESULTS) is RESULTS
