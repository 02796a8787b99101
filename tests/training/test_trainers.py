"""Every training method: what comes out, that it is the method's own, and how it is stopped."""

import json
import re
from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import token_texts as tokens
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from morphgraph.corpus.counts import LanguageCounts, WordCounts, wordfreq_counts
from morphgraph.corpus.pipelines import PIPELINES, prepare
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import export_segmenter
from morphgraph.segment.training import train, training_of
from morphgraph.segment.unigram import sentencepiece_model

_SLOW = {
    name: pytest.mark.slow if name.startswith(("unigram", "morfessor")) else ()
    for name in METHODS.trained
}
COMBINATIONS = [
    pytest.param(name, pipeline, marks=_SLOW[name])
    for name in METHODS.trained
    for pipeline in training_of(name)[1].pipelines
]
WORDS = ["undesirable", "McDonald's", "co-operate", "l'eau", "1234567", "naïve", "(what?!)", "日本"]


@pytest.fixture(scope="module")
def counts():
    """The 2,000 most frequent English words."""
    all_counts = wordfreq_counts("en", wordlist="small")
    return WordCounts(all_counts.words[:2_000], all_counts.counts[:2_000])


def fitting(method, counts):
    """The counts, in two halves for a method that takes several languages."""
    if not training_of(method)[1].several:
        return counts
    halves = (slice(0, None, 2), slice(1, None, 2))
    return LanguageCounts(
        {str(half): WordCounts(counts.words[half], counts.counts[half]) for half in halves}
    )


@pytest.mark.parametrize(("method", "pipeline"), COMBINATIONS)
def test_every_combination(counts, method, pipeline):
    segmenter = train(method, fitting(method, counts), 1000, pipeline=pipeline)
    assert segmenter.vocabulary_size == 1000
    words = [*counts.words[:500], *WORDS]
    found = tokens(segmenter, words)
    for word, parts in zip(words, found, strict=True):
        if word.isascii() and "[UNK]" not in parts and pipeline != "rebpe":
            text = "".join(part.removeprefix("##") for part in parts)
            assert text.translate(dict.fromkeys(map(ord, "Ġ▁"))) == word
    assert sum(map(len, found[:500])) < 1100, "frequent words have few tokens"


@pytest.mark.parametrize("pipeline", list(PIPELINES))
def test_hugging_face_segments_as_we_do(counts, pipeline):
    segmenter = train("bpe", counts, 1000, pipeline=pipeline)
    tokenizer = Tokenizer.from_str(json.dumps(segmenter.tokeniser.document))
    for word in [*counts.words[:200], *WORDS]:
        prefix = " " if segmenter.tokeniser.preprocessor.leading_space else ""
        encoded = segmenter.encode([word])
        ids = segmenter.segment(encoded).tokens(0)
        assert ids == tokenizer.encode(prefix + word).ids, word


@pytest.mark.slow
def test_the_prime_methods_have_no_space_in_a_type(counts):
    for method, space in (("bpe-prime", "Ġ"), ("unigram-prime", "▁"), ("wordpiece-prime", "▁")):
        segmenter = train(method, counts, 1000)
        assert [text for text in segmenter.types if space in text] == [space]
        words = segmenter.encode(["the house"], bare=True)
        found = segmenter.segment(words)
        shown = [segmenter.token_text(words, *end) for end in found.token_ends(0)]
        assert space in shown, "the space is a token"
        dropped = train(method, counts, 1000, pipeline="no-spaces")
        words = dropped.encode(["the house"], bare=True)
        without = [dropped.token_text(words, *end) for end in dropped.segment(words).token_ends(0)]
        assert without == [text for text in shown if text != space]


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", training_of("unigram")[1].pipelines)
def test_unigram_segments_as_sentencepiece(counts, pipeline):
    import sentencepiece

    segmenter = train("unigram", counts, 1000, pipeline=pipeline)
    prepared = prepare(pipeline, counts, kind="characters")
    model = sentencepiece_model(prepared, 1000)
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model)
    marked = PIPELINES[pipeline].marked
    words = [word for word in counts.words if word.isascii() and word.isalpha()]
    words += ["qzxqzx", "undesirabilities"]
    found = tokens(segmenter, words)
    for word, ours in zip(words, found, strict=True):
        assert ours == theirs.encode(("▁" if marked else "") + word, out_type=str), word


@pytest.mark.slow
def test_unigram_prime_keeps_the_sign_for_a_space_in_a_text(counts):
    """A ▁ of the text is a token, as in SentencePiece; a pipeline without spaces drops these only.

    By hand: ▁a is ▁ a, and "a ▁ b" is a ▁ ▁ ▁ b, or a ▁ b without the spaces.
    """
    import sentencepiece

    texts = ["▁a", "a▁", "▁", "▁▁", "a ▁ b", "the▁house", "a b", "▁the ▁house▁ in", "▁ ▁▁"]
    for pipeline, wanted in (("spaces", "a ▁ ▁ ▁ b"), ("no-spaces", "a ▁ b")):
        segmenter = train("unigram-prime", counts, 1000, pipeline=pipeline)
        model = sentencepiece_model(prepare(pipeline, counts, kind="characters"), 1000)
        theirs = sentencepiece.SentencePieceProcessor(model_proto=model)
        exported = export_segmenter(segmenter, ["▁a", "house"]).files["tokenizer.json"]
        library = Tokenizer.from_str(exported.decode())
        for text in texts:
            parts = [text] if pipeline == "spaces" else text.split()
            expected = [token for part in parts for token in theirs.encode(part, out_type=str)]
            words = segmenter.encode([text], bare=True)
            found = [segmenter.types[token] for token in segmenter.segment(words).tokens(0)]
            assert found == expected, (pipeline, text)
            assert library.encode(text, add_special_tokens=False).tokens == expected
        assert tokens(segmenter, ["▁a", "a ▁ b"]) == [["▁", "a"], wanted.split()]


@pytest.mark.parametrize(("method", "sign"), [("wordpiece", "##"), ("wordpiece-prime", "")])
def test_wordpiece_is_that_of_hugging_face(method, sign):
    """Compared on counts without ties, as theirs go by the order of a hash map."""
    words = {"ababab": 97, "bca": 45, "cabab": 21, "abc": 11}
    settings = {"continuing_subword_prefix": sign}
    theirs = Tokenizer(models.WordPiece(unk_token="[UNK]", **settings))
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=12, special_tokens=["[UNK]"], show_progress=False, **settings
    )
    theirs.train_from_iterator([f"{word} " * count for word, count in words.items()], trainer)
    size = 12 + (not sign)  # ours has the space, too
    ours = train(method, words, size, pipeline="plain" if sign else "no-spaces")
    assert {*ours.types} - {"▁"} == set(theirs.get_vocab())
    texts = [*words, "ab", "cbacab", "x"]
    assert tokens(ours, texts) == [theirs.encode(text).tokens for text in texts]


@given(
    st.dictionaries(st.text("ab▁", min_size=1, max_size=6), st.integers(1, 9), min_size=1),
    st.text("ab ▁c", max_size=12),
    st.integers(6, 14),
)
def test_wordpiece_prime_is_bpe_over_characters_and_the_longest_match(words, text, size):
    """The types: pairs merged by counts, equal ones by id; then greedily, or unknown as a whole."""

    def pieces(text):
        return re.findall("▁|[^▁]+", text)

    letters = sorted({*"".join(words), "▁"})
    types = [*letters]
    parts = [[[*piece], n] for word, n in words.items() for piece in pieces(word)]
    while len(types) < size - 1:
        pairs = Counter()
        for old, count in parts:
            for pair in pairwise(old):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], *map(types.index, pair)))
        types += ["".join(best)] * ("".join(best) not in types)
        for each in parts:
            new = []
            for part in each[0]:
                new[-1:] = ["".join(best)] if (*new[-1:], part) == best else [*new[-1:], part]
            each[0] = new
    wanted = []
    for piece in pieces(text.replace(" ", "▁")):
        found = []
        at = 0
        while at < len(piece) and any(piece.startswith(t, at) for t in types):
            found.append(max((t for t in types if piece.startswith(t, at)), key=len))
            at += len(found[-1])
        wanted += found if at == len(piece) else ["[UNK]"]
    ours = train("wordpiece-prime", words, size, pipeline="spaces")
    assert [*ours.types] == ["[UNK]", *types]
    encoded = ours.encode([text], bare=True)
    assert [ours.types[token] for token in ours.segment(encoded).tokens(0)] == wanted


@pytest.mark.parametrize("method", [pytest.param(n, marks=_SLOW[n]) for n in METHODS.trained])
def test_progress_and_stopping(counts, method):
    shares = []
    given = fitting(method, counts)
    train(method, given, 1000, progress=shares.append)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    if training_of(method)[1].stoppable:
        assert len(shares) > 3


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("lzw", 300), {}),
        (("bpe", 300), {"pipeline": "best"}),
        (("bpe-prime", 300), {"pipeline": "plain"}),
        (("bpe", 300), {"parameters": {"k": 1}}),
        (("picky", 300), {"parameters": {"k": 1}}),
        (("picky", 300), {"parameters": {"threshold": 2.0}}),
        (("bpe", 300), {"pipeline": "knockout"}),
        (("wordpiece", 3), {}),
        (("unigram", 3), {}),
    ]
    + [((m, 99), {}) for m in ("bpe", "picky", "scaffold")],
)
def test_refuses(arguments, options):
    with refused():
        train(arguments[0], {"ab": 2, "ba": 1}, arguments[1], **options)


def test_all_methods_take_odd_words():
    counts = {"##a": 5, "<unk>": 5, "[UNK]": 5, "▁▁": 5, "Ġ": 5, "\U000f0000x": 5, "日本語": 5}
    for method, pipeline in product(METHODS.trained, ("plain", "spaces")):
        if pipeline in training_of(method)[1].pipelines:
            given = fitting(method, WordCounts.from_mapping(counts))
            segmenter = train(method, given, 290, pipeline=pipeline)
            assert all(tokens(segmenter, list(counts)))
