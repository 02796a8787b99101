"""A run that is killed, or whose workers are, ends with the very rows of an undisturbed one."""

import os
import random
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
from effort import share_of
from pandas.testing import assert_frame_equal
from pyarrow import parquet
from sixty_cells import results, start

pytestmark = pytest.mark.kills

KILLS = share_of(10, 1)
PATIENCE = 300


@pytest.fixture(scope="module")
def undisturbed_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run that nobody disturbs leaves its results."""
    return tmp_path_factory.mktemp("undisturbed") / "run"


@pytest.fixture(scope="module")
def undisturbed(undisturbed_folder: Path) -> tuple[pd.DataFrame, float]:
    """The rows of a run that nobody disturbs, and the seconds that it takes."""
    folder = undisturbed_folder
    began = time.monotonic()
    run = start(folder)
    said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, said.decode()
    found = results(folder)
    assert found["cell"].nunique() == 60
    assert len(found) == 60 * (3 + 2)  # precision, recall, F1; how many types and merges
    return found, time.monotonic() - began


def test_a_runner_killed_at_several_moments(
    undisturbed: tuple[pd.DataFrame, float], tmp_path: Path
) -> None:
    expected, seconds = undisturbed
    folder = tmp_path / "run"
    moments = random.Random(20261121)
    done = []
    for _ in range(KILLS):
        run = start(folder)
        time.sleep(moments.uniform(0.3, 0.8) * seconds)
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
