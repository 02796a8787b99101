"""The Train page: what it trains is what the library trains, and errors are messages."""

import pytest

from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.segment.models import write_model
from morphgraph.segment.training import train
from web.choosing import chosen_methods

pytestmark = pytest.mark.slow


@pytest.fixture
def page(open_app):
    return open_app("build")


def test_train_on_wordfreq_and_open_it(page):
    page.choose("Language", "nl")
    page.set("number_input", "Types", 600).press("Train")
    [(label, model)] = page.session.models.items()
    assert label == "BPE · plain · 600 · wordfreq:nl"
    assert write_model(model) == write_model(train("bpe", wordfreq_counts("nl"), 600))
    assert any(m.value.startswith("**600 types** · ") for m in page.test.markdown)
    assert {"Download the model", "Download tokenizer.json"} <= {
        button.label for button in page.test.get("download_button")
    }
    page.press("Open it")
    assert page.session.study.tokeniser.vocabulary_size == 600
    assert page.session.study.tokeniser.signature() == model.tokeniser.signature()
    assert page.press("Put it beside BPE")
    assert chosen_methods(page.session) == ["bpe", f"model {label}"]
    # Another page and back: the model is still there.
    page.open("compare").open("build")
    assert list(page.session.models) == [label]


def test_the_other_methods_are_behind_the_third_card(page):
    method = page.find("radio", "Method")
    assert method.options[:2] == ["Picky BPE", "BPE"]
    method.set_value(method.options[2])
    page.run()
    page.choose("Which", "scaffold").set("number_input", "Types", 400).press("Train")
    assert next(iter(page.session.models)).startswith("Scaffold-BPE")
    # What was trained is shown on a few of its words, in place.
    assert [m for m in page.test.markdown if m.value.count(":gray-background[") > 4]
