"""What runs leave behind, read with care, and shown as tables of texts."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from morphgraph.batch.results import RESULT_COLUMNS, read_results
from morphgraph.batch.run import Run, RunProgress
from morphgraph.core.errors import FileFormatError
from web.batch import (
    buttons_of,
    is_over,
    state_of,
    visible_lines,
)

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


def test_what_a_run_said_is_shown_without_its_traceback() -> None:
    said = "Traceback (most recent call last):\n" + '  File "x.py", line 1\n' * 50 + "OSError: no"
    assert visible_lines(said) == "OSError: no"
    assert visible_lines("a\n\n\x1b[31mb\n") == "a\n\\x1b[31mb"
    assert visible_lines("\n".join(map(str, range(99))), 2) == "97\n98"
