"""SentencePiece BPE models as tokenisers with merges, held against the `sentencepiece` library."""

import itertools
import json
from functools import cache, partial

import pytest
import sentencepiece
import wordfreq
from effort import all_but, examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from small import model_of_pieces, trained_pieces
from strategies import check_graph, file_ids

from morphgraph.core.errors import FileFormatError
from morphgraph.formats.hugging_face import from_tokenizer_json, new_ids, to_tokenizer_json
from morphgraph.formats.loading import load_tokeniser
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.models import export_segmenter, load_segmenter
from morphgraph.tokeniser.merging import derive, segment
from morphgraph.tokeniser.preprocess import BYTES

pytestmark = pytest.mark.slow

SYMBOLS = "ssa,x,▁die,<sep>"


@cache
def trained(language, **settings):
    """A small model, trained on the commonest words with their frequencies."""
    found = wordfreq.get_frequency_dict(language, wordlist="small")
    lines = (f"{word}\t{round(share * 1e7)}" for word, share in found.items())
    size = settings.pop("vocab_size")
    return trained_pieces(
        itertools.islice(lines, 6000), "bpe", size, input_format="tsv", **settings
    )


MODELS = {
    "plain": {"language": "en", "vocab_size": 1500},
    "bytes": {"language": "de", "vocab_size": 1500, "byte_fallback": True},
    "symbols": {"language": "fi", "vocab_size": 1500, "user_defined_symbols": SYMBOLS},
    "symbols as they are": {
        "language": "fi",
        "vocab_size": 1000,
        "user_defined_symbols": "½,ﬁ,a  b",
    },
    "spaces kept": {
        "language": "de",
        "vocab_size": 1000,
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
        "normalization_rule_name": "identity",
    },
    "lowercased": {"language": "de", "vocab_size": 1000, "normalization_rule_name": "nfkc_cf"},
}


def model_of(name):
    return trained(**MODELS[name])


our_ids = partial(file_ids, bare=True)


def their_ids(data, texts):
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    return library.encode(list(texts))


@pytest.mark.parametrize("name", MODELS)
def test_words_are_cut_as_by_the_library(name):
    data = model_of(name)
    words = [word for code in ("en", "de", "fi") for word in wordfreq.top_n_list(code, 1000)]
    words += ["xssaxx", "talossa", "die", "½ssa", "<sep>a<sep>", "Straße", "日本", "ñandú", "<s"]
    tokeniser = load_tokeniser({"m.model": data})
    assert our_ids(tokeniser, words) == their_ids(data, words)
    assert tokeniser.warnings == ()


@examples(60)
@given(
    st.sampled_from(list(MODELS)),
    # A special token written in a text is that token here, and characters to the library.
    st.text(st.sampled_from(" \u3000\n▁aedisxß½ſﬁE\u0301\u0308é日<>p"), max_size=12).filter(
        lambda text: "<s>" not in text
    ),
)
def test_texts_are_cut_as_by_the_library(name, text):
    data = model_of(name)
    assert our_ids(tokeniser_of(name), [text]) == their_ids(data, [text])


@cache
def tokeniser_of(name):
    return load_tokeniser({f"{name}.model": model_of(name)})


PIECES = st.lists(
    st.tuples(
        st.text("ab▁", min_size=2, max_size=7),
        st.integers(-6, 0).map(float) | st.floats(-9, 9, width=32).map(lambda score: score + 0.0),
        st.just("NORMAL"),
    ),
    unique_by=lambda piece: piece[0],
    max_size=14,
)


SYMBOL_SETS = st.sets(st.sampled_from(["ab", "a", "bba", "▁b"]))
FLAGS = st.fixed_dictionaries(
    dict.fromkeys(
        ("byte_fallback", "add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"),
        st.booleans(),
    )
)


@examples(80)
@given(PIECES, SYMBOL_SETS, st.text("ab é", max_size=24), FLAGS)
def test_any_scores_in_any_order(pieces, symbols, text, flags):
    """Merges that come too early, scores that are equal, results that overlap themselves."""
    listed = {
        **{text: (text, score, kind) for text, score, kind in pieces},
        **{atom: (atom, -20.0, "NORMAL") for atom in "ab▁"},
        **{symbol: (symbol, 0.0, "USER_DEFINED") for symbol in symbols},
    }
    if flags["byte_fallback"]:
        listed |= {text: (text, 0.0, "BYTE") for text in BYTES}
    data = model_of_pieces(*listed.values(), **flags)
    tokeniser = load_tokeniser({"m.model": data})
    assert our_ids(tokeniser, [text]) == their_ids(data, [text])
    words = tokeniser.encode([text], bare=True)
    dropped = Dropout(tokeniser, p=0.0).segment(words)
    assert dropped.tokens(0) == segment(tokeniser.graph, words).tokens(0)
    tree = derive(tokeniser.graph, words, 0)
    assert [tree.vertices[root].type for root in tree.roots] == dropped.tokens(0)
    saved = from_tokenizer_json(to_tokenizer_json(tokeniser)[0], "saved.json")
    assert our_ids(saved, [text]) == their_ids(data, [text])


@pytest.mark.parametrize(
    "name", all_but(["plain", "bytes", "symbols", "spaces kept", "lowercased"], "plain", "symbols")
)
def test_export_and_remedies_as_for_any_other(name):
    """Once plain, once after a knockout, which makes merges of three parts."""
    tokeniser = load_tokeniser({f"{name}.model": model_of(name)})
    graph = tokeniser.graph
    check_graph(graph)
    words = wordfreq.top_n_list("fi", 200)
    made = export_segmenter(Bte(tokeniser), words)
    assert made.kind == ("tokenizer.json" if name == "spaces kept" else "folder")
    doomed = next(m.result for m in graph.merges().values() if graph.fan_out(m.result) > 1)
    change = graph.knockout([graph.types[doomed]])
    assert change.rewired
    assert export_segmenter(Bte(tokeniser), words).kind == "folder"
    found = segment(graph, tokeniser.encode(words)).token_at.tolist()
    assert doomed not in found
    again = from_tokenizer_json(to_tokenizer_json(tokeniser)[0], "saved.json")
    saved = segment(again.graph, again.encode(words)).token_at.tolist()
    ids = new_ids(tokeniser)
    assert saved == [ids.get(token, token) for token in found]


def test_the_merge_of_a_type_is_the_one_that_makes_it():
    """``abc`` is made of ``ab`` and ``c``, though ``a`` and ``bc`` are pieces too."""
    scores = {"bc": -3.0, "abc": -2.0, "ab": -1.0, "a": -9.0, "b": -9.0, "c": -9.0}
    data = model_of_pieces(*((text, score, "NORMAL") for text, score in scores.items()))
    graph = load_tokeniser({"m.model": data}).graph
    assert [graph.describe(merge) for merge in graph.merge_ids()] == [
        "a + b → ab",
        "ab + c → abc",
        "a + bc → abc",
        "b + c → bc",
    ]
    assert list(graph.levels().values()) == [0, 1, 1, 3]
    graph.knockout(["ab"])
    assert graph.describe(graph.producer("abc")) == "a + b + c → abc"
    graph.undo()
    assert list(graph.copy().levels().values()) == [0, 1, 1, 3]


def test_unused_types_are_taken_apart_after_merging(tmp_path):
    scores = {"ab": -1.0, "abc": -2.0, "a": -9.0, "b": -9.0, "c": -9.0, "▁": -9.0}
    kinds = {"ab": "UNUSED"}
    data = model_of_pieces(*((t, score, kinds.get(t, "NORMAL")) for t, score in scores.items()))
    words = ["abc", "ab", "cab"]
    path = tmp_path / "m.model"
    path.write_bytes(data)
    assert type(load_segmenter({"m.model": model_of("plain")})) is Bte
    for segmenter in (load_segmenter(path), load_segmenter({"m.model": data})):
        found = segmenter.segment(segmenter.encode(words, bare=True))
        ids = [[segmenter.vocabulary_id(t) for t in found.tokens(n)] for n in range(3)]
        assert ids == their_ids(data, words)
    assert "1 types are marked as unused" in " ".join(load_tokeniser(path).warnings)


def test_what_is_no_bpe_model_is_refused(tmp_path):
    for kind in ("unigram", "word", "char"):
        data = model_of_pieces(("a", 0.0, "NORMAL"), kind=kind.upper())
        with refused(FileFormatError):
            load_tokeniser({"m.model": data})
    saved = json.loads(to_tokenizer_json(tokeniser_of("plain"))[0])
    for field, value in (
        ("levels", [1]),
        ("levels", "x"),
        ("levels", [-n for n in range(len(saved["model"]["merges"]))]),
        ("sentencepiece", []),
        ("sentencepiece", {"symbols": [""]}),
    ):
        broken = {**saved, "model": {**saved["model"], field: value}}
        with refused(FileFormatError):
            from_tokenizer_json(json.dumps(broken).encode(), "broken.json")
