"""A tokeniser with types of several words on every page, which say what is left out."""

from typing import Any

import pytest
from superbpe import superbpe_json
from tokenizers import Tokenizer

from tests.pages.conftest import as_read

pytestmark = pytest.mark.slow


@pytest.fixture
def opened(app: Any) -> Any:
    app.upload("Tokeniser", ("super.json", superbpe_json()))
    assert app.errors() == []
    app.session.use_frequencies({"the": 9.0, "undoing": 4.0, "houses": 3.0}, "small.tsv")
    return app


def test_its_types_of_several_words_are_listed_and_can_be_knocked_out(opened: Any) -> None:
    opened.open("vocabulary")
    found = opened.session.study.tokeniser.several_words
    [note] = [as_read(each.value) for each in opened.test.info]
    assert note.startswith(f"{len(found)} types span several words: ")
    opened.press("List them")
    table = opened.table("type")
    assert len(table) == len(found)
    assert "␣of␣the" in set(table["type"])
    [field] = [each for each in opened.test.text_area if "Types or ids" in each.label]
    field.set_value("\n".join(table["type"]))
    opened.run().press("Knock them out")
    assert opened.session.study.tokeniser.several_words == []
    opened.open("blame")
    assert opened.errors() == []


def test_the_start_shows_tokens_across_words(opened: Any) -> None:
    opened.put(f"first look {opened.session.study_number}", "of the house\nin a lot of the 1")
    [first, second] = opened.component("word_editor")["lines"]
    theirs = Tokenizer.from_str(superbpe_json().decode())
    for line, text in ((first, " of the house"), (second, " in a lot of the 1")):
        shown = ["".join(token["segments"]) for word in line for token in word["tokens"]]
        assert shown == [t.replace("Ġ", "␣") for t in theirs.encode(text).tokens]
