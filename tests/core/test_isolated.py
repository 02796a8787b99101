"""In a process of its own: what comes back, what is refused, and what ends the process.

The readers are functions of this module, which the other process imports by its name.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from morphgraph.core import isolated
from morphgraph.core.errors import FileFormatError, NoMergesError
from morphgraph.core.isolated import VISITOR, read_isolated

pytestmark = pytest.mark.slow

FOLDER = str(Path(__file__).parent)
VALUES = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.fixture(autouse=True, scope="module")
def readers():
    """This module can be imported by its own name, there too; processes start with that."""
    sys.path.append(FOLDER)
    isolated._idle.clear()
    yield
    sys.path.remove(FOLDER)
    isolated._idle.clear()


def there(function):
    function.__module__ = Path(__file__).stem
    return function


@there
def echo(data, name):
    return data, name, os.getpid()


@there
def content(path, name):
    return Path(path).read_text()


@there
def noisy(data, name):
    print("to standard output", flush=True)
    os.write(1, b"and beneath it")
    return {}


@there
def wrong(data, name):
    raise NoMergesError(name, "line 3", "“ä” is wrong", "Correct it.", quotes=False)


@there
def fails(data, name):
    raise KeyboardInterrupt("no arrays")


@there
def fills(data, name):
    kept = []
    while True:
        kept.append(np.ones(10_000_000, np.uint8))
        time.sleep(0.001)


@there
def asks_for_much(data, name):
    return bytes(10**11)


@there
def returns_much(data, name):
    return np.zeros(int(data), np.uint8)


@there
def spins(data, name):
    while True:
        pass


@there
def ends(data, name):
    os.abort()


@there
def ends_somewhere(data, name):
    for place in ("line 1,000", "line 2"):
        isolated.report_place(place)
    os.abort()


@there
def waits(data, name):
    begun = time.time()
    time.sleep(0.3)
    return begun, time.time()


@there
def surroundings(data, name):
    return sys.path, os.getsid(0), os.getpid()


def number_of_process():
    return read_isolated(echo, b"", "x")[2]


def test_a_path_is_of_the_present_folder(tmp_path, monkeypatch):
    """Also in a process that has read from another one."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.txt").write_text(name)
        monkeypatch.chdir(tmp_path / name)
        assert read_isolated(content, Path("file.txt"), "file.txt") == name


@given(VALUES)
def test_plain_values_come_back_and_the_process_is_kept(value):
    found, name, process = read_isolated(echo, value, "näme.x")
    assert (found, name) == (value, "näme.x")
    assert process != os.getpid()
    assert number_of_process() == number_of_process() == process


def test_what_is_printed_there_is_no_answer():
    assert read_isolated(noisy, b"", "x") == {}
    assert read_isolated(echo, b"", "x")[1] == "x"


def test_it_imports_what_this_process_would_and_leads_a_session_of_its_own():
    its_path, session, process = read_isolated(surroundings, b"", "x")
    own, its = (
        list(dict.fromkeys(path for path in paths if path and Path(path).exists()))
        for paths in (sys.path, its_path)
    )
    assert its == own
    assert session == process


def test_errors_of_a_file_are_as_they_were():
    with pytest.raises(NoMergesError) as found:
        read_isolated(wrong, b"", "a.x")
    error = found.value
    assert (error.file, error.place, error.problem) == ("a.x", "line 3", "“ä” is wrong")
    assert (error.fix, error.quotes) == ("Correct it.", False)


def test_other_errors_are_those_of_a_file_too():
    with refused(FileFormatError):
        read_isolated(fails, b"", "a.x")


@pytest.mark.parametrize("reader", [fills, asks_for_much])
def test_what_fills_the_memory_is_ended(monkeypatch, reader):
    monkeypatch.setenv("MORPHGRAPH_MAX_READING_MEMORY", "400000000")
    with refused(FileFormatError):
        read_isolated(reader, b"", "a.x")
    assert number_of_process()


def test_what_takes_long_is_ended(monkeypatch):
    before = number_of_process()
    monkeypatch.setenv("MORPHGRAPH_MAX_READING_SECONDS", "1")
    with refused(FileFormatError):
        read_isolated(spins, b"", "a.x")
    assert not psutil.pid_exists(before) and number_of_process() != before


def test_the_last_place_it_said_is_named():
    with refused(FileFormatError):
        read_isolated(ends_somewhere, b"", "a.x")
    with refused(FileFormatError):
        read_isolated(ends, b"", "a.x")


def test_a_large_answer_is_refused_before_it_is_held(monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_MAX_TEXT_MEMORY", "10000")
    assert read_isolated(returns_much, b"9000", "x") == bytes(9000)
    with refused(FileFormatError):
        read_isolated(returns_much, b"10000", "x")


def test_a_process_that_has_ended_is_not_asked():
    process = number_of_process()
    os.kill(process, signal.SIGKILL)
    while psutil.Process(process).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert number_of_process() != process


def test_one_file_at_a_time_for_each_visitor():
    def spans(visitors):
        found = []

        def read(visitor):
            VISITOR.set(visitor)
            found.append(read_isolated(waits, b"", "x"))

        threads = [threading.Thread(target=read, args=(each,)) for each in visitors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(found)

    spans("ab")  # both processes have started
    (_, first_end), (second_start, _) = spans("aa")
    assert second_start >= first_end
    (_, first_end), (second_start, _) = spans("ab")
    assert second_start < first_end
    assert len(isolated._idle) == 2


INTERRUPTED = """
import sys
sys.path += [{folder!r}, {folder!r} + "/.."]
import test_isolated
from morphgraph.core.isolated import read_isolated
print(test_isolated.number_of_process(), flush=True)
read_isolated(test_isolated.spins, b"", "x")
"""


def test_an_interrupt_ends_it():
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(folder=FOLDER)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "MORPHGRAPH_MAX_READING_SECONDS": "600"},
        text=True,
    ) as process:
        number = int(process.stdout.readline())
        time.sleep(1)
        assert [child.pid for child in psutil.Process(process.pid).children()] == [number]
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.stderr.read()
        assert time.monotonic() - start < 60
    assert not psutil.pid_exists(number)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
def test_a_fork_asks_a_process_of_its_own():
    before = number_of_process()
    reading, writing = os.pipe()
    if not (fork := os.fork()):
        os.write(writing, str(number_of_process()).encode())
        os._exit(0)
    os.waitpid(fork, 0)
    assert int(os.read(reading, 100)) != before
    assert number_of_process() == before


SCRIPT = """
import os, psutil
from morphgraph.reference.readers import read_reference
try:
    read_reference(b"PK\\x03\\x04", format="morpholex")
except Exception as error:
    assert "damaged" in str(error), error
print(psutil.Process().children()[0].pid, flush=True)
os._exit(0)
"""
"""As in a notebook: nothing asks whether it is __main__."""


def test_it_ends_with_the_process_that_asked(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    process = int(ran.stdout)
    for _ in range(100):
        if not psutil.pid_exists(process):
            return
        time.sleep(0.05)
    pytest.fail("it goes on")


def test_reading_text_starts_no_process():
    code = (
        "import sys, psutil\n"
        "from morphgraph.reference.readers import read_reference\n"
        "read_reference(b'undo\\tun do')\n"
        "print(len(psutil.Process().children()), 'openpyxl' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["0", "False"]
