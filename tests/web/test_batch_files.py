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

from morphgraph.batch.report import make_table
from morphgraph.batch.results import RESULT_COLUMNS, TableSpec, read_results
from morphgraph.batch.run import Run, RunProgress
from morphgraph.core.errors import FileFormatError
from morphgraph.tables.model import text_frame
from morphgraph.tables.writing import frame_csv
from web.batch.progress import (
    badge_of,
    buttons_of,
    is_over,
    state_of,
    visible_lines,
)
from web.batch.runs import resume_command
from web.batch.state import Settings, start_settings
from web.text import plain_line

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
        "step": None,
        "entries": 10,
        "metric": metric,
        "value": value,
        "low": NAN,
        "high": NAN,
        "p": NAN,
    }
    return known | others


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    kinds = dict.fromkeys(("vocab_size", "seed", "entries", "step"), "Int64")
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


def test_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "r.parquet").write_bytes(as_parquet(RESULTS))
    found = read_results(tmp_path / "r.parquet")
    assert list(found["value"][:3]) == [0.5, 8000.0, 0.625]
    assert list(found.columns) == list(RESULT_COLUMNS)


def twice(data: pd.DataFrame) -> bytes:
    table = pyarrow.Table.from_pandas(data, preserve_index=False)
    table = table.append_column("metric", table.column("metric"))
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


GOOD = as_parquet(RESULTS)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"PAR1", "it cannot be read"),
        (b"<b>no</b>" * 100, "it cannot be read"),
        (GOOD[: len(GOOD) // 2], "it cannot be read"),
        (GOOD[:50] + b"\xff" * 200 + GOOD[250:], ""),
        (as_parquet(RESULTS.drop(columns="value")), "no column value"),
        (as_parquet(RESULTS.assign(value="x")), "column value: it is of another kind"),
        (as_parquet(RESULTS.assign(value=[[1]] * 4)), "column value: it is of another kind"),
        *(
            (as_parquet(RESULTS.assign(**{name: odd})), f"column {name}: it is of another kind")
            for name in ("seed", "vocab_size", "entries")
            for odd in (math.inf, -math.inf, 1e300, 0.5, "x")
        ),
        (twice(RESULTS), ""),
    ],
)
def test_a_file_that_holds_no_results_is_an_error_by_its_name(
    data: bytes, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "<b>.parquet"
    file.write_bytes(data)
    with pytest.raises(FileFormatError) as found:
        read_results(file)
    assert str(found.value).startswith(str(file))
    assert problem in str(found.value)


@pytest.mark.parametrize("text", ["", "[1]", '{"workers": 0}', '{"workers": "2"}'])
def test_settings_that_make_no_sense_are_the_usual_ones(text: str, tmp_path: Path) -> None:
    (tmp_path / "started.json").write_text(text)
    found = start_settings(tmp_path)
    assert found.workers >= 1
    assert found.folder is None


def test_settings_are_kept(tmp_path: Path) -> None:
    kept = {"workers": 3, "folder": "/a b"}
    (tmp_path / "started.json").write_text(json.dumps(kept))
    assert start_settings(tmp_path) == Settings(3, "/a b")
    command = resume_command(Run("x", tmp_path, None))
    assert command.endswith("--workers 3 --folder '/a b'")


# ------------------------------------------------------------------------------------- states


def test_the_state_of_a_run(tmp_path: Path) -> None:
    def state(progress: RunProgress | None) -> str:
        return state_of(Run("x", tmp_path, progress))

    assert state(RunProgress("running")) == "running"
    assert state(RunProgress("<b>")) == "failed"  # type: ignore[arg-type]
    assert state(None) == "never"
    (tmp_path / "console.log").write_bytes(b"")
    assert state(None) == "beginning"
    assert buttons_of(Run("x", tmp_path, None)) == "wait"
    (tmp_path / "console.log").write_text("it said no")
    assert state(None) == "never"
    running = Run("x", tmp_path, RunProgress("running"))
    assert (buttons_of(running), is_over(running)) == ("stop", False)
    (tmp_path / "stop").touch()
    assert buttons_of(running) == "stopping"
    assert buttons_of(Run("x", tmp_path, RunProgress("interrupted"))) == "over"


def test_a_run_with_failures_is_completed_with_failures() -> None:
    progress = RunProgress("done", total=14, done=8, failed=6)
    assert badge_of(Run("x", Path(), progress))[0] == "Completed with failures"
    assert badge_of(Run("x", Path(), RunProgress("done", total=2, done=2)))[0] == "Done"


def test_what_is_told_hides_nothing() -> None:
    assert plain_line("a\u202eb\n<i>", 40) == "a\\\\u202eb \\<i\\>"


def test_what_a_run_said_is_shown_without_its_traceback() -> None:
    said = "Traceback (most recent call last):\n" + '  File "x.py", line 1\n' * 50 + "OSError: no"
    assert visible_lines(said) == "OSError: no"
    assert visible_lines("a\n\n\x1b[31mb\n") == "a\n\\x1b[31mb"
    assert visible_lines("\n".join(map(str, range(99))), 2) == "97\n98"


# ------------------------------------------------------------------------------------- tables


def test_a_table_reads_as_its_report_does() -> None:
    spec = TableSpec(title="T", rows=["method"], metrics=["f1", "types"])
    table = make_table(RESULTS, spec)
    texts, best = text_frame(table)
    f1 = [column.path for column in table.columns].index("F1 % ↑") + 1
    methods, f1 = list(texts["0"]), list(texts[str(f1)])
    assert methods[:2] == ["BPE", "FLOTA"]
    assert "50.00 [40.00, 60.00]" in f1
    assert "62.50" in f1
    assert best.to_numpy().sum() == 1
    plain_texts, _ = text_frame(table, intervals=False)
    assert "n/a" in plain_texts.to_numpy().ravel()
    assert not any("[" in text for text in plain_texts.to_numpy().ravel())


def test_csv_is_exact_and_no_formula() -> None:
    data = pd.DataFrame(
        {"=a": ["=1+1", "b"], "value": [0.1, NAN], "n": pd.array([1, None], "Int64")}
    )
    assert frame_csv(data).decode() == "'=a,value,n\n'=1+1,0.1,1\nb,n/a,n/a\n"
    assert frame_csv(data[:0]).decode() == "'=a,value,n\n"


def test_what_is_held_in_is_told_with_and_without_intervals() -> None:
    rows = frame(
        row("BPE", "f1", 0.5, words="all words", low=0.4, high=0.6),
        row("FLOTA", "f1", 0.6, words="all words", low=0.5, high=0.7, p=0.02),
        row("ReBPE", "f1", 0.9, words="all words", low=0.8, high=0.95, held_in="held in"),
    )
    table = make_table(rows, TableSpec(title="T", rows=["method"], metrics=["f1"]))
    assert list(text_frame(table, intervals=False)[0]["1"]) == ["50.00", "60.00*", "90.00 held in"]
    assert list(text_frame(table, intervals=True)[0]["1"])[1:] == [
        "60.00* [50.00, 70.00]",
        "90.00 [80.00, 95.00] held in",
    ]
    assert [list(best) for best in text_frame(table, intervals=False)[1].values][1:] == [
        [False, True],
        [False, False],
    ]
