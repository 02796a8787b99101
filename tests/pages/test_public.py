"""A public app shows a visitor nothing of the server, nor of anybody else."""

import pytest

from morphgraph.reference.catalogue import SOURCES, cached_path
from tests.pages.test_build import TINY, write

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def public(monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_PUBLIC", "1")


def test_nothing_lies_outside_the_browsers_own_folder(visit, state_folder, tokenizer_json):
    mine = visit()
    mine.upload("", ("mine.json", tokenizer_json))
    mine.graph.knockout(["un"])
    write(mine.open("build"), TINY)
    assert [path.name for path in state_folder.iterdir()] == ["browsers"]
    [folder] = (state_folder / "browsers").iterdir()
    assert folder == mine.session.store.folder
    assert {path.name for path in folder.iterdir()} == {"tabs", "files"}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_word_frequencies_called_as_a_list_are_not_shared(visit):
    """The list of a language is shared by all sessions; a file of that name is its owner's."""
    mine = visit().open("compare")
    mine.upload("", ("wordfreq:de", b"secretword 12\n"))
    mine.open("types").open("compare")
    other = visit().choose("Demo", "de").open("types")
    corpus = other.session.corpus()
    assert "secretword" not in corpus.counts.words
    assert len(corpus.counts) > 1_000


def test_no_path_of_the_server_is_read(visit, state_folder):
    page = visit().open("build")
    for path in ("/etc/passwd", "../../../etc/passwd", "mine.json", "~/.profile"):
        [error] = write(page, TINY.replace("demo:en", path, 1)).errors()
        assert "not among the uploaded files" in error or "no such file" in error
        assert "root:" not in error
        assert str(state_folder) not in error
        assert page.find("button", "Start").disabled
    page = visit().open("types")
    assert not any(field.label == "Folder of a model" for field in page.test.text_input)
    assert not any("model on this machine" in e.label for e in page.test.expander)


def test_only_evaluations_that_need_no_files_of_the_server_are_offered(visit):
    page = visit().open("build")
    options = page.find("selectbox", "Start from").options
    names = [option.rpartition(" · ")[2] for option in options]
    assert names[0] == "demo"
    for option in names:
        page.choose("Start from", option)
        assert page.errors() == [], option


def test_public_references_are_those_on_the_server(visit, monkeypatch, tmp_path):
    monkeypatch.setenv("MORPHGRAPH_CACHE", str(tmp_path / "cache"))
    page = visit().opening()
    assert "There are none on this server." in page.captions()
    assert "Download" not in page.buttons()
    source = next(source for source in SOURCES.values() if source.can_be_fetched)
    path = cached_path(source)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged\tdam aged\n")
    page = visit().opening()
    assert len(page.find("selectbox", "Source").options) == 1
    page.press("Open as reference")
    assert "was changed after it was downloaded" in page.errors()[0]
