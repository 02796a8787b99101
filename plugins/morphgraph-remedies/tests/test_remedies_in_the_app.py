"""Methods that are trained on several languages, or on gold, on the page Build."""

from typing import Any

import pytest

from morphgraph.corpus.counts import (
    LanguageCounts,
    parse_word_counts,
    to_language_counts,
    wordfreq_counts,
)
from morphgraph.refine.learning import has_seen
from morphgraph.segment.models import write_model
from morphgraph.segment.training import train
from morphgraph_remedies.morphbpe import train_morphbpe
from web import jobs

pytestmark = pytest.mark.slow

COUNTS = b"undo\t50\nundoing\t20\ndoing\t30\ndo\t90\nredo\t12\n"


@pytest.fixture
def page(app: Any) -> Any:
    return app.open("build")


def others(page: Any) -> Any:
    """The list of the methods that are behind the third card."""
    method = page.find("radio", "Method")
    return page.set("radio", "Method", method.options[2])


def test_parity_of_several_languages(page: Any) -> None:
    others(page).choose("Which", "parity").set("multiselect", "wordfreq's counts of", ["nl"])
    assert page.find("button", "Train").disabled
    page.set("multiselect", "wordfreq's counts of", ["nl", "sh"])
    page.set("number_input", "Types", 600).press("Train")
    assert page.errors() == []
    [(label, model)] = page.session.models.items()
    assert label.endswith("· plain · 600 · nl, sh")
    counts = to_language_counts({"nl": "wordfreq:nl", "sh": "wordfreq:sh"})
    assert write_model(model) == write_model(train("parity", counts, 600))


def test_morphbpe_learns_from_the_open_gold_but_not_from_words_kept_aside(page: Any) -> None:
    others(page.choose("Language", "en")).choose("Which", "morphbpe")
    page.set("number_input", "Share of words kept aside", 0.5)
    page.set("number_input", "Types", 1500).press("Train")
    assert page.errors() == []
    [(label, model)] = page.session.models.items()
    gold, words = page.session.study.benchmark.reference, wordfreq_counts("en")
    assert label.endswith(f"1,500 · wordfreq:en, {gold.name}")
    base = train("bpe", words, 1500)
    expected = train_morphbpe(base, words, gold, 1500, {}, 0.5)
    assert write_model(model) == write_model(expected)
    for other in (0, 0.2):
        assert write_model(model) != write_model(train_morphbpe(base, words, gold, 1500, {}, other))
    page.press("Open it")
    opened, benchmark = page.session.study.tokeniser, page.session.study.benchmark
    assert opened.types == model.tokeniser.types
    assert has_seen(opened, benchmark)
    rest, kept = benchmark.split(0.5)
    assert has_seen(opened, rest)
    assert not has_seen(opened, kept)
    assert page.scored == f"on {len(kept)} words kept aside"


def test_only_gold_offers_morphbpe(app: Any) -> None:
    without = app.opening().press("Go on without gold").open("build")
    assert "MorphBPE (ours)" not in others(without).find("selectbox", "Which").options
    without.session.open_demo("en")
    without.run()
    assert "MorphBPE (ours)" in others(without).find("selectbox", "Which").options


def test_several_languages_are_told_apart_in_turn(
    state_folder: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "1")
    some = parse_word_counts(COUNTS, "counts")
    words = LanguageCounts({"en": some, "xx": some})
    made = jobs.train_in_turn(
        "ann", "parity", words, 260, lambda share, text: None, pipeline="plain", parameters={}
    )
    assert write_model(made) == write_model(train("parity", words, 260, pipeline="plain"))
