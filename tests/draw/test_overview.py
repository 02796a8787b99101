"""The overview: each present type in one cell, most joins first."""

from itertools import chain

import morphgraph as mg
from morphgraph.draw.overview import COLUMNS, Overview
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark


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
