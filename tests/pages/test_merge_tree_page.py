"""The merge tree page."""

from typing import Any

import pytest

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


def test_types_that_would_be_markup_are_text(app: Any, hostile_document: bytes) -> None:
    app.upload("", ("tokenizer.json", hostile_document))
    data = (
        app.open("tree").set("text_input", "Word", "<script>**un</script>").component("merge_tree")
    )
    assert data is not None
    assert "<script" not in "".join(data["light"] + data["dark"])
