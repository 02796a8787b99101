"""The Train page: what it trains is what the library trains, and errors are messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.corpus.text import read_text
from morphgraph.methods import METHODS
from morphgraph.segment.models import write_model
from morphgraph.segment.training import train

pytestmark = pytest.mark.slow

PAGE = "pages/8_Train.py"
COUNTS = b"undo\t50\nundoing\t20\ndoing\t30\ndo\t90\nredo\t12\n"
CSV = b"id,title\n1,undo undo\n2,undoing\n"


@pytest.fixture
def page(app: Any) -> Any:
    app.test.switch_page(PAGE)
    return app.run()


def field(found: Any, label: str) -> Any:
    [one] = [item for item in found if item.label == label]
    return one


def choose_source(page: Any, name: str) -> Any:
    field(page.test.segmented_control, "Words from").set_value(name)
    return page.run()


def set_size(page: Any, size: int) -> Any:
    field(page.test.number_input, "Vocabulary size").set_value(size)
    return page.run()


def choose_method(page: Any, name: str) -> Any:
    field(page.test.radio, "Method").set_value(name)
    return page.run()


def models(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.session.models
    return found


def buttons(page: Any) -> dict[str, Any]:
    return {button.label: button for button in page.test.button}


def test_train_on_wordfreq_and_open_it(page: Any) -> None:
    page.choose("Language", "nl")
    set_size(page, 600).press("Train")
    [(label, model)] = models(page).items()
    assert label == "BPE · plain · 600 · wordfreq:nl"
    assert write_model(model) == write_model(train("bpe", wordfreq_counts("nl"), 600))
    assert page.metrics()["Types"][0] == "600"
    [table] = page.test.get("bidi_component")[-1:]
    shown = json.loads(table.proto.json)
    assert shown["labels"] == ["trained", "open: demo:en"]
    [first, *_] = shown["rows"]
    assert first["gold"] == ["un", "desir", "able"]
    assert "".join(first["cells"][0]["tokens"].split()) == "␣undesirable"
    assert first["cells"][1]["tokens"] == "␣und es ir able"
    assert {"Download the model", "Download tokenizer.json"} <= {
        button.label for button in page.test.get("download_button")
    }
    page.press("Open it")
    assert page.session.study.tokeniser.vocabulary_size == 600
    assert page.session.study.tokeniser.signature() == model.tokeniser.signature()
    assert page.press("Compare with the open one")
    assert page.session.chosen["compare"].names == ["bpe", f"model {label}"]
    # Another page and back: the model is still there.
    page.open("scores")
    page.test.switch_page(PAGE)
    page.run()
    assert list(models(page)) == [label]


@pytest.mark.parametrize("method", METHODS.trained)
def test_every_method_on_a_file_of_counts(page: Any, method: str) -> None:
    choose_source(page, "counts")
    assert buttons(page)["Train"].disabled
    page.upload("Word counts", ("counts.tsv", COUNTS))
    choose_method(page, method)
    set_size(page, 262).press("Train")
    assert page.errors() == []
    [model] = models(page).values()
    assert page.metrics()["Types"][0] == str(model.vocabulary_size)
    assert ("Open it" in buttons(page)) == method.startswith("bpe")
    page.press("Forget it")
    assert models(page) == {}


def test_train_on_a_column(page: Any) -> None:
    choose_source(page, "text")
    page.upload("Text", ("titles.csv", CSV))
    page.choose("Column", "title")
    set_size(page, 258).press("Train")
    [model] = models(page).values()
    counts = read_text(CSV, "titles.csv", column="title")
    assert write_model(model) == write_model(train("bpe", counts, 258))


def test_errors_are_messages(page: Any) -> None:
    choose_source(page, "counts")
    page.upload("Word counts", ("counts.tsv", b"no counts here\n"))
    page.press("Train")
    assert page.errors() == [
        "counts.tsv: no line is a word and a count. Write one word per line: the word, a tab or a "
        "space, and how often it occurs."
    ]
    choose_source(page, "text")
    page.upload("Text", ("<b>.parquet", b"PAR1 broken"))
    assert "this parquet file cannot be read" in page.errors()[0]
    choose_source(page, "wordfreq")
    set_size(page, 100).press("Train")
    assert "has no room for the 256 atoms" in page.errors()[0]
    assert page.session.models == {}


def test_picky_has_a_threshold(page: Any) -> None:
    assert not [n for n in page.test.number_input if n.label == "Picky BPE: threshold"]
    choose_source(page, "counts")
    page.upload("Word counts", ("counts.tsv", COUNTS))
    choose_method(page, "picky")
    field(page.test.number_input, "Picky BPE: threshold").set_value(1.0)
    set_size(page.run(), 262).press("Train")
    [(label, model)] = models(page).items()
    assert label == "Picky BPE, threshold 1 · plain · 262 · counts.tsv"
    assert model.threshold == 1.0
    assert not model.absent
