"""Ctrl-C: exit code 130 and no traceback, whatever the program is in."""

import signal
import subprocess
import sys
import time

import pytest

IN_A_KERNEL = """
from numba import njit

@njit(nogil=True)
def spin(rounds):
    found = 0
    for number in range(rounds):
        found ^= number * found + 1
    return found

def work():
    spin(1)
    print("ready", flush=True)
    spin(10**12)
"""
IN_A_POOL = (
    IN_A_KERNEL
    + """
from concurrent.futures import ThreadPoolExecutor

def work():
    spin(1)
    with ThreadPoolExecutor(2) as pool:
        print("ready", flush=True)
        list(pool.map(spin, [10**12] * 2))
"""
)
IN_PYTHON = """
import time

def work():
    print("ready", flush=True)
    time.sleep(100)
"""
BY_ITSELF = """
import signal, time

def work():
    asked = []
    signal.signal(signal.SIGINT, lambda *_: asked.append(1))
    print("ready", flush=True)
    while not asked:
        time.sleep(0.1)
    time.sleep(4)
    print("done", flush=True)
"""


def ended(work, folder=None):
    """The exit code of a command that is interrupted, what it printed, and the seconds it took."""
    code = f"{work}\nfrom morphgraph import cli\ncli._run = work\ncli.main()\n"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    ) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            time.sleep(0.3)
            started = time.monotonic()
            process.send_signal(signal.SIGINT)
            printed, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, printed, errors, time.monotonic() - started


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="other signals")
@pytest.mark.parametrize("work", [IN_A_KERNEL, IN_A_POOL, IN_PYTHON], ids=["kernel", "pool", "py"])
def test_an_interrupt_ends_the_program(work):
    code, _, errors, seconds = ended(work)
    assert (code, errors) == (130, "")
    assert seconds < 30


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="other signals")
def test_a_command_that_hears_of_it_ends_by_itself():
    assert ended(BY_ITSELF)[:3] == (0, "done\n", "")
