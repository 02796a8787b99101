"""Edits in the address: a copy of it opens the tokeniser as it is."""

import base64
import json
import zlib

import pytest

from web.edits import knock_out_type
from web.sharing import edits_in_address


def visit(app, text):
    """Open the start page by an address with edits, in a session without any."""
    app.test.query_params["edits"] = text
    return app.open("start")


def packed(told):
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(told).encode())).decode()


def test_an_address_with_edits_makes_them(app):
    study = app.session.study
    knock_out_type(app.session, study.graph.ids["ies"])
    text = edits_in_address(app.session)
    recipe = study.graph.recipe()
    assert 0 < len(text) < 300
    study.graph.undo()
    study.graph.forget_undone()
    visit(app, text)
    assert study.graph.recipe() == recipe
    # It is made once: what is undone stays undone.
    app.session.undo()
    app.run()
    assert not study.graph.history


@pytest.mark.parametrize(
    "text",
    [
        "%",
        "AAAA",
        "x" * 1_501,
        packed([]),
        packed({"tokeniser": "another", "steps": []}),
        packed({"tokeniser": None, "steps": [{"edit": "knockout", "types": ["ies"]}]}),
        base64.urlsafe_b64encode(zlib.compress(b" " * 5_000_000)[:1_000]).decode(),
        base64.urlsafe_b64encode(zlib.compress(b"[" * 19_000)).decode(),
    ],
)
def test_what_is_no_recipe_is_ignored(app, text):
    visit(app, text)
    assert not app.graph.history and not app.errors()


def test_a_step_that_does_not_fit_makes_none(app):
    checksum = app.session.study.tokeniser.checksum
    steps = [{"edit": "knockout", "types": ["ies"]}, {"edit": "knockout", "types": ["no type"]}]
    visit(app, packed({"tokeniser": checksum, "steps": steps}))
    assert not app.graph.history


def test_an_address_makes_a_hundred_edits_at_most(app):
    graph, checksum = app.graph, app.session.study.tokeniser.checksum
    removable = [t for t in graph.types[400:] if graph.is_removable(graph.ids[t])]
    steps = [{"edit": "knockout", "types": [text]} for text in removable[:101]]
    visit(app, packed({"tokeniser": checksum, "steps": steps}))
    assert not app.graph.history
    visit(app, packed({"tokeniser": checksum, "steps": steps[:100]}))
    assert len(app.graph.history) == 100
    assert edits_in_address(app.session)
    app.graph.knockout(removable[100:101])
    assert edits_in_address(app.session) == ""


def test_many_edits_are_not_in_the_address(app):
    graph = app.graph
    graph.knockout([t for t in graph.types[400:3_000] if graph.is_removable(graph.ids[t])])
    assert edits_in_address(app.session) == ""
