"""What a configuration comes to before it is run, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from web.batch.checking import (
    allowed_values,
    cell_table,
    check_text,
    described,
    excerpt,
    first_sentence,
    free_name,
    name_problem,
    parts_of_file,
    summary,
    task_table,
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
    names, _ = cell_table(checked.plan)
    assert "x" in {*names["Task"]}
    wrong = check_text(TINY + asked.replace("train.csv}", "no.csv}"), "tiny.yaml", tmp_path)
    assert wrong.plan is None and "no.csv" in wrong.message
    fields = [field.name for field in parts_of_file()["downstream classification"][1]]
    assert {"task", "train", "test", "noise", "preset", "patience"} <= {*fields}


def test_a_configuration_that_is_right_is_counted(tmp_path: Path) -> None:
    checked = check_text(TINY, "tiny.yaml", tmp_path)
    assert checked.plan is not None
    assert (checked.name, checked.languages, checked.message) == ("tiny", ("en", "de"), "")
    # 2 languages × 2 methods, and a tokeniser for each language; nothing needs word counts.
    assert summary(checked.plan, 1).startswith("4 cells, 6 tasks, about ")
    kinds = task_table(checked.plan)
    assert dict(zip(kinds["tasks"], kinds["number"], strict=True)) == {
        "tokenisers": "2",
        "cells": "4",
    }
    cells, alike = cell_table(checked.plan)
    assert list(cells["Language"]) == ["en", "en", "de", "de"]
    assert list(cells["Method"]) == ["BPE", "FLOTA"] * 2
    assert "Seed" not in {*cells.columns, *alike}  # nothing is random


def test_what_all_cells_share_stands_once(tmp_path: Path) -> None:
    english = TINY.replace("[en, de]", "[en]")
    two = check_text(english, "tiny.yaml", tmp_path).plan
    one = check_text(english.replace(", flota", ""), "tiny.yaml", tmp_path).plan
    assert two is not None
    assert one is not None
    cells, alike = cell_table(two)
    assert alike["Language"] == "en"
    assert list(cells["Method"]) == ["BPE", "FLOTA"]
    assert not set(cells.columns) & set(alike)
    assert all(len(set(cells[title])) == 2 for title in cells.columns)
    cells, alike = cell_table(one)
    assert alike == {}
    assert cells.loc[0, ["Language", "Method"]].to_list() == ["en", "BPE"]


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


@given(st.text(max_size=4) | st.from_regex(r"[\w.-]{78,82}", fullmatch=True))
def test_a_name_that_is_good_here_is_good_in_a_file(name: str) -> None:
    from morphgraph.batch.configuration import Evaluation

    field = TypeAdapter(Evaluation.model_fields["name"].rebuild_annotation())
    try:
        field.validate_python(name)
    except ValidationError:
        assert name_problem(name, []) != ""
    else:
        assert name_problem(name, []) == ""


def test_more_workers_take_less_time_but_no_more_than_there_are_tasks(tmp_path: Path) -> None:
    plan = check_text(TINY, "tiny.yaml", tmp_path).plan
    assert plan is not None
    cost = plan.cost
    assert summary(plan, 2).endswith(f"about {cost / 2:.0f} s on this machine")
    assert summary(plan, 99).endswith(f"about {cost / 6:.0f} s on this machine")


def test_only_the_languages_that_are_chosen(tmp_path: Path) -> None:
    one = check_text(TINY, "tiny.yaml", tmp_path, ["de", "xx"])
    assert one.plan is not None
    assert [cell.columns["language"] for cell in one.plan.cells] == ["de", "de"]
    none = check_text(TINY, "tiny.yaml", tmp_path, [])
    assert none.plan is None
    assert none.message == "No language is chosen. Choose at least one."
    assert none.languages == ("en", "de")


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
    assert wrong.languages == ("en", "de")  # others can still be chosen


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


def test_what_a_file_says_of_itself() -> None:
    assert described("title: T\ndescription: >\n  One.\n  Two.\n") == ("T", "One. Two.\n")
    assert described("name: n") == ("n", "")
    assert described("[") == described("- 1") == ("", "")
    assert first_sentence("One. Two.\n") == "One."


def test_every_field_that_a_file_may_have_is_told() -> None:
    from morphgraph.batch.configuration import METHOD_MODELS, Evaluation

    parts = parts_of_file()
    assert [field.name for field in parts["the file"][1]] == list(Evaluation.model_fields)
    for name, model in METHOD_MODELS.items():
        assert [field.name for field in parts[f"method {name}"][1]] == list(model.model_fields)
    by_name = {field.name: field for field in parts["the file"][1]}
    assert by_name["languages"].default == "needed"
    assert by_name["title"].default == "nothing"
    assert by_name["weightings"].values == "a list: types, tokens"
    assert by_name["tokenisers"].values == "a list: see tokenisers"
    assert by_name["methods"].values == "a list: see the methods"
    assert by_name["downstream"].values == "a list: see the downstream tasks"
    trained = {field.name: field for field in parts["tokenisers"][1]}
    assert trained["vocab_size"].values == "a whole number, 2 to 10,000,000; or a list of them"
    assert trained["threshold"].values == "a number, 0 to 1; or a list of them"
    assert all(field.values for _, fields in parts.values() for field in fields)
    assert "f1" in [field.name for field in parts["metrics"][1]]


def test_values_with_one_bound() -> None:
    assert allowed_values({"type": "number", "minimum": 0, "exclusiveMaximum": 1}, {}) == (
        "a number, 0 or more, below 1"
    )
    assert allowed_values({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, {}) == "true, false"
