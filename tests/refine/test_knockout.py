"""Knocking out by blame or by a baseline, with scores before and after."""

from collections.abc import Callable

import pytest
from strategies import check_graph

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import demo_gold_path
from morphgraph.reference.entry import Reference
from morphgraph.reference.readers import read_reference
from morphgraph.refine.knockout import KnockoutSettings, knock_out
from morphgraph.score.boundaries import Benchmark, score_report
from morphgraph.score.gold_set import split_entries
from morphgraph.tokeniser.loading import load_tokeniser
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser

MakeTokeniser = Callable[..., BpeTokeniser]
MakeReference = Callable[..., Reference]

UNDO = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("undo", "ing")]
# Both lines are one token each. un + do is wrong in one of two words (R = 1/2), undo + ing in one
# of one (R = 1), the others in none.
LINES = ("un do ing", "undo")


def removed(
    small_tokeniser: MakeTokeniser, reference: Reference, settings: KnockoutSettings
) -> list[str]:
    tokeniser = small_tokeniser(UNDO)
    result = knock_out(tokeniser, Benchmark.build(tokeniser, reference), settings)
    assert all(text not in tokeniser.graph for text in result.removed)
    assert tokeniser.vocabulary_size == 12 - len(result.removed)
    return result.removed


def test_golden(small_tokeniser: MakeTokeniser, small_reference: MakeReference) -> None:
    tokeniser = small_tokeniser(UNDO)
    benchmark = Benchmark.build(tokeniser, small_reference(*LINES))
    result = knock_out(tokeniser, benchmark)
    assert result.removed == ["undoing", "undo"]
    # Before: no split at all. After: un|do|ing and un|do, so 2 of 3 splits are right.
    before, after = result.before[0], result.after[0]
    assert (before.true_positives, before.predicted, before.relevant) == (0, 0, 2)
    assert (after.true_positives, after.predicted, after.relevant) == (2, 3, 2)
    # N: u+n 2, d+o 2, un+do 2, i+n 1, in+g 1, undo+ing 1: 3 of 9 joins, 2 of 6 merges.
    assert result.dropout_rate == pytest.approx(3 / 9)
    assert result.share_of_merges == pytest.approx(2 / 6)
    assert result.late_leaves == pytest.approx(1 / 3), "undoing, of in, ing and undoing"
    assert tokeniser.vocabulary_size == 10
    assert tokeniser.graph.history == (result.change,)
    assert result.seconds > 0
    report = score_report(benchmark, result.after, "signed")
    assert report["entries"] == 2
    assert report["skipped"] == {}
    assert report["signature"] == "signed"


def test_settings(small_tokeniser: MakeTokeniser, small_reference: MakeReference) -> None:
    reference = small_reference(*LINES)

    def with_(**settings: object) -> list[str]:
        return removed(small_tokeniser, reference, KnockoutSettings(**settings))  # type: ignore[arg-type]

    assert with_(threshold=0.6) == ["undoing"]
    assert with_(count=1) == ["undoing"]
    assert with_(count=0) == []
    assert with_(minimum_vocabulary=11) == ["undoing"]
    assert with_(select="last") == ["undoing", "ing"], "as many as blame would remove"
    assert with_(select="last", count=3) == ["undoing", "ing", "in"]
    assert with_(select="leaves", count=1) == ["undoing"]
    with pytest.raises(MorphGraphError, match="2 leaves cannot be chosen"):
        with_(select="leaves")
    assert len(with_(select="random", count=4)) == 4
    assert with_(select="random", seed=5) == with_(select="random", seed=5)
    assert set(with_(threshold=0.5, count=1, cascade=True)) == {"undoing"}
    assert with_(scope="whole-word") == [], "the reference has no whole words"


def test_too_many_types(small_tokeniser: MakeTokeniser, small_reference: MakeReference) -> None:
    with pytest.raises(MorphGraphError, match="from 0 to 6"):
        removed(small_tokeniser, small_reference(*LINES), KnockoutSettings(select="last", count=7))


def test_holdout_blames_by_some_and_scores_the_others(
    small_tokeniser: MakeTokeniser, small_reference: MakeReference
) -> None:
    lines = ["un do ing", "undo", "un do", "in", "i n"]
    settings = KnockoutSettings(holdout=0.4, seed=7)
    seen, scored = split_entries([line.replace(" ", "") for line in lines], 0.4, 7)
    tokeniser = small_tokeniser(UNDO)
    result = knock_out(tokeniser, Benchmark.build(tokeniser, small_reference(*lines)), settings)
    only_seen = small_tokeniser(UNDO)
    part = knock_out(
        only_seen, Benchmark.build(only_seen, small_reference(*[lines[i] for i in seen]))
    )
    assert result.removed == part.removed
    rest = Benchmark.build(only_seen, small_reference(*[lines[i] for i in scored]))
    after = rest.score(segment(only_seen.graph, rest.words), "morphemic", "types")
    assert result.after[0].to_dict() == after.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de", "nl"])
def test_knockout_helps_the_demos(language: str) -> None:
    """Blame raises precision and F1; as many random types do not do as well."""
    reference = read_reference(demo_gold_path(language))
    found = {}
    for select in ("blame", "random"):
        tokeniser = load_tokeniser(f"demo:{language}")
        benchmark = Benchmark.build(tokeniser, reference)
        result = knock_out(tokeniser, benchmark, KnockoutSettings(select=select))  # type: ignore[arg-type]
        check_graph(tokeniser.graph)
        found[select] = result
        assert result.after[0].relevant == result.before[0].relevant
        assert result.after[0].recall >= result.before[0].recall
    blamed = found["blame"]
    assert len(blamed.removed) == len(found["random"].removed) > 100
    assert blamed.after[0].f1 > blamed.before[0].f1 + 0.05
    assert blamed.after[0].f1 > found["random"].after[0].f1 + 0.05
    assert blamed.after[0].precision > blamed.before[0].precision
