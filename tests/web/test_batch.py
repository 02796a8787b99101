"""Evaluations before and after they are run: what is wrong with a file, and what a run left."""

import pytest

from morphgraph.batch.run import Run, RunProgress
from web import batch
from web.widgets import unique_name


@pytest.mark.parametrize(
    "text", ["", "name: [", "- 1\n- 2", "a: &a [*a]", "name: !!python/object:os.system x", "\x00"]
)
def test_text_that_is_none_is_an_error_not_a_crash(text, tmp_path):
    wrong = batch.check_text(text, "x.yaml", tmp_path)
    assert isinstance(wrong, str) and wrong.startswith("x.yaml")


def test_names_of_runs_are_free_and_never_too_long():
    long = "x" * 80
    assert unique_name(long, [long]) == "x" * 74 + "-2"
    assert len(unique_name(long, [long, "x" * 74 + "-2"])) <= 80


def test_the_state_of_a_run(tmp_path):
    def state(progress):
        return batch.state_of(Run("x", tmp_path, progress))

    assert state(RunProgress("running")) == "running"
    assert state(RunProgress("<b>")) == "failed"
    assert state(None) == "never"
    (tmp_path / "console.log").write_bytes(b"")
    assert state(None) == "beginning"
    (tmp_path / "console.log").write_text("it said no")
    assert state(None) == "never"
    assert not batch.is_over(Run("x", tmp_path, RunProgress("running")))
    assert batch.is_over(Run("x", tmp_path, RunProgress("interrupted")))


def test_what_a_run_said_is_shown_without_its_traceback():
    said = "Traceback (most recent call last):\n" + '  File "x.py", line 1\n' * 50 + "OSError: no"
    assert batch.visible_lines(said) == "OSError: no"
    assert batch.visible_lines("a\n\n\x1b[31mb\n") == "a\n\\x1b[31mb"
    lines = [str(number) for number in range(99)]
    assert batch.visible_lines("\n".join(lines)).split("\n") == lines[-12:]
