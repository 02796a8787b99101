"""Commands of other distributions are listed apart, and run as ours."""

import re
import sys
from importlib.metadata import EntryPoints

import pytest
from command import OWN_COMMANDS

import morphgraph as mg
from morphgraph import cli
from morphgraph.core import plugins

ENTRY_POINTS = """[morphgraph.commands]
greet = greeting_of_others:greet
broken = no_such_module:BROKEN
score = greeting_of_others:greet
[morphgraph.namespaces]
greeting = greeting_of_others
"""
CODE = '''
def greet(name: str) -> None:
    """Greet somebody."""
    print(f"Hello {name}")
'''


@pytest.fixture(autouse=True)
def others(tmp_path, monkeypatch):
    about = tmp_path / "others-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "greeting_of_others.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield
    forget()
    sys.modules.pop("greeting_of_others", None)


def forget():
    plugins.installed.cache_clear()
    vars(cli.COMMANDS).pop("_known", None)


def test_a_command_is_run_and_listed_after_ours(morphgraph):
    run = morphgraph("--help")
    assert run.code == 0
    listed = re.findall(r"^  ([a-z]+)  +[A-Z]", run.out, re.MULTILINE)
    ours, theirs = listed[: len(OWN_COMMANDS)], listed[len(OWN_COMMANDS) :]
    assert sorted(OWN_COMMANDS) == ours and "greet" in theirs and "broken" not in theirs
    assert "Greet somebody." in run.out
    for left_out in ("score = greeting_of_others:greet", "broken = no_such_module:BROKEN"):
        assert run.err.count(left_out) == 1
    assert morphgraph("greet", "you").out == "Hello you\n"


def test_ours_load_no_plug_in(morphgraph):
    assert morphgraph("segment", "demo:en", "undesirable").code == 0
    assert "greeting_of_others" not in sys.modules


def test_a_command_that_cannot_be_imported_says_why(morphgraph):
    run = morphgraph("broken")
    assert run.code == 2 and "No module named" in run.err and "No such command" not in run.err


def test_a_namespace_is_an_attribute(monkeypatch):
    assert callable(mg.greeting.greet)
    assert "greeting" in dir(mg)
    with monkeypatch.context() as patch:
        patch.setattr(plugins, "installed", EntryPoints)
        with pytest.raises(AttributeError, match=r"pip install 'morphgraph\[models\]'"):
            mg.models  # noqa: B018
        with pytest.raises(AttributeError, match=r"no attribute 'greeting'$"):
            mg.greeting  # noqa: B018
