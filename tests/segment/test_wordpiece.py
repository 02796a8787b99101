"""WordPiece against the `tokenizers` library, greedy matching against a naive oracle."""

import substring_oracles as oracles
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from wordfreq import top_n_list

from morphgraph.formats.loading import load_vocabulary
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN

TEXTS = st.text("ab#", min_size=1, max_size=4)
WORDS = st.text("abc#", max_size=12)


@st.composite
def types(draw):
    """Types with and without ##, some of which look like a marker, and [UNK]."""
    found = draw(st.lists(st.tuples(TEXTS, st.booleans()), max_size=20))
    return tuple(dict.fromkeys(["[UNK]", *(("##" if m else "") + text for text, m in found)]))


def of(types):
    """A ## vocabulary with [UNK]."""
    return SubwordVocabulary(types, "##", special=frozenset({"[UNK]"}), unknown="[UNK]")


@examples(600)
@given(types(), WORDS.filter(bool), st.integers(1, 12))
def test_wordpiece_as_the_library(types, word, longest):
    wordpiece = WordPiece(of(types), longest_word=longest)
    found = wordpiece.segment(wordpiece.encode([word]))
    vocabulary = {text: number for number, text in enumerate(types)}
    library = models.WordPiece(
        vocabulary,
        unk_token="[UNK]",
        max_input_chars_per_word=longest,
        continuing_subword_prefix="##",
    )
    assert found.tokens(0) == [token.id for token in library.tokenize(word)]


@examples(300)
@given(types(), WORDS)
def test_greedy_with_prefix_as_oracle(types, word):
    assert shown(Greedy(of(types)), word) == oracles.greedy(word, types, "##")


@examples(300)
@given(st.lists(st.text("▁ab", min_size=1, max_size=4), min_size=1, unique=True), st.text("▁abc"))
def test_greedy_as_oracle(types, word):
    greedy = Greedy(SubwordVocabulary(tuple(types), "▁"))
    assert shown(greedy, word) == oracles.greedy(word, types, "▁")


def shown(segmenter, word):
    """The tokens as strings, unknown characters in angle brackets; each closes its inner gaps."""
    words = segmenter.encode([word])
    found = segmenter.segment(words)
    inside = found.token_at == INSIDE_TOKEN
    assert ((found.closed_by >= 0) == inside).all()
    texts = []
    for atom, token in found.token_ends(0):
        text = segmenter.token_text(words, atom, token)
        unknown = token in (UNKNOWN, segmenter.unknown_id)
        texts.append(f"<{text}>" if unknown else segmenter.types[token])
    return texts


def test_an_unknown_piece_is_one_token():
    wordpiece = WordPiece(of(("[UNK]", "ab", "##c")))
    words = wordpiece.encode(["abx", "abc"])
    found = wordpiece.segment(words)
    assert found.token_at.tolist() == [-1, -1, 0, -1, 1, 2]
    assert found.closed_by.tolist() == [0, 0, -1, 1, -1, -1]
    assert words.unknown == {2: "x"}
    assert wordpiece.token_text(words, 2, 0) == "[UNK]"


def test_a_vocabulary_without_an_unknown_type():
    wordpiece = WordPiece(SubwordVocabulary(("ab",), "##"))
    assert wordpiece.segment(wordpiece.encode(["abab"])).tokens(0) == [UNKNOWN]
    greedy = Greedy(SubwordVocabulary(("abc",)))
    words = greedy.encode(["abx"])
    # Characters that occur in types are not types: they stay visible, too.
    assert greedy.segment(words).tokens(0) == [UNKNOWN] * 3
    assert [greedy.token_text(words, atom, UNKNOWN) for atom in range(3)] == ["a", "b", "x"]


def test_bert_as_the_library(data_folder):
    """The whole pipeline: lowercasing, accents, punctuation, and words that are unknown."""
    path = data_folder / "vocabularies/bert-base-uncased.txt"
    vocabulary = load_vocabulary(path)
    wordpiece = WordPiece(vocabulary)
    library = Tokenizer(
        models.WordPiece(vocabulary.ids, unk_token="[UNK]", max_input_chars_per_word=100)
    )
    library.normalizer = normalizers.BertNormalizer(lowercase=True)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    odd = ["Überläufer", "don't", "mother-in-law", "日本語", "a" * 101, "a" * 100, "x🦉y", "#ing"]
    words = [*odd, *top_n_list("en", 20_000), *top_n_list("de", 2_000)]
    found = wordpiece.segment(wordpiece.encode(words))
    ids = [encoding.ids for encoding in library.encode_batch_fast(words, add_special_tokens=False)]
    assert [found.tokens(number) for number in range(len(words))] == ids
    assert sum(wordpiece.unknown_id in tokens for tokens in ids) > 1
