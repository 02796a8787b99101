"""Kernels are compiled at their first use: this is said, once, and changes no output."""

import os
import subprocess
import sys

import numpy as np
import pytest
from effort import one_of

from morphgraph.kernels import calls, resampling

pytestmark = pytest.mark.slow


def run(code, cache, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.soak
def test_the_first_use_says_so_and_the_second_does_not(tmp_path):
    gold = tmp_path / "gold.tsv"
    letters = "abcdefghijklmnop"
    words = [a + b + c + "ing" for a in letters for b in letters for c in letters]
    gold.write_text("".join(f"{word}\t{word[:3]} ing\n" for word in words))
    command = ["score", "demo:en", str(gold), "--json"]
    code = "from morphgraph.cli import main; main()"
    first, second = (run(code, tmp_path / "cache", *command) for _ in range(2))
    assert first.stderr == f"preparing {len(calls.SCORES)} kernels, once\n"
    assert second.stderr == ""
    assert '"f1"' in first.stdout and first.stdout == second.stdout


DRAW = """
import sys
import numpy as np
from numba.core.caching import CacheImpl
from morphgraph.kernels import compiling
{}
from morphgraph.kernels import calls, resampling
calls.TOGETHER[:] = [(calls.draw_counts, calls.draw_signs)]
for draw in resampling.draw_counts, resampling.draw_signs:
    drawn = np.empty((2, 3))
    draw(0, 0, drawn)
    print(drawn.tolist())
"""


NOWHERE = "CacheImpl._locator_classes = []"
"""Nothing can be written: neither there, nor beside the kernels, nor at home."""


@pytest.mark.parametrize(
    "before",
    [
        # A copy of the process dies at once, cannot be made, or there is none; another thread might
        # hold a lock; there is no folder to keep them in.
        *one_of(
            "import os; fork = os.fork; os.fork = lambda: fork() or os._exit(1)",
            "",
            "import os; os.fork = lambda: os.stat('/nowhere')",
            "import os; del os.fork",
            "from threading import *; Thread(target=main_thread().join).start()",
            NOWHERE,
        ),
    ],
)
def test_they_are_compiled_whatever_happens(before, tmp_path):
    is_kept = before != NOWHERE
    there = run(DRAW.format(before), tmp_path)
    said = "2 kernels, once\n" if is_kept else "kernels, each time: name a folder"
    assert there.stderr.startswith(f"preparing {said}") and there.stderr.count("\n") == 1
    again = run(DRAW.format(before), tmp_path)
    assert again.stderr == ("" if is_kept else there.stderr)
    expected = ""
    for draw in resampling.draw_counts, resampling.draw_signs:
        drawn = np.empty((2, 3))
        draw(0, 0, drawn)
        expected += f"{drawn.tolist()}\n"
    assert there.stdout == again.stdout == expected


def test_a_folder_that_cannot_be_made_is_replaced(tmp_path):
    (tmp_path / "file").write_text("")
    found = run(DRAW.format(""), tmp_path / "file" / "cache")
    assert len(found.stdout.splitlines()) == 2
