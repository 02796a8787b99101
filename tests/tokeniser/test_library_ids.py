"""Ids, names and decoded texts as the `tokenizers` library's, for all that a file can say."""

import json
import warnings

import numpy as np
import oracles
import pytest
from effort import examples
from hypothesis import assume, example, given
from hypothesis import strategies as st
from refusals import refused
from small import small_document, small_tokeniser
from strategies import any_order
from tokenizers import AddedToken, Tokenizer

import morphgraph as mg
from morphgraph.api.with_merges import Tokeniser
from morphgraph.core.errors import FileFormatError
from morphgraph.formats.export import standalone_method
from morphgraph.refine.rebpe import preview_annealing
from morphgraph.score.boundaries import Benchmark
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import export_segmenter, exported_model, load_segmenter
from morphgraph.segment.pieces import PieceKernel
from morphgraph.standalone.piece_methods import load, plug_in


def loaded(document):
    return Tokeniser(load_segmenter({"t.json": json.dumps(document).encode()}))


def warned(tokeniser):
    made = tokeniser._segmenter
    return " ".join((made.editable or made.vocabulary).warnings)


def document_of(model, added=(), **parts):
    names = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    outer = {"version": "1.0", **dict.fromkeys(names), **parts}
    return {**outer, "added_tokens": list(added), "model": model}


def added(text, number, **flags):
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": number, "content": text, **dict.fromkeys(names, False), **flags}


def check(document, texts):
    """Everything is as in the library, and so is what is exported, in either form."""
    library, tokeniser = Tokenizer.from_str(json.dumps(document)), loaded(document)
    model = exported_model(tokeniser._segmenter)
    method, folder = standalone_method(model), load(model.document)
    plug_in(folder, method)
    plain = Tokenizer.from_str(json.dumps({**model.document, "model": dict(model.plain)}))
    assert library.get_vocab() == {text: tokeniser.id_of(text) for text in tokeniser.types}
    pieces = [piece for text in texts for piece in text.split()]
    for piece, rows in zip(pieces, PieceKernel(model.document["model"])(pieces), strict=True):
        assert rows in (None, [(t.id, t.value, t.offsets) for t in method(piece)]), piece
    for text in texts:
        found = library.encode(text)
        assert tokeniser.encode(text) == found.ids, text
        assert tokeniser.tokenize(text) == found.tokens, text
        assert tokeniser.decode(found.ids) == library.decode(found.ids), text
        assert [each.encode(text).ids for each in (folder, plain)] == [found.ids] * 2, text
    return tokeniser


# ------------------------------------------------------------------------------------ any file

CHARACTERS = st.sampled_from("aaabbbcceéAß語😀 <s>Ġ▁-\n＜＞É\u0301ﬁ½²\xa0\t_")
TEXTS = st.lists(
    st.text(CHARACTERS, max_size=12)
    | st.lists(st.sampled_from(["ab", "<s>", " ", "  ", "＜s＞", "<M>", "abc"])).map("".join),
    min_size=5,
    max_size=10,
)
LETTERS = st.lists(st.sampled_from("abceé<s>▁Ġß-\u0301"), min_size=2, max_size=9, unique=True)
NORMALIZERS = [
    *(None, {"type": "NFC"}, {"type": "NFD"}, {"type": "NFKC"}, {"type": "Lowercase"}),
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
    {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "Prepend", "prepend": "a"}]},
    *({"type": "Strip", "strip_left": left, "strip_right": True} for left in (True, False)),
    *(
        {"type": "Replace", "pattern": {"String": old}, "content": new}
        for old, new in (("é", "e"), (" ", "▁"), ("b", "cab"))
    ),
    {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "ab"},
    {
        "type": "BertNormalizer",
        **dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), True),
        "strip_accents": None,
    },
]
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
PRE_TOKENIZERS = [
    *(None, METASPACE, {**METASPACE, "prepend_scheme": "never"}),
    *({**METASPACE, "prepend_scheme": "first", "split": split} for split in (True, False)),
    *({"type": kind} for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")),
    {"type": "Digits", "individual_digits": True},
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "UnicodeScripts"},
    *(
        {"type": "Split", "pattern": pattern, "behavior": behaviour, "invert": invert}
        for pattern in ({"String": "a"}, {"Regex": r"\p{L}+|[^\p{L}]"})
        for behaviour in ("Isolated", "Removed", "MergedWithNext", "MergedWithPrevious")
        for invert in (False, True)
    ),
]
DECODERS = [None, METASPACE, {"type": "WordPiece", "prefix": "##", "cleanup": True}]


@st.composite
def bpe(draw):
    """Merges in any order, with or without unknown token, suffix and some of the bytes."""
    pre_tokenizer = draw(st.sampled_from([*PRE_TOKENIZERS, {**BYTE_LEVEL, "use_regex": True}]))
    suffix = draw(st.sampled_from([None, None, "</w>"]))
    inside = draw(LETTERS)
    types = [*inside, *(letter + suffix for letter in inside if suffix)]
    merges = []
    for _ in range(draw(st.integers(0, 9))):
        left = draw(st.sampled_from([text for text in types if not text.endswith("</w>")]))
        right = draw(st.sampled_from(types))
        merges.append([left, right])
        types += [left + right] if left + right not in types else []
    unknown = draw(st.sampled_from([None, None, "<unk>"]))
    types += [unknown] if unknown else []
    falls_back = draw(st.booleans())
    if falls_back:
        types += [f"<0x{n:02X}>" for n in range(draw(st.sampled_from([0, 128, 0xC4, 256])))]
    step = draw(st.sampled_from([1, 1, 2]))  # ids with gaps
    model = {
        "type": "BPE",
        "unk_token": unknown,
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": falls_back,
        "end_of_word_suffix": suffix,
        "vocab": {text: step * number for number, text in enumerate(types)},
        "merges": merges,
    }
    return model, pre_tokenizer


@st.composite
def wordpiece(draw):
    prefix = draw(st.sampled_from(["##", ""]))
    strings = st.text(st.sampled_from(draw(LETTERS)), min_size=1, max_size=3)
    unknown = draw(st.sampled_from(["[UNK]", "<unk>", "a"]))
    types = [unknown, "<s>", *draw(st.lists(strings | strings.map(lambda t: prefix + t)))]
    model = {
        "type": "WordPiece",
        "unk_token": unknown,
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": draw(st.sampled_from([1, 2, 4, 100])),
        "vocab": {text: number for number, text in enumerate(dict.fromkeys(types))},
    }
    return model, draw(st.sampled_from(PRE_TOKENIZERS))


@st.composite
def unigram(draw):
    strings = st.text(st.sampled_from(draw(LETTERS)), min_size=1, max_size=3)
    types = ["<unk>", "<s>", *draw(st.lists(strings, min_size=1, max_size=20))]
    falls_back = draw(st.booleans())
    types += [f"<0x{byte:02X}>" for byte in range(256)] if falls_back else []
    scores = draw(st.lists(st.integers(-8, 0), min_size=len(types), max_size=len(types)))
    scored = dict(zip(types, map(float, scores), strict=True))
    vocabulary = [[text, score] for text, score in scored.items()]
    model = {"type": "Unigram", "unk_id": 0, "byte_fallback": falls_back, "vocab": vocabulary}
    return model, draw(st.sampled_from(PRE_TOKENIZERS))


@st.composite
def with_added(draw, models):
    """A file, whose added tokens have ids of the model, of the library, or others."""
    model, pre_tokenizer = draw(models)
    known = model["vocab"]
    if isinstance(known, list):
        known = {text: number for number, (text, _) in enumerate(known)}
    listed = []
    some = st.sampled_from(["<s>", "<m>", "ab", "é", "<unk>", "s>", "A", " b", "a"])
    contents = some | st.text(CHARACTERS, min_size=1, max_size=3)
    for text in draw(st.lists(contents, max_size=4, unique=True)):
        far = draw(st.sampled_from([max(known.values()) + 1, len(known), 9_000])) + len(listed)
        flags = [draw(st.booleans()) for _ in range(5)]
        names = ("single_word", "lstrip", "rstrip", "normalized", "special")
        listed.append(added(text, known.get(text, far), **dict(zip(names, flags, strict=True))))
    parts = {"pre_tokenizer": pre_tokenizer, "normalizer": draw(st.sampled_from(NORMALIZERS))}
    return document_of(model, listed, **parts, decoder=draw(st.sampled_from(DECODERS)))


@pytest.mark.parametrize("models", [bpe, wordpiece, unigram])
@given(data=st.data(), texts=TEXTS)
@examples(200)
def test_any_file(models, data, texts):
    document = data.draw(with_added(models()))
    contents = [token["content"] for token in document["added_tokens"]]
    texts = [*texts, "".join(contents), *(f"a{content} b" for content in contents)]
    library = Tokenizer.from_str(json.dumps(document))
    assume(are_told_apart(library, document["added_tokens"]))
    try:
        assume("ids of the file are used" not in warned(loaded(document)))
    except FileFormatError:  # two types of one id, which the library does not mind
        assume(False)
    check(document, [text for text in texts if is_cut(library, text)])


def are_told_apart(library, tokens):
    """Searching for nothing is not defined; of two that look alike it takes one at random."""
    read = library.normalizer.normalize_str if library.normalizer else str
    normalised = [read(token["content"]) for token in tokens if token["normalized"]]
    return all(read(token["content"]) for token in tokens) and len({*normalised}) == len(normalised)


def is_cut(library, text):
    try:
        library.encode(text)
    except BaseException as error:  # it panics where a token begins before the taken space ends
        assert "bad split" in str(error)
        return False
    return True


# ------------------------------------------------------------------------------------ BPE


@given(merges=any_order(2), words=st.lists(st.text("abcdé", max_size=9), max_size=5))
@examples(150)
@example(merges=[("a", "b"), ("ab", "c")], words=["abéc", "aéb", "éabcé", "é", "dé", ""])
def test_what_is_no_atom_is_left_out_before_merging(merges, words):
    tokeniser = check(small_document(merges, "abc"), words)
    listed = dict(enumerate(dict(reversed([(parts, None) for parts in reversed(merges)]))))
    for word in words:
        kept = [letter for letter in word if letter in "abc"]
        if len({*merges}) == len(merges):
            assert tokeniser.tokenize(word) == oracles.segment(listed, kept)[0]
        assert sorted("".join(tokeniser.segment([word])[0])) == sorted(word), "nothing is lost"


def test_where_left_out_characters_are_seen():
    tokeniser = loaded(small_document([("a", "b"), ("ab", "c")], "abcx"))
    words = ["abéc", "éabc", "xéx", "xdé", "dé", "xé語"]
    shown = [["abc", "é"], ["é", "abc"], ["x", "é", "x"], ["x", "d", "é"], ["d", "é"]]
    assert tokeniser.segment(words) == [*shown, ["x", "é", "語"]]
    encoded = tokeniser._segmenter.encode(words)
    found = tokeniser._segmenter.segment(encoded)
    # Each belongs to the atom before it: xé|x, and c closes the one gap of ab éc.
    assert [found.splits(number) for number in range(6)] == [[], [], [2], [], [], []]
    assert found.closed_by[:3].tolist() == [0, 1, -1]
    assert encoded.gap_position[:3].tolist() == [1, 3, 0]
    lost = [word[number] for word in words for number in range(len(word)) if word[number] in "dé語"]
    assert (~found.covered[:-1]).sum() == len(lost)
    some = encoded.subset(np.array([3, 0, 3]))
    assert [(each.word, each.text) for each in some.left_out] == [
        *((0, "d"), (0, "é"), (1, "é"), (2, "d"), (2, "é"))
    ]
    assert [each.atom for each in some.left_out] == [1, 1, 3, 5, 5]
    merged = tokeniser._segmenter.editable
    assert merged is not None and merged.missing_atoms(words) == ["d", "é", "語"]


def test_annealing_adds_what_was_left_out():
    tokeniser = small_tokeniser([("a", "b"), ("ab", "c")], "abc")
    gold = mg.read_gold([("abéc", ["ab", "é", "c"]), ("abc", ["ab", "c"])])
    change = preview_annealing(tokeniser, Benchmark.on(gold, tokeniser))
    assert change.step["atoms"] == ["é"]
    tokeniser.graph.apply(change)
    assert Tokeniser(Bte(tokeniser)).tokenize("abéc") == ["ab", "é", "c"]


def test_blame_of_a_join_over_a_character():
    # One gap is left of ab|é|c: that before c, where a gold boundary is closed.
    tokeniser = loaded(small_document([("a", "b"), ("ab", "c")], "abc"))
    gold = mg.read_gold([("abéc", ["abé", "c"])] * 3)
    blamed = tokeniser.blame(gold).to_frame()
    assert blamed[["type", "N", "B"]].values.tolist() == [["abc", 3, 3], ["ab", 3, 0]]


def test_a_whole_piece_may_have_characters_that_are_no_atoms():
    document = small_document([("a", "b")], "ab", ignore_merges=True)
    document["model"]["vocab"] |= {"aéb": 7, "éé": 8}
    tokeniser = check(document, ["aéb", "éé", "é", "aéab", "ab"])
    assert tokeniser.encode("aéb") == [7]


def test_dropout_is_left_out_of_an_export():
    document = small_document([("a", "b"), ("ab", "c")], dropout=0.5)
    tokeniser = loaded(document)
    assert "merge dropout" in warned(tokeniser)
    made = export_segmenter(tokeniser._segmenter, ["abc", "abcab"] * 20)
    assert made.kind == "tokenizer.json"
    written = json.loads(made.files["tokenizer.json"])
    assert written["model"]["dropout"] is None
    assert Tokenizer.from_str(json.dumps(written)).encode("abcab").ids == tokeniser.encode("abcab")


# ------------------------------------------------------------------------------------ numbers

PLAIN = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}


def test_an_added_token_beyond_the_end_has_the_librarys_id(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document_of(PLAIN, [added("<far>", 9_000), added("<x>", 9_001)])))
    with pytest.warns(UserWarning, match="“<far>” has the id 9,000 in the file and 2 there; “<x>”"):
        tokeniser = mg.load(path)
    library = Tokenizer.from_file(str(path))
    assert tokeniser.encode("a<far><x>") == [0, 2, 3] == library.encode("a<far><x>").ids
    for model, kind in ((PLAIN, "BPE"), ({**PLAIN, "type": "WordPiece"}, "WordPiece")):
        if kind == "WordPiece":
            model = {"type": kind, "unk_token": "a", "vocab": {"a": 0, "b": 1}}
            model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 9}
        assert "2 there" in warned(check(document_of(model, [added("<far>", 9_000)]), ["a<far>b"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path.write_text(json.dumps(document_of(PLAIN, [added("<x>", 2), added("b", 1)])))
        mg.load(path)


@pytest.mark.parametrize(
    "listed",
    [
        [added("<s>", 0)],  # a's
        [added("a", 9)],
        [added("<s>", 7), added("<t>", 7)],
        [added("<s>", 3), added("b", 0), added("<t>", 2)],
    ],
)
def test_ids_that_contradict_each_other_are_the_librarys(listed):
    tokeniser = check(document_of(PLAIN, listed), ["a<s>b<t>", "ab"])
    assert "library's ids are used" in warned(tokeniser)
    # A file of our own is read by our own class, which numbers as the file does.
    with refused(FileFormatError):
        contradiction = [*listed, added("a", 11)]
        loaded(document_of({**PLAIN, "type": "BTE"}, contradiction))


def test_where_the_librarys_id_is_taken_the_files_counts():
    # It would give <x> the id 2, which b has.
    document = document_of({**PLAIN, "vocab": {"a": 0, "b": 2}}, [added("<x>", 3)])
    assert Tokenizer.from_str(json.dumps(document)).encode("<x>b").ids == [2, 2]
    tokeniser = loaded(document)
    assert tokeniser.encode("<x>b") == [3, 2]
    assert "ids of the file are used here, because “<x>” would share" in warned(tokeniser)


def test_the_name_of_the_unknown_token_beside_what_is_unknown():
    """Left to the model, it is one token alone, and bytes where more is unknown."""
    scores = [("<unk>", -1.0), ("a", -1.0), *((f"<0x{byte:02X}>", -1.0) for byte in range(256))]
    model = {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": [*map(list, scores)]}
    document = document_of(model, [added("<unk>", 0, single_word=True)])
    check(document, ["a<unk>a", "a<unk>b", "a<unk><unk>a", "é<unk>a<unk> b"])


@pytest.mark.parametrize("number", [2**31 - 1, 2**31, 2**32 - 1])
def test_the_largest_ids(number):
    check(document_of({**PLAIN, "vocab": {"a": 0, "b": number}}), ["ab", "ba", "c"])
    model = {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0, "b": number}}
    model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 9}
    check(document_of(model), ["b a", "b", "a"])


# ------------------------------------------------------------------------------------ texts again


@pytest.mark.parametrize(
    "wrong", [[-1], [1.5], ["a"], None, "12", 7, [True], [np.bool_(True)], [None], [2**32], [[1]]]
)
def test_what_is_no_id_is_not_decoded(wrong):
    with refused():
        loaded(document_of(PLAIN)).decode(wrong)


def test_special_tokens_around_a_text_have_the_post_processors_names():
    library = Tokenizer.from_str(json.dumps(document_of(PLAIN)))
    library.add_special_tokens([AddedToken("[X]")])
    listed = {"[X]": {"id": "[X]", "ids": [9_000, 2], "tokens": ["odd", "[X]"]}}
    single = [
        {"SpecialToken": {"id": "[X]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ]
    template = {"type": "TemplateProcessing", "single": single, "pair": single}
    document = {**json.loads(library.to_str()), "post_processor": None}
    pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}]
    document["post_processor"] = {**template, "pair": pair, "special_tokens": listed}
    check(document, ["ab", "", "[X]a"])
    # Who makes batches truncates and pads, whatever a file asks for.
    library = Tokenizer.from_str(json.dumps(document))
    expected = library.encode("abababab").ids
    library.enable_truncation(3)
    library.enable_padding(length=20)
    assert loaded(json.loads(library.to_str())).encode("abababab") == expected
