"""On systems without some names of Unix: counting cores, and locking a file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from morphgraph.core.system import available_cores, try_lock


def test_cores_are_those_of_the_process_or_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert available_cores() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


def test_a_locked_file_is_locked_for_others_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("a") as first, path.open("a") as second:
        assert try_lock(first)
        assert not try_lock(second)
        first.close()
        assert try_lock(second)


class Windows:
    """Windows' own locking, as far as it is used: one byte, taken or not."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.taken = False

    def locking(self, _: int, mode: int, size: int) -> None:
        assert (mode, size) == (self.LK_NBLCK, 1)
        if self.taken:
            raise OSError
        self.taken = True


def test_files_are_locked_by_what_the_system_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (tmp_path / "lock").open("a") as file:
        monkeypatch.setitem(sys.modules, "msvcrt", Windows())
        assert try_lock(file)
        assert not try_lock(file)
        monkeypatch.setitem(sys.modules, "msvcrt", None)
        assert try_lock(file), "without locks, nobody else is there"


def test_evaluations_load_without_the_names_of_unix() -> None:
    code = (
        "import os, sys\n"
        "sys.modules['fcntl'] = None\n"
        "del os.sched_getaffinity\n"
        "import morphgraph.batch.tasks, morphgraph.batch.cluster\n"
        "import morphgraph.reference.catalogue\n"
        "import morphgraph.corpus.counting, morphgraph.cli\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
