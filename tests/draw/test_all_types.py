"""The table of all types: its figures, and the lists taken from it."""

import math
from itertools import chain

import pytest

import morphgraph as mg
from morphgraph.corpus.counts import WordCounts
from morphgraph.draw.all_types import (
    A_STEP,
    NEVER_USED,
    TO_BLAME,
    TWICE,
    UNREACHABLE,
    types_of_study,
)
from morphgraph.draw.overview import COLUMNS, Overview
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.vocabulary_health import NamedCounts, VocabularyHealth
from morphgraph.segment.bte import Bte


def test_its_rows_and_lists_are_what_is_known_of_each_type():
    tokeniser, gold = load_tokeniser("demo:en"), mg.read_gold("demo:en")
    study = Study(tokeniser, Benchmark.on(gold, tokeniser))
    study.graph.knockout(["ies"])
    corpus = NamedCounts(WordCounts(["the", "undoing", "houses"], [9, 4, 3]), "small")
    found, health = types_of_study(study, corpus), VocabularyHealth(Bte(tokeniser), corpus, gold)
    table, graph, blamed = found.table, study.graph, study.blame()
    assert sorted(table.index) == sorted(graph.type_ids())
    for number, row in table.sample(300, random_state=0).iterrows():
        makers = graph.incoming(number)
        joins, wrong = blamed.counts(blamed.worst_of(makers)) if makers else (0, 0)
        assert (row["joins"], row["wrong joins"]) == (joins, wrong)
        ratio = 100 * wrong / joins if joins else math.nan
        assert row["blame"] == pytest.approx(ratio, nan_ok=True)
        assert row["used by merges"] == graph.fan_out(number)
        assert row["id"] == tokeniser.vocabulary_id(number)
    assert table["tokens per million"].sum() == pytest.approx(1e6)
    lists = found.lists
    assert lists[NEVER_USED] == set(health.never_used or ())
    assert lists[UNREACHABLE] == set(health.unreachable or ())
    assert lists[TWICE] == {one for pair in health.duplicates or () for one in pair}
    assert lists[A_STEP] == {part for chain in health.chains or () for part in chain[:-1]}
    worst = blamed.arrays.results[blamed.candidates()].tolist()
    assert lists[TO_BLAME] == set(worst)
    both = found.among([lists[TO_BLAME], lists[NEVER_USED]])
    assert set(both.index) == lists[TO_BLAME] & lists[NEVER_USED]
    wrong = table["wrong joins"].tolist()
    assert wrong == sorted(wrong, reverse=True), "the worst first"


def test_every_type_has_its_cell():
    tokeniser = load_tokeniser("demo:en")
    study = Study(tokeniser, Benchmark.on(mg.read_gold("demo:en"), tokeniser))
    graph, names = study.graph, tokeniser.readable_types
    graph.knockout(["ies"])
    blamed = study.blame()
    found = Overview.of(blamed, names, graph.type_ids())
    assert sorted(chain.from_iterable(found.cells.values())) == sorted(graph.type_ids())
    for (column, row), types in found.cells.items():
        joins = []
        for number in types:
            assert found.place(number) == (column, row)
            assert column == min(COLUMNS, max(1, len(names[number].lstrip("␣"))))
            makers = graph.incoming(number)
            n, b = blamed.counts(blamed.worst_of(makers)) if makers else (0, 0)
            assert row == (round(10 * b / n) if n else -1)
            joins.append(n)
        assert joins == sorted(joins, reverse=True)
        assert found.within(column, row, column, row) == types
    assert sorted(found.within(1, -1, COLUMNS, 10)) == sorted(graph.type_ids())
    assert {names[n] for n in found.within(1, -1, 1, 10)} >= {"a", "␣a"}
