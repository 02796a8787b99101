"""The Train page: what it trains is what the library trains, and errors are messages."""

from typing import Any

import pytest

from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine.extending import preview_extend
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


def test_the_open_tokeniser_is_extended(page: Any) -> None:
    """As by the library, in one edit."""
    counts = {"undesirable": 5, "houses": 3}
    page.set("segmented_control", "Words from", "counts")
    assert page.find("button", "Extend").disabled
    lines = "".join(f"{word}\t{count}\n" for word, count in counts.items())
    page.upload("Word counts", ("counts.tsv", lines.encode()))
    page.set("number_input", "New types", 2).press("Extend")
    [edit] = page.graph.history
    expected = preview_extend(load_tokeniser("demo:en"), counts, 2)
    assert (edit.step, len(edit.added_types)) == (expected.step, 2)
    # Four tokens and one before; two fewer merges are left of und es ir able.
    [said] = [message.value for message in page.test.success]
    assert said.startswith(f"2 types added: {23 / 8:.3f} → {13 / 8:.3f} tokens per word.")
