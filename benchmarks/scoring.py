"""Scores and comparisons: all metrics, intervals and tests, beside scipy and rapidfuzz."""

import tempfile
import time
from itertools import pairwise
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq
from scipy import stats

from benchmarks import (
    GERMAN_BPE,
    GERMAN_GOLD,
    HUNGARIAN_GOLD,
    data,
    in_turns,
    measured,
    table,
)
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.score.comparison import Comparison
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import METRICS, USUAL, longest_common
from morphgraph.score.outcome import gold_strings, outcome_of
from morphgraph.score.table import ScoreTable, outcomes_of
from morphgraph.score.uncertainty import Ratio, approximate_randomisation, bootstrap_intervals
from morphgraph.segment.method import parse_method
from morphgraph.segment.segmenter import method_on

COMPARED = ("bpe", "dropout(p=0.1)", "dropout(p=0.3)", "trimmed(threshold=100)")
COMPARED += ("flota", "first(k=2)", "longest(k=2)", "greedy")
SCORED = ("bpe", "dropout(p=0.1)", "flota", "first(k=2)", "longest(k=2)", "greedy")


def compare(words: int = 1000, rounds: int = 7) -> None:
    """Eight methods on 1,000 words: cells, scores, intervals and agreement."""
    tokeniser = load_tokeniser(data(GERMAN_BPE))
    entries = read_reference(data(GERMAN_GOLD)).entries[:words]
    counts = wordfreq_counts("de")

    def compared() -> None:
        comparison = Comparison(
            segmenters, [entry.word for entry in entries], [entry.morphs for entry in entries]
        )
        _ = comparison.rows, comparison.scores.estimates, comparison.agreement

    started = time.perf_counter()
    segmenters = [method_on(tokeniser, *parse_method(text), counts) for text in COMPARED]
    ready = time.perf_counter()
    compared()
    results = {
        "make the eight methods, once": ready - started,
        f"compare {words:,} words, first time": time.perf_counter() - ready,
        f"compare {words:,} words, median after it": in_turns(rounds, {"": compared})[""],
    }
    print("oscar-de-40k, MorphyNet German derivations, one thread\n")
    table(["work", "seconds {:.2f}"], results.items())


def scores(entries: int = 50_000, rounds: int = 3) -> None:
    """Reading a reference, all metrics, bootstrap intervals, paired tests, and other libraries."""
    random = np.random.default_rng(0)

    def counts() -> tuple[Any, Any, Any]:
        relevant = random.integers(0, 3, entries).astype(float)
        predicted = random.integers(0, 4, entries).astype(float)
        hits = np.minimum(random.integers(0, 3, entries), np.minimum(relevant, predicted))
        return hits.astype(float), predicted, relevant

    def f1(hit: Any, found: Any, wanted: Any, axis: int = -1) -> Any:
        return 2 * hit.sum(axis=axis) / (found.sum(axis=axis) + wanted.sum(axis=axis))

    def ratio(hits: Any, predicted: Any, relevant: Any) -> Ratio:
        return Ratio(2 * hits, predicted + relevant, relevant)

    first = hits, predicted, relevant = counts()
    three = [Ratio(hits, predicted), Ratio(hits, relevant), ratio(*first)]
    pair = [[three[2], ratio(*counts())]]
    sampled = {"paired": True, "method": "percentile", "n_resamples": 1000, "batch": 50}
    hungarian, german = data(HUNGARIAN_GOLD), read_reference(data(GERMAN_GOLD))
    gold_set = GoldSet.of(german)
    tokeniser = load_tokeniser(data(GERMAN_BPE))
    segmenters = [(text, method_on(tokeniser, *parse_method(text))) for text in SCORED]
    outcomes = outcomes_of(segmenters, gold_set)

    def scored(metrics: Any) -> object:
        return ScoreTable(outcomes, metrics=metrics, baseline=0).estimates

    outcome = outcome_of(segmenters[0][1], gold_set)
    pieces = []
    for number, entry in enumerate(german.entries):
        cuts = [0, *outcome.splits(number), len(entry.word)]
        pieces.append(tuple(entry.word[a:b] for a, b in pairwise(cuts)))
    both = [(entry.morphs, cut) for entry, cut in zip(german.entries, pieces, strict=True)]
    flat = gold_strings(gold_set, "morphemic"), outcome.strings
    contestants = {
        f"1,000 resamples of {entries:,} entries, three scores": lambda: bootstrap_intervals(three),
        "scipy.stats.bootstrap, one score": lambda: stats.bootstrap(first, f1, **sampled),
        "1,000 trials of a paired test": lambda: approximate_randomisation(pair, 0),
        "read and align SIGMORPHON 2022 Hungarian": lambda: read_reference(hungarian),
        f"segment MorphyNet German by {len(SCORED)} methods": lambda: outcomes_of(
            segmenters, gold_set
        ),
        f"the {len(USUAL)} usual scores of these, intervals, tests": lambda: scored(USUAL),
        f"all {len(METRICS)} scores of these, intervals, tests": lambda: scored(tuple(METRICS)),
        f"LCS of the segments of {len(german):,} words": lambda: longest_common(*flat),
        "rapidfuzz, a call a word": lambda: [LCSseq.similarity(*one) for one in both],
    }
    table(["work", "seconds {:.3f}"], in_turns(rounds, contestants).items())


def first_use(rounds: int = 3) -> None:
    """`morphgraph score` on MorphyNet German as after `pip install`, and once kernels are kept."""
    given = data(GERMAN_BPE), data(GERMAN_GOLD), "--json"
    command = "-m", "morphgraph", "score", *given
    runs_of: dict[str, list[dict[str, float]]] = {"the first time": [], "after that": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for name in runs_of:
                runs_of[name].append(measured(command, NUMBA_CACHE_DIR=folder))
    least = {
        name: {kind: min(run[kind] for run in runs) for kind in ("seconds", "cpu_seconds")}
        for name, runs in runs_of.items()
    }
    rows = [(name, *kinds.values()) for name, kinds in least.items()]
    table(["work", "seconds {:.1f}", "of the processors {:.1f}"], rows)
