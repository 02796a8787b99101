"""``morphgraph evaluate``: what it prints, what it leaves, and how it fails."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from effort import one_of
from pandas.testing import assert_frame_equal
from sixty_cells import TINY, evaluate

import morphgraph as mg


@pytest.fixture
def tiny(folder):
    return folder / "tiny.yaml"


@pytest.mark.slow
def test_a_run_leaves_all_that_it_promises_and_is_a_call(morphgraph, tiny, tmp_path):
    out = tmp_path / "run"
    run = evaluate(tiny, "--out", out, "--workers", 1)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"done: 3 of 3 tasks; the report is {out / 'report.html'}\n"
    assert run.stderr.splitlines()[-1] == "done: 3 of 3 tasks"
    left = "configuration.yaml progress.json report.html report.md results.json results.parquet"
    left += " run.log store tables"
    assert {path.name for path in out.iterdir()} >= {*left.split()}
    assert (out / "configuration.yaml").read_text() == TINY
    assert list((out / "tables").glob("*.tex"))
    ran = json.loads((out / "results.json").read_text())["run"]
    assert ran["command"][:2] == ["morphgraph", "evaluate"]
    assert re.fullmatch("[0-9a-f]{12}", ran["code"])
    assert ran["versions"]["python"].startswith("3.")
    # It is a call, and goes on where it was.
    first = (out / "results.parquet").read_bytes()
    again = morphgraph("evaluate", tiny, "--out", out, "--json")
    assert "3 done before" in again.err
    assert (out / "results.parquet").read_bytes() == first
    outcome = mg.evaluate(tiny, tmp_path / "own", workers=1)
    assert again.json == {**outcome.to_dict(), "folder": str(out)}
    assert_frame_equal(mg.evaluate(tiny, out).to_frame(), outcome.to_frame())
    outcome.save(tmp_path / "table.csv")
    table = outcome.folder / "tables" / "scores.csv"
    assert (tmp_path / "table.csv").read_bytes() == table.read_bytes()
    assert str(outcome).startswith("done: 3 of 3 tasks")


@pytest.mark.soak
def test_a_failed_cell_is_told_and_stops_no_other(tmp_path):
    (tmp_path / "types.txt").write_text("un\nkind\nness\nu\nn\nk\ni\nd\ne\ns\n")
    configuration = tmp_path / "odd.yaml"
    text = TINY.replace("demo:en", "types.txt", 1).replace("dropout(p=0.1)", "rebpe")
    configuration.write_text(text)
    out = tmp_path / "run"
    run = evaluate(configuration, "--out", out, "--workers", 1)
    assert run.returncode == 1
    failure = "rebpe needs a tokeniser"
    for said in (run.stdout, *((out / f"report.{kind}").read_text() for kind in ("html", "md"))):
        assert failure in said
    assert "Traceback (most recent call last)" in (out / "run.log").read_text()
    assert set(pd.read_parquet(out / "results.parquet")["method"]) == {"as it is"}


def test_what_ships_has_a_name(morphgraph, folder):
    listed = morphgraph("evaluate", "--list")
    assert listed.code == 0
    names = [line.split()[0] for line in listed.out.splitlines()[1:-1]]
    assert names[0] == "demo"
    assert "methods" in names
    (folder / "demo").mkdir()  # a folder is no configuration
    run = morphgraph("evaluate", "demo", "--dry-run")
    assert run.code == 0
    assert "15 cells" in run.out
    (folder / "demo").rmdir()
    (folder / "demo").write_text(TINY)  # a file of that name comes first
    assert "2 cells" in morphgraph("evaluate", "demo", "--dry-run").out


def test_schema_and_plan_run_nothing(morphgraph, tiny, tmp_path):
    assert json.loads(morphgraph("evaluate", "--schema").out)["title"] == "Evaluation"
    run = morphgraph("evaluate", tiny, "--dry-run", "--workers", 1)
    assert run.code == 0
    assert "2 cells" in run.out
    assert not list(tmp_path.glob("run*"))


def assert_no_room(tiny, out):
    run = evaluate(tiny, "--out", out, "--workers", 1)
    assert run.returncode == 2
    assert "no space left on device. Make room there and try again" in run.stderr
    assert "Traceback" not in run.stderr
    assert not list(out.rglob(".partial-*"))


@pytest.mark.soak
def test_a_full_disk_is_told_and_the_run_goes_on_later(tiny, small_disk):
    filling = small_disk / "filling"
    filling.write_bytes(bytes(340_000))
    out = small_disk / "run"
    assert_no_room(tiny, out)
    subprocess.run(["mount", "-o", "remount,size=40m", str(small_disk)], check=True)
    run = evaluate(tiny, "--out", out, "--workers", 1)
    assert run.returncode == 0, run.stderr
    assert pd.read_parquet(out / "results.parquet")["cell"].nunique() == 2
    # Another run in its place, with no room: what was there can still be read as a whole.
    before = {path: path.read_bytes() for path in [*out.glob("re*.*"), *out.rglob("tables/*")]}
    filling.write_bytes(bytes(shutil.disk_usage(small_disk).free + 340_000 - 8192))
    tiny.write_text(TINY.replace("dropout(p=0.1)", "flota"))
    run = evaluate(tiny, "--out", out, "--workers", 1)
    assert (run.returncode, "Traceback" in run.stderr) == (2, False)
    assert before == {path: path.read_bytes() for path in before}


@pytest.mark.slow
@pytest.mark.parametrize("left", one_of(0, 8192))
def test_a_disk_that_is_full_from_the_start(tiny, small_disk, left):
    """Whatever is the first that cannot be written: it is one message, and no traceback."""
    out = small_disk / "run"
    (small_disk / "filling").write_bytes(bytes(400 * 1024 - left))
    assert_no_room(tiny, out)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_on_a_full_disk():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "morphgraph", "evaluate", "--list"]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert run.returncode == 2
        assert run.stderr == (
            "morphgraph: the output cannot be written: no space left. "
            "Make room, and run it again.\n"
        )
        # What is told of the progress is no reason to end.
        code = "from morphgraph.cli.output import print_message as p; p('a'); p('b'); print('done')"
        command = [sys.executable, "-c", code]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
        assert (run.returncode, run.stdout) == (0, "done\n")


@pytest.mark.soak
def test_a_scheduler_that_is_lost_on_the_way(tmp_path):
    rates = ", ".join(f"{number / 1000:g}" for number in range(1, 400))
    long = tmp_path / "long.yaml"
    long.write_text(TINY.replace("dropout(p=0.1)", f"{{method: dropout, p: [{rates}]}}"))
    address = tmp_path / "scheduler.json"
    places = ["--scheduler-file", str(address)]
    options = {
        "dask_scheduler": ["--port", "0", "--no-dashboard"],
        "dask_worker": ["--nthreads", "1", "--no-nanny", "--no-dashboard"],
    }
    scheduler, worker = (
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *places, *more],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, more in options.items()
    )
    try:
        out = tmp_path / "run"
        for _ in range(300):
            if address.exists():
                break
            time.sleep(0.1)
        command = [sys.executable, "-m", "morphgraph", "evaluate", long, "--out", out]
        run = subprocess.Popen(
            [*map(str, command), "--scheduler", str(address)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        while len(list((out / "store").glob("*.parquet"))) < 3:
            assert run.poll() is None, run.communicate()[0]
            time.sleep(0.05)
        scheduler.kill()
        said, _ = run.communicate(timeout=120)
        assert run.returncode == 2, said
        assert "The connection to the scheduler was lost. Start the same command again" in said
        assert "Traceback" not in said
        assert json.loads((out / "progress.json").read_text())["state"] == "failed"
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


@pytest.mark.kills
def test_interrupted_it_stops_and_goes_on(tiny, tmp_path):
    rates = ", ".join(f"{number / 1000:g}" for number in range(1, 25))
    tiny.write_text(TINY.replace("dropout(p=0.1)", f"{{method: dropout, p: [{rates}]}}"))
    out = tmp_path / "run"
    command = [sys.executable, "-m", "morphgraph", "evaluate", str(tiny), "--out", str(out)]
    run = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    while len(list((out / "store").glob("*.parquet"))) < 3:
        assert run.poll() is None
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does, to the workers as well
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 130, said
    assert "stopping; press Ctrl-C again to end at once" in said
    assert "Traceback" not in said
    assert not (out / "stop").exists()
    assert evaluate(tiny, "--out", out, "--workers", 1).returncode == 0
    assert pd.read_parquet(out / "results.parquet")["cell"].nunique() == 25
