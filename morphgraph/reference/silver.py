"""References without gold: Morfessor Baseline finds morphs in word counts.

They are those by which a lexicon and the words that it spells are shortest.
"""

import json
import math
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import accumulate, islice, pairwise
from threading import Lock
from typing import Any

from morphgraph.core.errors import require
from morphgraph.core.files import checksum
from morphgraph.core.isolated import python_apart
from morphgraph.core.text import SILVER
from morphgraph.corpus.counts import WordCounts

FORCE_SPLIT = ("-", "'")
"""Characters that are always morphs of their own."""
_USUAL_EPOCHS = 6
_TUNED_EPOCHS = 10
"""Epochs after which α stays as it is, so that training ends."""
_DRAWING = Lock()
_RUNS, _AGREE = 5, 4
_TUNED_ON = 500


def dampened(counts: WordCounts, most: int) -> dict[str, int]:
    """Return the most frequent words with the rounded log₂ of their counts, plus one.

    Counts are first divided by the smallest of them, as the unit of frequencies is arbitrary: the
    rarest word counts 1. Ties go by code point.

    >>> from morphgraph.corpus.counts import WordCounts
    >>> dampened(WordCounts.from_mapping({"rare": 100, "usual": 700, "never": 100}), 2)
    {'usual': 3, 'never': 1}
    """
    kept = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    return {word: round(math.log2(count / kept[-1][1] + 1)) for word, count in kept}


def train_baseline(
    counts: Mapping[str, int],
    seed: int,
    corpus_weight: float = 1.0,
    gold: Mapping[str, Sequence[Sequence[str]]] | None = None,
    watch: Callable[[float], None] | None = None,
) -> Any:
    """Train the `morfessor` package's BaselineModel on dampened counts.

    ``gold``: word → analyses, by which α is tuned such that as many boundaries are missed as are
    wrong. ``watch``: called with an estimate of the share done. The same arguments give the same
    model. Source: Virpioja et al. 2013.
    """
    require("Morfessor", "morfessor")
    from morfessor import AnnotationCorpusWeight, BaselineModel, FixedCorpusWeight, baseline, utils

    weight = FixedCorpusWeight(corpus_weight) if gold is None else AnnotationCorpusWeight(gold)

    class Watched:
        """The weight of the corpus, which Morfessor asks for after each epoch."""

        def update(self, model: Any, epoch: int) -> bool:
            if watch is not None:
                watch(min(epoch / _USUAL_EPOCHS, 0.99))
            return epoch < _TUNED_EPOCHS and bool(weight.update(model, epoch))

    utils.show_progress_bar = False
    model = BaselineModel(list(FORCE_SPLIT), Watched())
    model.load_data((count, word) for word, count in counts.items())
    with _DRAWING:  # else Morfessor draws by the generator that all threads share
        shared, baseline.random = baseline.random, random.Random(seed)
        try:
            model.train_batch()
        finally:
            baseline.random = shared
    return model


def silver_reference(
    counts: WordCounts,
    source: str,
    words: int = 50_000,
    seed: int = 0,
    gold: Mapping[str, Sequence[Sequence[str]]] | None = None,
    workers: int = 1,
    watch: Callable[[float], None] | None = None,
) -> str:
    """Return the most frequent words with morphs that Morfessor found, as a plain reference.

    A boundary is kept if four of five runs, with seeds from ``seed``, agree. ``source``: what the
    counts are called. ``gold``: word → analyses; α is tuned on the first 500 of them that are among
    the words, and is 1 without any. ``workers``: processes. The first line says what it was made
    of; `read_reference` calls such a file silver. The same arguments give the same text.
    """
    require("Morfessor", "morfessor")
    import morfessor

    kept = dampened(counts, words)
    known = {word: found for word, found in (gold or {}).items() if word in kept}
    tuned = dict(islice(known.items(), _TUNED_ON))
    weight = 1.0
    if tuned:
        weight = float(train_baseline(kept, seed, gold=tuned).get_corpus_coding_weight())
    seeds = range(seed, seed + _RUNS)
    votes: list[Counter[int]] = [Counter() for _ in kept]
    with ThreadPoolExecutor(min(workers, _RUNS)) as pool:
        runs = [pool.submit(_boundaries_apart, kept, each, weight) for each in seeds]
        try:
            for done, run in enumerate(as_completed(runs), 1):
                for vote, found in zip(votes, run.result(), strict=True):
                    vote.update(found)
                if watch is not None:
                    watch(done / _RUNS)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    lines = [
        f"{word}\t{' '.join(map(word.__getitem__, _spans(word, vote)))}\n"
        for word, vote in zip(kept, votes, strict=True)
    ]
    sum_of_words = checksum("".join(f"{word}\t{n}\n" for word, n in kept.items()).encode())
    about = (
        f"Morfessor {morfessor.__version__}, seeds {seeds[0]} to {seeds[-1]}, {_AGREE} agree, "
        f"α {weight:g}, {len(kept)} words of {source}@{sum_of_words}"
    )
    return f"{SILVER} {' '.join(about.split())}\n{''.join(lines)}"


def _boundaries_apart(counts: Mapping[str, int], seed: int, weight: float) -> list[list[int]]:
    """Return where one run divides each word; its process does not run the script that asks."""
    command, env = python_apart(f"from {__name__} import _answer; _answer()")
    given = json.dumps([counts, seed, weight]).encode()
    made = subprocess.run(command, input=given, env=env, stdout=subprocess.PIPE, check=True).stdout
    boundaries: list[list[int]] = json.loads(made)
    return boundaries


def _answer() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # it ends without a word
    counts, seed, weight = json.load(sys.stdin)
    model = train_baseline(counts, seed, weight)
    ends = [list(accumulate(map(len, model.segment(word)[:-1]))) for word in counts]
    json.dump(ends, sys.stdout)


def _spans(word: str, votes: Mapping[int, int]) -> list[slice]:
    """Return the morphs of a word between the boundaries that enough runs agree on."""
    ends = [0, *sorted(at for at, runs in votes.items() if runs >= _AGREE), len(word)]
    return [slice(*ends_of) for ends_of in pairwise(ends)]
