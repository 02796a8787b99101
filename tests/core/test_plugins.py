"""What other distributions add is there, and what is broken is named and left out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from morphgraph.core import plugins
from morphgraph.core.plugins import Registry

GROUP = """[morphgraph.numbers]
seven = numbers_of_others:SEVEN
text = numbers_of_others:TEXT
absent = numbers_of_others:EIGHT
missing = no_such_module:NINE
broken = broken_module:TEN
one = numbers_of_others:SEVEN
"""


@pytest.fixture
def numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry[int]]:
    about = tmp_path / "others-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1\n")
    (about / "entry_points.txt").write_text(GROUP)
    (tmp_path / "numbers_of_others.py").write_text("SEVEN, TEXT = 7, 'seven'\n")
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    plugins.installed.cache_clear()
    yield Registry("morphgraph.numbers", int, {"one": 1})
    plugins.installed.cache_clear()


def test_a_broken_plug_in_is_one_warning_and_left_out(numbers: Registry[int]) -> None:
    with pytest.warns(UserWarning, match="is left out") as warned:
        assert dict(numbers) == {"one": 1, "seven": 7}
    told = [str(each.message) for each in warned]
    assert [text.split()[2] for text in told] == ["text", "absent", "missing", "broken", "one"]
    assert "a str, not a int" in told[0] and "ZeroDivisionError" in told[3] and "taken" in told[4]
    assert len(numbers) == 2, "they are looked up once"


def test_what_is_put_there_is_there(numbers: Registry[int]) -> None:
    with pytest.warns(UserWarning):
        numbers["two"] = 2
    del numbers["one"]
    assert list(numbers) == ["seven", "two"]
