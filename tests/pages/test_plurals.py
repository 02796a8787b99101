"""One of a thing is said as one: no page speaks of "1 words"."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PLURAL_OF_ONE = re.compile(r"(?<![\d.,:])\b1(?:\*\*)? (?!is\b|was\b|has\b|goes\b|gets\b)[a-z]+s\b")


def texts(app: Any) -> Iterator[str]:
    """All that a page says, labels of widgets included."""
    for kind in ("markdown", "caption", "info", "warning", "success", "error", "expander"):
        for element in app.test.get(kind):
            yield str(getattr(element, "value", "") or "")
            yield str(getattr(element, "label", "") or "")
    for kind in ("button", "selectbox", "multiselect", "number_input", "text_input"):
        yield from (str(element.label) for element in app.test.get(kind))


def wrong(app: Any) -> list[str]:
    return [text for text in texts(app) if PLURAL_OF_ONE.search(text)]


@pytest.fixture
def tiny(app: Any, small_document: Callable[..., dict[str, Any]]) -> Any:
    """The app with a tokeniser of one merge, and a reference of one word with one boundary."""
    document = small_document([("a", "b")], "ab")
    app.upload("Tokeniser", ("tiny.json", json.dumps(document).encode()))
    app.upload("Reference", ("tiny.tsv", b"ab\ta b\n"))
    assert len(app.session.study.benchmark.reference) == 1
    return app


@pytest.mark.parametrize("page", ["start", "graph", "tree", "blame", "rebpe", "scores", "history"])
def test_a_page_about_one_of_everything(tiny: Any, page: str) -> None:
    tiny.open(page)
    assert not wrong(tiny)


def test_edits_of_one_of_everything(tiny: Any) -> None:
    tiny.open("graph")
    graph = tiny.graph
    tiny.session.focus = tiny.session.selected = graph.ids["ab"]
    tiny.run()
    assert any("1 word changes" in text for text in texts(tiny))
    tiny.press("Knock out")
    assert not wrong(tiny)
    tiny.open("history")
    assert not wrong(tiny)


def test_one_merge_that_gets_other_parts(app: Any) -> None:
    app.open("graph")
    app.session.focus = app.session.selected = app.graph.ids["ination"]
    app.run()
    assert any("1 word changes" in text for text in texts(app))
    app.press("Knock out")
    assert any("1 merge takes" in text for text in texts(app))
    assert not wrong(app)
