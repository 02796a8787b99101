"""Tokenisers in and out: tuple merges, ids, `vocab.json` with `merges.txt`, warnings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_folders import saved_files
from refusals import refused
from small import small_document, small_tokeniser
from strategies import WORDS, token_texts, well_formed
from tokenizers import Tokenizer, models

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import demo_tokeniser_path, parse_json
from morphgraph.core.limits import JSON_MEMORY
from morphgraph.formats.hugging_face import (
    from_document,
    from_tokenizer_json,
    special_token,
    to_tokenizer_json,
)
from morphgraph.formats.loading import load_tokeniser
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter


def merges_of(tokeniser):
    graph = tokeniser.graph
    return [graph.describe(number) for number in graph.merge_ids()]


def texts_of(tokeniser, words):
    return token_texts(Bte(tokeniser), words)


@given(merges=well_formed(), words=st.lists(WORDS), data=st.data())
def test_edited_is_read_back_equal(merges, words, data):
    """Also where an edit leaves two merges with the same parts: the lower rank counts."""
    tokeniser = small_tokeniser(list(dict.fromkeys(merges)), "abc")
    graph = tokeniser.graph
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    if types:
        graph.knockout(data.draw(st.lists(st.sampled_from(types), unique=True)))
    document = json.dumps(tokeniser.document)
    again = from_tokenizer_json(to_tokenizer_json(tokeniser)[0], "again.json")
    assert json.dumps(tokeniser.document) == document, "saving changes nothing"
    assert merges_of(again) == merges_of(tokeniser)
    assert texts_of(again, words) == texts_of(tokeniser, words)
    assert again.warnings == ()


def test_ids_are_dense_and_mapped():
    document = small_document([("a", "b"), ("ab", "c"), ("c", "c")], "abc")
    document["model"]["vocab"] = {"cc": 2, "b": 3, "a": 5, "abc": 8, "ab": 9, "c": 40}
    document["added_tokens"] = [special_token("<s>", 0), special_token("<t>", 41)]
    first = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    a, b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    listed = {t: {"id": t, "ids": [n], "tokens": [t]} for t, n in (("<s>", 0), ("<t>", 41))}
    template = {"type": "TemplateProcessing", "single": [first, a], "pair": [a, b]}
    document["post_processor"] = {**template, "special_tokens": listed}
    # As of a rank file: a tokenizer.json would have the ids that the library gives <s> and <t>.
    tokeniser = from_document(document, "sparse.json", "")
    assert tokeniser.vocabulary_size == 8
    tokeniser.graph.knockout(["cc"])
    data, id_map = to_tokenizer_json(tokeniser)
    # In the order of the old ids: <s>, b, a, abc, ab, c, <t>; cc is gone.
    assert id_map == {0: 0, 3: 1, 5: 2, 8: 3, 9: 4, 40: 5, 41: 6}
    saved = json.loads(data)
    # <s> and <t> are among the types, or the library would give them the ids 5 and 6.
    expected = {"<s>": 0, "b": 1, "a": 2, "abc": 3, "ab": 4, "c": 5, "<t>": 6}
    assert saved["model"]["vocab"] == expected
    assert [token["id"] for token in saved["added_tokens"]] == [0, 6]
    special_tokens = saved["post_processor"]["special_tokens"]
    assert [special_tokens[text]["ids"] for text in ("<s>", "<t>")] == [[0], [6]]
    library = Tokenizer.from_str(data.decode())
    assert library.encode("abc").tokens == ["<s>", "abc"]
    assert library.encode("abc<t>").ids == [0, 3, 6]
    ids = json.loads(saved_files(tokeniser)["ids.json"])
    assert ids == {str(old): new for old, new in id_map.items()}


def test_bert_post_processor_is_renumbered():
    document = small_document([("a", "b"), ("c", "c")], "abc")
    vocabulary = document["model"]["vocab"]
    assert vocabulary["cc"] == 4
    vocabulary |= {"[SEP]": 5, "[CLS]": 6}
    marks = {"sep": ["[SEP]", 5], "cls": ["[CLS]", 6]}
    document["post_processor"] = {"type": "BertProcessing", **marks}
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), "bert.json")
    tokeniser.graph.knockout(["ab"])
    library = Tokenizer.from_str(to_tokenizer_json(tokeniser)[0].decode())
    assert library.encode("ab").ids == [5, 0, 1, 4]
    assert library.encode("ab").tokens == ["[CLS]", "a", "b", "[SEP]"]


VOCABULARY = {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4}


@pytest.mark.parametrize(
    "merges",
    ["a b\nab c\n", "#version: 0.2\na b\nab c", "#version: 0.2\r\na b\r\nab c\r\n", "a b\n\nab c"],
)
def test_merges_txt(tmp_path, merges):
    (tmp_path / "vocab.json").write_text(json.dumps(VOCABULARY), encoding="utf-8")
    (tmp_path / "merges.txt").write_bytes(merges.encode())
    for source in (tmp_path, tmp_path / "vocab.json", tmp_path / "merges.txt"):
        tokeniser = load_tokeniser(source)
        assert merges_of(tokeniser) == ["a + b → ab", "ab + c → abc"]
        assert texts_of(tokeniser, ["abcab"]) == [["abc", "ab"]]
    if "\n\n" not in merges:  # the library wants no blank lines
        files = str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")
        library = Tokenizer(models.BPE.from_file(*files))
        assert library.encode("abcab").tokens == ["abc", "ab"]


def test_a_merge_that_looks_like_a_version_line():
    """Only the first line may be one; and without it, the first line is a merge."""
    vocabulary = {"#": 0, "v": 1, "#v": 2}
    data = json.dumps(vocabulary).encode()
    assert merges_of(load_tokeniser({"vocab.json": data, "merges.txt": b"# v\n"})) == ["# + v → #v"]


def test_uploads(tmp_path):
    vocabulary, merges = json.dumps(VOCABULARY).encode(), b"a b\nab c\n"
    both = load_tokeniser({"merges.txt": merges, "vocab.json": vocabulary})
    assert merges_of(both) == ["a + b → ab", "ab + c → abc"]
    single = to_tokenizer_json(both)[0]
    assert merges_of(load_tokeniser({"x.json": single})) == merges_of(both)
    wrong = [
        {},
        {"merges.txt": merges},
        {"a.json": single, "b.json": single},
        {"vocab.txt": merges, "vocab.json": vocabulary},
        {"my-vocab.json": vocabulary, "merges.txt": merges},
    ]
    for files in wrong:
        with refused(FileFormatError):
            load_tokeniser(files)


@pytest.mark.parametrize(
    "vocabulary, merges, word, expected",
    [
        (["l", "o", "w</w>", "lo", "low</w>"], "l o\nlo w</w>", "low", ["low</w>"]),
        (["▁", "l", "o", "▁l", "▁lo"], "▁ l\n▁l o", "lo", ["▁lo"]),
        (["Ġ", "l", "o", "Ġl", "Ġlo"], "Ġ l\nĠl o", "lo", ["Ġlo"]),
    ],
)
def test_the_marker_tells_the_pre_tokeniser(vocabulary, merges, word, expected):
    ids = {text: number for number, text in enumerate(vocabulary)}
    data = json.dumps(ids).encode()
    tokeniser = load_tokeniser({"vocab.json": data, "merges.txt": merges.encode()})
    assert texts_of(tokeniser, [word]) == [expected]
    # What it assumes is saved with it.
    library = Tokenizer.from_str(to_tokenizer_json(tokeniser)[0].decode())
    assert library.encode(f"{word} {word}").tokens[-1:] == expected


def test_special_types_of_two_files():
    ids = {"<s>": 0, "[UNK]": 1, "<0x0A>": 2, "a": 3, "b": 4, "ab": 5, "<|endoftext|>": 6}
    data = json.dumps(ids).encode()
    tokeniser = load_tokeniser({"vocab.json": data, "merges.txt": b"a b"})
    assert tokeniser.special == {"<s>", "[UNK]", "<|endoftext|>"}
    assert tokeniser.preprocessor.unknown == "[UNK]"
    assert texts_of(tokeniser, ["ab<s>ab"]) == [["ab", "<s>", "ab"]]
    assert tokeniser.vocabulary_size == 7


def test_merges_in_an_impossible_order_are_loaded_with_a_warning():
    # c + d takes c away from ab + c, and then b + cd comes before a + b.
    tokeniser = small_tokeniser(
        [("ab", "cd"), ("c", "d"), ("b", "cd"), ("a", "b"), ("ab", "c")], "abcd"
    )
    (warning,) = tokeniser.warnings
    assert "these types can never be formed: “abcd”." in warning
    assert texts_of(tokeniser, ["abcd", "abc"]) == [["a", "bcd"], ["abc"]]


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("", [], ""),
        ("", {}, ""),
        ("model", {"type": "Unigram", "vocab": []}, "field model.type"),
        ("model", {"type": "WordPiece", "vocab": {}}, "field model.type"),
        ("model.vocab", None, "field model.vocab"),
        ("model.vocab", {}, "field model.vocab"),
        ("model.vocab", {"a": 0, "b": 0}, "field model.vocab"),
        *(("model.vocab", {"a": id_}, "field model.vocab") for id_ in ("x", True, -1, 2**32)),
        ("model.vocab", {"": 7}, "field model.vocab"),
        ("model.vocab", {"\ud800": 7}, "line 1"),
        ("decoder", {"suffix": "\udfff"}, "line 1"),
        ("model.vocab", {"a": 0, "b": 1}, "merge 1 (“a b”)"),
        ("model.vocab", {"a": 0, "ab": 1}, "merge 1 (“a b”)"),
        ("model.merges", None, "field model.merges"),
        ("model.merges", [["a", "b"], "ab"], "field model.merges, entry 2"),
        ("model.merges", [["a", "b", "c"]], "field model.merges, entry 1"),
        ("model.merges", [["a", 7]], "field model.merges, entry 1"),
        ("model.merges", ["a  b"], "field model.merges, entry 1"),
        ("model.continuing_subword_prefix", "##", "field model.continuing_subword_prefix"),
        ("added_tokens", {"a": 1}, "field added_tokens"),
        ("added_tokens", [{"id": 9}], "field added_tokens, entry 1"),
        *(
            ("added_tokens", [{"id": id_, "content": "<s>"}], "field added_tokens, entry 1")
            for id_ in (-1, 1.0, 2**32)
        ),
        ("pre_tokenizer", {"type": "Nope"}, "fields normalizer and pre_tokenizer"),
        ("normalizer", "x", "field normalizer"),
    ],
)
def test_faulty_files_name_the_place(path, value, place):
    document = small_document([("a", "b"), ("ab", "c")])
    outer, _, last = path.rpartition(".")
    inside = document[outer] if outer else document
    inside[last] = value
    with refused(FileFormatError, place):
        from_tokenizer_json(json.dumps(document if path else value).encode(), "bad.json")


def test_a_fault_between_two_files_names_the_merges():
    data = json.dumps({"a": 0, "b": 1}).encode()
    for merges in (b"a x\n", b"#version: 0.2\na b c\n", b"#version: 0.2\n", b"a b\n\xe4"):
        with refused(FileFormatError):
            load_tokeniser({"vocab.json": data, "merges.txt": merges})


def test_of_equal_pairs_the_first_one_is_saved():
    document = small_document([("a", "b"), ("b", "c"), ("a", "b")])
    document["model"]["type"] = "BTE"  # ours, in which the first one applies
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), "t.json")
    assert texts_of(tokeniser, ["abc"]) == [["ab", "c"]]
    saved, _ = to_tokenizer_json(tokeniser)
    assert Tokenizer.from_str(saved.decode()).encode("abc").tokens == ["ab", "c"]
    document["model"]["type"] = "BPE"
    assert Tokenizer.from_str(json.dumps(document)).encode("abc").tokens == ["a", "bc"]


def as_published():
    """The English demo as large files are published: merges as strings, indented by two."""
    document = json.loads(demo_tokeniser_path("en").read_bytes())
    model = document["model"]
    model["merges"] = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    return json.dumps(document, ensure_ascii=False, indent=2).encode()


def refused_below(data):
    """The least limit of memory under which JSON is read."""
    low, high = 1, JSON_MEMORY.usual
    with pytest.MonkeyPatch.context() as patch:
        while low < high:
            middle = (low + high) // 2
            patch.setenv(JSON_MEMORY.variable, str(middle))
            try:
                parse_json(data, "a.json")
            except FileFormatError:
                low = middle + 1
            else:
                high = middle
    return low


def test_what_is_written_can_be_read(monkeypatch):
    """A file of 250 million bytes of values, as Gemma 2's, is below 450 million once edited."""
    tokeniser = from_tokenizer_json(as_published(), "published.json")
    monkeypatch.setenv(JSON_MEMORY.variable, str(refused_below(as_published()) * 450 // 250))
    tokeniser.graph.knockout(tokeniser.types[2000:2100])
    for name, data in saved_files(tokeniser).items():
        assert parse_json(data, name)
    made = export_segmenter(Bte(tokeniser), ["undesirable", "handlebars"])
    assert from_tokenizer_json(made.files["tokeniser.bte.json"], "again.json").lineage


def test_what_could_not_be_read_is_not_written(monkeypatch):
    tokeniser = from_tokenizer_json(as_published(), "published.json")
    tokeniser.graph.knockout(tokeniser.types[2000:2100])
    least = refused_below(to_tokenizer_json(tokeniser)[0])
    monkeypatch.setenv(JSON_MEMORY.variable, str(least - 1))
    with refused(FileFormatError):
        to_tokenizer_json(tokeniser)
    monkeypatch.setenv(JSON_MEMORY.variable, str(least))
    assert from_tokenizer_json(to_tokenizer_json(tokeniser)[0], "again.json").lineage
