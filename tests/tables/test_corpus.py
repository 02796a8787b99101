"""Tables of a measured corpus, where nothing can be divided by anything."""

import json
from pathlib import Path

import pytest

from morphgraph.formats.loading import vocabulary_of
from morphgraph.score.corpus_measures import CorpusMeasures, measure_corpus
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.flota import Flota
from morphgraph.tables.vocabulary import corpus_csv, corpus_json, corpus_table, parity_table
from morphgraph.tables.writing import to_csv, to_markdown


@pytest.fixture
def without_tokens(tmp_path: Path) -> CorpusMeasures:
    """FLOTA leaves out what it does not know: here it is all."""
    for language, text in (("en", "xx"), ("de", "y")):
        (tmp_path / f"{language}.txt").write_text(text)
    flota = Flota(vocabulary_of(tokeniser_of_types("tiny", ["a", "b", "ab"], ["ab"])), k=1)
    return measure_corpus({"FLOTA": flota}, [tmp_path], parallel=True)


def test_what_is_undefined_is_null_or_not_applicable(without_tokens: CorpusMeasures) -> None:
    found = json.loads(json.dumps(corpus_json(without_tokens), allow_nan=False))
    [parity] = found["parity"]
    assert parity["gini_line"] is None and parity["gini_byte"] is None
    assert parity["lorenz_line"] == [[0, 0.5, 1], [None] * 3]
    assert [one["relative_tokens"] for one in found["texts"]] == [None, None]
    assert [one["tokens"] for one in found["all"]] == [0]
    for table in (corpus_table(without_tokens), parity_table(without_tokens)):
        assert "nan" not in to_markdown(table) and "n/a" in to_markdown(table)
        assert b"nan" not in to_csv(table).lower()
    assert b"nan" not in corpus_csv(without_tokens).lower()
