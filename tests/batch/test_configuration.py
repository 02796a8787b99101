"""Configurations: what is accepted, and errors with file, line, field and allowed values."""

import json
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.batch.configuration import Evaluation, EvaluationPart, parse_evaluation, schema_text
from morphgraph.batch.yaml_reading import load_yaml
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import shipped_configurations
from morphgraph.segment.method import METHODS

MINIMAL = """\
name: mine
languages: [deu]
corpora: [wordfreq]
tokenisers:
  - train: bpe
    vocab_size: 3000
references: ["gold/{language}.tsv"]
"""


def part_of(text: str) -> EvaluationPart:
    [part] = parse_evaluation(text, "mine.yaml")[0].parts
    return part


def parsed(more: str) -> EvaluationPart:
    return part_of(MINIMAL + more)


def test_numbers_are_decimal() -> None:
    assert parsed("seeds: [010, 9, 0]").seeds == [10, 9, 0]


def test_blame_by_tokens_needs_a_corpus_too() -> None:
    text = MINIMAL.replace("corpora: [wordfreq]\n", "").replace(
        "train: bpe\n    vocab_size: 3000", "file: demo:de"
    )
    assert part_of(text).used_corpora == []
    weighted = text + "methods: [{method: knockout, weighting: tokens}]\n"
    assert [c.name for c in part_of(weighted).used_corpora] == ["wordfreq"]


def test_lists_make_a_grid() -> None:
    more = "methods:\n  - method: knockout\n    threshold: [0.4, 0.6]\n    percent: [0, 5]\n"
    grid = parsed(more).methods[0].combinations()
    assert [(one["threshold"], one["percent"]) for one in grid] == [
        (0.4, 0),
        (0.4, 5),
        (0.6, 0),
        (0.6, 5),
    ]
    assert parsed("methods: [dropout(p=0.05)]").methods[0].combinations() == [{"p": 0.05}]
    assert parsed("metrics: [boundaries, exact]").metrics == ["precision", "recall", "f1", "exact"]


NAMES = ", ".join(
    ["standard", *METHODS.offered, *METHODS.able("follows"), *METHODS.learning]
).replace(" bpe,", "")
DROPOUT = "methods:\n  - standard\n  - method: dropout\n"
MORE = {
    "methods: [dropot]": "line 8, field methods[0]: {'method': 'dropot'} is not allowed. Use one "
    f"of: {NAMES}.",
    f"{DROPOUT}    p: 3": "line 11, field methods[1].p: 3 does not fit. Input should be less than "
    "or equal to 1.",
    f"{DROPOUT}    q: 3": "line 11, field methods[1].q: there is no such field. Use one of: "
    "languages, tokenisers, method, label, p, queue.",
    "methods:\n  - method: knockout\n    select:\n      - blame\n      - foo": "line 12, field "
    "methods[0].select[1]: 'foo' is not allowed. Use one of: blame, random, last, leaves.",
    "metric: [f1]": "line 8, field metric: there is no such field. Did you mean “metrics”? Use one "
    "of: name, title,",
    "scopes: [morphemics]\nseeds: [-1]": "line 8, field scopes[0]: 'morphemics' is not allowed. "
    "Use one of: morphemic, whole-word. Also: line 9, field seeds[0]: -1 does not fit.",
    "intervals: yes": "line 8, field intervals: 'yes' does not fit.",
    "metrics: [f2]": "line 8, field metrics: “f2” is not a score. Use some of: all,",
    "vocabulary: [sise]": "line 8, field vocabulary[0]: 'sise' is not allowed. Use one of:",
    "tables: [{title: a, rows: colour}]": "line 8, field tables[0]: results have no column "
    "“colour”. Use some of: language,",
    "tables: [{title: a, rows: method, metrics: [f7]}]": "line 8, field tables[0]: results have no "
    "metric “f7”. Use some of: precision,",
    "methods: [{method: knockout, tokenisers: [other]}]": "knockout is for a tokeniser “other”, "
    "which does not exist.",
    "methods: [3]": "line 8, field methods[0]: 3 does not fit.",
    "seeds: []": "line 8, field seeds: [] does not fit.",
    "metrics:": "line 8, field metrics: None does not fit.",
    "metrics: [[f1]]": "line 8, field metrics[0]: ['f1'] does not fit.",
    "intervals: !!bool foo": "line 8, column 12: 'foo' is not a valid bool. Correct it.",
    "seeds: [!!int foo]": "line 8, column 9: 'foo' is not a valid int.",
}


@pytest.mark.parametrize(("more", "message"), MORE.items())
def test_an_error_names_line_field_and_what_is_allowed(more: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=f"^mine.yaml.*{re.escape(message)}"):
        parsed(more)


GOLD = '["gold/{language}.tsv"]'
CHANGES = {
    ("name: mine\n", ""): "line 1, field name: the field is missing. Add it.",
    ("name: mine", "name: ../up"): "line 1, field name: '../up' does not fit.",
    ("corpora: [wordfreq]", "corpora: []"): "bpe has nothing to be trained on. Add corpora",
    (f"references: {GOLD}\n", ""): "there is nothing to measure. Add references",
    ("train: bpe", "train: bp"): "line 5, field tokenisers[0]: {'train': 'bp', 'vocab_size': 3000} "
    "is not allowed. Use one of: file, bpe,",
    ("    vocab_size: 3000\n", ""): "line 5, field tokenisers[0].vocab_size: the field is missing.",
    ("train: bpe\n    vocab_size: 3000", "name: x"): "tokenisers[0].file: the field is miss",
    ("3000", "3000\n    file: x"): "line 7, field tokenisers[0].file: there is no such field.",
    ("3000", "3000\n    threshold: 0.9"): "line 7, field tokenisers[0].threshold: there is no such",
    ("3000", "'3000'"): "field tokenisers[0].vocab_size: '3000' does",
    (
        "train: bpe",
        "train: parity",
    ): "field tokenisers[0]: {'train': 'parity', 'vocab_size': 3000} ",
    (
        "train: bpe",
        "train: bpe-prime\n    pipeline: rebpe",
    ): "line 6, field tokenisers[0].pipeline: "
    "'rebpe' is not allowed. Use one of: spaces, no-spaces.",
    ("[wordfreq]", "[{name: a, wordfreq: de, counts: b}]"): "Give either wordfreq, counts or",
    (GOLD, "[{source: a, format: nope}]"): "line 7, field references[0].format: 'nope' is not "
    "allowed. Use one of: ",
    (MINIMAL, "- 1\n- 2\n"): "mine.yaml, line 1: it has no fields. Its fields: name,",
}


@pytest.mark.parametrize(("change", "message"), CHANGES.items())
def test_what_is_missing_or_contradicts_itself(change: tuple[str, str], message: str) -> None:
    assert change[0] in MINIMAL
    with pytest.raises(FileFormatError, match=re.escape(message)):
        parse_evaluation(MINIMAL.replace(*change), "mine.yaml")


def test_the_schema_knows_every_field_and_method() -> None:
    found = json.loads(schema_text())
    assert set(found["properties"]) == {*Evaluation.model_fields, *EvaluationPart.model_fields}
    assert (found["required"], "required" in found["$defs"]["EvaluationPart"]) == (["name"], False)
    p = found["$defs"]["Dropout"]["properties"]["p"]
    single, several, _ = p["anyOf"]
    assert single == {"maximum": 1.0, "minimum": 0.0, "type": "number"}
    assert several["type"] == "array"
    assert several["items"] == single


DOWNSTREAM = {name for name, text in shipped_configurations().items() if "downstream:" in text}
OF_PLUGINS = {*DOWNSTREAM, "methods"}
"""Those whose tasks or methods a plug-in has, which tests them."""


@pytest.mark.parametrize("name", sorted(shipped_configurations().keys() - OF_PLUGINS))
def test_what_ships_is_valid_and_says_what_it_is(name: str) -> None:
    evaluation, _ = parse_evaluation(shipped_configurations()[name], f"{name}.yaml")
    assert evaluation.name == name.replace("/", "-")
    assert evaluation.title
    assert evaluation.description


# ------------------------------------------------------------------------------ YAML


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
        ("", "it holds nothing"),
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
    written = yaml.safe_dump({"value": value}, allow_unicode=True)
    found, _ = load_yaml(written, "x.yaml")
    # Dates and the like stay text here, and safe_dump quotes what it would take for them.
    assert found == {"value": value}
