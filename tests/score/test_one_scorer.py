"""One tokeniser and one reference have one score, whoever asks for it."""

from collections.abc import Callable
from math import fsum

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MergeList, well_formed

from morphgraph.batch.cells import CellInputs, MethodResult, result_rows
from morphgraph.reference.entry import Entry, Reference
from morphgraph.refine.blame import blame
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.comparison import Comparison
from morphgraph.score.metrics import boundary_score
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import GoldBoundaries, Group, ScoreTable, group_scores, word_groups
from morphgraph.score.uncertainty import Draws
from morphgraph.segment.bte import Bte
from morphgraph.segment.flota import First
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.tokeniser import BpeTokeniser

NAMES = ("precision", "recall", "f1")
NO_DRAWS = Draws(resamples=0)
MORPHS = st.lists(st.text("abc-", min_size=1, max_size=4), min_size=1, max_size=4)

Scores = list[float]


@given(
    merges=well_formed(),
    words=st.lists(st.tuples(MORPHS, st.integers(0, 9)), min_size=1, max_size=8),
    drops=st.booleans(),
)
def test_all_scores_are_equal(
    small_tokeniser: Callable[..., BpeTokeniser],
    merges: MergeList,
    words: list[tuple[list[str], int]],
    drops: bool,
) -> None:
    """``drops``: a method that leaves the end of words out; else a tokeniser that is edited."""
    tokeniser = small_tokeniser(list(dict.fromkeys(merges)), "abc-")
    entries = [Entry("".join(morphs), tuple(morphs), count=float(n)) for morphs, n in words]
    benchmark = Benchmark.build(tokeniser, Reference("gold", "plain", tuple(entries), (), "abc"))
    segmenter: Segmenter = First(Bte(tokeniser), 1) if drops else Bte(tokeniser)
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
        counts = boundary_score(outcome, "morphemic", weighting)
        found: dict[str, Scores] = {"counts": [counts.precision, counts.recall, counts.f1]}
        [table] = ScoreTable([outcome], "morphemic", weighting, NAMES, draws=NO_DRAWS).estimates
        assert table is not None
        found["table"] = [table[name].value for name in NAMES]
        everything = [Group("all", np.ones(len(words), bool))]
        [[group]] = group_scores([outcome], everything, "morphemic", weighting, NAMES, NO_DRAWS)
        found["breakdown"] = [group.scores[name].value for name in NAMES]
        made = MethodResult(segmenter, benchmark, {})
        spec = {
            "metrics": NAMES, "scopes": ["morphemic"], "weightings": [weighting],
            "intervals": False, "held_out": 0.5, "method": "bpe", "vocabulary": [],
        }  # fmt: skip
        found["batch"] = [row.value for row in result_rows(spec, CellInputs(segmenter), made)]
        if not drops:
            study = Study(tokeniser, benchmark)
            state = study.now.score("morphemic", weighting)
            found["study"] = [state.precision, state.recall, state.f1]
            closed = blame(benchmark, study.now.segmentation, weighting=weighting).blamed.sum()
            assert relevant - closed == pytest.approx(both), "what no merge closed is split"
        if weighting == "types":
            texts = [entry.word for entry in entries]
            comparison = Comparison([segmenter], texts, [entry.morphs for entry in entries])
            [row] = comparison.summaries
            found["comparison"] = [row.precision, row.recall, row.f1]
        for place, scores in found.items():
            assert scores == pytest.approx(expected, rel=1e-12, nan_ok=True), place
        # Groups share no boundary, so those that are found add up, however they are grouped.
        kinds = GoldBoundaries(benchmark).by_kind([outcome], "types", NO_DRAWS)[0]
        parts = group_scores(
            [outcome], word_groups(benchmark, "length"), "morphemic", "types", NAMES, NO_DRAWS
        )[0]
        assert sum(part.size for part in parts) == len(words)
        assert fsum(kind.size * kind.scores["recall"].value for kind in kinds) == pytest.approx(
            sum(len(c & g) for c, g in zip(cuts, gold, strict=True))
        )
