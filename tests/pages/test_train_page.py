"""The Train page: what it trains is what the library trains, and errors are messages."""

from typing import Any

import pytest

from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.segment.models import write_model
from morphgraph.segment.training import train
from web.choosing import chosen_methods

pytestmark = pytest.mark.slow


@pytest.fixture
def page(open_app: Any) -> Any:
    return open_app("train")


def test_train_on_wordfreq_and_open_it(page: Any) -> None:
    page.choose("Language", "nl")
    page.set("number_input", "Vocabulary size", 600).press("Train")
    [(label, model)] = page.session.models.items()
    assert label == "BPE · plain · 600 · wordfreq:nl"
    assert write_model(model) == write_model(train("bpe", wordfreq_counts("nl"), 600))
    assert page.metrics()["Types"][0] == "600"
    assert {"Download the model", "Download tokenizer.json"} <= {
        button.label for button in page.test.get("download_button")
    }
    page.press("Open it")
    assert page.session.study.tokeniser.vocabulary_size == 600
    assert page.session.study.tokeniser.signature() == model.tokeniser.signature()
    assert page.press("Compare with the open one")
    assert chosen_methods(page.session) == ["bpe", f"model {label}"]
    # Another page and back: the model is still there.
    page.open("compare").open("train")
    assert list(page.session.models) == [label]
