"""The vocabulary page: its figures and lists are the library's."""

import json
from typing import Any

import pytest
from small import small_document
from strategies import SEVERAL_MERGES

from morphgraph.core.text import from_to
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine.pruning import preview_prune
from morphgraph.score.vocabulary_figures import (
    ENTROPY,
    FIGURES,
    RATIO,
    figure_called,
    list_behind,
)
from morphgraph.score.vocabulary_health import VocabularyHealth, compress, corpus_of
from morphgraph.segment.bte import Bte
from morphgraph.segment.segmenter import method_on
from morphgraph.tables.figures import figure_table, signature
from morphgraph.tables.model import shown_texts
from tests.pages.conftest import as_read

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


def tokenisers(app: Any, *names: str) -> Any:
    return app.set("multiselect", "Tokenisers", list(names))


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
    page.open("blame").open("vocabulary")  # the choice stays
    found = listed(page.set("text_input", "Search", "ing"))
    assert 0 < len(found) < everything
    assert all("ing" in text for text in found["type"])
    assert f"{len(found):,} of {everything:,} rows" in page.captions()


def test_without_frequencies_the_figures_of_a_corpus_are_undefined(page: Any) -> None:
    page.session.use_frequencies(None, "")
    page.run()
    by_name = dict(zip(*figures(page), strict=True))
    for figure in FIGURES:
        if figure.needs == "corpus" and figure.key != "renyi":
            assert by_name[figure.label] == "n/a"
    assert by_name["Types, |V|"] == "8,000"
    assert any("is counted by word counts" in text.value for text in page.test.markdown)
    assert "no word frequencies are chosen" in page.captions()


def test_edits_are_held_against_the_start(page: Any) -> None:
    page.session.study.graph.knockout(["ia", "ing"])
    page.run()
    tokenisers(page, "bpe", "before the edits")
    # The cards are those of the last one, beside the baseline.
    assert page.metrics()["Fertility"][1].startswith("-")
    first, second = figures(page)[1:]
    assert (first[0], second[0]) == ("7,998", "8,000")
    beside = page.table("Only in before the edits")
    assert [*beside.iloc[0]] == ["Types, |V|", "7,997", "7,997", "0", "2"]
    assert set(card_list(page, "added_types")["type"]) == {"ia", "ing"}
    relative = [figure.key for figure in FIGURES].index("relative_tokens")
    assert first[relative] == "1.000"
    assert float(second[relative]) < 1
    # The order says which is the baseline.
    tokenisers(page, "before the edits", "bpe")
    assert figures(page)[1][relative] == "1.000"
    assert float(figures(page)[2][relative]) > 1


def test_pruning_is_previewed_and_undone(page: Any) -> None:
    page.put("vocabulary prune", True)
    assert page.session.study.benchmark.frequencies is not None
    for by, count in (("leaf-frequency", 400), ("last", 50)):
        page.choose("First to go", by).set("number_input", "How many types", count)
        study, pruned = page.session.study, load_tokeniser("demo:en")
        counts = corpus_of(study.benchmark).counts
        change = pruned.graph.apply(preview_prune(pruned, count, by, counts))
        tokens = compress(Bte(pruned), counts).fertility
        shown = page.metrics()
        assert shown["Tokens per word"][0] == f"{study.tokens_per_word(counts):.3f} → {tokens:.3f}"
        before = study.now.score("morphemic", "types").f1
        page.press(f"Prune {count} types")
        after = study.now.score("morphemic", "types").f1
        assert shown["F1"][0] == from_to(before, after)
        assert study.graph.history[-1].removed_types == change.removed_types
        study.graph.undo()
        page.run()
    page.session.use_frequencies(None, "")
    page.run()
    assert page.find("selectbox", "First to go").options == [
        "the last types that no other is made of"
    ]


def test_types_that_nothing_forms_are_listed_and_removed(app: Any) -> None:
    """They are left by an edit, named where edits are, and gone by one more, which undo takes."""
    document = json.dumps(small_document(SEVERAL_MERGES, "abcde")).encode()
    app.session.open_tokeniser(from_tokenizer_json(document, "several.json"))
    app.session.use_frequencies({"abcde": 9.0, "a": 4.0}, "small.tsv")
    for page in ("history", "vocabulary"):
        app.open(page)
        assert not [b for b in app.test.button if b.label == "Remove it"]
    app.graph.knockout(["abcd"])
    for page in ("graph", "blame", "rebpe", "history", "vocabulary"):
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


def test_a_list_of_types_is_knocked_out(app: Any) -> None:
    app.open("vocabulary").set("text_area", "Types or ids, one a line", "able\nnot one\n")
    assert any("line 2" in error.value for error in app.test.error)
    app.set("text_area", "Types or ids, one a line", "able\n␣und\n")
    said = next(each.value for each in app.test.markdown if "types go" in each.value)
    assert "2 types go, and 0 others" in as_read(said) and "tokens per word" in as_read(said)
    app.press("Knock them out")
    assert not {"able", "Ġund"} & {app.graph.types[n] for n in app.graph.type_ids()}
    assert app.find("text_area", "Types or ids, one a line").value == ""
    # The figures are of before the edits and of now.
    assert [column[0] for column in figures(opened(app))[1:]] == ["8,000", "7,998"]
    app.press("Undo")
    assert "able" in app.graph


def test_how_final_types_are_is_a_choice(page: Any) -> None:
    assert "FI ratio" not in listed(page)
    card(page, "renyi").set("toggle", "FI ratio, neighbours", True)
    table = listed(page)
    study = page.session.study
    health = VocabularyHealth(Bte(study.tokeniser), corpus_of(study.benchmark))
    expected = list_behind(health, "tokens", finality=True)
    for column in (RATIO, ENTROPY):
        assert list(table[column]) == list(expected[column])
    assert 0 < table[RATIO].min() <= table[RATIO].max() <= 1
    card(page, "duplicates")
    assert not [toggle for toggle in page.test.toggle if toggle.label == "FI ratio, neighbours"]
