"""The vocabulary page: its figures and lists are the library's."""

import json
from typing import Any

import pytest
from small import small_document
from strategies import SEVERAL_MERGES

from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.score.vocabulary_figures import (
    figure_called,
    list_behind,
)
from morphgraph.score.vocabulary_health import VocabularyHealth, corpus_of
from morphgraph.segment.segmenter import method_on
from morphgraph.tables.figures import figure_table, signature
from morphgraph.tables.model import shown_texts

pytestmark = pytest.mark.slow


@pytest.fixture
def page(app: Any) -> Any:
    # A small corpus is enough for most of what the page does.
    frequencies = {"the": 9.0, "undoing": 4.0, "houses": 3.0, "antiaircraft": 1.0}
    app.session.use_frequencies(frequencies, "small.tsv")
    return opened(app)


def opened(app: Any) -> Any:
    """The page, with all figures in sight."""
    app.test.session_state["vocabulary more"] = True
    return app.open("vocabulary")


def figures(app: Any) -> list[list[str]]:
    """The columns of the table: names of the figures, then their values."""
    found = app.table("Figure")
    return [list(found[column]) for column in found.columns]


def shown(healths: list[VocabularyHealth], alpha: float) -> list[tuple[str, ...]]:
    """The rows of the table of the library."""
    return [tuple(line) for line in shown_texts(figure_table(healths, alpha))]


def listed(app: Any) -> Any:
    return app.table("type")


def card_list(app: Any, key: str) -> Any:
    """The types behind a figure of the table."""
    app.put("vocabulary card", key)
    return listed(app)


def card(app: Any, key: str) -> Any:
    """Click a card."""
    [button] = [b for b in app.test.button if b.key == f"list {key}"]
    button.click()
    return app.run()


def now(app: Any, **settings: Any) -> VocabularyHealth:
    study = app.session.study
    segmenter = method_on(study.tokeniser, "bpe")
    return VocabularyHealth(
        segmenter, corpus_of(study.benchmark), study.benchmark.reference, **settings
    )


def test_the_figures_are_those_of_the_library(page: Any) -> None:
    health = now(page, label="demo:en")
    assert list(zip(*figures(page), strict=True)) == shown([health], 2.5)
    assert page.test.code[-1].value == signature([health], 2.5)
    values = dict(zip(*figures(page), strict=True))
    cards = page.metrics()
    for card_title, figure in (
        ("Never used", "Types never used"),
        ("Unreachable", "Unreachable types"),
        ("Duplicates", "Pairs that differ in the marker only"),
        ("Single-use chains", "Single-use chains"),
        ("Fertility", "Tokens per word"),
        ("Rényi efficiency", "Rényi efficiency, α = 2.5"),
    ):
        assert cards[card_title] == (values[figure], "")
    [field] = [n for n in page.test.number_input if n.label.startswith("α")]
    field.set_value(1.0)
    assert list(zip(*figures(page.run()), strict=True)) == shown([now(page)], 1.0)
    assert "|alpha:1|" in page.test.code[-1].value


def test_a_card_lists_its_types_which_can_be_searched(page: Any, downloads: Any) -> None:
    for key, behind in (("never_used", "never_used"), ("renyi", "tokens")):
        card(page, key)
        assert " ".join(figure_called(key).definition.split()) in page.captions()
        expected = list_behind(now(page), behind)
        assert list(listed(page)["type"]) == list(expected["type"])
        written = downloads[f"download {behind}.csv"]().decode("utf-8").splitlines()
        assert len(written) == len(expected) + 1
    everything = len(listed(card(page, "duplicates")))
    page.open("repair").open("vocabulary")  # the choice stays
    found = listed(page.set("text_input", "Search", "ing"))
    assert 0 < len(found) < everything
    assert all("ing" in text for text in found["type"])
    assert f"{len(found):,} of {everything:,} rows" in page.captions()


def test_types_that_nothing_forms_are_listed_and_removed(app: Any) -> None:
    """They are left by an edit, named where edits are, and gone by one more, which undo takes."""
    document = json.dumps(small_document(SEVERAL_MERGES, "abcde")).encode()
    app.session.open_tokeniser(from_tokenizer_json(document, "several.json"))
    app.session.use_frequencies({"abcde": 9.0, "a": 4.0}, "small.tsv")
    for page in ("history", "vocabulary"):
        app.open(page)
        assert not [b for b in app.test.button if b.label == "Remove it"]
    app.graph.knockout(["abcd"])
    for page in ("graph", "repair", "history", "vocabulary"):
        app.open(page)
        said = [w.value for w in app.test.warning if "no merge forms" in w.value]
        assert said == ["1 type is left that no merge forms any more: abcde."], page
    app.press("List them")
    assert list(listed(app)["type"]) == ["abcde"]
    app.press("Remove it")
    assert "abcde" not in app.graph
    assert [change.edit for change in app.graph.history] == ["knockout", "cascade"]
    assert not [w for w in app.test.warning if "no merge forms" in w.value]
    app.graph.undo()
    app.open("history")
    assert [b for b in app.test.button if b.label == "Remove it"]
