"""Vocabularies without merges: from lists of types and from tokenizer.json, saved and damaged."""

import json

import pytest
from refusals import refused
from small import model_of_pieces
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.formats.loading import load_vocabulary
from morphgraph.segment.unigram import Unigram
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tokeniser.preprocess import AddedToken, Preprocessor
from morphgraph.tokeniser.vocabulary import BYTES, SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN


def read(*types, end="\n"):
    """The vocabulary of a list of types."""
    return load_vocabulary({"list.txt": end.join(types).encode()})


def test_a_list_of_types():
    vocabulary = read("[PAD]", "[UNK]", "un", "##do", "x")
    assert vocabulary.types == ("[PAD]", "[UNK]", "un", "##do", "x")
    assert (vocabulary.marker, vocabulary.unknown) == ("##", "[UNK]")
    assert vocabulary.special == {"[PAD]", "[UNK]"}
    assert vocabulary.name == "list.txt"
    assert read("a", "b", "", end="\r\n").types == ("a", "b")
    assert load_vocabulary({"list.txt": b"\xef\xbb\xbfa\nb"}).types == ("a", "b")
    assert read("{", '"', "a", "[", "]").types == ("{", '"', "a", "[", "]")
    # These characters end a line in Python, but are types in published vocabularies.
    assert read("a", "\u2028", "\x85").types == ("a", "\u2028", "\x85")


@pytest.mark.parametrize(
    "types, marker",
    [
        (["##a", "b"], "##"),
        (["▁a", "##", "##b", "▁c"], "▁"),
        (["Ġa", "Ġb", "##c"], "Ġ"),
        (["a", "##", "▁", "Ġ"], ""),
    ],
)
def test_the_marker_is_detected(types, marker):
    assert read(*types).marker == marker


@pytest.mark.parametrize("capital, expected", [("##x", "ab"), ("##X", "Ab")])
def test_bert_is_lowercased_where_no_type_has_a_capital(capital, expected):
    vocabulary = read("[UNK]", "A" if expected == "Ab" else "a", "##b", capital)
    words = vocabulary.encode(["Ab"])
    assert "".join(vocabulary.atom_text(words, i) for i in range(2)) == expected


LISTED = ", read as a list of types"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", ""),
        (b"a\n\nb\n", f"line 2{LISTED}"),
        (b"a\nb\r\na\n", f"line 3{LISTED}"),
        (b"a\nb\xff\n", "line 2"),
        ("a\nb".encode("utf-16"), "line 1"),
        (b"a\nb\0\n", f"line 2{LISTED}"),
        (b"a\nb c\n", f"line 2{LISTED}"),
        (b"a\t-1.5\n", f"line 1{LISTED}"),
        (b"{}", "read as vocab.json"),
    ],
)
def test_what_is_wrong_is_said(data, place):
    with refused(FileFormatError, place):
        load_vocabulary({"bad.txt": data})


def library_wordpiece():
    """A WordPiece tokeniser that lowercases, with an added token."""
    types = ["[UNK]", "un", "##do", "do", "##ing", "!", "i"]
    library = Tokenizer(
        models.WordPiece({text: n for n, text in enumerate(types)}, unk_token="[UNK]")
    )
    library.normalizer = normalizers.Lowercase()
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.add_special_tokens(["[SEP]"])
    return library


def ids(segmenter, words):
    """The tokens of words."""
    found = segmenter.segment(segmenter.encode(words))
    return [found.tokens(number) for number in range(len(words))]


def library_unigram():
    """A Unigram tokeniser, with an added token."""
    scores = {"<unk>": 0.0, "▁": -2.0, "▁un": -3.0, "un": -3.5, "do": -3.0, "d": -6.0, "o": -5.5}
    library = Tokenizer(models.Unigram(list(scores.items()), 0, False))
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    library.add_special_tokens(["<sep>"])
    return library


@pytest.mark.parametrize(
    "kind, path, value, place",
    [
        ("unigram", "model.vocab", [["a", -1], ["a", -2]], "field model.vocab, entry 2"),
        *(
            ("unigram", "model.vocab", [entry], "field model.vocab, entry 1")
            for entry in (["a", "b"], ["a"], [7, 1.0], ["", 1.0], ["a", True])
        ),
        ("unigram", "model.vocab", [], "field model.vocab"),
        ("unigram", "model.vocab", [["a", -1], ["b", float("inf")]], ""),
        ("unigram", "model.unk_id", 100, "field model.unk_id"),
        ("unigram", "model.unk_id", "a", "field model.unk_id"),
        ("unigram", "model.type", "WordLevel", "field model.type"),
        ("wordpiece", "model.type", "WordLevel", "field model.type"),
        ("wordpiece", "model.type", ["BPE"], "field model.type"),
        ("wordpiece", "model.continuing_subword_prefix", "@@", None),
        ("wordpiece", "model.continuing_subword_prefix", 3, None),
        *(
            ("wordpiece", "model.max_input_chars_per_word", limit, None)
            for limit in (0, -1, 1.5, "5", True)
        ),
    ],
)
def test_a_damaged_tokenizer_json(kind, path, value, place):
    library = library_unigram() if kind == "unigram" else library_wordpiece()
    document = json.loads(library.to_str())
    if path == "model.vocab":
        document["added_tokens"] = []
    document["model"][path.removeprefix("model.")] = value
    with refused(FileFormatError, (f"field {path}" if place is None else place)):
        load_vocabulary({"bad.json": json.dumps(document).encode()})


PIECES = (
    ("<s>", 0.0, "CONTROL"),
    ("▁", -2.0, "NORMAL"),
    ("un", -3.0, "NORMAL"),
    ("▁undo", -9.0, "UNUSED"),
    ("do", -4.0, "NORMAL"),
)
MODEL = model_of_pieces(*PIECES, kind="UNIGRAM")


def test_sentencepiece():
    for name in ("m.model", "upload.bin"):  # by its name, or by its content
        vocabulary = load_vocabulary({name: MODEL})
        assert vocabulary.types == ("<unk>", "<s>", "▁", "un", "▁undo", "do")
        assert vocabulary.special == {"<unk>", "<s>", "▁undo"}
        assert (vocabulary.marker, vocabulary.unknown, vocabulary.single) == ("▁", "<unk>", True)
        assert vocabulary.scores == (0, 0, -2, -3, -9, -4)
    assert ids(Unigram(vocabulary), ["undo"]) == [[2, 3, 5]]
    bpe = model_of_pieces(*PIECES)
    assert load_vocabulary({"bpe.model": bpe}).scores is None


def test_a_sentencepiece_model_with_markers_at_the_end_or_no_text_is_refused():
    with refused(FileFormatError):
        load_vocabulary({"m.model": MODEL.replace(b"do", b"\xffo")})
    data = model_of_pieces(*PIECES, kind="UNIGRAM", treat_whitespace_as_suffix=True)
    with refused(FileFormatError):
        load_vocabulary({"suffix.model": data})


@pytest.mark.parametrize("unknown", [{}, ["a"], 7, "z"])
def test_an_unknown_token_that_is_no_type(unknown):
    model = {"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": unknown}
    vocabulary = load_vocabulary({"tokenizer.json": json.dumps({"model": model}).encode()})
    assert (vocabulary.unknown, vocabulary.special) == (None, frozenset())


def test_special_types_are_found_by_no_string():
    vocabulary = SubwordVocabulary(("[A]", "[", "A", "]"), special=frozenset({"[A]"}))
    greedy = Greedy(vocabulary)
    assert greedy.segment(greedy.encode(["[A]"])).tokens(0) == [1, 2, 3]


def test_an_end_of_word_suffix_belongs_to_the_last_character():
    types = ("in", "g</w>", "ing</w>", "g")
    greedy = Greedy(SubwordVocabulary(types, preprocessor=Preprocessor(suffix="</w>")))
    found = greedy.segment(greedy.encode(["ing", "gin"]))
    assert found.tokens(0) == [2]
    # The n at the end is another character than the n in “in”.
    assert found.tokens(1)[:1] == [3]
    assert found.words.unknown == {5: "n"}


def test_a_byte_fallback_needs_all_bytes():
    types = ("a", "bc", *BYTES)
    fallback = Preprocessor(byte_fallback=True)
    greedy = Greedy(SubwordVocabulary(types, preprocessor=fallback))
    words = greedy.encode(["abcbé"])
    # b is a character of a type but no type: in bytes where bc does not match.
    names = [types[token] for token in greedy.segment(words).tokens(0)]
    assert names == ["a", "bc", "<0x62>", "<0xC3>", "<0xA9>"]
    some = Greedy(SubwordVocabulary(types[:-1], preprocessor=fallback))
    assert some.segment(some.encode(["é"])).tokens(0) == [UNKNOWN]


def test_document_keeps_the_pipeline():
    vocabulary = SubwordVocabulary(
        ("ab", "##c", "[X]"),
        "##",
        Preprocessor(
            normalizer=normalizers.Lowercase(),
            pre_tokenizer=pre_tokenizers.Split("-", "removed"),
            added=(AddedToken("[X]", single_word=True),),
        ),
        frozenset({"[X]"}),
        "[X]",
        "some/folder/small.txt",
        (-1.0, -2.5, 0.0),
        True,
    )
    document = json.loads(json.dumps(vocabulary.document()))
    again = SubwordVocabulary.from_document(document)
    assert again.document() == vocabulary.document()
    assert again.signature() == vocabulary.signature()
    assert vocabulary.signature().startswith("small.txt@")
    words, other = vocabulary.encode(["AB-c", "[X]"]), again.encode(["AB-c", "[X]"])
    assert words.atoms.tolist() == other.atoms.tolist()
    assert words.piece_offsets.tolist() == other.piece_offsets.tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize(
    "changed",
    [
        *({"types": types} for types in (["a", 1], "ab", ["a", "a"], [], [""])),
        *({"marker": marker} for marker in ("@@", None)),
        *({"unknown": unknown} for unknown in (3, "missing")),
        *({"scores": scores} for scores in ([1, 2, 3], ["x"])),
        *({"preprocessor": preprocessor} for preprocessor in (None, {})),
        *({"special": None}, {"single": 1}),
    ],
)
def test_damaged_documents_are_refused(changed):
    document = SubwordVocabulary(("a",)).document()
    SubwordVocabulary.from_document(document)
    with pytest.raises(MorphGraphError):
        SubwordVocabulary.from_document({**document, **changed})


def test_a_pipeline_that_is_no_pipeline_is_refused():
    document = SubwordVocabulary(("a",)).document()
    for change in (
        {"normalizer": {"type": "Nothing"}},
        {"added": [{"text": "x"}]},
        *({"added": [{"content": text}]} for text in (["a"], 5, "")),
        *({"added": [{"content": "a", name: 1}]} for name in ("single_word", "other")),
    ):
        broken = {**document, "preprocessor": {**document["preprocessor"], **change}}
        with refused():
            SubwordVocabulary.from_document(broken)
