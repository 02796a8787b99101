"""The catalogue in the app: nothing is fetched before the licence is accepted and a click."""

import pytest
from source_server import serving

from morphgraph.reference import catalogue
from morphgraph.reference.catalogue import SOURCES

pytestmark = pytest.mark.slow

CONTENT = b"unbreakable\tun break able\nundoing\tun do ing\n"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server with one source, small, which is in the catalogue."""
    monkeypatch.setenv("MORPHGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(CONTENT) as found:
        monkeypatch.setattr(catalogue, "SOURCES", {"small": found.source, **SOURCES})
        yield found


def accept(app):
    app.test.checkbox[0].check()
    return app.run()


@pytest.fixture
def choosing(server, app):
    """The app with the list of references open."""
    return app.opening()


def test_download_then_open(server, choosing, tmp_path):
    app = choosing
    [facts] = [text.value for text in app.test.markdown if text.value.startswith("Licence:")]
    assert "https://creativecommons.org/licenses/by-sa/3.0/" in facts
    assert "https://github.com/kbatsuren/MorphyNet" in facts
    assert SOURCES["morphynet-deu"].citation in [code.value for code in app.test.code]
    assert app.find("button", "Download").disabled
    accept(app)
    assert not server.asked
    assert not (tmp_path / "cache").exists()
    app.press("Download")
    assert len(server.asked) == 1
    assert "Download" not in app.buttons()
    assert app.session.study.benchmark.reference.name == "demo:en"
    app.press("Open as reference")
    reference = app.session.study.benchmark.reference
    assert (reference.name, reference.format) == ("catalogue:small", "plain")
    assert [entry.word for entry in reference.entries] == ["unbreakable", "undoing"]
    assert app.errors() == []
    assert len(server.asked) == 1


def test_consent_to_one_source_is_none_to_another(server, choosing):
    app = choosing
    accept(app)
    app.choose("Source", "morphynet-deu")
    assert [box.value for box in app.test.checkbox] == [False]
    assert not server.asked
