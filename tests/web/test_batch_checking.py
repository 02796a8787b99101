"""What a configuration comes to before it is run, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from web.batch import (
    check_text,
    excerpt,
    free_name,
    summary,
)

TINY = """name: tiny
languages: [en, de]
tokenisers:
  - file: demo:{code}
methods: [{method: standard, label: BPE}, flota]
references: ['demo:{code}']
"""


def test_a_configuration_that_is_right_is_counted(tmp_path: Path) -> None:
    checked = check_text(TINY, "tiny.yaml", tmp_path)
    assert checked.plan is not None
    assert (checked.name, checked.message) == ("tiny", "")
    # 2 languages × 2 methods, and a tokeniser for each language; nothing needs word counts.
    assert summary(checked.plan, 1).startswith("4 cells, 6 tasks, about ")
    cells = [cell.columns for cell in checked.plan.cells]
    assert [cell["language"] for cell in cells] == ["en", "en", "de", "de"]
    assert [cell["method"] for cell in cells] == ["BPE", "FLOTA"] * 2


def test_a_file_that_is_missing_is_an_error_at_its_line(tmp_path: Path) -> None:
    wrong = check_text(TINY.replace("demo:{code}\nm", "none.json\nm"), "tiny.yaml", tmp_path)
    assert wrong.message.startswith("tiny.yaml, line 4, field tokenisers[0].file: ")
    assert "none.json" in wrong.message
    assert "→   4    - file: none.json" in wrong.excerpt


@pytest.mark.parametrize(
    "text", ["", "name: [", "- 1\n- 2", "a: &a [*a]", "name: !!python/object:os.system x", "\x00"]
)
def test_text_that_is_none_is_an_error_not_a_crash(text: str, tmp_path: Path) -> None:
    wrong = check_text(text, "x.yaml", tmp_path)
    assert wrong.plan is None
    assert wrong.message.startswith("x.yaml")


def test_an_excerpt_shows_characters_that_act_as_their_codes() -> None:
    shown = excerpt("a: \x1b[31m\u202eb" + "c" * 500, "line 1, field a")
    assert shown.startswith("→   1  a: \\x1b[31m\\u202eb")
    assert len(shown) < 200
    assert excerpt("a", "") == excerpt("a", "line 9") == ""
    assert excerpt("a\n" * 2000, "line 1,999, field b").split("\n")[2] == "→ 1999  a"


def test_names_of_runs_are_free_and_never_too_long() -> None:
    long = "x" * 80
    assert free_name(long, [long]) == "x" * 74 + "-2"
    assert len(free_name(long, [long, "x" * 74 + "-2"])) <= 80
