"""Morfessor as a method: its own search is the oracle; the same input gives the same model."""

import random
from dataclasses import replace
from itertools import accumulate

from strategies import token_texts

from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.reference.entry import join_references
from morphgraph.reference.readers import read_reference
from morphgraph.segment.models import read_model, write_model
from morphgraph.segment.morfessor import dampened, silver_reference, train_baseline
from morphgraph.segment.training import train

COUNTS = wordfreq_counts("de", wordlist="small")
WORDS = WordCounts(COUNTS.words[:2000], COUNTS.counts[:2000])


def test_segments_as_morfessor_does() -> None:
    ours = train("morfessor", WORDS, 10_000)
    model = train_baseline(dampened(WORDS, 50_000), 0)
    words = [*WORDS.words, *COUNTS.words[5000:5500], "auf-und-ab", "geht's", "qqqq"]
    # Only letters that it has seen: others are unknown to us.
    words = [word for word in words if set(word) <= {*ours.types}]
    assert len(words) > 2400
    for word, found in zip(words, token_texts(ours, words), strict=True):
        assert found == model.viterbi_segment(word, addcount=0, maxlen=100)[0], word
    again = read_model(write_model(train("morfessor", WORDS, 10_000)), "model.json")
    assert again.signature() == ours.signature()
    assert token_texts(again, words) == token_texts(ours, words)


def test_what_others_draw_changes_no_model_and_is_not_changed() -> None:
    counts = dampened(WORDS, 500)
    alone = train_baseline(counts, 0).get_constructions()
    drawn = []
    random.seed(1)
    watched = train_baseline(counts, 0, watch=lambda _: drawn.append(random.random()))
    assert watched.get_constructions() == alone
    random.seed(1)
    assert drawn == [random.random() for _ in drawn] and drawn


def test_a_smaller_vocabulary_has_the_most_frequent_morphs() -> None:
    every = train("morfessor", WORDS, 10_000)
    some = train("morfessor", WORDS, 500)
    assert some.vocabulary_size == 500
    assert {*some.types} < {*every.types}


def test_silver_is_where_four_of_five_runs_agree() -> None:
    text = silver_reference(WORDS, "wordfreq:de", 500, 3, workers=2)
    assert silver_reference(WORDS, "wordfreq:de", 500, 3) == text
    reference = read_reference(text.encode(), name="silver.tsv")
    assert reference.name == "silver.tsv (silver)" and not reference.skipped
    assert reference.is_silver and reference.partial_note.startswith("Silver, not gold")
    gold = replace(reference, name="silver.tsv", is_silver=False, partial="one affix a word")
    assert not join_references([gold, gold]).is_silver
    assert join_references([gold, reference]).is_silver
    counts = dampened(WORDS, 500)
    models = [train_baseline(counts, seed) for seed in range(3, 8)]
    found = {entry.word: entry.morphs for entry in reference.entries}
    assert list(found) == list(counts)
    agreed = 0
    for word, morphs in found.items():
        votes = [set(accumulate(map(len, model.segment(word)[:-1]))) for model in models]
        wanted = {at for at in range(len(word)) if sum(at in vote for vote in votes) >= 4}
        assert set(accumulate(map(len, morphs[:-1]))) == wanted, word
        agreed += len(wanted)
    assert agreed > 100


def test_gold_tells_how_much_is_divided() -> None:
    whole = {word: [(word,)] for word in WORDS.words[:300]}
    divided = [
        silver_reference(WORDS, "counts", 500, gold=gold).partition("\n")[2].count(" ")
        for gold in (None, whole)
    ]
    assert divided[1] < divided[0] / 2
