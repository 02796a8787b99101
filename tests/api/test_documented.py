"""Generated pages are up to date, and that of the API has all that is public, with examples."""

import pytest

import morphgraph as mg
from docs.tools import DOCS, api


@pytest.mark.parametrize("name", api.PAGES)
def test_a_page_is_up_to_date(name):
    assert (DOCS / name).read_text(encoding="utf-8") == api.PAGES[name](), "docs.tools.api"


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
