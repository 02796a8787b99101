"""Files that a user opens: all formats, all that can be wrong with one, and hostile names."""

import io
import json
import zipfile
from typing import Any

import openpyxl
import pytest
from small import small_document

from morphgraph.core import isolated
from morphgraph.core.files import demo_gold_path
from morphgraph.core.isolated import VISITOR
from tests.pages.conftest import as_read

pytestmark = pytest.mark.slow

IMAGE = "<img/src=''onerror=alert(1)>"
MERGES = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("do", "ing")]

SIGMORPHON = b"undoing\tun @@do @@ing\t110\ndoing\tdo @@ing\t100\n"


@pytest.fixture(scope="module")
def tokenizer_json() -> bytes:
    return json.dumps(small_document(MERGES)).encode()


@pytest.fixture(scope="module")
def vocab_json() -> bytes:
    return json.dumps(small_document(MERGES)["model"]["vocab"]).encode()


MERGES_TXT = "#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in MERGES)


def works(app: Any) -> None:
    """The session goes on: every page runs, and a type can be knocked out and brought back."""
    edits = len(app.graph.history)
    for page in ("blame", "scores", "history", "graph"):
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


def test_one_of_two_files_asks_for_the_other(app: Any, vocab_json: bytes) -> None:
    files = [("vocab.json", vocab_json), ("merges.txt", MERGES_TXT.encode())]
    for one, other in (files, files[::-1]):
        app.upload("Tokeniser", one)
        said = [*(info.value.replace("\\", "") for info in app.test.info), *app.errors()]
        assert [other[0] in each for each in said] == [True]
    app.upload("Tokeniser", *files)
    assert app.graph.merge_count == len(MERGES)


def test_settings_belong_to_the_files_beside_them(app: Any, vocab_json: bytes) -> None:
    added = ("added_tokens.json", b'{"<new>": 99}')
    app.upload("Tokeniser", added)
    [error] = app.errors()
    assert "Give it together with the tokenizer.json" in error.replace("\\", "")
    app.upload("Tokeniser", ("vocab.json", vocab_json), added)
    [info] = [info.value.replace("\\", "") for info in app.test.info]
    assert "merges.txt" in info
    app.upload("Tokeniser", ("vocab.json", vocab_json), ("merges.txt", MERGES_TXT.encode()), added)
    assert app.errors() == []
    assert "<new>" in app.session.study.tokeniser.special


@pytest.mark.parametrize(
    ("page", "field"), [("start", "Reference"), ("scores", "One more gold list")]
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
    app.open(page).upload(field, ("gold.xlsx", written.getvalue()))
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


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        (9, 10, "Only 9 of 19 lines could be used: 10 × word with a space."),
        (1, 1, "The reference has only 1 word."),
    ],
)
def test_a_doubtful_reference_is_a_visible_warning(
    app: Any, good: int, bad: int, message: str
) -> None:
    lines = WORDS[:good] + [f"word {n}\tword {n}" for n in range(bad)]
    app.choose("Format", "plain").upload("Reference", ("gold.tsv", "\n".join(lines).encode()))
    [warning] = app.warnings()
    assert warning.startswith(message)
    assert app.captions().endswith(f", {good} word" if good == 1 else f", {good} words")


def test_what_may_be_misread_is_a_visible_warning_with_lines(app: Any) -> None:
    lines = "\n".join(f"un{stem}able;un{stem}" for stem in STEMS[:10])
    app.choose("Format", "plain").upload("Reference", ("gold.csv", lines.encode()))
    [warning] = app.warnings()
    first = f"un{STEMS[0]}able;un{STEMS[0]}"
    assert warning.startswith("Every word has just one morph") and f"line 1, “{first}”" in warning
    assert warning.endswith("choose its format and encoding.")


def test_a_header_by_its_looks_is_listed_with_what_was_skipped(app: Any) -> None:
    lines = ["Wort\tMorphe", *WORDS]
    app.upload("Reference", ("gold.tsv", "\n".join(lines).encode()))
    assert app.captions().endswith(", 9 words")
    assert "skipped 1: " in app.captions()


def test_a_file_over_the_limit_is_refused(
    app: Any, tokenizer_json: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", "100")
    app.upload("Tokeniser", ("tokenizer.json", tokenizer_json))
    [error] = app.errors()
    assert "limit" in error
    app.open("scores").upload("Reference", ("gold.tsv", b"undoing\tun do ing\n" * 20))
    [error] = app.errors()
    assert "limit" in error
    app.open("scores").upload("Or from a file", ("counts.tsv", b"going 12\n" * 30))
    assert "limit" in app.errors()[-1]
    app.open("history").upload("Recipe", ("recipe.json", b" " * 200)).press("Replay")
    assert "limit" in app.errors()[-1]
    works(app)


@pytest.mark.parametrize("page", ["scores", "blame"])
def test_an_uploaded_reference_is_confirmed_where_it_was_opened(app: Any, page: str) -> None:
    lines = "undoing\tun do ing\nice cream\tice cream\nNew York\tNew York\nundoing\tundo ing\n"
    app.open(page)
    if page == "blame":  # in a panel under the name of the open one
        app.test.session_state[f"open reference blame {app.session.study_number}"] = True
        app.run()
    app.upload("Reference", ("gold.tsv", lines.encode()))
    told = as_read("\n".join(m.value for m in app.test.markdown))
    assert "gold.tsv is open." in told
    assert ["words with several analyses", "1"] in app.table("gold.tsv, plain").to_numpy().tolist()
    assert "skipped 2: word with a space (first: line 2)" in app.captions()
    # It stays there until it is closed, or another reference is open.
    app.open("tree")
    assert "close what was read" not in [b.key for b in app.test.button]
    app.open(page)
    assert "close what was read" in [b.key for b in app.test.button]
    app.press("Close")
    assert "close what was read" not in [b.key for b in app.test.button]
    app.open("start").upload("Reference", ("gold.tsv", lines.encode() * 2)).choose("Demo", "de")
    assert "close what was read" not in [b.key for b in app.test.button]


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
    assert "Segmentations and Scores" in told
    assert app.session.language == "en"
    for page in ("compare", "scores"):
        app.test.query_params["methods"] = "bpe"
        app.open(page)
        [box] = [m for m in app.test.multiselect if m.label == "Methods"]
        assert box.value[-1] == f"model {name}"
        assert box.value.count(f"model {name}") == 1


def test_partial_gold_is_told_where_precision_is_shown(app: Any) -> None:
    lines = [f"{stem}\tun{stem}\tV\tV\tun\tprefix" for stem in STEMS]
    app.choose("Format", "morphynet-derivation")
    app.upload("Reference", ("mine.tsv", "\n".join(lines).encode()))
    app.test.query_params["methods"] = "bpe"
    for page in ("start", "blame", "rebpe"):
        app.open(page)
        [badge] = badges(app)
        assert "The gold is partial (one affix a word)" in badge.help
    for page in ("scores", "compare"):
        app.open(page)
        [told] = [w for w in app.warnings() if "precision" in w]
        assert "The gold is partial (one affix a word)" in told
    app.choose("Demo", "en").open("blame")
    assert not badges(app)


def badges(app: Any) -> list[Any]:
    return [text for text in app.test.markdown if "partial gold" in text.value]


def test_frequencies_come_from_wordfreq_a_file_or_the_reference(app: Any) -> None:
    def box() -> Any:
        return app.find("selectbox", "From wordfreq")

    def source() -> str:
        return str(app.session.study.benchmark.frequency_source)

    assert app.open("scores") and box().value == "en"
    app.choose("From wordfreq", "de")
    assert (box().value, source()) == ("de", "wordfreq:de")
    assert app.open("vocabulary") and box().value == "de"
    app.choose("From wordfreq", "none")
    assert (box().value, source()) == ("none", "")
    for name in ("counts.tsv", "wordfreq:klingon", "en"):
        app.open("scores").upload("Or from a file", (name, b"going 12\nhouses 3\n"))
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
    app.open("scores").choose("From wordfreq", "en").choose("From wordfreq", "none")
    assert (box().value, source()) == ("none", "counts in the reference")


def test_words_of_another_language_are_a_warning(app: Any) -> None:
    assert app.warnings() == []
    app.upload("Reference", ("mine.tsv", demo_gold_path("de").read_bytes()))
    told = "The words of mine.tsv are German, but the types of the tokeniser are English"
    for page in ("start", "scores"):
        assert [w for w in app.open(page).warnings() if told in w]
    app.choose("Demo", "de")
    assert not [w for w in app.warnings() if "are German" in w]


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


@pytest.mark.parametrize("field", ["Tokeniser", "Reference"])
def test_a_picture_and_an_archive_are_named_and_not_offered(app: Any, field: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("gold.tsv", "undo\tun do\n")
    files = {"a picture": b"\x89PNG\r\n\x1a\n" + bytes(30), "a zip archive": packed.getvalue()}
    for what, content in files.items():
        app.upload(field, ("file.bin", content))
        [error] = app.errors()
        assert f"this is {what}" in error
        assert not any(label.startswith("Open it as") for label in app.buttons())
        app.find("file_uploader", field).clear()
        app.run()
