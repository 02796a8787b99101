"""Running tasks: what is kept is not done again, and a failure stops only what needs it."""

from pathlib import Path

import pyarrow as pa
import pytest
from distributed import Client
from refusals import refused

from morphgraph.batch.cluster import Schedule
from morphgraph.batch.run import ProgressFile, RunProgress, read_progress, run_tasks
from morphgraph.batch.store import Store, Task, code_version, has_runner, run_task
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.plugins import installed


def double(spec, needs):
    """Twice a number, plus what was brought; notes that it was done."""
    with Path(spec["log"]).open("a") as log:
        log.write(f"{spec['number']}\n")
    before = sum(table["value"][0].as_py() for table in needs)
    return pa.table({"value": [2 * spec["number"] + before]})


def broken(spec, _):
    """Always fails."""
    raise MorphGraphError(f"number {spec['number']} is odd. Give an even one.")


def task(number, folder, needs=(), *, kind="cell", work=double):
    spec = {"number": number, "log": str(folder / "log")}
    return Task(kind, f"task {number}", work, spec, needs)


@pytest.fixture(scope="module")
def client():
    with Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as found:
        yield found


def run(tasks, folder, client):
    with Store(folder) as store:
        return run_tasks(tasks, store, client, ProgressFile(folder, RunProgress("starting")))


def done(folder):
    """The numbers of the tasks that were done, and the log is forgotten."""
    log = folder / "log"
    found = sorted(map(int, log.read_text().split())) if log.exists() else []
    log.unlink(missing_ok=True)
    return found


def test_results_are_kept_and_not_made_again(tmp_path, client):
    first = task(1, tmp_path, kind="tokeniser")
    tasks = [first, task(2, tmp_path, (first.key,)), task(3, tmp_path, (first.key,))]
    outcome = run(tasks, tmp_path, client)
    assert [report.state for report in outcome.reports] == ["done"] * 3
    assert done(tmp_path) == [1, 2, 3]
    with Store(tmp_path) as store:
        table = store.read(tasks[1].key)
        assert table["value"].to_pylist() == [2 * 2 + 2 * 1]
    assert not any(report.from_store for report in outcome.reports)

    outcome = run(tasks, tmp_path, None)  # nothing is missing, so nothing is needed
    assert done(tmp_path) == []
    assert all(report.from_store for report in outcome.reports)

    # One cell changes: it alone is made, from what is kept.
    tasks[2] = task(4, tmp_path, (first.key,))
    run(tasks, tmp_path, client)
    assert done(tmp_path) == [4]


def test_what_only_finished_cells_need_is_not_made(tmp_path, client):
    first = task(1, tmp_path, kind="tokeniser")
    cell = task(2, tmp_path, (first.key,))
    run([first, cell], tmp_path, client)
    with Store(tmp_path) as store:
        store.path(first.key).unlink()
        assert Schedule([first, cell], store, None).missing == []
        store.path(cell.key).unlink()
        assert Schedule([first, cell], store, None).missing == [first, cell]


def test_a_failure_stops_only_what_needs_it(tmp_path, client):
    bad = task(1, tmp_path, kind="tokeniser", work=broken)
    tasks = [bad, task(2, tmp_path, (bad.key,)), task(3, tmp_path)]
    outcome = run(tasks, tmp_path, client)
    assert [report.state for report in outcome.reports] == ["failed", "failed", "done"]
    messages = {failure.label: failure.message for failure in outcome.failures}
    assert messages == {
        "task 1": "number 1 is odd. Give an even one.",
        "task 2": "task 1 failed: number 1 is odd. Give an even one.",
    }
    assert "in broken" in outcome.failures[0].traceback + outcome.failures[1].traceback
    progress = read_progress(tmp_path)
    assert (progress.total, progress.done, progress.failed) == (3, 1, 2)
    # The next start tries what failed once more, and only that.
    assert done(tmp_path) == [3]
    run(tasks, tmp_path, client)
    assert done(tmp_path) == []


def test_a_worker_with_other_code_is_a_failure(tmp_path):
    brought = run_task(task(1, tmp_path), "othercode123")
    assert "Install the same version" in brought.failure.message
    assert run_task(task(1, tmp_path), code_version()).failure is None


def test_what_a_plug_in_computes_is_done_again_when_its_code_changes(tmp_path, monkeypatch):
    about = tmp_path / "others-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[morphgraph.methods]\nown = method_of_others:OWN\n")
    code = tmp_path / "method_of_others.py"
    code.write_text("OWN = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    installed.cache_clear()
    try:
        before = code_version.__wrapped__()
        assert before == code_version.__wrapped__()
        code.write_text("OWN = 2\n")
        assert before != code_version.__wrapped__()
    finally:
        installed.cache_clear()


def test_keys_depend_on_all_inputs_but_not_on_where_files_lie():
    def key(spec, *needs, kind="cell", **columns):
        return Task(kind, "a task", double, spec, needs, columns=columns).key

    keys = {
        key({"p": 0.1}),
        key({"p": 0.2}),
        key({"p": 0.1}, kind="tokeniser"),
        key({"p": 0.1}, "a"),
        key({"p": 0.1}, "b"),
        key({"p": 0.1}, method="BPE"),
    }
    assert len(keys) == 6
    assert key({"p": 0.1, "q": 1}) == key({"q": 1, "p": 0.1})
    parts = [{"parts": [{"path": path, "content": "c"}]} for path in ("here", "there")]
    assert key(parts[0]) == key(parts[1])


def test_a_lock_goes_with_its_runner(tmp_path):
    assert not has_runner(tmp_path / "nowhere")
    with Store(tmp_path):
        assert has_runner(tmp_path)
        with refused():
            Store(tmp_path).__enter__()
    assert not has_runner(tmp_path)


def test_a_damaged_result_counts_as_missing(tmp_path, client):
    cell = task(1, tmp_path)
    run([cell], tmp_path, client)
    done(tmp_path)
    with Store(tmp_path) as store:
        whole = store.path(cell.key).read_bytes()
        middle = whole[:10] + bytes(20) + whole[30:]
        for damaged in (whole[: len(whole) // 2], b"", middle):
            store.path(cell.key).write_bytes(damaged)
            assert store.read(cell.key) is None
    leftover = store.path(cell.key).with_name(".partial-abc")  # of a write that was cut off
    leftover.write_bytes(b"PAR1 half")
    run([cell], tmp_path, client)
    assert done(tmp_path) == [1] and not leftover.exists()
