"""Silver references by Morfessor: the same input gives the same model and the same text."""

import random
import subprocess
import sys
from dataclasses import replace
from itertools import accumulate

import pytest
from effort import share_of

from morphgraph.corpus.counts import WordCounts, wordfreq_counts
from morphgraph.reference.entry import join_references
from morphgraph.reference.readers import read_reference
from morphgraph.reference.silver import dampened, silver_reference, train_baseline

COUNTS = wordfreq_counts("de", wordlist="small")
COUNT = share_of(2000, 1000)
WORDS = WordCounts(COUNTS.words[:COUNT], COUNTS.counts[:COUNT])


def test_what_others_draw_changes_no_model_and_is_not_changed():
    counts = dampened(WORDS, 500)
    alone = train_baseline(counts, 0).get_constructions()
    drawn = []
    random.seed(1)
    watched = train_baseline(counts, 0, watch=lambda _: drawn.append(random.random()))
    assert watched.get_constructions() == alone
    random.seed(1)
    assert drawn == [random.random() for _ in drawn] and drawn


@pytest.mark.slow
def test_silver_is_where_four_of_five_runs_agree():
    told: list[float] = []
    text = silver_reference(WORDS, "wordfreq:de", 500, 3, workers=2, watch=told.append)
    assert told == [0.2, 0.4, 0.6, 0.8, 1.0]
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


@pytest.mark.slow
def test_gold_tells_how_much_is_divided():
    whole = {word: [(word,)] for word in WORDS.words[:300]}
    divided = [
        silver_reference(WORDS, "counts", 500, gold=gold).partition("\n")[2].count(" ")
        for gold in (None, whole)
    ]
    assert divided[1] < divided[0] / 2


def test_a_script_needs_no_guard():
    code = 'import morphgraph as mg; print(mg.silver({"undo": 5, "redo": 4}))'
    subprocess.run([sys.executable], input=code, text=True, check=True)
