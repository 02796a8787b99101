"""The pages of documentation: what they show is what runs, and they can be read to the end."""

import re

import pytest
from effort import all_but

from docs.tools import DOCS, examples, figures, reading

READ = reading.read_all()
SLOW = [DOCS.parent / "plugins/morphgraph-remedies/docs/adaptbpe.md"]
ANSWERS = [path for path in READ if path.parent.name == "answers" and path.stem != "index"]


def named(path):
    return str(path.relative_to(DOCS.parent))


@pytest.fixture
def few_words():
    """All of them, as pages say how many there are."""


@pytest.mark.slow
@pytest.mark.parametrize("path", all_but(examples.PAGES, *SLOW), ids=named)
def test_a_page_shows_what_its_commands_print(path):
    page = path.read_text(encoding="utf-8")
    assert examples.renewed(page) == page, f"python -m docs.tools.examples {named(path)}"


@pytest.mark.parametrize("draw", figures.DRAWN)
def test_pictures_of_results_show_the_tables(draw):
    drawn = (DOCS / "images" / f"{draw.__name__}.svg").read_text(encoding="utf-8")
    assert drawn == draw(), "python -m docs.tools.figures"


@pytest.mark.parametrize("path", READ, ids=named)
def test_a_page_is_read_to_the_end(path):
    assert READ[path].faults == []
    assert READ[path].mean <= 18


def test_all_of_it_is_read():
    whole = reading.together(READ)
    assert whole.words <= 20_000 and whole.mean <= 14


def test_the_index_lists_all_answers_by_their_titles():
    index = (DOCS / "answers" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(.*)\]\((\w.*)\)$", index, re.M)
    titles = {path.read_text(encoding="utf-8").splitlines()[0][2:]: path.name for path in ANSWERS}
    assert dict(listed) == titles and len(listed) == len(ANSWERS) >= 24


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_an_answer_is_that_to_one_question(path):
    page = path.read_text(encoding="utf-8")
    question = page.splitlines()[0].removeprefix("# ")
    assert question.endswith("?")
    assert re.sub(r"\W+", "-", question.lower().replace("'", "")).strip("-") == path.stem
    assert "**The caveat.**" in page
    assert 80 <= READ[path].words <= 250
