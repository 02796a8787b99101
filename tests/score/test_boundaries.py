"""Boundary scores: golden numbers derived by hand, and the naive count."""

import json
import math
from collections.abc import Callable

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MergeList, well_formed

from morphgraph.core.files import demo_gold_path
from morphgraph.core.text import count_text, percent
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.entry import Reference
from morphgraph.reference.readers import read_reference
from morphgraph.score.boundaries import Benchmark, BoundaryScore, score_frame
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import boundary_score
from morphgraph.score.outcome import outcome_of
from morphgraph.segment.segmenter import method_on
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser

MakeTokeniser = Callable[..., BpeTokeniser]
MakeReference = Callable[..., Reference]

UNDO = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g")]


def counts(score: BoundaryScore) -> tuple[float, float, float]:
    return score.true_positives, score.predicted, score.relevant


def scores_of(
    tokeniser: BpeTokeniser, benchmark: Benchmark
) -> dict[tuple[str, str], tuple[float, float, float]]:
    found = benchmark.scores(segment(tokeniser.graph, benchmark.words))
    return {(score.scope, score.weighting): counts(score) for score in found}


def test_golden(small_tokeniser: MakeTokeniser, small_reference: MakeReference) -> None:
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
    assert score.precision == 2 / 5
    assert score.recall == 2 / 3
    assert score.f1 == pytest.approx(2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3))
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


@given(
    merges=well_formed(),
    lines=st.lists(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1), min_size=1),
    data=st.data(),
)
def test_as_counted_naively(
    small_tokeniser: MakeTokeniser,
    small_reference: MakeReference,
    merges: MergeList,
    lines: list[list[str]],
    data: st.DataObject,
) -> None:
    tokeniser = small_tokeniser(list(dict.fromkeys(merges)), "abc")
    weights = [data.draw(st.integers(0, 9)) for _ in lines]
    merge_list = oracles.listed(dict.fromkeys(merges))
    tokens = [oracles.segment(merge_list, "".join(morphs))[0] for morphs in lines]
    reference = small_reference(*map(" ".join, lines))
    benchmark = Benchmark.build(tokeniser, reference)
    found = segment(tokeniser.graph, benchmark.words)
    expected = oracles.score(tokens, lines, [1] * len(lines))
    assert counts(benchmark.score(found, "morphemic", "types")) == expected
    frequencies = {"".join(line): float(w) for line, w in zip(lines, weights, strict=True)}
    weighted = Benchmark.build(tokeniser, reference, frequencies)
    used = [frequencies["".join(line)] for line in lines]
    assert counts(weighted.score(found, "morphemic", "tokens")) == oracles.score(
        tokens, lines, used
    )
    chosen = np.array([i for i in range(len(lines)) if i % 2 == 0], np.int64)
    part = benchmark.subset(chosen)
    assert counts(part.score(segment(tokeniser.graph, part.words), "morphemic", "types")) == (
        oracles.score(tokens[::2], lines[::2], [1] * len(lines[::2]))
    )


def test_what_is_undefined_is_nan(
    small_tokeniser: MakeTokeniser, small_reference: MakeReference
) -> None:
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


def test_a_boundary_inside_a_fused_atom_still_counts_as_relevant(
    small_tokeniser: MakeTokeniser, small_reference: MakeReference
) -> None:
    # NFC makes one atom of e and its accent, in the middle of which the gold boundary lies: it can
    # never be found, but it is not forgotten. The other one is found.
    tokeniser = small_tokeniser([], "abcdeé", normalizer={"type": "NFC"})
    reference = small_reference("ae \u0301b c")
    benchmark = Benchmark.build(tokeniser, reference)
    (score,) = benchmark.scores(segment(tokeniser.graph, benchmark.words))[:1]
    # Atoms a é b c: gaps at 1, 3, 4; gold at 2 and 4.
    assert counts(score) == (1, 3, 2)
    assert score.recall == 0.5


def test_unknown_fused_atoms(
    small_tokeniser: MakeTokeniser, small_reference: MakeReference
) -> None:
    tokeniser = small_tokeniser(
        [], "ab?", unk_token="?", fuse_unk=True, pre_tokenizer={"type": "WhitespaceSplit"}
    )
    benchmark = Benchmark.build(tokeniser, small_reference("ax yb"))
    (score,) = benchmark.scores(segment(tokeniser.graph, benchmark.words))[:1]
    # a ? b, where ? is xy: gaps at 1 and 3; the gold boundary at 2 is inside.
    assert counts(score) == (0, 2, 1)


def test_signature_names_all(small_reference: MakeReference) -> None:
    tokeniser = load_tokeniser("demo:en")
    benchmark = Benchmark.build(tokeniser, small_reference("un do"), bare=True)
    signature = benchmark.signature(tokeniser)
    fields = dict(field.split(":", 1) for field in signature.split("|"))
    assert list(fields) == [
        "reference", "format", "entries", "frequencies", "words", "tokeniser", "version",
    ]  # fmt: skip
    assert fields["reference"] == "small.tsv@000000000000"
    assert fields["words"] == "bare words"
    assert fields["tokeniser"] == f"BPE:demo:en@{tokeniser.checksum}"
    assert "\n" not in signature


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("first", {"k": 1}), ("longest", {"k": 1}), ("dropout", {"p": 1.0}), ("bpe", {})],
)
def test_one_answer_from_every_scorer(method: str, parameters: dict[str, float]) -> None:
    tokeniser = load_tokeniser("demo:de")
    gold_set = GoldSet.of(read_reference(demo_gold_path("de")))
    benchmark = Benchmark.on(gold_set, tokeniser)
    segmenter = method_on(tokeniser, method, parameters)
    found = segmenter.segment(benchmark.words)
    outcome = outcome_of(segmenter, gold_set)
    for score in benchmark.scores(found):
        if score.weighting in gold_set.weightings:
            assert score == boundary_score(outcome, score.scope, score.weighting)


GOOD = BoundaryScore("morphemic", "types", 6, 8, 12, 1)
NONE = BoundaryScore("whole-word", "tokens", *[math.nan] * 4)
WORSE = BoundaryScore("morphemic", "types", 3, 8, 12, 0)


def test_frame() -> None:
    frame = score_frame([GOOD, NONE], before=[WORSE, NONE])
    row = frame.iloc[0]
    assert row["precision"] == 75
    assert row["Δ precision"] == 75 - 37.5
    assert row["recall"] == 50
    assert row["Δ recall"] == 25
    assert row["F1"] == 60
    assert row["Δ F1"] == 60 - 30
    assert row["splits inside a character"] == 1
    assert frame.iloc[1][["precision", "recall", "F1", "Δ F1", "predicted"]].isna().all()
    assert "Δ F1" not in score_frame([GOOD]).columns


def test_text() -> None:
    assert percent(0.12345, 1) == "12.3"
    assert percent(math.nan) == "n/a"
    assert count_text(1234.0) == "1,234"
