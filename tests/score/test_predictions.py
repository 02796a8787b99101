"""Other programs' segmentations among tokenisers: the same scores, intervals and tests."""

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from morphgraph.core.demos import demo_gold_path
from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.predictions import read_predictions
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet
from morphgraph.score.metrics import METRICS, TOKENS, Tally
from morphgraph.score.outcome import Outcome, outcome_of, outcome_of_predictions
from morphgraph.score.table import ScoreTable, SegmentationFailure, outcomes_of
from morphgraph.segment.bte import Bte
from morphgraph.tables.scores import scores_csv, scores_latex, scores_markdown
from morphgraph.tokeniser.loading import load_tokeniser
from morphgraph.tokeniser.tokeniser import Tokeniser

GOLD = "undoing\tun do ing\ndoing\tdo ing\ndo\tdo\n"


def gold_set_of(text: str = GOLD) -> GoldSet:
    return GoldSet.of(read_reference(text.encode(), name="gold.tsv"))


def score(outcome: Outcome, name: str) -> float:
    return METRICS[name].of(Tally(outcome, "morphemic", "types")).value


def test_by_hand() -> None:
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
def test_what_a_tokeniser_does_scores_as_the_tokeniser(bar: str) -> None:
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
                if metric.group == TOKENS:
                    continue
                values = [
                    metric.of(Tally(each, scope, weighting)).value
                    for each in (tokeniser, predicted)
                ]
                assert values[0] == pytest.approx(values[1], nan_ok=True), name


def test_morphemes_are_held_against_the_source_s_as_they_were_written() -> None:
    """SIGMORPHON's own script compares “able” with “able”, whatever the surface is."""
    gold = "subsidised\tsubside @@y @@ise @@ed\nables\table @@s\n"
    gold_set = gold_set_of(gold)
    outcome = outcome_of_predictions(
        read_predictions(b"subsidised\tsubside @@ise @@ed\nables\tables\n"), gold_set
    )
    # subside, ise and ed of 4 morphemes, none of able and s.
    assert score(outcome, "morpheme_precision") == 3 / 4
    assert score(outcome, "morpheme_recall") == 3 / 6
    assert score(outcome, "morpheme_f1") == 6 / 10
    # “y” and its separator are missing; so is the separator of ables.
    assert score(outcome, "morpheme_distance") == (2 + 1) / 2
    assert score(outcome, "precision") == 1, "subsid is ed"


def test_a_missing_word_is_told_and_nothing_is_scored() -> None:
    found = read_predictions(b"un|doing\n", name="theirs.txt")
    with pytest.raises(MorphGraphError) as caught:
        outcome_of_predictions(found, gold_set_of())
    assert str(caught.value) == (
        "theirs.txt lacks 2 of the 3 words of gold.tsv: “doing”, “do”. Segment them too, or leave "
        "them out of the reference."
    )
    [failure] = outcomes_of([("theirs", found)], gold_set_of())
    assert isinstance(failure, SegmentationFailure)


def test_in_a_table_with_intervals_tests_and_files(
    small_tokeniser: Callable[..., Tokeniser], tmp_path: Path
) -> None:
    gold_set = gold_set_of()
    tokeniser = Bte(small_tokeniser([("u", "n"), ("d", "o")], "undoig"))
    theirs = read_predictions(b"un|do|ing\ndo|ing\ndo\n", name="theirs.txt")
    outcomes = outcomes_of([("mine", tokeniser), ("theirs", lambda: theirs)], gold_set)
    table = ScoreTable(outcomes, metrics=("precision", "f1"), baseline=0)
    estimates = table.estimates[1]
    assert estimates is not None
    assert estimates["f1"].value == 1
    assert estimates["f1"].interval.low == 1
    assert 0 < estimates["f1"].p <= 1
    assert (
        scores_csv([table])
        .decode()
        .splitlines()[2]
        .startswith("gold.tsv,morphemic,types,all words,theirs,n/a,1.0")
    )
    assert "| theirs | n/a |" in scores_markdown([table])
    assert "{}theirs & n/a &" in scores_latex([table])
    assert math.isnan(table.differences("f1")[0].low) is False
