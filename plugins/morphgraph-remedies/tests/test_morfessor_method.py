"""Morfessor as a method: its own search is the oracle; the same input gives the same model."""

from effort import share_of
from strategies import token_texts

from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.reference.silver import dampened, train_baseline
from morphgraph.segment.models import read_model, write_model
from morphgraph.segment.training import train

COUNTS = wordfreq_counts("de", wordlist="small")
COUNT = share_of(2000, 500)
WORDS = WordCounts(COUNTS.words[:COUNT], COUNTS.counts[:COUNT])


def test_segments_as_morfessor_does() -> None:
    ours = train("morfessor", WORDS, 10_000)
    model = train_baseline(dampened(WORDS, 50_000), 0)
    words = [*WORDS.words, *COUNTS.words[5000:5500], "auf-und-ab", "geht's", "qqqq"]
    # Only letters that it has seen: others are unknown to us.
    words = [word for word in words if set(word) <= {*ours.types}]
    assert len(words) > COUNT + 400
    for word, found in zip(words, token_texts(ours, words), strict=True):
        assert found == model.viterbi_segment(word, addcount=0, maxlen=100)[0], word
    again = read_model(write_model(train("morfessor", WORDS, 10_000)), "model.json")
    assert again.signature() == ours.signature()
    assert token_texts(again, words) == token_texts(ours, words)


def test_a_smaller_vocabulary_has_the_most_frequent_morphs() -> None:
    every = train("morfessor", WORDS, 10_000)
    some = train("morfessor", WORDS, 200)
    assert some.vocabulary_size == 200
    assert {*some.types} < {*every.types}
