"""docs/api.md: it is up to date, and has all that is public, each with an example."""

from pathlib import Path

import morphgraph as mg
from docs.tools import api

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_up_to_date():
    assert (DOCS / "api.md").read_text(encoding="utf-8") == api.page()


def test_each_public_name_has_an_example():
    documented = api.documented()
    bare = {
        name
        for name, thing in documented.items()
        if ">>>" not in thing.__doc__
        and not any(other.startswith(name.removeprefix("mg.") + ".") for other in documented)
    }
    assert bare == set()
    listed = {name.removeprefix("mg.") for name in documented}
    assert {*mg.__all__} - listed == {"METHODS", "MorphGraphError", "__version__"}
    shown = {f"Tokeniser.{name}" for name in dir(mg.Tokeniser) if not name.startswith("_")}
    assert shown == {name for name in listed if name.startswith("Tokeniser.")}
    assert 20 <= len(shown) <= 28
