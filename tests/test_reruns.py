"""A browser test that fails runs once more and is listed; no other test does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CASES = """
from pathlib import Path
import pytest

def passes_from(time, name):
    runs = Path(name)
    runs.write_text(runs.read_text() + "." if runs.exists() else ".")
    assert len(runs.read_text()) >= time, f"{name} is late"

@pytest.mark.browser
def test_late(): passes_from(2, "late")

@pytest.mark.browser
def test_too_late(): passes_from(3, "too late")

@pytest.mark.browser
def test_in_time(): passes_from(1, "in time")

@pytest.fixture
def page():
    yield
    passes_from(2, "page")

@pytest.mark.browser
def test_a_page_with_a_problem(page): pass

def test_without_browser(): passes_from(2, "without")

@pytest.mark.slow
def test_another_mark(): passes_from(2, "other")
"""


@pytest.mark.parametrize("how", [(), ("-n", "2", "--dist", "loadfile")], ids=["alone", "shared"])
def test_a_browser_test_runs_once_more(how: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(CASES)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n browser: x\n slow: x\n")
    variables = {name: os.environ[name] for name in os.environ if not name.startswith("PYTEST_")}
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "reruns", "-p", "no:cacheprovider", *how],
        cwd=tmp_path,
        env={**variables, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = found.stdout.splitlines()
    runs = {
        path.name: len(path.read_text())
        for path in tmp_path.iterdir()
        if path.is_file() and not path.suffix
    }
    assert runs == {"late": 2, "too late": 2, "in time": 1, "page": 2, "without": 1, "other": 1}
    assert "3 failed" in said[-1] and "4 passed" in said[-1] and "3 rerun" in said[-1]
    (head,) = (number for number, line in enumerate(said) if "warning: 3 run again" in line)
    assert sorted(said[head + 1 : head + 4]) == [
        "test_cases.py::test_a_page_with_a_problem (teardown): AssertionError: page is late",
        "test_cases.py::test_late (call): AssertionError: late is late",
        "test_cases.py::test_too_late (call): AssertionError: too late is late",
    ]
