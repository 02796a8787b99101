"""Files that a user opens: all formats, all that can be wrong with one, and hostile names."""

import io
import json
from typing import Any

import openpyxl
import pytest
from small import small_document

from morphgraph.core import isolated
from morphgraph.core.files import demo_gold_path
from morphgraph.core.isolated import VISITOR
from tests.pages.conftest import as_read

pytestmark = pytest.mark.slow

MERGES = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("do", "ing")]


@pytest.fixture(scope="module")
def tokenizer_json() -> bytes:
    return json.dumps(small_document(MERGES)).encode()


def works(app: Any) -> None:
    """The session goes on: every page runs, and a type can be knocked out and brought back."""
    edits = len(app.graph.history)
    for page in ("repair", "compare", "history", "graph"):
        app.open(page)
    app.press("Knock out")
    assert len(app.graph.history) == edits + 1
    app.press("Undo").open("start")


def test_a_tokenizer_json_is_opened(app: Any, tokenizer_json: bytes) -> None:
    app.upload("Tokeniser", ("tokenizer.json", tokenizer_json))
    assert app.errors() == []
    assert app.graph.merge_count == len(MERGES)
    assert app.session.study.benchmark.reference.name == "demo:en"
    works(app)


@pytest.mark.parametrize(
    ("page", "field"), [("start", "Reference"), ("compare", "One more gold list")]
)
def test_a_workbook_is_read_for_one_visitor(
    app: Any, monkeypatch: pytest.MonkeyPatch, page: str, field: str
) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].title = "0-1-1"
    for row in (("Word", "MorphoLexSegm"), ("doing", "{(do)}>ing>"), ("goes", "{(go)}>es>")):
        book.worksheets[0].append(row)
    written = io.BytesIO()
    book.save(written)
    visitors = []
    read_isolated = isolated.read_isolated

    def read(*given: Any) -> Any:
        visitors.append(VISITOR.get())
        return read_isolated(*given)

    monkeypatch.setattr(isolated, "read_isolated", read)
    app.put("compare_view", "Languages").open(page).upload(field, ("gold.xlsx", written.getvalue()))
    assert app.errors() == []
    assert visitors == [app.session.store.folder.name]


def test_an_encoding_can_be_chosen(app: Any) -> None:
    content = "wählen\twähl en\nhöre\thör e\n".encode("windows-1252")
    app.upload("Reference", ("gold.tsv", content))
    [error] = app.errors()
    assert "or choose its encoding, such as windows-1252" in error
    assert app.session.study.benchmark.reference.name == "demo:en"
    app.choose("Encoding", "windows-1252")
    assert app.errors() == []
    words = [entry.word for entry in app.session.study.benchmark.reference.entries]
    assert words == ["wählen", "höre"]
    # It is not kept for the next file.
    assert app.find("selectbox", "Encoding").value == "UTF-8, or as marked"


def test_the_sign_between_morphs_is_asked_for(app: Any) -> None:
    app.upload("Reference", ("gold.txt", b"unXdo\nreXmake\ndoXing\nmakeXs\n"))
    [error] = app.errors()
    assert "the format cannot be detected" in error
    assert "unXdo\nreXmake\ndoXing" in [code.value for code in app.test.code]
    app.find("text_input", "Sign between morphs").set_value("X")
    app.test.run()
    assert app.errors() == []
    entries = app.session.study.benchmark.reference.entries
    assert [" ".join(entry.morphs) for entry in entries] == ["un do", "re make", "do ing", "make s"]
    assert app.session.sources["reference"].separator == "X"


STEMS = ("break", "read", "think", "drink", "eat", "see", "do", "go", "be")
WORDS = [f"un{stem}able\tun {stem} able" for stem in STEMS]


def test_a_file_over_the_limit_is_refused(
    app: Any, tokenizer_json: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", "100")
    app.upload("Tokeniser", ("tokenizer.json", tokenizer_json))
    [error] = app.errors()
    assert "limit" in error
    app.open("start").upload("Reference", ("gold.tsv", b"undoing\tun do ing\n" * 20))
    assert all("limit" in error for error in app.errors())
    assert len(app.errors()) == 2
    app.open("compare").upload("Or from a file", ("counts.tsv", b"going 12\n" * 30))
    assert "limit" in app.errors()[-1]
    app.open("history").upload("Recipe", ("recipe.json", b" " * 200)).press("Replay")
    assert "limit" in app.errors()[-1]
    works(app)


BERT = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\ndo\ndesk\n##do\n##ing\n##able\n"
UNIGRAM = json.dumps(
    {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["un", -1], ["do", -2]]}}
).encode()


@pytest.mark.parametrize(
    ("name", "content", "method", "size"),
    [("bert.txt", BERT, "WordPiece", 10), ("tokenizer.json", UNIGRAM, "Unigram", 3)],
)
def test_a_vocabulary_opened_as_a_tokeniser_becomes_a_method(
    app: Any, name: str, content: bytes, method: str, size: int
) -> None:
    app.upload("Tokeniser", (name, content)).run()
    assert app.errors() == []
    assert not app.test.info  # nothing that belongs to it is missing
    [told] = [as_read(message.value) for message in app.test.success]
    assert told.startswith(f"{name} holds {size} types for {method}")
    assert "methods of Compare" in told
    assert app.session.language == "en"
    app.test.query_params["methods"] = "bpe"
    box = app.open("compare").find("multiselect", "Methods")
    assert box.value == ["bpe", f"model {name}"]


def test_frequencies_come_from_wordfreq_a_file_or_the_reference(app: Any) -> None:
    def box() -> Any:
        return app.find("selectbox", "From wordfreq")

    def source() -> str:
        return str(app.session.study.benchmark.frequency_source)

    assert app.open("compare") and box().value == "en"
    app.choose("From wordfreq", "de")
    assert (box().value, source()) == ("de", "wordfreq:de")
    assert app.open("vocabulary") and box().value == "de"
    app.choose("From wordfreq", "none")
    assert (box().value, source()) == ("none", "")
    for name in ("counts.tsv", "wordfreq:klingon", "en"):
        app.open("compare").upload("Or from a file", (name, b"going 12\nhouses 3\n"))
        assert app.errors() == []
        assert box().value == "a file"
        number = app.session.study_number
        assert app.run().session.study_number == number
        app.choose("From wordfreq", "none")
        assert "a file" not in box().options
    app.upload("Or from a file", ("counts.tsv", b"no counts here\n"))
    assert "count" in app.errors()[0]
    app.open("start").upload(
        "Reference", ("gold.tsv", b"undoing\tun do ing\t7\ndoing\tdo ing\t9\n")
    )
    app.open("compare").choose("From wordfreq", "en").choose("From wordfreq", "none")
    assert (box().value, source()) == ("none", "counts in the reference")


def test_gold_given_as_a_tokeniser_is_opened_as_gold_at_a_click(app: Any) -> None:
    content = demo_gold_path("de").read_bytes()
    app.upload("Tokeniser", ("gold.tsv", content))
    assert app.errors() == ["gold.tsv: this looks like a gold segmentation: words with morphs."]
    app.press("Open it as gold")
    assert app.errors() == []
    assert app.session.study.benchmark.reference.name == "gold.tsv"
    assert app.session.study.tokeniser.name == "demo:en"
    works(app)


def test_a_tokeniser_given_as_gold_is_opened_as_one_at_a_click(
    app: Any, tokenizer_json: bytes
) -> None:
    app.upload("Reference", ("mine.json", tokenizer_json))
    said = "mine.json: this is the file of a tokeniser, not words with morphs."
    assert app.errors() == [said]
    app.press("Open it as the tokeniser")
    assert app.errors() == []
    assert app.session.study.tokeniser.name == "mine.json"
    assert app.session.study.benchmark.reference.name == "demo:en"
