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

from morphgraph.batch.build_tables import make_table
from morphgraph.batch.compare_runs import (
    compare_runs,
    filtered,
    nothing_shared,
    presence,
    shown_comparison,
    signatures_in,
)
from morphgraph.batch.progress import Run, RunProgress
from morphgraph.batch.results import RESULT_COLUMNS, TableSpec
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.tables.model import text_frame
from morphgraph.tables.writing import frame_csv
from web.batch import results as batch_results
from web.batch.checking import free_name
from web.batch.compare import first_of
from web.batch.progress import (
    badge_of,
    buttons_of,
    cell_states,
    cells_done_text,
    grouped_failures,
    is_over,
    latest,
    read_facts,
    state_of,
    tasks_of,
    times_of,
    visible_lines,
    with_lost_cells,
)
from web.batch.results import (
    column_titles,
    files_in,
    kept_results,
    results_from,
    table_has_intervals,
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
        (b"PAR1", "not a Parquet file"),
        (b"<b>no</b>" * 100, "not a Parquet file"),
        (GOOD[: len(GOOD) // 2], "not a Parquet file"),
        (GOOD[:50] + b"\xff" * 200 + GOOD[250:], ""),
        (bomb(), "2,000,001 rows"),
        (as_parquet(RESULTS.drop(columns="value")), "no column value"),
        (as_parquet(RESULTS.assign(value="x")), "column value: a value is not a number"),
        (as_parquet(RESULTS.assign(value="0.5")), "column value: a value is not a number"),
        (as_parquet(RESULTS.assign(low=True)), "column low: a value is not a number"),
        (as_parquet(RESULTS.assign(value=[[1]] * 4)), "column value: a value is not a number"),
        (
            as_parquet(RESULTS.assign(value=[0.5, math.inf, 0.5, 0.5])),
            "column value, row 2: a value is not a number, but infinite",
        ),
        (as_parquet(RESULTS.assign(high=-math.inf)), "column high, row 1: a value is not a number"),
        (as_parquet(RESULTS[:0]), "it holds no results"),
        (as_parquet(RESULTS.assign(seed=0.5)), "column seed, row 1: 0.5 is not a whole number"),
        *(
            (
                as_parquet(RESULTS.assign(**{name: [1.0, odd, 1.0, 1.0]})),
                f"column {name}, row 2: {odd} is not a whole number",
            )
            for name in ("seed", "vocab_size", "entries")
            for odd in (math.inf, -math.inf, 1e300)
        ),
        (as_parquet(RESULTS.assign(seed="x")), "column seed, row 1: x is not a whole number"),
        (twice(RESULTS), ""),
    ],
)
def test_a_file_that_holds_no_results_is_an_error_by_its_name(data: bytes, problem: str) -> None:
    with pytest.raises(FileFormatError) as found:
        results_from(data, "<b>.parquet")
    assert str(found.value).startswith("<b>.parquet")
    assert problem in str(found.value)


def test_a_run_of_which_no_cell_was_done_has_results_without_rows(tmp_path: Path) -> None:
    (tmp_path / "results.parquet").write_bytes(as_parquet(RESULTS[:0]))
    assert len(kept_results(tmp_path)) == 0


@pytest.mark.parametrize("text", ["", "[1]", '{"workers": 0}', '{"workers": "2", "languages": 5}'])
def test_settings_that_make_no_sense_are_the_usual_ones(text: str, tmp_path: Path) -> None:
    (tmp_path / "started.json").write_text(text)
    found = start_settings(tmp_path)
    assert found.workers >= 1
    assert (found.languages, found.folder) == (None, None)


def test_settings_are_kept(tmp_path: Path) -> None:
    kept = {"workers": 3, "languages": ["en", "de"], "folder": "/a b"}
    (tmp_path / "started.json").write_text(json.dumps(kept))
    assert start_settings(tmp_path) == Settings(3, ["en", "de"], "/a b")
    command = resume_command(Run("x", tmp_path, None))
    assert command.endswith("--workers 3 --languages en,de --folder '/a b'")


def test_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_bytes(b"A")
    (tmp_path / "b.csv").write_bytes(b"B")
    (tmp_path / "c.tex").mkdir()
    assert files_in(tmp_path, "*.tex") == {"a.tex": b"A"}


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


def test_times_of_a_run() -> None:
    over = times_of(RunProgress("done", started=1_000_000.0, updated=1_000_090.0, workers=1))
    assert over.endswith(" · 1 worker · took 2 min")
    assert times_of(RunProgress("done")) == ""


FACTS: dict[str, Any] = {
    "state": "done",
    "seconds": 126.5,
    "starts": [{"started": "1970-01-12T13:00:00Z", "seconds": 63.25}] * 2,
    "finished": "1970-01-12T13:50:00Z",
    "tasks": {"all": 14, "done": 8, "failed": 6},
}


def test_times_are_those_of_all_starts(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(FACTS))
    facts = read_facts(tmp_path)
    # 1,000,000 seconds are 12 January 1970, 13:46:40: the last start began before all was over.
    over = RunProgress("done", started=1_000_000.0, updated=1_000_006.0)
    assert times_of(over, facts).endswith("took 2 min in 2 starts")
    # A third start, which was killed after five minutes, is not in run.json.
    gone = RunProgress("interrupted", started=1_100_000.0, updated=1_100_300.0)
    assert times_of(gone, facts).endswith("took 7 min in 3 starts")
    assert times_of(RunProgress("running", started=1.0), facts).count("took") == 0
    # While it was there, run.json said that it is running.
    third = {"started": "1970-01-13T17:33:20Z", "seconds": 0.0, "state": "running"}
    running = {"state": "running", "starts": [*FACTS["starts"], third]}
    (tmp_path / "run.json").write_text(json.dumps(FACTS | running))
    assert times_of(gone, read_facts(tmp_path)).endswith("took 7 min in 3 starts")


@pytest.mark.parametrize(
    "change",
    [
        {"state": "<b>"},
        {"state": "done", "seconds": float("nan")},
        {"starts": 2},
        {"tasks": {"all": -1, "done": 0, "failed": 0}},
        {"tasks": None},
        {"finished": "x", "seconds": "1e999"},
    ],
)
def test_odd_facts_are_none(change: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(FACTS | change))
    assert read_facts(tmp_path) is None


def test_tasks_are_counted_one_way() -> None:
    progress = RunProgress("done", total=14, done=8, failed=6)
    assert tasks_of(progress) == "8 of 14 tasks done, 6 failed"
    assert badge_of(Run("x", Path(), progress))[0] == "Completed with failures"
    assert badge_of(Run("x", Path(), RunProgress("done", total=2, done=2)))[0] == "Done"
    assert (
        tasks_of(RunProgress("running", total=9, done=3))
        == "3 of 9 tasks done, waiting for workers"
    )


def test_a_run_with_a_damaged_progress_is_told_from_its_facts(tmp_path: Path) -> None:
    (tmp_path / "progress.json").write_text('{"state": "do')
    (tmp_path / "run.json").write_text(json.dumps(FACTS))
    run = Run("x", tmp_path, None)
    assert latest(run).progress is None  # there are no results
    (tmp_path / "results.parquet").write_bytes(GOOD)
    found = latest(run).progress
    assert found is not None
    assert (found.state, tasks_of(found)) == ("done", "8 of 14 tasks done, 6 failed")
    # A run that was started again has not said anything yet.
    (tmp_path / "progress.json").unlink()
    assert latest(run).progress is None


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
    texts, best = text_frame(table, intervals=True)
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
    plain_texts, _ = text_frame(table, intervals=False)
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
    assert free_name("a", {}) == "a"


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
    # FLOTA's number of types is undefined in all runs: that is not a difference.
    everything = rows(["f1", "types"], ["morphemic", ""], only=True)
    assert everything == ["BPE f1", "BPE types", "FLOTA f1", "ReBPE f1"]
    same = compare_runs({"one": RESULTS, "two": RESULTS})
    assert not len(
        filtered(
            same, "one", metrics=["f1", "types"], scopes=["morphemic", ""], only_different=True
        )
    )


def test_rows_that_runs_share() -> None:
    signed = RESULTS.assign(signature=["s1", "s2", "s1", "s3"])
    runs = {"one": signed, "two": OTHER.assign(signature=["s1", "", "s4"])}
    compared = compare_runs(runs)
    there = presence(compared, runs)
    # BPE f1, BPE types, FLOTA f1, FLOTA types (undefined, but there), ReBPE f1.
    assert there["one"].tolist() == [True, True, True, True, False]
    assert there["two"].tolist() == [True, True, False, False, True]
    assert nothing_shared(compared, there) == []
    assert signatures_in(compared, runs) == ["s1", "s2", "s3", "s4"]
    assert signatures_in(compared[:1], runs) == ["s1"]


def test_why_runs_share_nothing() -> None:
    def nothing(second: pd.DataFrame) -> list[str]:
        runs = {"a": frame(row("BPE", "f1", 0.5, reference="gold list")), "b": second}
        compared = compare_runs(runs)
        return nothing_shared(compared, presence(compared, runs))

    assert nothing(
        frame(
            row("FLOTA", "f1", 0.5, reference="demo:en"), row("X", "f1", 0.5, reference="demo:en")
        )
    ) == [
        "“b” and “a” have no row in common: they differ in method (BPE / FLOTA, X) and reference "
        "(gold list / demo:en)."
    ]
    assert nothing(frame(row("BPE", "f1", 0.5, reference="gold list"))) == []
    [sentence] = nothing(frame(row("BPE", "f1", 0.5, reference="gold list", vocab_size=8000)))
    assert sentence.endswith("they differ in vocabulary size (none / 8000).")


# ------------------------------------------------------------------------------------- failed cells


def planned(folder: Path) -> list[str]:
    """A configuration of three cells in a folder; their keys."""
    from morphgraph.batch.plan import make_plan

    text = "name: x\nlanguages: [en]\ntokenisers: [{file: 'demo:en'}]\n"
    text += "methods: [standard, flota, longest]\nreferences: ['demo:en']\n"
    (folder / "configuration.yaml").write_text(text)
    plan = make_plan(text, "configuration.yaml", folder)
    return [cell.key for cell in plan.cells]


def ended(folder: Path, keys: list[str], states: list[str]) -> None:
    columns = {"key": keys, "kind": "cell", "state": states, "label": keys, "message": "no"}
    pd.DataFrame(columns).to_parquet(folder / "tasks.parquet")


def test_cells_that_failed_or_have_not_run_are_rows(tmp_path: Path) -> None:
    keys = planned(tmp_path)
    ended(tmp_path, keys, ["done", "failed", "not run"])
    assert cell_states(tmp_path) == dict(zip(keys, ["done", "failed", "not run"], strict=True))
    found = with_lost_cells(tmp_path, RESULTS[:1].assign(cell=keys[0]))
    assert list(found["method"])[:2] == ["BPE", "FLOTA"]
    assert list(found["metric"]) == ["f1", "", "not run"]
    table = make_table(found, TableSpec(title="T", rows=["method"], metrics=["f1"]))
    texts, best = text_frame(table, intervals=False)
    assert list(texts["1"]) == ["50.00", "failed", "not run"]
    assert not best.to_numpy().any()
    (tmp_path / "tasks.parquet").write_bytes(b"PAR1 broken")
    assert cell_states(tmp_path) == {}
    assert with_lost_cells(tmp_path, RESULTS) is RESULTS


def test_cells_of_another_version_are_not_told_as_not_run(tmp_path: Path) -> None:
    planned(tmp_path)
    ended(tmp_path, ["a", "b", "c"], ["done", "failed", "not run"])
    assert with_lost_cells(tmp_path, RESULTS) is RESULTS


def test_how_many_cells_are_done() -> None:
    states = {str(n): "done" if n < 7 else "not run" for n in range(18)}
    assert cells_done_text(states) == "7 of 18 cells are done; the rest has not run."
    assert cells_done_text(dict.fromkeys("ab", "done")) == ""
    assert cells_done_text({}) == ""


def test_failures_that_only_follow_from_others_are_counted() -> None:
    lines = ["tok a: cannot: be read", "cell 1: no gold", "cell 2: tok a failed: cannot: be read"]
    assert grouped_failures(lines) == [(lines[0], 1), (lines[1], 0)]
    long = "tok b: " + "x" * 493  # cut, as is what follows from it
    assert grouped_failures([long, f"cell 3: tok b failed: {'x' * 600}"[:500]]) == [(long, 1)]
    # What others failed of may not be among those that are kept.
    assert grouped_failures(lines[2:]) == [(lines[2], 0)]


def test_tables_are_made_again_when_any_file_that_they_are_made_of_changes(tmp_path: Path) -> None:
    made: list[int] = []

    def times_made() -> int:
        return int(batch_results._once("tables", tmp_path, lambda: made.append(0) or len(made)))

    (tmp_path / "results.parquet").write_bytes(b"1")
    assert times_made() == times_made() == 1
    for number, name in enumerate(("tasks.parquet", "configuration.yaml", "results.parquet")):
        (tmp_path / name).write_bytes(b"other")
        assert times_made() == times_made() == number + 2, name
    (tmp_path / "results.parquet").unlink()
    with pytest.raises(MorphGraphError, match=r"results\.parquet is gone"):
        times_made()


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
