"""The pages of documentation: what they show is what runs, and they can be read to the end."""

import re

import pytest

from docs.tools import DOCS, examples, reading

ROOT = DOCS.parent
SHIPPED = [path for path in reading.PAGES if path in examples.PAGES or "plugins" in path.parts]


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("path", examples.PAGES, ids=named)
def test_a_page_shows_what_its_commands_print(path):
    page = path.read_text(encoding="utf-8")
    assert examples.renewed(page) == page, f"python -m docs.tools.examples {named(path)}"


@pytest.mark.parametrize("path", SHIPPED, ids=named)
def test_a_page_is_read_to_the_end(path):
    told = reading.read(path.read_text(encoding="utf-8"))
    assert told.words <= 900
    assert [each for each in told.sentences if reading.words_of(each) > 40] == []
    assert told.long_lines == []


def test_all_of_it_is_read():
    pages = [reading.read(path.read_text(encoding="utf-8")) for path in SHIPPED]
    sentences = [reading.words_of(each) for told in pages for each in told.sentences]
    assert sum(told.words for told in pages) <= 16_000
    assert sum(sentences) / len(sentences) <= 14


@pytest.mark.parametrize("path", sorted(DOCS.glob("**/*.md")), ids=named)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []
