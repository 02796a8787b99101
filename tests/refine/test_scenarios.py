"""The scenarios of Bauwens & de Lhoneux 2026, §A.1, §A.3, as the page in docs/how has them."""

import pytest

import morphgraph as mg
from docs.tools.scenarios import BLOCK, DOCS, PAGE, built, repaired, states

# Tokens of _bruids and _bruid before, and after the first knockout, as the paper works them out.
EXPECTED = {
    "1": (("_bruids", "_bruid"), ("_bruid s", "_bruid")),
    "2a": (("_bruids", "_bru id"), ("_bruids", "_bru id")),
    "2b1": (("_bruids", "_bruid"), ("_bruid s", "_bruid")),
    "2b2": (("_bruids", "_br uid"), ("_br uid s", "_br uid")),
    "2b3": (("_bruids", "_bruid"), ("_br uids", "_bruid")),
    "3a": (("_bruids", "_bru id"), ("_bru id s", "_bru id")),
    "3b": (("_bruids", "_bru id"), ("_bruids", "_bru id")),
}
LISTS = {name: lines for lines, _, name in BLOCK.findall(PAGE.read_text("utf-8"))}
BLOCKED = ("2b1", "2b2", "2b3", "3a")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_scenario_begins_as_in_the_paper_and_ends_well(name):
    rows = [row for row, _ in states(LISTS[name])]
    cut = [tuple(text.strip("`") for text in row[2:4]) for row in rows]
    assert (cut[0], cut[1]) == EXPECTED[name]
    assert ("`_bruids`" in rows[1][4]) == (name in BLOCKED)
    assert cut[-1] == ("_bruid s", "_bruid") and rows[-1][4] == ""


def test_the_page_is_what_is_computed():
    page, pictures = built()
    assert page == PAGE.read_text("utf-8")
    assert [*LISTS] == [*EXPECTED, *"abcd"] == [*pictures]
    for name in EXPECTED:
        assert pictures[name] == (DOCS / f"images/scenario-{name}.svg").read_text("utf-8")
    for name, lost in zip("abcd", ("nothing", "`abcd`", "`bcd`", "`abcd`"), strict=True):
        assert f"<!-- from scenario {name} -->\n\nOut of reach: {lost}.\n" in page


def test_the_home_says_what_knocking_its_type_out_gives():
    tokeniser, gold = mg.load("demo:en"), mg.read_gold("demo:en")
    without = tokeniser.knock_out_types(["ies"]).tokeniser
    figures = [f"{100 * each.score(gold).f1:.2f}" for each in (tokeniser, without)]
    home = (DOCS / "tools/theme/main.html").read_text("utf-8")
    assert f"F1 {' → '.join(figures)}." in home


def test_the_other_pictures_are_those_of_the_demo():
    for name, picture in repaired().items():
        assert picture == (DOCS / f"images/{name}.svg").read_text("utf-8")
