"""Without a reference every page shows what it can, or the ways to go on."""

import pytest

from tests.pages.conftest import PAGES

LOCKED = {"repair": "Knock out by blame needs"}


@pytest.fixture
def without(app):
    """The app with the English demo's tokeniser, after a click on the way without gold."""
    return app.opening().press("Go on without gold")


def said(app):
    """All that a page says in Markdown."""
    return "\n".join(each.value for each in app.test.markdown)


def test_every_page_has_its_content_or_the_ways_to_go_on(without):
    assert without.session.study.tokeniser.name == "demo:en"
    assert "Blame, scores and ReBPE need a reference" in said(without)
    assert without.metrics()["F1 %"][0] == "–"
    for page in PAGES:
        without.open(page)
        assert LOCKED.get(page, "") in said(without)
        assert "n/a" not in said(without)
        labels = {metric.label for metric in without.test.metric}
        assert not labels & {"joins", "wrong", "blame", "F1"}


def test_an_edit_says_what_changes_and_not_whether_it_is_better(without):
    without.open("start").press("Knock out")
    [words] = without.component("word_rows")["groups"]
    study = without.session.study
    changed = study.now.segmentation.changed_words(study.start.segmentation)
    assert words["count"] == str(len(changed)) != "0"
    assert all(row["gain"] == 0 and row["gold"] == "" for row in words["rows"])
    assert f"{len(changed)} common words change" in said(without)
    assert "F1" not in said(without)
    without.open("history")
    assert not [b for b in without.test.button if "F1" in b.label]
    without.open("start")
    without.session.open_demo("en")
    without.run()
    assert len(without.graph.history) == 1
    assert float(without.metrics()["F1 %"][0]) > 0


def test_silver_is_made_and_opened(without, monkeypatch):
    monkeypatch.setattr("web.views.without_gold.SILVER_WORDS", 60)
    without.open("repair").press("Make it")
    reference = without.session.study.benchmark.reference
    assert reference.is_silver and len(reference) == 60
    assert reference.name == "English.tsv (silver)"
    assert float(without.metrics()["F1 %"][0]) > 0
