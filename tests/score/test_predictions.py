"""Other programs' segmentations among tokenisers: the same scores, intervals and tests."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import expect
from score_oracles import common, edits
from small import small_tokeniser

from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.predictions import read_predictions
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet
from morphgraph.score.metrics import GROUPS, METRICS, Tally
from morphgraph.score.outcome import ideal, outcome_of, outcome_of_predictions
from morphgraph.score.table import ScoreTable, SegmentationFailure, outcomes_of
from morphgraph.segment.bte import Bte
from morphgraph.tables.scores import scores_table
from morphgraph.tables.writing import to_markdown
from tests.effort import examples

GOLD = "undoing\tun do ing\ndoing\tdo ing\ndo\tdo\n"


def gold_set_of(text=GOLD):
    return GoldSet.of(read_reference(text.encode(), name="gold.tsv"))


def score(outcome, name):
    return METRICS[name].of(Tally(outcome, "morphemic", "types")).value


def test_by_hand():
    """un|doing, do|ing, d|o: of 3 splits 2 are right, of 3 gold boundaries 2 are found."""
    found = read_predictions(b"un|doing\ndo|ing\nd|o\n", name="/home/me/theirs.txt")
    outcome = outcome_of_predictions(found, gold_set_of())
    assert score(outcome, "precision") == score(outcome, "recall") == 2 / 3
    assert score(outcome, "exact") == 1 / 3
    assert score(outcome, "fertility") == 2
    assert score(outcome, "left_out") == score(outcome, "inside") == 0
    assert score(outcome, "morph_recall") == 3 / 6, "un, do and ing of un do ing do ing do"
    assert outcome.token_texts(0) == ["un", "doing"]
    assert outcome.label == "theirs.txt"
    assert f"|tokeniser:predictions:theirs.txt@{found.checksum}|" in outcome.signature()
    assert not outcome.is_gold


@pytest.mark.parametrize("bar", ["|", " "])
def test_what_a_tokeniser_does_scores_as_the_tokeniser(bar):
    """Every score but of tokens: markers alone and bytes are not in a file of morphs."""
    gold_set = GoldSet.of(read_reference(demo_gold_path("nl")), {"de": 3.0}, "some")
    tokeniser = outcome_of(Bte(load_tokeniser("demo:nl")), gold_set)
    lines = []
    for entry, word in enumerate(gold_set.texts):
        ends = [0, *tokeniser.splits(entry), len(word)]
        lines.append(bar.join(word[a:b] for a, b in pairwise(ends)))
    predicted = outcome_of_predictions(read_predictions("\n".join(lines).encode()), gold_set)
    for scope in SCOPES:
        for weighting in WEIGHTINGS:
            for name, metric in METRICS.items():
                if name in GROUPS["tokens"]:
                    continue
                values = [
                    metric.of(Tally(each, scope, weighting)).value
                    for each in (tokeniser, predicted)
                ]
                assert values[0] == pytest.approx(values[1], nan_ok=True), name


def naive_official(gold, predicted):
    """SIGMORPHON 2022's scores of cells, line by line, as their rule says it."""

    def segments(cell):
        return "|".join("|".join(cell.split(" @@")).split(" ")).split("|")

    pairs = [(segments(a), segments(b)) for a, b in zip(gold, predicted, strict=True)]
    both = sum(common(a, b) for a, b in pairs)
    wanted, given = (sum(len(pair[place]) for pair in pairs) for place in (0, 1))
    return {
        "morpheme_precision": both / given,
        "morpheme_recall": both / wanted,
        "morpheme_f1": 2 * both / (given + wanted),
        "morpheme_distance": sum(edits(a, b) for a, b in pairs) / len(pairs),
    }


SEGMENTS = st.text("ab@-|", min_size=1, max_size=3) | st.sampled_from(["@@", "a", "ab"])
CELLS = st.lists(SEGMENTS | st.sampled_from([" ", " @@", "  "]), max_size=7).map("".join)
LINE_WORDS = st.text("ab", min_size=1, max_size=3) | st.sampled_from(["a b", "null", "b-a"])


@examples(400)
@given(lines=st.lists(st.tuples(LINE_WORDS, CELLS, LINE_WORDS, CELLS), max_size=6))
def test_scores_against_the_source_s_morphemes_are_those_of_sigmorphon(lines):
    lines = [("do", "do", "undo", "un @@do"), *lines]
    gold = "".join(f"{word}\t{cell}\t100\n" for word, cell, _, _ in lines)
    theirs = "".join(f"{word}\t{cell}\n" for _, _, word, cell in lines)
    gold_set = GoldSet.of(read_reference(gold.encode(), format="sigmorphon2022"))
    found = read_predictions(theirs.encode(), format="sigmorphon2022")
    outcome = outcome_of_predictions(found, gold_set)
    naive = naive_official([line[1] for line in lines], [line[3] for line in lines])
    assert {name: score(outcome, name) for name in naive} == pytest.approx(naive)


def test_words_with_a_space_and_damaged_lines_count_among_morphemes_only():
    """Of hot|dog|s, un|do, a|b and an empty cell, theirs has hot|dogs, nothing, a|b and -|b.

    Common: hot, a and b of 2 + 1 + 2 + 2 segments, and of 3 + 2 + 2 + 1 in the gold.
    """
    gold = "hot dogs\thot dog @@s\nundo\tun @@do\nab\ta @@b\ncd\t\n"
    gold_set = gold_set_of(gold)
    assert gold_set.texts == ("undo", "ab")
    found = read_predictions(b"hot dogs\thot dogs\nundo\t\nnull\ta @@b\ncd\t- @@b\n")
    outcome = outcome_of_predictions(found, gold_set)
    assert score(outcome, "morpheme_precision") == 3 / 7
    assert score(outcome, "morpheme_recall") == 3 / 8
    # dog|s, un|do, nothing, and -|b against nothing
    assert score(outcome, "morpheme_distance") == (1 + 5 + 0 + 3) / 4
    # Morph boundaries: undo uncut, ab aligned with a|b.
    assert score(outcome, "precision") == 1
    assert score(outcome, "recall") == score(outcome, "exact") == 1 / 2
    assert "@" + found.checksum + " lacking 1|" in outcome.signature()
    for note in outcome.notes:
        expect(note)


def test_a_tokeniser_cuts_each_word_of_several():
    """“hot dogs” is hot, dog, s: 3 of 4 morphemes; with undo 5 of 6, and 5 of 7 tokens."""
    gold_set = gold_set_of("undo\tun @@do\nhot dogs\thot @@ted dog @@s\n")
    merges = [("u", "n"), ("d", "o"), ("h", "o"), ("ho", "t"), ("do", "g")]
    outcome = outcome_of(Bte(small_tokeniser(merges, "undohtgs")), gold_set)
    assert score(outcome, "morpheme_precision") == 5 / 5
    assert score(outcome, "morpheme_recall") == 5 / 6
    assert score(outcome, "morpheme_distance") == len("|ted") / 2
    assert score(outcome, "fertility") == 2
    of_gold = ideal(gold_set)
    assert score(of_gold, "morpheme_recall") == 3 / 6, "un, do and hot; dogs stays whole"
    halves = Tally(outcome, "morphemic", "types").within(np.array([True]))
    assert METRICS["morpheme_recall"].of(halves).value == 1, "a part of the words is one of entries"
    weighted = replace(gold_set, frequencies={"hot dogs": 3.0}, frequency_source="some")
    twice = outcome_of(Bte(small_tokeniser(merges, "undohtgs")), weighted)
    recall = METRICS["morpheme_recall"].of(Tally(twice, "morphemic", "tokens")).value
    assert recall == (2 + 3 * 3) / (2 + 3 * 4)


def test_one_that_fails_does_not_keep_others_from_their_scores():
    none = read_predictions(b"a|b\n", name="theirs.txt")
    some = read_predictions(b"un|doing\n", name="mine.txt")
    failure, outcome = outcomes_of([("theirs", none), ("mine", some)], gold_set_of())
    assert isinstance(failure, SegmentationFailure)
    expect(failure.message)
    table = ScoreTable([failure, outcome])
    assert table.estimates[1]["recall"].value == 1 / 3
    assert len(table.notes) == 1
    assert table.notes[0] in to_markdown(scores_table([table]))
