"""Comparisons to take away: they hold what was compared, and nothing in them is code."""

import csv
import io
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from morphgraph.score.comparison import Comparison
from morphgraph.segment.bte import Bte
from morphgraph.tables.scores import comparison_csv, comparison_html, comparison_latex
from morphgraph.tokeniser.tokeniser import BpeTokeniser

HOSTILE = ["<script>alert(1)</script>", "=cmd()", 'a"b,c', "50%_{x}\\"]


class Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attributes)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def comparison(small_tokeniser: Callable[..., BpeTokeniser]) -> Comparison:
    alphabet = "".join(sorted(set("".join(HOSTILE) + "undo")))
    segmenters = [Bte(small_tokeniser(m, alphabet)) for m in ([("u", "n")], [("n", "d")])]
    texts = ["undo", *HOSTILE]
    return Comparison(segmenters, texts, [("un", "do"), *[None] * len(HOSTILE)])


def test_csv(comparison: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(comparison_csv(comparison, comparison.rows).decode())))
    assert [row["word"] for row in rows] == ["undo", HOSTILE[0], "'=cmd()", *HOSTILE[2:]]
    first, second = comparison.labels
    assert rows[0][first] == "un d o"
    assert rows[0][second] == "u nd o"
    assert rows[0][f"{first}: errors"] == "1"
    assert rows[0][f"{second}: errors"] == "3"
    assert rows[1][f"{first}: errors"] == "n/a"


def test_latex(comparison: Comparison) -> None:
    text = comparison_latex(comparison, comparison.rows[:1] + comparison.rows[-1:])
    assert r"un\,\textbar\,d\,\textbar\,o" in text.replace(r"\allowbreak{}", "")
    assert r"50\%\_\{x\}\textbackslash{}" in text
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert len(rows) == 3
    note = text.split(r"\begin{minipage}")[1]
    assert "Bold: cut just as in the gold." not in note, "none is"
    assert r"methods:\allowbreak{}BPE" in note


def test_html(comparison: Comparison) -> None:
    page = Read()
    page.feed(comparison_html(comparison, comparison.rows, "<b>title").decode())
    assert "script" not in page.tags
    assert "<b>title" in page.text
    for text in HOSTILE:
        assert text in page.text
    assert "b" not in page.tags
