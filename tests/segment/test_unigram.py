"""Unigram against the `tokenizers` library and SentencePiece."""

import random

import pytest
import sentencepiece
from effort import examples, one_of, share_of
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from small import model_of_pieces, trained_pieces
from tokenizers import Tokenizer, models
from wordfreq import get_frequency_dict, top_n_list

from morphgraph.formats.loading import load_vocabulary
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.segment.unigram import Unigram
from morphgraph.tokeniser.vocabulary import BYTES, SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN

TYPES = st.lists(st.text("abé", min_size=1, max_size=4), min_size=1, max_size=15, unique=True)
WORDS = st.text("abéñ", max_size=12)
# Quarters have exact sums, with many ties; the others have none.
SCORE = st.integers(-60, -1).map(lambda n: n / 4) | st.floats(-15, -0.125, width=32)


@st.composite
def scored(draw):
    """Types with log-probabilities."""
    return {text: draw(SCORE) for text in draw(TYPES)}


def unigram_of(scores, *, bytes_=False, single=False):
    """A model with <unk>, whose score no text gets."""
    from morphgraph.tokeniser.preprocess import Preprocessor

    types = ("<unk>", *scores, *(BYTES if bytes_ else ()))
    vocabulary = SubwordVocabulary(
        types,
        preprocessor=Preprocessor(byte_fallback=bytes_),
        special=frozenset({"<unk>"}),
        unknown="<unk>",
    )
    zeros = [0.0] * (256 if bytes_ else 0)
    return Unigram(vocabulary, [0.0, *scores.values(), *zeros], single=single)


def tokens(unigram, words):
    """The ids of the tokens of words; each token closes its inner gaps."""
    found = unigram.segment(unigram.encode(words))
    assert ((found.closed_by >= 0) == (found.token_at == INSIDE_TOKEN)).all()
    return [found.tokens(number) for number in range(len(words))]


@pytest.mark.parametrize("bytes_", [False, True])
@examples(500)
@given(scored=scored(), word=WORDS)
def test_as_the_tokenizers_library(bytes_, scored, word):
    unigram = unigram_of(scored, bytes_=bytes_)
    vocabulary = list(zip(unigram.types, unigram.log_probabilities, strict=True))
    library = models.Unigram(vocabulary, unk_id=0, byte_fallback=bytes_)
    assert tokens(unigram, [word]) == [[token.id for token in library.tokenize(word)]]


def sentencepiece_model(scores, *, bytes_, own):
    """A SentencePiece model with these types; ``own`` are symbols of the user's."""
    pieces = [
        (text, score, "USER_DEFINED" if text in own else "NORMAL") for text, score in scores.items()
    ]
    pieces += [(text, 0.0, "BYTE") for text in BYTES if bytes_]
    kept = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}
    return model_of_pieces(*pieces, kind="UNIGRAM", byte_fallback=bytes_, **kept)


@pytest.mark.parametrize("bytes_", [False, True])
@examples(500)
@given(scored=scored(), word=WORDS, count=st.integers(0, 2))
def test_as_sentencepiece(bytes_, scored, word, count):
    own = [text for text in scored if len(text) > 1][:count]
    own = own if set(own) < set(scored) else []
    data = sentencepiece_model(scored, bytes_=bytes_, own=own)
    unigram = Unigram(load_vocabulary({"random.model": data}))
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    found = unigram.segment(unigram.encode([word], bare=True))
    assert found.tokens(0) == library.encode(word)


@pytest.fixture(scope="module", params=one_of(True, False), ids=["bytes", "unknown"])
def trained(request):
    """A model that SentencePiece trained on English words with their counts."""
    counts = sorted(get_frequency_dict("en").items(), key=lambda item: -item[1])
    counts = counts[: share_of(20_000, 8_000)]
    rows = [f"{word}\t{max(1, round(frequency * 1e7))}" for word, frequency in counts]
    settings = {"byte_fallback": request.param, "user_defined_symbols": ["ing"]}
    return trained_pieces(rows, "unigram", share_of(4_000, 2_000), input_format="tsv", **settings)


def real_words():
    odd = ["Überläufer", "日本語", "ﬁsh", "x🦉🦉y", "½", "E=mc²", "don't", "İ", "<s", "a" * 300]
    words = (
        top_n_list("en", 60_000)[:: 60_000 // share_of(30_000)]
        + top_n_list("ru", 300)
        + top_n_list("de", 3_000)
    )
    return [*odd, *words]


@pytest.mark.slow
def test_trained_by_sentencepiece(trained):
    unigram = Unigram(load_vocabulary({"en.model": trained}))
    library = sentencepiece.SentencePieceProcessor(model_proto=trained)
    words = real_words()
    found = tokens(unigram, words)
    expected = library.encode(words)
    differing = [word for word, a, b in zip(words, found, expected, strict=True) if a != b]
    assert differing == []
    assert any(library.unk_id() in ids for ids in found) != unigram.vocabulary.byte_fallback


@pytest.mark.slow
def test_trained_as_tokenizer_json(trained):
    """The same model as the `tokenizers` library reads and normalises it."""
    model = load_vocabulary({"en.model": trained})
    plain = models.Unigram(
        list(zip(model.types, model.scores, strict=True)), 0, model.byte_fallback
    )
    library = Tokenizer(plain)
    library.normalizer = model.preprocessor.normalizer
    library.pre_tokenizer = model.preprocessor.pre_tokenizer
    unigram = Unigram(load_vocabulary({"tokenizer.json": library.to_str().encode()}))
    assert not unigram.vocabulary.single
    words = [word for word in real_words() if "<" not in word]
    expected = [encoding.ids for encoding in library.encode_batch_fast(words)]
    assert tokens(unigram, words) == expected


def test_precision_follows_the_library():
    """Sums that differ in double precision only: the left start wins where they are equal."""
    rng = random.Random(1)
    scores = {"a": -1.1, "b": -1.3, "ab": -1.1 - 1.3 - 1e-9, "aa": -2.2, "aab": -3.5000000001}
    words = ["".join(rng.choices("ab", k=12)) for _ in range(200)]
    exact, rounded = unigram_of(scores), unigram_of(scores, single=True)
    assert tokens(exact, words) != tokens(rounded, words)
    data = sentencepiece_model(scores, bytes_=False, own=[])
    library = sentencepiece.SentencePieceProcessor(model_proto=data)
    assert tokens(rounded, words) == library.encode(words)


def test_unknown_characters_stay_visible():
    unigram = unigram_of({"a": -1.0, "ab": -1.0})
    words = unigram.encode(["axya", "xy"])
    found = unigram.segment(words)
    assert [found.tokens(0), found.tokens(1)] == [[1, 0, 1], [0]]
    assert words.unknown == {1: "x", 2: "y", 4: "x", 5: "y"}
    texts = [unigram.token_text(words, atom, token) for atom, token in found.token_ends(0)]
    assert texts == ["a", "xy", "a"]
    assert unigram.token_text(words, 5, 0) == "xy"


def test_without_an_unknown_type_each_character_stands_alone():
    unigram = Unigram(SubwordVocabulary(("a", "bc")), [-1.0, -2.0])
    words = unigram.encode(["axyb"])
    assert unigram.segment(words).tokens(0) == [0, UNKNOWN, UNKNOWN, UNKNOWN]
    assert [unigram.token_text(words, atom, UNKNOWN) for atom in (1, 2, 3)] == ["x", "y", "b"]


@pytest.mark.parametrize(
    "scores",
    [
        None,
        [-1.0],
        [-1.0, float("nan")],
        [-1.0, float("-inf")],
        [-1.0, "x"],
    ],
)
def test_log_probabilities_are_checked(scores):
    with refused():
        Unigram(SubwordVocabulary(("a", "b")), scores)


def test_log_probabilities_beyond_single_precision():
    vocabulary = SubwordVocabulary(("a", "b"), scores=(-1.0, -1e300))
    assert tokens(Unigram(vocabulary), ["ab"]) == [[0, 1]]
    with refused():
        Unigram(vocabulary, single=True)
