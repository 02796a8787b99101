"""Methods as they leave: in plain Python and by the kernels, the same tokens as here."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused
from sentencepiece import SentencePieceProcessor
from small import small_document, trained_pieces
from strategies import WORDS, well_formed
from tokenizers import normalizers, pre_tokenizers

from morphgraph.formats.export import standalone_method, words_to_check
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.segment.bte import Bte, tokeniser_of_types
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.flota import First, Flota, Longest
from morphgraph.segment.method import parse_method
from morphgraph.segment.models import export_segmenter, exported_model, load_segmenter
from morphgraph.segment.pieces import PieceKernel
from morphgraph.segment.segmenter import method_on
from morphgraph.segment.trimmed import Trimmed
from morphgraph.segment.unigram import Unigram
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.standalone.merges import Dropping
from morphgraph.standalone.piece_methods import load, plug_in
from morphgraph.tokeniser.preprocess import Preprocessor
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN

pytestmark = pytest.mark.slow

TEXTS = [
    "",
    " ",
    "abc",
    "  ab, ca-b c'a  bb",
    "a1b2 ab_ab c",
    "äb cà ababab",
    "a\u00adbc x…!?",
    "cab" * 9,
]


def plugged(segmenter):
    """What the exported class stands on, and its method; the file is read as it is written."""
    made = exported_model(segmenter)
    document = json.loads(json.dumps(made.document))
    library, method = load(document), standalone_method(replace(made, document=document))
    plug_in(library, method)
    return library, method


def check(segmenter, texts):
    """The same ids as ours, and from the kernels the same tokens as from Python."""
    library, method = plugged(segmenter)
    found = [library.encode(text, add_special_tokens=False).ids for text in texts]
    assert found == exported_model(segmenter).ids(texts, True)
    inner = method.inner or method
    cut = {**inner._known}
    for piece, rows in zip(cut, PieceKernel(inner.model)([*cut]), strict=True):
        if rows is not None:
            assert rows == [(token.id, token.value, token.offsets) for token in cut[piece]]


PREPARED = {
    "##": lambda: Preprocessor(
        normalizers.BertNormalizer(lowercase=False), pre_tokenizers.BertPreTokenizer()
    ),
    "Ġ": lambda: Preprocessor(
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        byte_level=True,
        leading_space=True,
    ),
    "▁": lambda: Preprocessor(
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="always"), byte_fallback=True
    ),
    "": lambda: Preprocessor(pre_tokenizer=pre_tokenizers.WhitespaceSplit()),
}
STRINGS = st.text("abc-,'1_", min_size=1, max_size=4)


@st.composite
def vocabularies(draw):
    """Of every marker, some with bytes for unknown characters, some with an unknown token."""
    marker = draw(st.sampled_from([*PREPARED]))
    bodies = draw(st.lists(STRINGS, min_size=1, max_size=12))
    types = [(marker if draw(st.booleans()) else "") + body for body in bodies]
    types += draw(st.sampled_from([[], ["a", "b", "c"], [marker or "ä"]]))
    unknown = draw(st.sampled_from([None, "[UNK]"]))
    if unknown:
        types.append(unknown)
    if draw(st.booleans()):
        types += [f"<0x{byte:02X}>" for byte in range(256)]
    types = list(dict.fromkeys(types))
    return SubwordVocabulary(
        tuple(types),
        marker,
        PREPARED[marker](),
        frozenset({"[UNK]"} & set(types)),
        unknown,
    )


SOME_TEXTS = st.lists(st.text("abc -,'1_äx", max_size=16), max_size=4)


@examples(400)
@given(vocabulary=vocabularies(), texts=SOME_TEXTS, k=st.integers(0, 3), strict=st.booleans())
def test_flota(vocabulary, texts, k, strict):
    check(Flota(vocabulary, k, strict and vocabulary.marker == "##"), [*TEXTS, *texts])


@examples(400)
@given(vocabulary=vocabularies(), texts=SOME_TEXTS, k=st.integers(1, 3), data=st.data())
def test_first_and_longest(vocabulary, texts, k, data):
    inner = data.draw(st.sampled_from([Greedy, WordPiece, Flota]))(vocabulary)
    kept = data.draw(st.sampled_from([First, Longest]))
    check(kept(inner, k), [*TEXTS, *texts])


@examples(400)
@given(vocabulary=vocabularies(), texts=SOME_TEXTS, longest=st.integers(1, 12))
def test_from_the_left(vocabulary, texts, longest):
    check(Greedy(vocabulary), [*TEXTS, *texts])
    check(WordPiece(vocabulary, longest_word=longest), [*TEXTS, *texts])


@examples(400)
@given(vocabulary=vocabularies(), texts=SOME_TEXTS, single=st.booleans(), data=st.data())
def test_unigram(vocabulary, texts, single, data):
    # Few different scores, so that there are ties.
    score = st.sampled_from([-1.0, -2.0, -2.5, -3.3, -0.1])
    scores = [data.draw(score) for _ in vocabulary.types[:16]]
    scores += [-4.0] * (len(vocabulary.types) - len(scores))
    check(Unigram(vocabulary, scores, single=single), [*TEXTS, *texts])


@st.composite
def edited(draw):
    """With merges of pairs; a type may be knocked out, so that there are longer ones."""
    merges = draw(well_formed(widest=2))
    types = dict.fromkeys(["a", "b", "c", *map("".join, merges)])
    tokeniser = tokeniser_of_types("t", types, merges)
    graph = tokeniser.graph
    removable = [graph.types[n] for n in graph.type_ids() if graph.is_removable(n)]
    if removable and draw(st.booleans()):
        graph.knockout([draw(st.sampled_from(removable))])
    return tokeniser


@examples(300)
@given(tokeniser=edited(), texts=st.lists(WORDS, max_size=5), data=st.data())
def test_taken_apart(tokeniser, texts, data):
    counts = [data.draw(st.integers(0, 3)) for _ in tokeniser.types]
    trimmed = Trimmed(tokeniser, counts, threshold=1)
    check(trimmed, [*TEXTS, *texts])
    made = exported_model(trimmed)
    assert len(made.document["model"]["vocab"]) == trimmed.vocabulary_size
    assert sorted(made.id_map.values()) == list(range(trimmed.vocabulary_size))
    check(First(trimmed, 2), [*TEXTS, *texts])
    check(Longest(Bte(tokeniser), 1), [*TEXTS, *texts])


@examples(200)
@given(
    tokeniser=edited(),
    texts=st.lists(WORDS, max_size=5),
    p=st.sampled_from([0, 0.3, 0.5, 0.9, 1]),
    seed=st.integers(0, 2**64 - 1),
    sample=st.integers(0, 2**64 - 1),
)
def test_dropout(tokeniser, texts, p, seed, sample):
    dropout = Dropout(tokeniser, p, seed)
    library, method = plugged(dropout)
    assert isinstance(method, Dropping)
    method.training = False
    for text in [*TEXTS, *texts]:
        assert library.encode(text).ids == exported_model(dropout).ids([text], True)[0]
        if p:
            ids = method.model["vocab"]
            drawn = dropout.segment(dropout.encode([text], bare=True), sample)
            found = method.draw([text], sample)[0]
            assert [token.id for token in found] == [
                ids[dropout.types[n]] for n in drawn.tokens(0) if n != UNKNOWN
            ]


# ------------------------------------------------------------------------- by hand

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##desirable", "##des", "##ira", "able", "##s")


def ids(segmenter, text, **settings):
    library, _ = plugged(segmenter)
    return library.encode(text, **settings).ids


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_an_unknown_marker_has_no_length(byte_fallback):
    # ▁ is no type: it is unknown, or three bytes. Of a and b, then, the left one is the longest.
    types = ("a", "b") + byte_fallback * tuple(f"<0x{byte:02X}>" for byte in range(256))
    kept = Longest(Greedy(SubwordVocabulary(types, "▁", PREPARED["▁"]())), 1)
    found = kept.segment(kept.encode(["ab"])).tokens(0)
    assert [types[token] for token in found] == (["<0xE2>"] if byte_fallback else ["a"])
    check(kept, ["ab", "abab b"])


def sentencepiece_model(path, kind, *symbols):
    listed = [*symbols] or ["<x>", "er"]
    words = words_to_check([], 2_000)
    path.write_bytes(trained_pieces(words, kind, 400, user_defined_symbols=listed))
    return path


@pytest.fixture(scope="module")
def with_special_tokens(tmp_path_factory):
    """Every method on vocabularies that say which tokens are special, and on lists that do not."""
    folder = tmp_path_factory.mktemp("special")
    lists = {
        "bert.txt": [*BERT, "[MASK]", "[unused1]", *"[]<>/abdilnst1", "##a", "##b", "ﬁ", "##ﬁ"],
        "roberta.txt": ["<s>", "</s>", "<unk>", "Ġun", "do", "Ġ", *"abdlnostux<>/", "able", "Ġs"],
        "xlnet.txt": ["<s>", "</s>", "<unk>", "▁un", "do", "▁", *"abdlnostux<>/", "able", "▁s"],
    }
    for name, types in lists.items():
        (folder / name).write_text("\n".join(types))
    paths = [folder / name for name in lists]
    paths += [sentencepiece_model(folder / f"{kind}.model", kind) for kind in ("bpe", "unigram")]
    methods = ["flota", "flota(k=1)", "first(k=1)", "longest(k=2)", "greedy"]
    made = {
        f"{path.name} {text}": (path, *parse_method(text)) for path in paths for text in methods
    }
    made |= {path.name: (path, None, {}) for path in paths}
    return {key: load_segmenter(path, name, **more) for key, (path, name, more) in made.items()}


SPECIAL = ("[UNK]", "[CLS]", "[unused1]", "<unk>", "<s>", "</s>", "<x>")
ORDINARY = ("er", "un", "able", "do", "s", " ", "  ", "-", "<", "]", "İ", "ﬁ")
SPECIAL_TEXTS = st.lists(st.sampled_from(SPECIAL + ORDINARY), max_size=6).map("".join)


@examples(60)
@example(texts=[" </s> ", "</s> ", "</s> un </s>  "])
@given(texts=st.lists(SPECIAL_TEXTS, max_size=8))
def test_special_tokens_in_texts(with_special_tokens, texts):
    """They are kept whole and count for no limit, whatever the file and the method."""
    for segmenter in with_special_tokens.values():
        check(segmenter, [*texts, "un<s>", "able [UNK] un", "un  </s> un"])


def test_special_tokens_are_those_of_the_models_own_tokeniser(with_special_tokens):
    def cut(name, text):
        segmenter = with_special_tokens[name]
        words = segmenter.encode([text], bare=True)
        found = segmenter.segment(words)
        return [segmenter.token_text(words, atom, token) for atom, token in found.token_ends(0)]

    assert cut("bert.txt flota", "un[UNK]ables [CLS]") == ["un", "[UNK]", "able", "##s", "[CLS]"]
    # BERT's own tokeniser looks for none of its reserved types.
    assert cut("bert.txt flota", "[unused1]")[0] == "["
    # Each is a unit by itself: k is for what is around it.
    assert cut("bert.txt first(k=1)", "ables[UNK]ables") == ["able", "[UNK]", "able"]
    assert cut("xlnet.txt flota", "undo<unk>s") == ["▁un", "do", "<unk>", "▁s"]
    assert cut("bpe.model", "<s>a</s>b<unk>") == ["<s>", "▁a", "</s>", "▁b", "<unk>"]


@examples(60)
@given(texts=st.lists(st.text("aeﬁ½İ \u0301\u0302\u0323か\u3099", max_size=8), max_size=8))
def test_marks_of_letters_are_kept(with_special_tokens, texts):
    """SentencePiece's own rules apply, of which the library loses what is behind a letter."""
    for name, segmenter in with_special_tokens.items():
        if ".model" in name:
            check(segmenter, [*texts, "a\u0301\u0302 b", "a\u0302\u0301", "½\u0301"])


def test_a_symbol_that_rules_would_change(tmp_path):
    data = sentencepiece_model(tmp_path / "bpe.model", "bpe", "½", "ﬁ").read_bytes()
    segmenter = load_segmenter(tmp_path / "bpe.model")
    library, _ = plugged(segmenter)
    for text in ("a½ﬁ", "½\u0301ﬁﬂ"):
        expected = SentencePieceProcessor(model_proto=data).encode(text)
        assert library.encode(text, add_special_tokens=False).ids == expected
    assert export_segmenter(segmenter, ["undo"]).kind == "folder"


def test_an_added_token_inside_a_word_does_not_count():
    """Of x, the added token ab and y, the first of each part are kept, and the token itself."""
    document = small_document([], "abxyz", pre_tokenizer={"type": "WhitespaceSplit"})
    token = {"id": 9, "content": "ab", "single_word": False, "lstrip": True, "rstrip": False}
    document["added_tokens"] = [{**token, "normalized": False, "special": False}]
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), "t.json")
    kept = First(Bte(tokeniser), 1)
    for text, expected in (("xzabyz", "x ab y"), ("zx  abab yx", "z ab ab y"), ("ab", "ab")):
        words = kept.encode(["xx", text], bare=True)
        for chosen in (words, words.subset(np.array([1, 0])).subset(np.array([1, 0]))):
            found = kept.segment(chosen)
            assert " ".join(kept.types[token] for token in found.tokens(1)) == expected
        check(kept, [text])


def test_ids_of_a_file_stay_as_they_are():
    """Also where they have holes."""
    document = small_document([("a", "b"), ("ab", "c")])
    document["model"]["vocab"] = {"a": 7, "b": 3, "c": 9, "ab": 12, "abc": 40}
    tokeniser = from_tokenizer_json(json.dumps(document).encode(), "t.json")
    for name in ("flota", "first", "longest"):
        made = exported_model(method_on(tokeniser, name))
        assert made.document["model"]["vocab"] == document["model"]["vocab"]
        assert all(old == new for old, new in made.id_map.items())
    tokeniser.graph.knockout(["ab"])
    edited = exported_model(method_on(tokeniser, "flota"))
    assert edited.id_map == {3: 0, 7: 1, 9: 2, 40: 3}


# ------------------------------------------------------------------------- the folder


def test_a_method_that_differs_is_not_offered(monkeypatch):
    monkeypatch.setattr(Dropping, "sample", lambda *_: 1)
    tokeniser = load_tokeniser("demo:en")
    words = words_to_check([], 30)
    assert export_segmenter(Dropout(tokeniser, 0.5), words).method == "BPE-dropout(p=0.5,seed=0)"
    monkeypatch.setattr(Dropping, "_applicable", lambda *_: [])
    with refused():
        export_segmenter(Dropout(tokeniser, 0.5), words)


def test_what_cannot_leave():
    tokeniser = load_tokeniser("demo:en")
    for segmenter in (Dropout(tokeniser, queue=True), First(Dropout(tokeniser))):
        with refused():
            exported_model(segmenter)


def test_workers_of_a_loader_draw_by_their_own_seeds(monkeypatch):
    """Each worker has a copy whose turns begin anew in each epoch; its seed does not."""
    model = exported_model(load_segmenter("demo:en", "dropout", p=0.5, seed=3)).document["model"]
    method = Dropping(model)
    alone = method.sample(["un", "do"])

    def drawn(worker):
        module = SimpleNamespace(get_worker_info=lambda: worker)
        monkeypatch.setitem(sys.modules, "torch.utils.data", module)
        return method.sample(["un", "do"])

    seeds = [drawn(SimpleNamespace(seed=seed)) for seed in (11, 12, 11)]
    assert seeds[0] == seeds[2] != seeds[1]
    assert drawn(None) == alone not in seeds
