"""What other distributions add is there, and what is broken is named and left out."""

from importlib.metadata import EntryPoints
from pathlib import Path

import pytest
from refusals import refused

from morphgraph.core import plugins
from morphgraph.core.plugins import Registry

GROUP = """[morphgraph.numbers]
three = morphgraph.kernels:FEW_ATOMS
two = morphgraph.kernels:DROPPED
one = morphgraph.kernels:INSIDE_TOKEN
seven = numbers_of_others:SEVEN
text = numbers_of_others:TEXT
absent = numbers_of_others:EIGHT
missing = no_such_module:NINE
broken = broken_module:TEN
"""
GROUP += """[morphgraph.namespaces]
broken = broken_module
"""
AGAIN = """[morphgraph.numbers]
one = numbers_of_others:SEVEN
"""


@pytest.fixture
def numbers(tmp_path, monkeypatch):
    for distribution, group in {"others": GROUP, "again": AGAIN}.items():
        about = tmp_path / f"{distribution}-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\n"
        )
        (about / "entry_points.txt").write_text(group)
    (tmp_path / "numbers_of_others.py").write_text("SEVEN, TEXT = 7, 'seven'\n")
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    plugins.installed.cache_clear()
    yield Registry("morphgraph.numbers", int, first=["two", "seven"])
    plugins.installed.cache_clear()


def test_ours_come_first_and_names_order_the_rest(numbers):
    with pytest.warns(UserWarning, match="is left out"):
        assert [*numbers.items()] == [("two", -2), ("one", -1), ("three", 20_000), ("seven", 7)]


def test_a_broken_plug_in_is_one_warning_and_left_out(numbers):
    with pytest.warns(UserWarning, match="is left out") as warned:
        assert "seven" in numbers
        assert "broken" not in numbers
        assert len(numbers) == 4
    told = {str(each.message).split()[2]: str(each.message) for each in warned}
    assert len(told) == len(warned), "each is named once"
    assert told.keys() == {"one", "text", "absent", "missing", "broken"}
    assert "its name is taken" in told["one"]
    assert "a str, not a int" in told["text"] and "ZeroDivisionError" in told["broken"]


def test_what_is_not_loaded_is_not_imported(numbers):
    with pytest.warns(UserWarning, match="taken") as warned:
        assert numbers["seven"] == 7
    assert len(warned) == 1, "nothing is told of what nobody asked for"


def test_a_checkout_that_is_not_installed_says_so(numbers, monkeypatch):
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints([]))
    with refused():
        len(numbers)


def test_the_code_of_what_is_plugged_in_is_found_without_importing_it(numbers):
    assert [file.name for file in plugins.code_files("numbers_of_others")] == [
        "numbers_of_others.py"
    ]
    assert [file.name for file in plugins.code_files("broken_module.part")] == ["broken_module.py"]
    assert plugins.code_files("no_such_module") == plugins.code_files("sys") == []
    assert Path(plugins.__file__) in plugins.code_files("morphgraph.core")


def test_a_namespace_that_cannot_be_loaded_is_no_attribute(numbers):
    with pytest.raises(AttributeError, match=r"broken = broken_module .* ZeroDivisionError"):
        plugins.namespace("broken")
