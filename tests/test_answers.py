"""docs/answers: each question is a page of its own, found by its name and in the index."""

import re

import pytest

from docs.tools import DOCS
from docs.tools.reading import read

INDEX = (DOCS / "answers" / "index.md").read_text(encoding="utf-8")
PAGES = sorted(path for path in DOCS.glob("answers/*.md") if path.name != "index.md")


def test_the_index_lists_all_by_their_titles():
    titles = {path.name: path.read_text(encoding="utf-8").splitlines()[0][2:] for path in PAGES}
    assert len(PAGES) >= 24
    listed = re.findall(r"^- \[(.*)\]\((\w.*)\):\s+\S", INDEX, re.M)
    assert sorted((name, title) for title, name in listed) == sorted(titles.items())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_is_one_question(path):
    page = path.read_text(encoding="utf-8")
    question = page.splitlines()[0].removeprefix("# ")
    assert question.endswith("?")
    assert re.sub(r"\W+", "-", question.lower().replace("'", "")).strip("-") == path.stem
    assert "**The caveat.**" in page
    assert 80 <= read(page).words <= 250
