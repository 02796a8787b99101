"""What a configuration comes to before it is run, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from web.batch.checking import (
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


def test_downstream_tasks_are_cells_and_need_no_torch_to_be_checked(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\na,1\nb,2\n")
    asked = "downstream: [{task: classification, name: x, train: train.csv, test: train.csv}]\n"
    checked = check_text(TINY + asked, "tiny.yaml", tmp_path)
    assert checked.plan is not None, checked.message
    assert summary(checked.plan, 1).startswith("8 cells, 10 tasks, about ")
    assert "x" in {cell.columns["task"] for cell in checked.plan.cells}
    wrong = check_text(TINY + asked.replace("train.csv}", "no.csv}"), "tiny.yaml", tmp_path)
    assert wrong.plan is None and "no.csv" in wrong.message


def test_a_configuration_that_is_right_is_counted(tmp_path: Path) -> None:
    checked = check_text(TINY, "tiny.yaml", tmp_path)
    assert checked.plan is not None
    assert (checked.name, checked.message) == ("tiny", "")
    # 2 languages × 2 methods, and a tokeniser for each language; nothing needs word counts.
    assert summary(checked.plan, 1).startswith("4 cells, 6 tasks, about ")
    cells = [cell.columns for cell in checked.plan.cells]
    assert [cell["language"] for cell in cells] == ["en", "en", "de", "de"]
    assert [cell["method"] for cell in cells] == ["BPE", "FLOTA"] * 2


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("name: a b\nlanguages: [en]", "Use up to 80 unaccented letters a–z"),
        ("name: x\nlanguages: ['a|b']", "Write it in one line, without “|” and tabs."),
        ('name: x\nlanguages: ["a\\nb"]', "Write it in one line, without “|” and tabs."),
    ],
)
def test_a_pattern_is_told_in_words(field: str, said: str, tmp_path: Path) -> None:
    rest = TINY.partition("tokenisers:")
    wrong = check_text(f"{field}\n{rest[1]}{rest[2]}", "x.yaml", tmp_path)
    assert said in wrong.message
    assert "pattern" not in wrong.message


def test_every_pattern_of_the_schema_has_words() -> None:
    from morphgraph.batch.configuration import schema
    from morphgraph.batch.yaml_reading import _IN_WORDS

    def patterns(part: object) -> set[str]:
        if isinstance(part, list):
            return set().union(*map(patterns, part))
        if not isinstance(part, dict):
            return set()
        here = {part["pattern"]} if isinstance(part.get("pattern"), str) else set()
        return here.union(*map(patterns, part.values()))

    assert patterns(schema()) <= set(_IN_WORDS)


def test_more_workers_take_less_time_but_no_more_than_there_are_tasks(tmp_path: Path) -> None:
    plan = check_text(TINY, "tiny.yaml", tmp_path).plan
    assert plan is not None
    cost = plan.cost
    assert summary(plan, 2).endswith(f"about {cost / 2:.0f} s on this machine")
    assert summary(plan, 99).endswith(f"about {cost / 6:.0f} s on this machine")


def test_an_error_shows_the_line(tmp_path: Path) -> None:
    wrong = check_text(TINY.replace("flota", "flotta"), "tiny.yaml", tmp_path)
    assert wrong.plan is None
    assert wrong.message.startswith("tiny.yaml, line 5, field methods[1]: ")
    assert "flota" in wrong.message
    assert wrong.excerpt.split("\n") == [
        "    3  tokenisers:",
        "    4    - file: demo:{code}",
        "→   5  methods: [{method: standard, label: BPE}, flotta]",
        "    6  references: ['demo:{code}']",
        "    7",
    ]


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
