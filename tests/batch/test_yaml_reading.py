"""YAML with lines: plain values only, and errors that say where."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.batch.yaml_reading import load_yaml
from morphgraph.core.errors import FileFormatError, MorphGraphError


def test_values_are_plain_and_have_lines() -> None:
    text = "a: no\nb:\n  - 1\n  - 2.5\n  - true\n  - 2024-01-01\n  - ~\n  - '1'\nc: {d: 1e3}\n"
    found, lines = load_yaml(text, "x.yaml")
    assert found == {"a": "no", "b": [1, 2.5, True, "2024-01-01", None, "1"], "c": {"d": 1000.0}}
    assert lines[("b",)] == 2
    assert lines[("b", 3)] == 6
    assert lines[("c", "d")] == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", "line 3, column 1: the field “a” is given more than once"),
        (
            "a: !!python/object/apply:os.system [x]",
            "line 1, column 4: the tag .*os.system is not known",
        ),
        ("a: !!set {x}", "line 1, column 4: the tag .*set is not known"),
        ("a:\n  - [1\n", "this is not YAML"),
        ("&a [*a]", "nested or repeated too often"),
        ("a: b: c", "line 1, column 5: this is not YAML"),
        ("- 1\n---\n- 2", "another document"),
        ("a\t: \x07", "this is not YAML"),
        ("", "the file is empty"),
        ("# only words\n", "it holds nothing"),
        ("? [a]\n: 1", "named by a list"),
        ("a: " + "[" * 60 + "]" * 60, "nested"),
    ],
)
def test_what_is_no_plain_yaml_is_an_error_with_its_place(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=re.compile(message)) as error:
        load_yaml(text, "x.yaml")
    assert str(error.value).startswith("x.yaml")


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(FileFormatError, match="repeated too often"):
        load_yaml("\n".join(lines), "bomb.yaml")


def test_other_encodings_name_the_line() -> None:
    with pytest.raises(FileFormatError, match=r"x\.yaml, line 2: byte 0xE9 is not valid UTF-8"):
        load_yaml(b"a: 1\nb: \xe9\n", "x.yaml")


@pytest.mark.slow
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        load_yaml(text, "x.yaml")
    except MorphGraphError as error:
        assert str(error).startswith("x.yaml")


_texts = st.text(
    # PyYAML writes these three line breaks of YAML 1.1 so that it does not read them back itself.
    st.characters(exclude_characters="\x85\u2028\u2029"),
    max_size=5,
)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | _texts,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("abcxyz", min_size=1, max_size=4), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_what_yaml_writes_is_read_back(value: object) -> None:
    import yaml

    written = yaml.safe_dump({"value": value}, allow_unicode=True)
    found, _ = load_yaml(written, "x.yaml")
    # Dates and the like stay text here, and safe_dump quotes what it would take for them.
    assert found == {"value": value}
