"""Files that a user opens: all formats, all that can be wrong with one, and hostile names."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest

from morphgraph.core import isolated
from morphgraph.core.files import demo_gold_path
from morphgraph.core.isolated import VISITOR
from morphgraph.reference.readers import read_reference
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on
from web.views.reference_read import reference_summary

pytestmark = pytest.mark.slow

IMAGE = "<img src=x onerror=alert(1)>"
MERGES = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("do", "ing")]

REFERENCES = {
    "plain": "undoing\tun do ing\ndoing\tdo ing\nundo\tun do\n",
    "celex": (
        "1\\undoing\\1\\((un)[V|.V],((do)[V],(ing)[V|V.])[V])[V]\n"
        "2\\doing\\1\\((do)[V],(ing)[V|V.])[V]\n"
    ),
    "morphynet-derivation": "do\tundo\tV\tV\tun\tprefix\ndo\tdoing\tV\tN\ting\tsuffix\n",
    "morphynet-inflection": (
        "undo\tundoing\tV|V.PTCP;PRS\tundo|ing\nmake\tmaking\tV|V.PTCP;PRS\tmake|ing\n"
    ),
    "unimorph": "undo\tundoing\tV|V.PTCP;PRS\tundo|ing\ndo\tdoing\tV|V.PTCP;PRS\tdo|ing\n",
    "sigmorphon2022": "undoing\tun @@do @@ing\t110\ndoing\tdo @@ing\t100\n",
}


@pytest.fixture(scope="module")
def tokenizer_json(small_document: Callable[..., dict[str, Any]]) -> bytes:
    return json.dumps(small_document(MERGES)).encode()


@pytest.fixture(scope="module")
def vocab_json(small_document: Callable[..., dict[str, Any]]) -> bytes:
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


# ------------------------------------------------------------------------------ what can be read


def test_a_tokenizer_json_is_opened(app: Any, tokenizer_json: bytes) -> None:
    app.upload("Tokeniser", ("tokenizer.json", tokenizer_json))
    assert app.errors() == []
    assert "Tokeniser tokenizer.json" in app.captions().replace("**", "")
    assert app.graph.merge_count == len(MERGES)
    assert app.session.study.benchmark.reference.name == "demo:en"
    works(app)


def test_vocab_json_and_merges_txt_are_opened_together(app: Any, vocab_json: bytes) -> None:
    files = ("vocab.json", vocab_json), ("merges.txt", MERGES_TXT.encode())
    app.upload("Tokeniser", *files)
    assert app.errors() == []
    assert app.graph.merge_count == len(MERGES)
    works(app)


@pytest.mark.parametrize("first", [0, 1])
def test_one_of_two_files_asks_for_the_other(app: Any, vocab_json: bytes, first: int) -> None:
    files = [("vocab.json", vocab_json), ("merges.txt", MERGES_TXT.encode())]
    app.upload("Tokeniser", files[first])
    assert app.errors() == []
    [info] = [info.value.replace("\\", "") for info in app.test.info]
    assert files[1 - first][0] in info
    app.upload("Tokeniser", *files)
    assert app.graph.merge_count == len(MERGES)


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("format_", REFERENCES)
def test_every_format_is_read(app: Any, format_: str, chosen: bool) -> None:
    if chosen:
        app.choose("Format", format_)
    app.upload("Reference", ("gold.tsv", REFERENCES[format_].encode()))
    assert app.errors() == []
    reference = app.session.study.benchmark.reference
    assert (reference.name, reference.format) == ("gold.tsv", format_)
    assert len(reference.entries) >= 1
    assert app.session.study.now.score("morphemic", "types").relevant >= 1
    app.open("scores")
    assert "gold.tsv" in app.captions()
    works(app)


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


def test_scores_that_are_not_defined_are_na(app: Any) -> None:
    app.upload("Reference", ("gold.tsv", REFERENCES["sigmorphon2022"].encode()))
    app.open("scores")
    table = next(d.value for d in app.test.dataframe if "true positives" in d.value)
    rows = table.to_dict("records")
    assert "Whole-word scores are n/a" in app.captions()
    whole = [row for row in rows if "whole-word" in row.values()]
    assert all({row["precision"], row["recall"], row["F1"]} == {"n/a"} for row in whole)


def test_scores_of_a_reference_without_boundaries_are_na(app: Any) -> None:
    app.upload("Reference", ("gold.tsv", b"word\tmorphs\ndog\tdog\ncat\tcat\n"))
    assert app.errors() == []
    app.open("start")
    assert app.metrics()["Recall %"] == ("n/a", "")
    assert app.metrics()["F1 %"] == ("n/a", "")
    for page in ("graph", "blame", "scores", "history"):
        app.open(page)
        assert "nan" not in app.captions().lower().split()


def test_an_uploaded_reference_keeps_its_counts(app: Any) -> None:
    app.upload("Reference", ("gold.tsv", b"undoing\tun do ing\t7\ndoing\tdo ing\t93\n"))
    assert app.session.study.benchmark.frequency_source == "counts in the reference"
    app.open("scores")
    assert "Scores over tokens are n/a" not in app.captions()


def test_frequencies_of_a_demo_are_not_those_of_another_reference(app: Any) -> None:
    app.upload("Reference", ("gold.tsv", REFERENCES["plain"].encode() * 20)).open("scores")
    assert "Frequencies: none" in app.captions()
    assert "Scores over tokens are n/a" in app.captions()
    rows = next(d.value for d in app.test.dataframe if "true positives" in d.value).to_dict(
        "records"
    )
    assert all(row["F1"] == "n/a" for row in rows if "tokens" in row.values())


def test_skipped_lines_are_counted_by_reason(app: Any) -> None:
    lines = "undoing\tun do ing\nice cream\tice cream\nNew York\tNew York\ndoing\tdo ing\n"
    app.upload("Reference", ("gold.tsv", lines.encode()))
    assert app.errors() == []
    assert len(app.session.study.benchmark.reference) == 2
    table = next(d.value for d in app.test.dataframe if "reason" in d.value)
    assert list(table["lines"]) == [2]
    assert "space" in table["reason"][0]
    assert list(table["first line"]) == [2]


def test_frequencies_can_be_uploaded(app: Any) -> None:
    app.open("scores").upload("Or from a file", ("counts.tsv", b"going 12\nhouses 3\n"))
    assert app.errors() == []
    assert app.session.study.benchmark.frequency_source == "counts.tsv"
    app.choose("From wordfreq", "nl")
    assert app.session.study.benchmark.frequency_source == "wordfreq:nl"


def frequencies_box(app: Any) -> Any:
    [box] = [box for box in app.test.selectbox if box.label == "From wordfreq"]
    return box


@pytest.mark.parametrize("page", ["scores", "vocabulary"])
def test_the_language_of_frequencies_is_shown_and_they_can_be_switched_off(
    app: Any, page: str
) -> None:
    app.open(page)
    assert frequencies_box(app).value == "en"
    assert "a file" not in frequencies_box(app).options
    app.choose("From wordfreq", "nl")
    assert frequencies_box(app).value == "nl"
    number = app.session.study_number
    app.run()
    assert app.session.study_number == number
    app.choose("From wordfreq", "none")
    assert frequencies_box(app).value == "none"
    assert app.session.study.benchmark.frequencies is None
    assert app.session.study.benchmark.frequency_source == ""
    app.choose("From wordfreq", "nl")
    assert app.session.study.benchmark.frequency_source == "wordfreq:nl"


def test_without_frequencies_a_reference_has_its_own_counts(app: Any) -> None:
    app.upload("Reference", ("gold.tsv", b"undoing\tun do ing\t7\ndoing\tdo ing\t93\n"))
    app.open("scores")
    assert frequencies_box(app).value == "none"
    app.choose("From wordfreq", "en").choose("From wordfreq", "none")
    assert app.session.study.benchmark.frequency_source == "counts in the reference"
    assert frequencies_box(app).value == "none"


@pytest.mark.parametrize("name", ["counts.tsv", "wordfreq:klingon", "en"])
def test_frequencies_of_a_file_are_none_of_wordfreq(app: Any, name: str) -> None:
    app.open("scores").upload("Or from a file", (name, b"going 12\nhouses 3\n"))
    assert app.errors() == []
    assert frequencies_box(app).value == "a file"
    number = app.session.study_number
    app.run()
    assert app.session.study_number == number
    app.choose("From wordfreq", "none")
    assert app.session.study.benchmark.frequencies is None
    assert "a file" not in frequencies_box(app).options


@pytest.mark.parametrize("encoding", ["windows-1252", "iso-8859-2", "gb18030", "utf-16"])
def test_an_encoding_can_be_chosen(app: Any, encoding: str) -> None:
    content = "wählen\twähl en\nhöre\thör e\n".encode(encoding)
    app.upload("Reference", ("gold.tsv", content))
    if encoding != "utf-16":  # which has a mark
        [error] = app.errors()
        assert "or choose its encoding, such as windows-1252" in error
        assert app.session.study.benchmark.reference.name == "demo:en"
        app.choose("Encoding", encoding)
    assert app.errors() == []
    words = [entry.word for entry in app.session.study.benchmark.reference.entries]
    assert words == ["wählen", "höre"]
    # It is not kept for the next file.
    [box] = [box for box in app.test.selectbox if box.label == "Encoding"]
    assert box.value == "UTF-8, or as marked"


def test_every_encoding_on_offer_is_known(app: Any) -> None:
    [box] = [box for box in app.test.selectbox if box.label == "Encoding"]
    assert len(box.options) > 10
    for encoding in box.options[1:]:
        assert "a".encode(encoding)


def warnings(app: Any) -> list[str]:
    return [warning.value.replace("\\", "").replace("\u2060", "") for warning in app.test.warning]


STEMS = ("break", "read", "think", "drink", "eat", "see", "do", "go", "be")
WORDS = [f"un{stem}able\tun {stem} able" for stem in STEMS]


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        (9, 10, "Only 9 of 19 lines could be used: 10 × word with a space."),
        (1, 2, "Only 1 of 3 lines could be used: 2 × word with a space."),
        (9, 9, "The reference has only 9 words."),
        (1, 0, "The reference has only 1 word."),
        (1, 1, "The reference has only 1 word."),
    ],
)
def test_a_doubtful_reference_is_a_visible_warning(
    app: Any, good: int, bad: int, message: str
) -> None:
    lines = WORDS[:good] + [f"word {n}\tword {n}" for n in range(bad)]
    app.choose("Format", "plain").upload("Reference", ("gold.tsv", "\n".join(lines).encode()))
    assert app.errors() == []
    [warning] = warnings(app)
    assert warning.startswith(message)
    skipped = {1: "1 line of the reference was skipped", 0: None}
    expected = skipped.get(bad, f"{bad} lines of the reference were skipped")
    found = [e.label for e in app.test.expander if "skipped" in e.label]
    assert found == ([expected] if expected else [])
    assert app.captions().endswith(f", {good} word" if good == 1 else f", {good} words")


def test_a_reference_of_enough_words_is_no_warning(app: Any) -> None:
    assert warnings(app) == []
    lines = [*WORDS, "doing\tdo ing", *(f"word {n}\tword {n}" for n in range(10))]
    app.choose("Format", "plain").upload("Reference", ("gold.tsv", "\n".join(lines).encode()))
    assert app.errors() == []
    assert len(app.session.study.benchmark.reference) == 10
    assert warnings(app) == []


# ---------------------------------------------------------------------------- what cannot be read


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tokenizer.json": b'{"model": {"type": "BPE", "vocab": {"a": 0'}, "the JSON is cut off"),
        ({"tokenizer.json": b""}, "empty"),
        ({"tokenizer.json": b"[]"}, "model"),
        ({"tokenizer.json": b'{"model": {"type": "Unigram", "vocab": []}}'}, "model.vocab"),
        ({"tokenizer.json": '{"möglich": 1}'.encode("latin-1")}, "not valid UTF-8"),
        ({"vocab.json": b'{"a": 0, "b": 1, "ab": 2}', "merges.txt": b"a b\nab c\n"}, "“c”"),
        ({"vocab.json": b'{"a": 0, "b": 1}', "merges.txt": b"a b\n"}, "“ab”"),
        ({"vocab.json": b'{"a": 0, "b": 0}', "merges.txt": b"a b\n"}, "share the id"),
        ({"vocab.json": b"{}", "merges.txt": b"a b\n"}, "vocabulary"),
        ({"vocab.json": b'{"a": 0}', "merges.txt": b""}, "empty"),
        ({"vocab.json": b'{"a": 0}', "merges.txt": "ä b\n".encode("latin-1")}, "line 1"),
        ({"one.json": b"{}", "two.json": b"{}"}, "not one tokeniser"),
    ],
)
def test_a_bad_tokeniser_is_a_message(app: Any, files: dict[str, bytes], message: str) -> None:
    app.upload("Tokeniser", *files.items())
    [error] = app.errors()
    assert message in error
    assert any(name in error for name in files)
    assert app.session.language == "en"
    works(app)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n \n\n", "blank lines only"),
        ("wählen\twähl en\n".encode("latin-1"), "line 1: the byte 0xE4 is not UTF-8"),
        (b"%PDF-1.7 gold", "PDF"),
        (b"a b c d\ne f g h\n", "format"),
        (b"word\tmorphs\n", "only a header"),
        (b"ice cream\tice cream\nNew York\tNew York\n", "format cannot be detected"),
    ],
)
def test_a_bad_reference_is_a_message(app: Any, content: bytes, message: str) -> None:
    app.upload("Reference", ("gold.tsv", content))
    [error] = app.errors()
    assert message in error
    assert error.startswith("gold.tsv")
    assert app.session.study.benchmark.reference.name == "demo:en"
    works(app)


def test_words_with_spaces_are_no_entries(app: Any) -> None:
    app.choose("Format", "plain")
    app.upload("Reference", ("gold.tsv", b"ice cream\tice cream\nNew York\tNew York\n"))
    [error] = app.errors()
    assert "2 × word with a space (first: line 1)" in error
    works(app)


@pytest.mark.parametrize("format_", [name for name in REFERENCES if name != "plain"])
def test_nothing_parses_in_the_chosen_format(app: Any, format_: str) -> None:
    app.choose("Format", format_)
    app.upload("Reference", ("gold.tsv", b"to be\nor not\nto be\n"))
    [error] = app.errors()
    assert "no line can be read as" in error
    assert app.session.study.benchmark.reference.name == "demo:en"


def test_a_file_over_the_limit_is_refused(
    app: Any, tokenizer_json: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPHGRAPH_MAX_FILE_BYTES", "100")
    app.upload("Tokeniser", ("tokenizer.json", tokenizer_json))
    [error] = app.errors()
    assert "limit" in error
    app.open("scores").upload("Reference", ("gold.tsv", REFERENCES["plain"].encode() * 20))
    [error] = app.errors()
    assert "limit" in error
    app.open("scores").upload("Or from a file", ("counts.tsv", b"going 12\n" * 30))
    assert "limit" in app.errors()[-1]
    app.open("history").upload("Recipe", ("recipe.json", b" " * 200)).press("Replay")
    assert "limit" in app.errors()[-1]
    works(app)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"no counts here\n", "count"), ("a 1\nä 3\n".encode("latin-1"), "line 2")],
)
def test_bad_frequencies_are_a_message(app: Any, content: bytes, message: str) -> None:
    app.open("scores").upload("Or from a file", ("counts.tsv", content))
    [error] = app.errors()
    assert message in error
    assert app.session.study.benchmark.frequency_source == "wordfreq:en"
    works(app)


def test_an_error_stays_when_another_field_takes_a_file(app: Any) -> None:
    app.open("scores").upload("Reference", ("gold.tsv", b"%PDF-1.7 gold"))
    [error] = app.errors()
    app.upload("Or from a file", ("counts.tsv", b"going 12\nhouses 3\n"))
    assert app.session.study.benchmark.frequency_source == "counts.tsv"
    assert app.errors() == [error]
    [field] = [f for f in app.test.file_uploader if f.label == "Reference"]
    field.clear()
    app.upload("Reference", ("gold.tsv", REFERENCES["plain"].encode() * 20))
    assert app.errors() == []
    assert app.session.study.benchmark.reference.name == "gold.tsv"


@pytest.mark.parametrize("page", ["start", "scores", "blame"])
def test_an_uploaded_reference_is_confirmed_where_it_was_opened(app: Any, page: str) -> None:
    lines = "undoing\tun do ing\nice cream\tice cream\nNew York\tNew York\nundoing\tundo ing\n"
    app.open(page)
    if page == "blame":  # in a panel under the name of the open one
        app.test.session_state[f"open reference blame {app.session.study_number}"] = True
        app.run()
    app.upload("Reference", ("gold.tsv", lines.encode()))
    told = "\n".join(m.value for m in app.test.markdown).replace("\\", "").replace("\u2060", "")
    assert "gold.tsv is open." in told
    assert "- Read: 1 word in 2 entries, as " in told
    assert "- Gold: morphemic boundaries only: it does not tell free morphemes" in told
    assert "- Skipped: 2 × word with a space (first on line 2)." in told
    # It stays there until it is closed, or another reference is open.
    app.open("tree")
    assert "close what was read" not in [b.key for b in app.test.button]
    app.open(page)
    assert "close what was read" in [b.key for b in app.test.button]
    app.press("Close")
    assert "close what was read" not in [b.key for b in app.test.button]
    app.open("start").upload("Reference", ("gold.tsv", lines.encode() * 2)).choose("Demo", "de")
    assert "close what was read" not in [b.key for b in app.test.button]


@pytest.mark.parametrize(
    ("format_", "kind"),
    [
        ("celex", "morphemic boundaries, and whole-word boundaries."),
        ("morphynet-derivation", "; partial (one affix a word)."),
        ("plain", "morphemic boundaries only"),
    ],
)
def test_the_kind_of_gold_is_told(format_: str, kind: str) -> None:
    reference = read_reference(REFERENCES[format_].encode(), name="gold", format=format_)
    assert any(line.startswith("Gold: ") and kind in line for line in reference_summary(reference))


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
    [told] = [m.value.replace("\\", "").replace("\u2060", "") for m in app.test.success]
    assert told.startswith(f"{name} holds {size} types for {method}")
    assert "Segmentations and Scores" in told
    assert app.session.language == "en"
    for page in ("compare", "scores"):
        app.test.query_params["methods"] = "bpe"
        app.open(page)
        [box] = [m for m in app.test.multiselect if m.label == "Methods"]
        assert box.value[-1] == f"model {name}"
        assert box.value.count(f"model {name}") == 1


def test_merges_alone_are_asked_for_their_vocabulary(app: Any) -> None:
    app.upload("Tokeniser", ("any name.txt", b"a b\nab c\n"))
    [told] = [message.value for message in app.test.info]
    assert told.startswith("Add vocab.json")
    assert app.errors() == []


def test_a_half_says_what_the_other_one_is_called(app: Any, vocab_json: bytes) -> None:
    app.upload("Tokeniser", ("my-vocab.json", vocab_json))
    [told] = [message.value.replace("\\", "") for message in app.test.info]
    assert told == "Add my-merges.txt to the same field: the two belong together."
    app.upload("Tokeniser", ("my-vocab.json", vocab_json), ("merges.txt", MERGES_TXT.encode()))
    [error] = app.errors()
    assert "not one tokeniser" in error
    assert app.session.language == "en"


def test_a_saved_model_of_bpe_is_opened(app: Any) -> None:
    merges = app.graph.merges()
    model = write_model(method_on(app.session.study.tokeniser.fork(), "bpe"))
    app.upload("Tokeniser", ("model.json", model))
    assert app.errors() == []
    assert app.session.language == ""
    assert app.graph.merges() == merges


# -------------------------------------------------------------------------- what does not fit


def test_a_reference_in_another_language_is_a_warning(app: Any) -> None:
    assert warnings(app) == []
    app.upload("Reference", ("mine.tsv", demo_gold_path("de").read_bytes()))
    told = "The words of mine.tsv are German, but the types of the tokeniser are English"
    for page in ("start", "scores"):
        app.open(page)
        assert [w for w in warnings(app) if told in w]
    app.choose("Demo", "de")
    assert not [w for w in warnings(app) if "are German" in w]


def test_frequencies_of_another_language_are_a_warning(app: Any) -> None:
    app.open("scores").choose("From wordfreq", "de")
    [told] = [w for w in warnings(app) if "frequencies" in w]
    assert told.startswith(
        "The words of demo:en are English, but the word frequencies are those of"
    )
    app.choose("From wordfreq", "en")
    assert not [w for w in warnings(app) if "frequencies" in w]


def test_words_of_another_language_on_compare_are_a_warning(app: Any) -> None:
    app.test.query_params["methods"] = "bpe"
    app.test.query_params["words"] = "Freundschaft Arbeit unglaublich"
    app.open("compare")
    [told] = [w for w in warnings(app) if "German" in w]
    assert told.startswith("These words are German, but the gold of demo:en is English")


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
        [told] = [w for w in warnings(app) if "precision" in w]
        assert "The gold is partial (one affix a word)" in told
    app.choose("Demo", "en").open("blame")
    assert not badges(app)


def badges(app: Any) -> list[Any]:
    return [text for text in app.test.markdown if "partial gold" in text.value]


def test_after_an_error_another_file_can_be_opened(app: Any, tokenizer_json: bytes) -> None:
    app.upload("Reference", ("gold.tsv", b""))
    assert app.errors()
    [field] = [f for f in app.test.file_uploader if f.label == "Reference"]
    field.clear()
    app.upload("Reference", ("gold.tsv", REFERENCES["plain"].encode() * 20))
    assert app.errors() == []
    assert app.session.study.benchmark.reference.name == "gold.tsv"


# ------------------------------------------------------------------------------ what would do harm


def shown_as_markup(app: Any) -> list[str]:
    """All text on the page that is read as Markdown or HTML."""
    texts = [
        element.value for kind in ("markdown", "caption", "html") for element in app.test.get(kind)
    ]
    for kind in ("subheader", "title", "error", "warning", "info", "toast"):
        texts += [element.value for element in app.test.get(kind)]
    for kind in ("button", "selectbox", "toggle", "metric"):
        texts += [element.label for element in app.test.get(kind)]
    return texts + [expander.label for expander in app.test.expander]


def assert_harmless(app: Any) -> None:
    for text in shown_as_markup(app):
        # What is escaped, or inside inline code, is text.
        without_code = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
        bare = without_code.replace("\\<", "").replace("\\[", "")
        assert "<img" not in bare, text
        assert "[a](" not in bare, text


def test_names_that_look_like_html_are_shown_as_text(app: Any, hostile_document: bytes) -> None:
    app.upload("Tokeniser", ("<b>tokeniser.json", hostile_document))
    assert app.errors() == []
    gold = f"{IMAGE.replace(' ', '_')}\t<img _src=x_onerror=alert(1)>\nundo\tun do\n"
    app.upload("Reference", (f"{IMAGE}.tsv", gold.encode()))
    assert_harmless(app)
    for number in (app.graph.id_of(IMAGE), app.graph.id_of("**[a](javascript:alert(1))")):
        app.open("graph")
        app.session.selected = app.session.focus = number
        app.run()
        assert_harmless(app)
        app.press("Knock out")
        assert_harmless(app)
        for page in ("blame", "scores", "history"):
            app.open(page)
            assert_harmless(app)


def test_an_error_about_such_a_name_is_text_too(app: Any) -> None:
    document = {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", IMAGE]]}}
    app.upload("Tokeniser", ("tokenizer.json", json.dumps(document).encode()))
    assert IMAGE in app.errors()[0]
    assert_harmless(app)
