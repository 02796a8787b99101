"""Boundary scores: golden numbers by hand, the naive count, and one score by all routes."""

import json
import math
from math import fsum

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import reference_of, small_reference, small_tokeniser
from strategies import well_formed

from morphgraph.batch.cells import MethodResult, score_rows
from morphgraph.reference.entry import Entry
from morphgraph.refine.blame import blame
from morphgraph.refine.study import Study
from morphgraph.score import boundaries
from morphgraph.score.boundaries import Benchmark, BoundaryScore
from morphgraph.score.breakdowns import break_down
from morphgraph.score.comparison import Comparison
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.score.uncertainty import Draws
from morphgraph.segment.bte import Bte
from morphgraph.segment.flota import First
from morphgraph.tables.edits import change_table
from morphgraph.tokeniser.merging import segment

UNDO = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g")]


def counts(score):
    return score.true_positives, score.predicted, score.relevant


def scores_of(tokeniser, benchmark):
    found = benchmark.scores(segment(tokeniser.graph, benchmark.words))
    return {(score.scope, score.weighting): counts(score) for score in found}


def test_golden():
    # undoing: undo|ing.   Gold un|do|ing: 1 of 1 split is right, 2 boundaries; whole word: 0.
    # dog:     do|g.       Gold dog:       0 of 1 is right, no boundary; it has no whole words.
    # ungod:   un|g|o|d.   Gold un|god:    1 of 3 is right, 1 boundary; whole words un|god: as many.
    tokeniser = small_tokeniser(UNDO)
    reference = small_reference("un do ing / undoing", "dog", "un god / un god", counts=[3, 10, 2])
    benchmark = Benchmark.build(tokeniser, reference)
    assert scores_of(tokeniser, benchmark) == {
        ("morphemic", "types"): (1 + 0 + 1, 1 + 1 + 3, 2 + 0 + 1),
        ("morphemic", "tokens"): (3 * 1 + 2 * 1, 3 * 1 + 10 * 1 + 2 * 3, 3 * 2 + 2 * 1),
        ("whole-word", "types"): (0 + 1, 1 + 3, 0 + 1),  # dog does not count at all
        ("whole-word", "tokens"): (2 * 1, 3 * 1 + 2 * 3, 2 * 1),
    }
    score = benchmark.score(segment(tokeniser.graph, benchmark.words), "morphemic", "types")
    assert score.to_dict() == {
        "scope": "morphemic",
        "weighting": "types",
        "true_positives": 2,
        "predicted": 5,
        "relevant": 3,
        "precision": 0.4,
        "recall": 2 / 3,
        "f1": 0.5,
        "splits_inside_characters": 0,
    }


def test_what_is_undefined_is_nan():
    tokeniser = small_tokeniser(UNDO)
    # undo is one token and one morph: nothing predicted, nothing relevant; no whole words and no
    # frequencies at all.
    benchmark = Benchmark.build(tokeniser, small_reference("undo"))
    found = benchmark.scores(segment(tokeniser.graph, benchmark.words))
    by_name = {(score.scope, score.weighting): score for score in found}
    morphemic = by_name["morphemic", "types"]
    assert counts(morphemic) == (0, 0, 0)
    assert all(map(math.isnan, (morphemic.precision, morphemic.recall, morphemic.f1)))
    for name in (("morphemic", "tokens"), ("whole-word", "types"), ("whole-word", "tokens")):
        assert all(map(math.isnan, counts(by_name[name])))
        shown = by_name[name].to_dict()
        assert {shown[key] for key in ("true_positives", "predicted", "relevant", "f1")} == {None}
        json.dumps(shown, allow_nan=False)
    assert benchmark.weightings == ("types",)


def test_a_boundary_inside_a_fused_atom_still_counts_as_relevant():
    # NFC makes one atom of e and its accent, in the middle of which the gold boundary lies: it can
    # never be found, but it is not forgotten. The other one is found.
    tokeniser = small_tokeniser([], "abcdeé", normalizer={"type": "NFC"})
    reference = small_reference("ae \u0301b c")
    benchmark = Benchmark.build(tokeniser, reference)
    (score,) = benchmark.scores(segment(tokeniser.graph, benchmark.words))[:1]
    # Atoms a é b c: gaps at 1, 3, 4; gold at 2 and 4.
    assert counts(score) == (1, 3, 2)
    assert score.recall == 0.5


def test_unknown_fused_atoms():
    tokeniser = small_tokeniser(
        [], "ab?", unk_token="?", fuse_unk=True, pre_tokenizer={"type": "WhitespaceSplit"}
    )
    benchmark = Benchmark.build(tokeniser, small_reference("ax yb"))
    (score,) = benchmark.scores(segment(tokeniser.graph, benchmark.words))[:1]
    # a ? b, where ? is xy: gaps at 1 and 3; the gold boundary at 2 is inside.
    assert counts(score) == (0, 2, 1)


GOOD = BoundaryScore("morphemic", "types", 6, 8, 12, 1)
NONE = BoundaryScore("whole-word", "tokens", *[math.nan] * 4)
WORSE = BoundaryScore("morphemic", "types", 3, 8, 12, 0)


def test_table():
    pairs = {"these": [(WORSE, GOOD), (NONE, NONE)], "others": [(GOOD,)]}
    table = change_table(pairs, ["signed"])
    assert [(*row.names, row.block) for row in table.rows] == [
        *(("morphemic", "types", 0), ("whole-word", "tokens", 0), ("morphemic", "types", 1))
    ]
    changed, undefined, alone = ([cell.value for cell in row.cells] for row in table.rows)
    assert changed == ["37.50 → 75.00", "25.00 → 50.00", "30.00 → 60.00", "6", "8", "12"]
    assert undefined == ["n/a → n/a"] * 3 + ["n/a"] * 3
    assert alone[:3] == ["75.00", "50.00", "60.00"]


NAMES = ("precision", "recall", "f1")
NO_DRAWS = Draws(resamples=0)
MORPHS = st.lists(st.text("abc-", min_size=1, max_size=4), min_size=1, max_size=4)

Scores = list[float]


@given(
    merges=well_formed(),
    words=st.lists(st.tuples(MORPHS, st.integers(0, 9)), min_size=1, max_size=8),
    drops=st.booleans(),
)
def test_all_scores_are_equal(merges, words, drops):
    """``drops``: a method that leaves the end of words out; else a tokeniser that is edited."""
    tokeniser = small_tokeniser(list(dict.fromkeys(merges)), "abc-")
    entries = [Entry("".join(morphs), tuple(morphs), count=float(n)) for morphs, n in words]
    benchmark = Benchmark.build(tokeniser, reference_of(*entries))
    segmenter = First(Bte(tokeniser), 1) if drops else Bte(tokeniser)
    outcome = outcome_of(segmenter, benchmark)
    for weighting in ("types", "tokens"):
        weights = [float(n) if weighting == "tokens" else 1.0 for _, n in words]
        cuts = [set(outcome.splits(number)) for number in range(len(words))]
        gold = [oracles.boundaries(morphs) for morphs, _ in words]
        both, predicted, relevant = (
            fsum(weight * len(found) for weight, found in zip(weights, sets, strict=True))
            for sets in ([c & g for c, g in zip(cuts, gold, strict=True)], cuts, gold)
        )
        expected = [
            both / predicted if predicted else np.nan,
            both / relevant if relevant else np.nan,
            2 * both / (predicted + relevant) if relevant else np.nan,
        ]
        whole = boundaries.scores_of(outcome.gold_set, outcome.cuts, outcome.inside)
        [counts] = [one for one in whole if (one.scope, one.weighting) == ("morphemic", weighting)]
        found = {"counts": [counts.precision, counts.recall, counts.f1]}
        [table] = ScoreTable([outcome], "morphemic", weighting, NAMES, draws=NO_DRAWS).estimates
        found["table"] = [table[name].value for name in NAMES]
        made = MethodResult(segmenter, benchmark, {})
        spec = {
            "metrics": NAMES, "scopes": ["morphemic"], "weightings": [weighting],
            "intervals": False,
        }  # fmt: skip
        found["batch"] = [row.value for row in score_rows(spec, made, benchmark, None)]
        if not drops:
            study = Study(tokeniser, benchmark)
            state = study.now.score("morphemic", weighting)
            found["study"] = [state.precision, state.recall, state.f1]
            closed = blame(benchmark, study.now.segmentation, weighting=weighting).blamed.sum()
            assert relevant - closed == pytest.approx(both), "what no merge closed is split"
        if weighting == "types":
            texts = [entry.word for entry in entries]
            comparison = Comparison([segmenter], texts, [entry.morphs for entry in entries])
            [row] = comparison.scores.estimates
            found["comparison"] = [row[name].value for name in NAMES] if row else []
        for place, scores in found.items():
            assert scores == pytest.approx(expected, rel=1e-12, nan_ok=True), place
        # Groups share no boundary, so those that are found add up, however they are grouped.
        assert sum(size for _, size in break_down([outcome], "length").groups) == len(words)
        kinds = break_down([outcome], "boundaries", draws=NO_DRAWS)
        right = (n * one.value for (_, n), one in zip(kinds.groups, kinds.rows[0], strict=True))
        assert fsum(right) == pytest.approx(
            sum(len(c & g) for c, g in zip(cuts, gold, strict=True))
        )
