"""docs/reference: it is up to date; api.md has all that is public, each with an example."""

import pytest

import morphgraph as mg
from docs.tools import DOCS, api, formats
from morphgraph.reference.readers import READERS, read_reference


@pytest.mark.parametrize("name", [name for name in api.PAGES if not name.startswith("plugins/")])
def test_a_page_is_up_to_date(name):
    """Written by ``python -m docs.tools.api``."""
    assert (DOCS.parent / name).read_text(encoding="utf-8") == api.PAGES[name]()


@pytest.mark.slow
def test_an_example_of_a_format_is_read_as_that_format():
    assert {*READERS} <= {*formats.GOLD}
    for name in READERS:
        if "example" in formats.GOLD[name]:
            gold = read_reference(f"{formats.GOLD[name]['example']}\n".encode())
            assert (gold.format, len(gold.entries), gold.skipped) == (name, 1, ())


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
