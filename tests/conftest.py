"""Fixtures for all tests: the real data folder, and the command.

The modules beside this file, such as `oracles` and `small`, can be imported by every test.
"""

import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# The app's modules too, which are not part of the installed library; both before anybody asks for
# `web`, which tests/web would else pass for.
sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).resolve().parent.parent))

import refusals
import reruns
from command import Run
from effort import few_words, share_of  # noqa: F401

# Kernels are used for few words too where no test says otherwise (see test_quick_to_start).
import morphgraph.kernels.segmenting
from morphgraph import cli

# Tests neither see nor touch the edits and downloads that the app keeps for its user, nor those of
# another process of theirs: each that imports this has folders of its own while it runs.
_folder = tempfile.TemporaryDirectory(prefix="morphgraph-tests-", ignore_cleanup_errors=True)
os.environ["MORPHGRAPH_STATE"] = str(Path(_folder.name, "state"))
os.environ["MORPHGRAPH_CACHE"] = str(Path(_folder.name, "cache"))

PROJECT = Path(__file__).resolve().parent.parent

# The background of a shell ignores Ctrl-C, and so would every program that a test starts there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Compiling a kernel, or a busy machine, is no failure.
settings.register_profile("morphgraph", deadline=None, max_examples=share_of(200, 10))
settings.load_profile("morphgraph")


@pytest.fixture(autouse=True)
def running(request):
    """What a refusal is told of: the test that has it."""
    refusals.running[:] = [request.node]
    if refusals.IS_WRITING:
        refusals.tell_cases(request.node)


def pytest_terminal_summary(terminalreporter):
    """List the tests that ran again; write down what was said, if that is asked for."""
    reruns.pytest_terminal_summary(terminalreporter)
    if refusals.IS_WRITING:
        refusals.write(terminalreporter.getreports("passed"))


@pytest.fixture(autouse=True)
def own_main():
    """A page that a test has run does not stay behind as the program, which new processes run."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


def pytest_collection_modifyitems(config, items):
    """Mark the tests that need the public data, by this fixture, and those that may run again."""
    reruns.pytest_collection_modifyitems(items)
    if not any("[" in argument for argument in config.args):
        refusals.collected[:] = [each.nodeid for each in items]
    for item in items:
        if "data_folder" in getattr(item, "fixturenames", ()):
            item.add_marker("data")


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch):
    """The library finds no reference there that a test did not ask for."""
    monkeypatch.delenv("MORPHGRAPH_DATA", raising=False)


@pytest.fixture(scope="session")
def data_folder():
    """The folder of public data that is not part of the project; the test is skipped without it."""
    folder = Path(os.environ.get("MORPHGRAPH_DATA", "../shared/data"))
    folder = folder if folder.is_absolute() else PROJECT / folder
    if not folder.is_dir():
        pytest.skip("there is no folder of public data; name it in MORPHGRAPH_DATA")
    return folder


@pytest.fixture
def morphgraph(monkeypatch, capfd):
    """Run the command in this process."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["morphgraph", *map(str, arguments)])
        capfd.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Run(code, *capfd.readouterr())

    return run
