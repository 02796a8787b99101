"""A tokeniser with types of several words on every page."""

import pytest
from superbpe import superbpe_json
from tokenizers import Tokenizer

from tests.pages.conftest import PAGES

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(app):
    app.upload("", ("super.json", superbpe_json()))
    assert app.errors() == []
    app.session.use_frequencies({"the": 9.0, "undoing": 4.0, "houses": 3.0}, "small.tsv")
    return app


def test_every_page_shows_it(opened):
    for page in PAGES:
        assert opened.open(page).errors() == []


def test_the_start_shows_tokens_across_words(opened):
    opened.put(f"text {opened.session.study_number}", "of the house\nin a lot of the 1")
    first, second = opened.component("word_text")["lines"]
    theirs = Tokenizer.from_str(superbpe_json().decode())
    for line, text in ((first, " of the house"), (second, " in a lot of the 1")):
        shown = ["".join(token["segments"]) for token in line["tokens"]]
        assert shown == [t.replace("Ġ", "␣") for t in theirs.encode(text).tokens]
