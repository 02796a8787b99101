"""Files that a user drops anywhere, or fetches from the catalogue: what each becomes."""

import io
import json
import zipfile

import pytest
from hostile.files import FILES
from small import small_document
from source_server import serving

from morphgraph.core import isolated
from morphgraph.core.files import demo_gold_path
from morphgraph.core.isolated import VISITOR
from morphgraph.formats.recipe import write_recipe
from morphgraph.reference import catalogue
from morphgraph.reference.catalogue import SOURCES
from tests.pages.conftest import as_read

pytestmark = pytest.mark.slow

MERGES = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("do", "ing")]
TOKENISER = json.dumps(small_document(MERGES)).encode()
GOLD = b"undoing\tun do ing\ndoing\tdo ing\n"
GERMAN = demo_gold_path("de").read_bytes()
BERT = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\ndo\ndesk\n##do\n##ing\n##able\n"
HOSTILE = [
    "Replace that doubles 60 times",
    "SentencePiece with a false size",
    "a cell in the last column",
]
UNIGRAM = json.dumps(
    {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["un", -1], ["do", -2]]}}
).encode()


def told(app):
    """What the last files became."""
    return "\n".join(as_read(toast.value) for toast in app.test.toast)


def what_is_open(app):
    study = app.session.study
    benchmark = study.benchmark
    return study.tokeniser.name, benchmark.reference.name, benchmark.frequency_source


def zipped(**files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"folder/{name}", data)
    return packed.getvalue()


def test_each_file_is_opened_as_what_it_is(app):
    for files, said, now in (
        ({"mine.json": TOKENISER}, "mine.json is open: 1", ("mine.json", "demo:en", "wordfreq:en")),
        ({"s.tsv": b"undo\tun @@do\t110\nso\tso\t000\n"}, "s.tsv is", ("mine.json", "s.tsv", "")),
        ({"gold.tsv": GOLD}, "gold.tsv is the reference: 2", ("mine.json", "gold.tsv", "")),
        ({"x.txt": b"going 12\nso 3\n"}, "x.txt weights", ("mine.json", "gold.tsv", "x.txt")),
        ({"vocab.txt": GERMAN}, "vocab.txt is the ref", ("mine.json", "vocab.txt", "x.txt")),
        (
            {"all.zip": zipped(**{"tokenizer.json": TOKENISER, "other.tsv": GOLD})},
            "tokenizer.json is open: 12 types. other.tsv is the reference: 2 words.",
            ("tokenizer.json", "other.tsv", "x.txt"),
        ),
    ):
        app.upload("", *files.items())
        assert app.errors() == []
        assert said in told(app)
        assert what_is_open(app) == now
        assert not any(field.value for field in app.test.file_uploader)


def test_a_recipe_is_replayed_and_an_evaluation_is_in_the_editor(app):
    app.graph.knockout(["ies"])
    recipe = write_recipe(app.session.study.tokeniser)
    app.graph.undo()
    app.run().upload("", ("recipe.json", recipe))
    assert "1 edit of recipe.json replayed." in told(app)
    assert app.knocked_out == [["ies"]]
    # An evaluation is in the editor.
    app.upload("", ("mine.yaml", b"name: mine\r\n"))
    assert app.errors() == [] and "in the editor of Build" in told(app)
    assert app.open("build").find("text_area", "Evaluation").value == "name: mine\n"


def test_halves_of_a_tokeniser_wait_for_each_other(app):
    model = json.loads(TOKENISER)["model"]
    merges = "\n".join(map(" ".join, MERGES)).encode()
    app.upload("", ("vocab.json", json.dumps(model["vocab"]).encode()))
    assert "Drop merges.txt as well" in told(app)
    assert app.session.language == "en"
    app.upload("", ("merges.txt", merges))
    assert app.errors() == [] and app.graph.merge_count == len(MERGES)


@pytest.mark.parametrize(
    ("name", "content", "method", "size"),
    [("bert.txt", BERT, "WordPiece", 10), ("tokenizer.json", UNIGRAM, "Unigram", 3)],
)
def test_what_has_no_merges_becomes_a_method(app, name, content, method, size):
    app.upload("", (name, content))
    assert told(app).startswith(f"{name} has {size} types for {method}")
    assert "a method in Compare" in told(app)
    assert app.session.language == "en" and list(app.session.models) == [name]
    assert app.session.chosen[-1] == f"model {name}"


REFUSED = [
    ("tokenizer.json", b'{"model": {"vocab": {', "the JSON is cut off"),
    ("gold.tsv", "wählen\twähl en\n".encode("latin-1"), "or choose its encoding"),
    ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "picture.png"),
    ("empty.tsv", b"", "empty"),
    ("bad.zip", b"PK\x03\x04nothing", "cannot be unpacked"),
    ("big.zip", zipped(big=bytes(200_000)), "limit"),
    ("tokenizer.json", TOKENISER + b" " * 100_000, "limit"),
    *((one.name, one.make(), one.error) for one in map(FILES.get, HOSTILE)),
]


def test_a_refused_file_is_one_sentence_and_leaves_nothing(app, monkeypatch):
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", "100000")
    before = what_is_open(app)
    for name, content, problem in REFUSED:
        app.upload("", (name, content))
        [error] = app.errors()
        assert problem in error
        assert what_is_open(app) == before
        assert app.run().errors() == []
        assert not any(field.value for field in app.test.file_uploader)


def test_how_words_are_read_can_be_said(app):
    def look(key, value):
        app.test.session_state[f"reading {key} anywhere"] = value

    look("encoding", "windows-1252")
    app.upload("", ("gold.tsv", "wählen\twähl en\nhöre\thör e\n".encode("windows-1252")))
    assert app.errors() == []
    words = [entry.word for entry in app.session.study.benchmark.reference.entries]
    assert words == ["wählen", "höre"]
    look("sign", "X")
    app.upload("", ("gold.txt", b"unXdo\nreXmake\ndoXing\nmakeXs\n"))
    entries = app.session.study.benchmark.reference.entries
    assert [" ".join(entry.morphs) for entry in entries] == ["un do", "re make", "do ing", "make s"]
    assert app.session.sources["reference"].separator == "X"
    # It is not kept for the next file.
    app.upload("", ("mine.json", TOKENISER))
    assert app.session.study.tokeniser.name == "mine.json"


def test_a_workbook_is_read_for_one_visitor(app, monkeypatch):
    visitors, read_isolated = [], isolated.read_isolated

    def read(*given):
        visitors.append(VISITOR.get())
        return read_isolated(*given)

    monkeypatch.setattr(isolated, "read_isolated", read)
    book = FILES["a cell in the last column"]
    app.upload("", (book.name, book.make()))
    assert set(visitors) == {app.session.store.folder.name}


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


def test_nothing_is_fetched_before_the_licence_is_accepted_and_a_click(server, app, tmp_path):
    accept(app.opening()).choose("Source", "morphynet-deu")
    assert [box.value for box in app.test.checkbox] == [False], "to each source by itself"
    app.choose("Source", "small")
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
