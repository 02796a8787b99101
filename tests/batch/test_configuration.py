"""Configurations: what is accepted, and errors with file, line, field and allowed values."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from morphgraph.batch.configuration import Evaluation, EvaluationPart, parse_evaluation, schema_text
from morphgraph.batch.yaml_reading import load_yaml
from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import shipped_configurations

MINIMAL = """\
name: mine
languages: [deu]
corpora: [wordfreq]
tokenisers:
  - train: bpe
    vocab_size: 3000
references: ["gold/{language}.tsv"]
"""


def part_of(text):
    [part] = parse_evaluation(text, "mine.yaml")[0].parts
    return part


def parsed(more):
    return part_of(MINIMAL + more)


def test_numbers_are_decimal():
    assert parsed("seeds: [010, 9, 0]").seeds == [10, 9, 0]


def test_blame_by_tokens_needs_a_corpus_too():
    text = MINIMAL.replace("corpora: [wordfreq]\n", "").replace(
        "train: bpe\n    vocab_size: 3000", "file: demo:de"
    )
    assert part_of(text).used_corpora == []
    weighted = text + "methods: [{method: knockout, weighting: tokens}]\n"
    assert [c.name for c in part_of(weighted).used_corpora] == ["wordfreq"]


def test_lists_make_a_grid():
    more = "methods:\n  - method: knockout\n    threshold: [0.4, 0.6]\n    percent: [0, 5]\n"
    grid = parsed(more).methods[0].combinations()
    found = [(one["threshold"], one["percent"]) for one in grid]
    assert found == [(0.4, 0), (0.4, 5), (0.6, 0), (0.6, 5)]
    assert parsed("methods: [dropout(p=0.05)]").methods[0].combinations() == [{"p": 0.05}]
    assert parsed("metrics: [boundaries, exact]").metrics == ["precision", "recall", "f1", "exact"]


DROPOUT = "methods:\n  - standard\n  - method: dropout\n"
MORE = [
    "methods: [dropot]",
    f"{DROPOUT}    p: 3",
    f"{DROPOUT}    q: 3",
    "methods:\n  - method: knockout\n    select:\n      - blame\n      - foo",
    "metric: [f1]",
    "scopes: [morphemics]\nseeds: [-1]",
    "intervals: yes",
    "metrics: [f2]",
    "vocabulary: [sise]",
    "tables: [{title: a, rows: colour}]",
    "tables: [{title: a, rows: method, metrics: [f7]}]",
    "methods: [{method: knockout, tokenisers: [other]}]",
    "methods: [3]",
    "seeds: []",
    "metrics:",
    "metrics: [[f1]]",
    "intervals: !!bool foo",
    "seeds: [!!int foo]",
]


@pytest.mark.parametrize("more", MORE)
def test_an_error_names_line_field_and_what_is_allowed(more):
    with refused(FileFormatError):
        parsed(more)


GOLD = '["gold/{language}.tsv"]'
CHANGES = [
    ("name: mine\n", ""),
    ("name: mine", "name: ../up"),
    ("corpora: [wordfreq]", "corpora: []"),
    (f"references: {GOLD}\n", ""),
    ("train: bpe", "train: bp"),
    ("    vocab_size: 3000\n", ""),
    ("train: bpe\n    vocab_size: 3000", "name: x"),
    ("3000", "3000\n    file: x"),
    ("3000", "3000\n    threshold: 0.9"),
    ("3000", "'3000'"),
    ("train: bpe", "train: parity"),
    ("train: bpe", "train: bpe-prime\n    pipeline: rebpe"),
    ("[wordfreq]", "[{name: a, wordfreq: de, counts: b}]"),
    (GOLD, "[{source: a, format: nope}]"),
    (MINIMAL, "- 1\n- 2\n"),
    ("references:", "downstream: [{task: rhyming, train: train.csv}]\nreferences:"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_missing_or_contradicts_itself(change):
    assert change[0] in MINIMAL
    with refused(FileFormatError):
        parse_evaluation(MINIMAL.replace(*change), "mine.yaml")


def test_the_schema_knows_every_field_and_method():
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
def test_what_ships_is_valid_and_says_what_it_is(name):
    evaluation, _ = parse_evaluation(shipped_configurations()[name], f"{name}.yaml")
    assert evaluation.name == name.replace("/", "-")
    assert evaluation.title
    assert evaluation.description


def test_values_are_plain_and_have_lines():
    text = "a: no\nb:\n  - 1\n  - 2.5\n  - true\n  - 2024-01-01\n  - ~\n  - '1'\nc: {d: 1e3}\n"
    found, lines = load_yaml(text, "x.yaml")
    assert found == {"a": "no", "b": [1, 2.5, True, "2024-01-01", None, "1"], "c": {"d": 1000.0}}
    assert lines[("b",)] == 2
    assert lines[("b", 3)] == 6
    assert lines[("c", "d")] == 9


ALIASES = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
NO_YAML = [
    pytest.param("\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x]", *ALIASES]), id="a bomb"),
    "a: 1\nb: 2\na: 3",
    "a: !!python/object/apply:os.system [x]",
    "a: !!set {x}",
    "a:\n  - [1\n",
    "&a [*a]",
    "a: b: c",
    "- 1\n---\n- 2",
    "a\t: \x07",
    "",
    "# only words\n",
    "? [a]\n: 1",
    "a: " + "[" * 60 + "]" * 60,
    b"a: 1\nb: \xe9\n",
]


@pytest.mark.parametrize("text", NO_YAML)
def test_what_is_no_plain_yaml_is_an_error_with_its_place(text):
    with refused(FileFormatError):
        load_yaml(text, "x.yaml")


@pytest.mark.slow
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text):
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
def test_what_yaml_writes_is_read_back(value):
    written = yaml.safe_dump({"value": value}, allow_unicode=True)
    found, _ = load_yaml(written, "x.yaml")
    # Dates and the like stay text here, and safe_dump quotes what it would take for them.
    assert found == {"value": value}
