"""The overview: each present type in one cell, most joins first."""

from itertools import chain

import morphgraph as mg
from morphgraph.draw.overview import COLUMNS, Overview
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark


def test_every_type_has_its_cell() -> None:
    tokeniser = load_tokeniser("demo:en")
    study = Study(tokeniser, Benchmark.on(mg.read_gold("demo:en"), tokeniser))
    graph, names = study.graph, tokeniser.readable_types
    gone = graph.ids["ies"]
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
        assert found.choose(column, row, gone) == types[0]
        assert found.choose(column, row, types[0]) == types[1 % len(types)]
        assert found.choose(column, row, types[-1]) == types[0]
    assert found.choose(COLUMNS, 10, gone) is None
