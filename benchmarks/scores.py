"""Scores: reading a reference, all metrics, bootstrap intervals, paired tests, and other libraries.

Run: ``python -m benchmarks.scores`` (needs the development requirements: scipy)
"""

from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.common import data_folder, in_turns, median, one_thread, save, table

ENTRIES = 50_000
METHODS = ("bpe", "dropout(p=0.1)", "flota", "first(k=2)", "longest(k=2)", "greedy")


def main() -> None:
    """Print seconds, and those of other libraries in the same run."""
    one_thread()
    from rapidfuzz.distance import LCSseq
    from scipy import stats

    from morphgraph.reference.readers import read_reference
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.score.metrics import METRICS, USUAL, longest_common
    from morphgraph.score.outcome import gold_strings, outcome_of
    from morphgraph.score.table import ScoreTable, outcomes_of
    from morphgraph.score.uncertainty import (
        Ratio,
        approximate_randomisation,
        bootstrap_intervals,
    )
    from morphgraph.segment.method import parse_method
    from morphgraph.segment.segmenter import method_on
    from morphgraph.tokeniser.loading import load_tokeniser

    data = data_folder()
    random_numbers = np.random.default_rng(0)

    def counts() -> tuple[Any, Any, Any]:
        relevant = random_numbers.integers(0, 3, ENTRIES).astype(float)
        predicted = random_numbers.integers(0, 4, ENTRIES).astype(float)
        hits = np.minimum(random_numbers.integers(0, 3, ENTRIES), np.minimum(relevant, predicted))
        return hits.astype(float), predicted, relevant

    hits, predicted, relevant = counts()
    three = [
        Ratio(hits, predicted),
        Ratio(hits, relevant),
        Ratio(2 * hits, predicted + relevant, relevant),
    ]
    other_hits, other_predicted, other_relevant = counts()
    other = Ratio(2 * other_hits, other_predicted + other_relevant, other_relevant)

    def f1(hit: Any, found: Any, wanted: Any, axis: int = -1) -> Any:
        return 2 * hit.sum(axis=axis) / (found.sum(axis=axis) + wanted.sum(axis=axis))

    def scipys() -> object:
        return stats.bootstrap(
            (hits, predicted, relevant),
            f1,
            paired=True,
            method="percentile",
            n_resamples=1000,
            batch=50,
        )

    seconds = in_turns(
        3,
        ours=lambda: bootstrap_intervals(three),
        scipy=scipys,
        paired=lambda: approximate_randomisation([[three[2], other]], 0),
    )
    results: dict[str, float] = {name: median(values) for name, values in seconds.items()}

    hungarian = data / "references" / "sigmorphon2022" / "hun.word.dev.tsv"
    read = in_turns(3, read=lambda: read_reference(hungarian))
    results["read"] = median(read["read"])

    tokeniser = load_tokeniser(data / "tokenizers" / "oscar-de-40k")
    german = read_reference(data / "references" / "morphynet" / "deu.derivational.v1.tsv")
    gold_set = GoldSet.of(german)
    segmenters = [(text, method_on(tokeniser, *parse_method(text))) for text in METHODS]
    outcomes = outcomes_of(segmenters, gold_set)

    def scored(metrics: Any) -> object:
        return ScoreTable(outcomes, metrics=metrics, baseline=0).estimates

    taken = in_turns(
        3,
        segmented=lambda: outcomes_of(segmenters, gold_set),
        usual=lambda: scored(USUAL),
        every=lambda: scored(tuple(METRICS)),
    )
    results |= {name: median(values) for name, values in taken.items()}

    outcome = outcome_of(segmenters[0][1], gold_set)
    gold = [entry.morphs for entry in german.entries]
    found = []
    for number, entry in enumerate(german.entries):
        cuts = [0, *outcome.splits(number), len(entry.word)]
        found.append(tuple(entry.word[a:b] for a, b in pairwise(cuts)))

    def fuzz() -> None:
        for one, two in zip(gold, found, strict=True):
            LCSseq.similarity(one, two)

    gold_flat, found_flat = gold_strings(gold_set, "morphemic"), outcome.strings

    def ours() -> None:
        longest_common(gold_flat, found_flat)

    sequences = in_turns(3, ours_sequences=ours, rapidfuzz=fuzz)
    results |= {name: median(values) for name, values in sequences.items()}

    rows = [
        ("1,000 resamples of 50,000 entries, three scores", results["ours"],
         f"scipy.stats.bootstrap, one score: {results['scipy']:.2f} s "
         f"({results['scipy'] / results['ours']:.0f} ×)"),
        ("1,000 trials of a paired test, 50,000 entries", results["paired"], ""),
        (f"read and align {len(read_reference(hungarian)):,} Hungarian entries",
         results["read"], ""),
        (f"segment MorphyNet German by {len(METHODS)} methods",
         results["segmented"], ""),
        (f"the {len(USUAL)} usual scores of these, intervals, tests", results["usual"], ""),
        (f"all {len(METRICS)} scores of these, intervals, tests", results["every"], ""),
        ("LCS of the segments of 29,364 words", results["ours_sequences"],
         f"rapidfuzz, a call a word: {results['rapidfuzz']:.3f} s "
         f"({results['rapidfuzz'] / results['ours_sequences']:.1f} ×)"),
    ]  # fmt: skip
    table(["work", "seconds", "beside it"], [[name, f"{s:.3f}", peer] for name, s, peer in rows])
    save("scores", results)


if __name__ == "__main__":
    main()
