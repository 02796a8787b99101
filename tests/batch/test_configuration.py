"""Configurations: what is accepted, and errors with file, line, field and allowed values."""

from __future__ import annotations

import json
import re

import pytest

from morphgraph.batch.configuration import Evaluation, parse_evaluation, schema, schema_text
from morphgraph.core.errors import FileFormatError
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


def parsed(more: str) -> Evaluation:
    return parse_evaluation(MINIMAL + more, "mine.yaml")[0]


def test_what_is_not_given_has_its_default() -> None:
    evaluation = parsed("")
    assert [method.method for method in evaluation.methods] == ["standard"]
    assert evaluation.metrics == ["precision", "recall", "f1"]
    assert (evaluation.scopes, evaluation.weightings) == (["morphemic"], ["types"])
    assert evaluation.tokenisers[0].vocab_size == [3000]
    assert [corpus.name for corpus in evaluation.used_corpora] == ["wordfreq"]
    without = parse_evaluation(MINIMAL.replace("corpora: [wordfreq]\n", ""), "mine.yaml")[0]
    assert without.used_corpora == evaluation.used_corpora
    assert evaluation.references[0].source == ["gold/{language}.tsv"]


def test_numbers_are_decimal() -> None:
    assert parsed("seeds: [010, 9, 0]").seeds == [10, 9, 0]


def test_blame_by_tokens_needs_a_corpus_too() -> None:
    text = MINIMAL.replace("corpora: [wordfreq]\n", "").replace(
        "train: bpe\n    vocab_size: 3000", "file: demo:de"
    )
    assert parse_evaluation(text, "x")[0].used_corpora == []
    weighted = text + "methods: [{method: knockout, weighting: tokens}]\n"
    assert [c.name for c in parse_evaluation(weighted, "x")[0].used_corpora] == ["wordfreq"]


def test_lists_make_a_grid() -> None:
    more = "methods:\n  - method: knockout\n    threshold: [0.4, 0.6]\n    holdout: [0, 0.5]\n"
    grid = parsed(more).methods[0].grid()
    assert [(one["threshold"], one["holdout"]) for one in grid] == [
        (0.4, 0.0),
        (0.4, 0.5),
        (0.6, 0.0),
        (0.6, 0.5),
    ]
    assert {one["select"] for one in grid} == {"blame"}
    assert parsed("methods: [dropout(p=0.05)]").methods[0].grid() == [{"p": 0.05, "queue": False}]
    assert parsed("metrics: [boundaries, exact]").metrics == ["precision", "recall", "f1", "exact"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            "methods:\n  - dropot\n",
            "mine.yaml, line 9, field methods[0]: {'method': 'dropot'} is not allowed. Use one of: "
            "standard, dropout, trimmed, flota, first, longest, greedy, knockout, rebpe.",
        ),
        (
            "methods:\n  - standard\n  - method: dropout\n    p: 3\n",
            "mine.yaml, line 11, field methods[1].p: 3 does not fit. Input should be less than or "
            "equal to 1.",
        ),
        (
            "methods:\n  - method: dropout\n    q: 3\n",
            "mine.yaml, line 10, field methods[0].q: there is no such field. Use one of: method, "
            "label, tokenisers, p, queue.",
        ),
        (
            "methods:\n  - method: knockout\n    select:\n      - blame\n      - foo\n",
            "mine.yaml, line 12, field methods[0].select[1]: 'foo' is not allowed. Use one of: "
            "blame, random, last, leaves.",
        ),
        (
            "metric: [f1]\n",
            "mine.yaml, line 8, field metric: there is no such field (did you mean “metrics”?). "
            "Use one of: name, title, description, languages, corpora, tokenisers, methods, "
            "references, predictions, metrics, vocabulary, parallel, downstream, scopes, "
            "weightings, seeds, intervals, tests, holdout, tables, published.",
        ),
        (
            "scopes: [morphemics]\nseeds: [-1]\n",
            "mine.yaml, line 8, field scopes[0]: 'morphemics' is not allowed. Use one of: "
            "morphemic, whole-word. Also: line 9, field seeds[0]: -1 does not fit.",
        ),
        ("intervals: yes\n", "line 8, field intervals: 'yes' does not fit."),
        ("metrics: [f2]\n", "line 8, field metrics: “f2” is not a score. Use some of: all,"),
        ("vocabulary: [sise]\n", "line 8, field vocabulary[0]: 'sise' is not allowed. Use one of:"),
        (
            "tables: [{title: a, rows: colour}]\n",
            "line 8, field tables[0]: results have no column “colour”. Use some of: language,",
        ),
        (
            "tables: [{title: a, rows: method, metrics: [f7]}]\n",
            "line 8, field tables[0]: “f7” is not a metric. Use some of: precision,",
        ),
        (
            "published:\n  - {source: s, data: d, columns: [a, b], rows: [[1]]}\n",
            "line 9, field published[0]: a row has 1 values, the header 2. Make them equal.",
        ),
        (
            "published:\n  - {source: s, data: d, columns: [a], rows: [[1]], table: x}\n",
            "published figures stand beside “x”, which is not a table. Titles: none.",
        ),
        (
            "published:\n  - {source: s, data: d, columns: [a], rows: [[1]], url: 'javascript:1'}",
            "line 9, field published[0].url: 'javascript:1' does not fit.",
        ),
        (
            "published:\n"
            "  - {source: s, data: d, columns: [a], rows: [[1]], url: 'https://x\"><script>'}",
            "line 9, field published[0].url: 'https://x\"><script>' does not fit.",
        ),
        (
            "methods: [{method: knockout, tokenisers: [other]}]\n",
            "knockout is for a tokeniser “other”, which does not exist.",
        ),
        ("methods: [3]\n", "line 8, field methods[0]: 3 does not fit."),
        ("seeds: []\n", "line 8, field seeds: [] does not fit."),
        ("seeds: [1, 1]\n", "seeds has “1” more than once. Keep one."),
        ("scopes: [morphemic, morphemic]\n", "scopes has “morphemic” more than once."),
        ("vocabulary: [size, size]\n", "vocabulary has “size” more than once."),
        ("metrics:\n", "line 8, field metrics: None does not fit."),
        ("metrics: [[f1]]\n", "line 8, field metrics[0]: ['f1'] does not fit."),
        ("intervals: !!bool foo\n", "line 8, column 12: 'foo' is not a valid bool. Correct it."),
        ("seeds: [!!int foo]\n", "line 8, column 9: 'foo' is not a valid int."),
    ],
)
def test_an_error_names_line_field_and_what_is_allowed(more: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=re.escape(message)):
        parsed(more)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: mine\n", "", "line 1, field name: the field is missing. Add it."),
        ("name: mine", "name: ../up", "line 1, field name: '../up' does not fit."),
        ("corpora: [wordfreq]", "corpora: []", "bpe has nothing to be trained on. Add corpora"),
        (
            'references: ["gold/{language}.tsv"]\n',
            "",
            "there is nothing to measure. Add references",
        ),
        ("train: bpe", "train: bp", "line 5, field tokenisers[0].train: 'bp' is not allowed. Use"),
        ("    vocab_size: 3000\n", "", "line 5, field tokenisers[0]: it does not say how many"),
        ("vocab_size: 3000", "vocab_size: 3000\n    file: x", "Give either train or file."),
        ("vocab_size: 3000", "vocab_size: 3000\n    threshold: 0.9", "BPE has no threshold."),
        ("vocab_size: 3000", "vocab_size: '3000'", "field tokenisers[0].vocab_size: '3000' does"),
        (
            "train: bpe",
            "train: bpe-prime\n    pipeline: rebpe",
            "BPE′ cannot follow the pipeline rebpe. Use one of: spaces, no-spaces.",
        ),
        ("[wordfreq]", "[{name: a, wordfreq: de, counts: b}]", "Give either wordfreq, counts or"),
        (
            '["gold/{language}.tsv"]',
            "[{source: a, format: nope}]",
            "line 7, field references[0]: the format nope is unknown. Use one of: ",
        ),
        (
            '["gold/{language}.tsv"]',
            "[{source: a, encoding: nope}]",
            "the encoding nope is unknown.",
        ),
        ("[wordfreq]", "[wordfreq, wordfreq]", "two corpora have the name “wordfreq”."),
        (MINIMAL, "- 1\n- 2\n", "mine.yaml, line 1: it has no fields. Its fields: name,"),
    ],
)
def test_what_is_missing_or_contradicts_itself(old: str, new: str, message: str) -> None:
    assert old in MINIMAL
    with pytest.raises(FileFormatError, match=re.escape(message)):
        parse_evaluation(MINIMAL.replace(old, new), "mine.yaml")


def test_the_schema_knows_every_field_and_method() -> None:
    found = schema()
    assert set(found["properties"]) == set(Evaluation.model_fields)
    p = found["$defs"]["Dropout"]["properties"]["p"]
    single, several = p["anyOf"]
    assert single == {"maximum": 1.0, "minimum": 0.0, "type": "number"}
    assert several["type"] == "array"
    assert several["items"] == single
    assert json.loads(schema_text()) == found
    assert "x-one-or-more" not in schema_text()


@pytest.mark.parametrize("name", shipped_configurations())
def test_what_ships_is_valid_and_says_what_it_is(name: str) -> None:
    evaluation, _ = parse_evaluation(shipped_configurations()[name], f"{name}.yaml")
    assert evaluation.name == name
    assert evaluation.title
    assert evaluation.description


DOWNSTREAM = {
    "flota-classification",
    "knockout-lm",
    "spaces-tagging",
    "picky-translation",
    "transplant",
}


def test_what_trains_models_does_so_with_three_seeds() -> None:
    for name in DOWNSTREAM:
        found = parse_evaluation(shipped_configurations()[name], name)[0]
        assert found.downstream and len(found.seeds) >= 3
        asked = {metric for table in found.tables for metric in table.metrics}
        own = {metric.key for task in found.downstream for metric in task.entry.metrics}
        assert asked & own


def test_all_tables_of_the_papers_ship() -> None:
    assert set(shipped_configurations()) == DOWNSTREAM | {
        "demo",
        "knockout-table2",
        "knockout-ablations",
        "rebpe-table1",
        "rebpe-ablations",
        "flota-table1",
        "spaces-table1",
        "picky-tables",
    }
    table1 = parse_evaluation(shipped_configurations()["rebpe-table1"], "x")[0]
    assert len(table1.languages) == 14
