"""The merge tree page."""

import json
from typing import Any

import pytest
from small import small_document

pytestmark = pytest.mark.slow


def description(app: Any) -> str:
    data = app.component("merge_tree")
    assert data is not None
    return str(data["light"][0]).split("<desc>")[1].split("</desc>")[0]


def test_it_starts_with_the_worst_word(app: Any) -> None:
    app.open("tree")
    study = app.session.study
    worst = study.worst_words(1)[0]
    assert app.test.text_input[0].value == worst.word
    number, types = study.benchmark.words.texts.index(worst.word), study.tokeniser.readable_types
    tokens = " ".join(types[token] for token in study.now.segmentation.tokens(number))
    assert description(app) == f"Tokens: {tokens}. Gold: {worst.gold.replace('|', ' ')}."
    rows = app.table("step").to_dict("records")
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    missed = worst.after.count("‿")
    assert sum(row["gold boundaries closed"] for row in rows) == missed


def test_characters_outside_the_alphabet_are_named(app: Any) -> None:
    document = json.dumps(small_document([["u", "n"]], "undo")).encode()
    app.upload("Tokeniser", ("tokenizer.json", document))
    app.open("tree").set("text_input", "Word", "unx`*日")
    assert "Not in the alphabet" in app.captions()
    assert "日" in app.captions()
    app.set("text_input", "Word", "zzz")
    assert "leaves nothing of this word" in app.test.info[0].value


def test_a_word_that_stays_whole(app: Any) -> None:
    """One type's merge comes too late, the other has none; all pages show words with them."""
    document = small_document([["n", "d"], ["u", "n"], ["un", "d"]], "undo", ignore_merges=True)
    document["model"]["vocab"]["dou"] = 99
    app.upload("Tokeniser", ("tokenizer.json", json.dumps(document).encode()))
    app.upload("Reference", ("gold.tsv", b"und\tu nd\ndou\td ou\ndo\tdo\n" * 9))
    app.open("tree")
    for word in ("und", "dou"):
        app.set("text_input", "Word", word)
        assert description(app).startswith(f"Tokens: {word}.")
        assert app.table("step").to_dict("records")[0]["merge"].endswith(f" → {word}")
    for page in ("start", "graph", "blame", "scores"):
        app.open(page)


def test_edits_are_shown_before_and_after(app: Any) -> None:
    app.open("graph")
    study = app.session.study
    number = app.session.selected
    [example, *_] = study.examples(number)[1]
    app.press("Knock out").press("Undo")
    app.open("tree").set("text_input", "Word", example.word)
    before = description(app)
    assert not app.test.segmented_control
    app.open("graph").press("Knock out")
    app.open("tree")
    after = description(app)
    tokens = before.split(". Gold")[0]
    assert after.startswith(f"before the last edit: {tokens}.")
    assert " now: Tokens: " in after
    app.set("segmented_control", "Compare with before", "nothing")
    assert description(app).startswith("Tokens: ")
    app.set("text_input", "Word", "zq")
    app.set("segmented_control", "Compare with before", "all edits")
    assert "now, and before any edit: Tokens: " in description(app)


@pytest.mark.parametrize(
    ("typed", "said", "drawn"),
    [
        ("  ", "Type a word", ""),
        (" under standing ", "One word at a time", "under"),
        ("ab" * 5000, "first 200 of 10,000", "ab" * 100),
    ],
)
def test_what_is_no_word_is_a_message(app: Any, typed: str, said: str, drawn: str) -> None:
    app.open("tree").set("text_input", "Word", typed)
    assert said in " ".join(info.value.replace("\\", "") for info in app.test.info)
    shown = app.component("merge_tree")
    assert f"Merge tree of {drawn}<" in shown["light"][0] if shown else not drawn


def test_a_word_of_ones_own_is_kept_and_one_that_is_in_no_list_has_no_gold(app: Any) -> None:
    app.open("tree").set("text_input", "Word", "unbreakablenesses")
    assert "Gold" not in description(app)
    assert "not in the reference" in app.captions()
    assert "gold boundaries closed" not in app.table("step").to_dict("records")[0]
    app.open("scores")
    assert app.open("tree").test.text_input[0].value == "unbreakablenesses"


def test_types_that_would_be_markup_are_text(app: Any, hostile_document: bytes) -> None:
    app.upload("Tokeniser", ("tokenizer.json", hostile_document))
    data = (
        app.open("tree").set("text_input", "Word", "<script>**un</script>").component("merge_tree")
    )
    assert data is not None
    assert "<script" not in "".join(data["light"] + data["dark"])
