"""A run that is killed, or whose workers are, ends with the very rows of an undisturbed one."""

import os
import random
import signal
import time

import psutil
import pytest
from effort import share_of
from pandas.testing import assert_frame_equal
from pyarrow import parquet
from sixty_cells import CELLS, SIXTY, results, start

import morphgraph as mg

pytestmark = pytest.mark.kills

KILLS = share_of(10, 1)
PATIENCE = 300


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The rows of a run that nobody disturbs, and the seconds that it takes."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    (folder.parent / "sixty.yaml").write_text(SIXTY)
    began = time.monotonic()
    assert not mg.evaluate(folder.parent / "sixty.yaml", folder, workers=1).failures
    found = results(folder)
    assert found["cell"].nunique() == CELLS
    assert len(found) == CELLS * (3 + 2)  # precision, recall, F1; how many types and merges
    return found, time.monotonic() - began


def test_a_runner_killed_at_several_moments(undisturbed, tmp_path):
    expected, _ = undisturbed
    folder = tmp_path / "run"
    moments = random.Random(20261121)
    done = []
    for least in sorted(moments.sample(range(1, CELLS * 2 // 3 + 1), KILLS)):
        run = start(folder)
        while len(list((folder / "store").glob("*.parquet"))) < least:
            assert run.poll() is None
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGKILL) if moments.random() < 0.5 else run.kill()
        run.wait()
        kept = list((folder / "store").glob("*.parquet"))
        for path in kept:  # whatever has its name is whole
            parquet.read_table(path)
        done.append(len(kept))
    assert done == sorted(done), "nothing that was done is lost"
    run = start(folder)
    said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, said.decode()
    assert_frame_equal(results(folder), expected)
    assert not list(folder.rglob(".partial-*"))


def test_workers_killed_at_several_moments(undisturbed, tmp_path):
    expected, seconds = undisturbed
    folder = tmp_path / "run"
    moments = random.Random(11)
    killed = 0
    starts = 0
    while killed < KILLS:  # a run may be over before enough are killed: then another one
        run = start(folder)
        starts += 1
        while killed < KILLS and run.poll() is None:
            time.sleep(moments.uniform(0.05, 0.25) * seconds)
            workers = _workers(run.pid)
            if workers:
                moments.choice(workers).kill()
                killed += 1
        said, _ = run.communicate(timeout=PATIENCE)
        # A task whose workers died too often failed, or the workers died before there was any
        # task: the next start does it again.
        early = b"could not be started on this machine" in said
        assert run.returncode in ((2,) if early else (0, 1)), said.decode()
        if killed < KILLS and run.returncode == 0:
            folder = tmp_path / f"run{starts}"
    if run.returncode:
        run = start(folder)
        said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, said.decode()
    assert_frame_equal(results(folder), expected)


def _workers(runner):
    """The worker processes of a runner."""
    found = []
    try:
        for process in psutil.Process(runner).children(recursive=True):
            command = " ".join(process.cmdline())
            if "spawn_main" in command:
                found.append(process)
    except psutil.Error:
        return []
    return found
