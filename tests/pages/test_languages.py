"""The tab Languages of the Scores page: references that are there, without a download."""

import csv
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from morphgraph.reference import catalogue
from morphgraph.reference.catalogue import SOURCES
from morphgraph.reference.readers import read_reference
from morphgraph.refine.blame_by_language import blame_by_language
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.by_language import rows_by_language
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.merging import segment

pytestmark = pytest.mark.slow

WORDS = {
    "german": ("deu", "undank\tun dank\nredest\tred est\nunding\tunding\n" * 8),
    "greek": ("ell", "λόγος\tλόγ ος\nund\tun d\n" * 8),
}


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of public data with two references of one collection, and no other one."""
    folder = tmp_path / "data" / "references" / "small"
    folder.mkdir(parents=True)
    found = {}
    for name, (language, text) in WORDS.items():
        data = text.encode()
        (folder / f"{name}.tsv").write_bytes(data)
        found[f"small-{name}"] = replace(
            SOURCES["morphynet-deu"],
            name=f"small-{name}",
            title="Small",
            languages=(language,),
            format="plain",
            url=f"https://example.org/{name}.tsv",
            sha256=hashlib.sha256(data).hexdigest(),
            size=len(data),
        )
    monkeypatch.setenv("MORPHGRAPH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(catalogue, "SOURCES", found)
    return folder


@pytest.fixture
def page(open_app: Any) -> Any:
    return open_app("scores").put("scores tab", "Languages")


def test_every_number_is_the_library_s(
    sources: Path, page: Any, downloads: dict[str, Callable[[], bytes]]
) -> None:
    page.run()
    box = page.find("selectbox", "Public references on this machine")
    assert box.options == ["Small (2)", "none"]
    tokeniser = page.session.study.tokeniser
    known = page.session.study.benchmark
    golds = [GoldSet.of(known.reference, known.frequencies, known.frequency_source)]
    golds += [GoldSet.of(read_reference(f"catalogue:small-{name}")) for name in WORDS]
    rows = rows_by_language([ScoreTable([outcome_of(Bte(tokeniser), gold)]) for gold in golds])
    [chart] = [json.loads(chart.proto.spec) for chart in page.test.get("plotly_chart")]
    assert chart["layout"]["yaxis"]["ticktext"] == [
        {"German": "German (Latin)", "demo:en": "demo:en (Latin)"}.get(row.language, row.language)
        for row in rows
    ]
    texts = [trace["text"] for trace in chart["data"] if trace["type"] == "scatter"]
    assert texts[0] == [f"{100 * row.f1:.2f}" for row in rows]
    assert texts[3] == [f"{100 * row.uncut:.2f}" for row in rows]
    lines = list(csv.DictReader(io.StringIO(downloads["download languages.csv"]().decode())))
    assert [float(line["f1"]) for line in lines] == [row.f1 for row in rows]
    names = ("demo:en", "German", "Greek")
    made = {name: Benchmark.on(gold, tokeniser) for name, gold in zip(names, golds, strict=True)}
    pairs = {name: (each, segment(tokeniser.graph, each.words)) for name, each in made.items()}
    found = blame_by_language(pairs)
    order = found.order()
    table = page.table("worst in")
    assert list(table["merge"]) == list(found.columns(tokeniser, order)["merge"])
    spread = [f"{value:.3f}" for value in found.spread[order]]
    assert len(order) and list(table["spread"]) == spread
    first = {key: values[0] for key, values in found.columns(tokeniser, order).items()}
    cell = f"{first['German R']:.2f} ({first['German B']:.0f} of {first['German N']:.0f})"
    assert table["German"][0] == cell
    assert not page.errors()
