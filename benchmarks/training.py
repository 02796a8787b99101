"""Trainers beside each other, and beside those of other libraries: seconds and peak memory."""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import wordfreq

from benchmarks import apart, measured, table
from morphgraph.corpus.counts import WordCounts
from morphgraph.segment.training import train_bpe
from morphgraph.tokeniser.preprocess import printable_bytes

LANGUAGES = ("en", "de", "fi", "ru")
OVERLAP, DONORS = 2, 60_000
FLAT = 2.7  # added to each rank in Mandelbrot's form of Zipf's law

Merges = Callable[[], list[list[str]]]


def known_words() -> list[str]:
    """Return wordfreq's words of each language in turn, most frequent first, without doubles."""
    lists = [wordfreq.get_frequency_dict(language, "best") for language in LANGUAGES]
    return list(dict.fromkeys(word for rank in zip_longest(*lists) for word in rank if word))


def first_words(words: int) -> list[str]:
    """Return the most frequent of these, of letters only: no pattern cuts them."""
    listed = [word for word in known_words() if word.isalpha()][:words]
    if len(listed) < words:
        sys.exit(f"There are only {len(listed):,} words.")
    return listed


def morphgraph(words: list[str], types: int) -> Merges:
    trained = train_bpe(WordCounts(words, np.ones(len(words), np.int64)), vocab_size=types)
    return lambda: list(map(list, trained.merges))


def hugging_face(words: list[str], types: int) -> Merges:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=types, min_frequency=0, special_tokens=[], show_progress=False
    )
    tokenizer.train_from_iterator(words, trainer, length=len(words))
    return lambda: json.loads(tokenizer.to_str())["model"]["merges"]


def gigatoken(words: list[str], types: int) -> Merges:
    from gigatoken import train_bpe

    _, merges = train_bpe("".join(words).encode(), types, [])
    return lambda: [[printable_bytes(part.decode("latin-1")) for part in pair] for pair in merges]


TRAINERS = {"morphgraph": morphgraph, "BpeTrainer": hugging_face, "Gigatoken": gigatoken}


def train_here(trainer: str, words_file: str, merges: int, out: str) -> dict[str, Any]:
    """Train in this process, by the clock; write the merges."""
    spaced = Path(words_file).read_text(encoding="utf-8").split("\n")
    # Gigatoken gets all in one text, which it cuts itself.
    words = spaced if trainer == "Gigatoken" else [printable_bytes(word) for word in spaced]
    types = merges + len({character for word in spaced for character in printable_bytes(word)})
    started = time.perf_counter()
    trained = TRAINERS[trainer](words, types)
    seconds = time.perf_counter() - started
    Path(out).write_text(json.dumps(trained()), encoding="utf-8")
    return {"seconds": seconds}


def train(words: int = 1_000_000, merges: int = 32_000, rounds: int = 3) -> None:
    """Merges on distinct words, each counted once, whole processes in turn on one thread.

    Seconds run from the list of words to the merges, imports included. Our merges and those of
    `BpeTrainer` must be identical.
    """
    runs: dict[str, list[dict[str, Any]]] = {trainer: [] for trainer in TRAINERS}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "words.txt")
        file.write_text("\n".join(f" {word}" for word in first_words(words)), encoding="utf-8")
        for number in range(rounds):
            for trainer, done in runs.items():
                out = Path(folder, trainer)
                done.append(apart(train_here, trainer, file, merges, out, NUMBA_NUM_THREADS="1"))
                print(f"round {number + 1}, {trainer}: {done[-1]['seconds']:.2f} s", flush=True)
        ours = json.loads(Path(folder, "morphgraph").read_bytes())
        if ours != json.loads(Path(folder, "BpeTrainer").read_bytes()):
            sys.exit("The two trainers found different merges.")
    medians = {
        trainer: [statistics.median(run[of] for run in done) for of in ("seconds", "megabytes")]
        for trainer, done in runs.items()
    }
    first = medians["morphgraph"][0]
    rows = [(name, took, took / first, peak) for name, (took, peak) in medians.items()]
    table(["trainer", "seconds {:.2f}", "× ours {:.1f}", "peak MB {:,.0f}"], rows)
    print(f"{len(ours):,} merges on {words:,} distinct words; BpeTrainer's merges are identical.")


def train_at_size(words: int = 10_000_000, types: int = 64_000) -> None:
    """`morphgraph train` by each method, each a process of its own on one thread."""
    runs = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_counts(folder, words)
        for title, method, counts in (
            ("BPE", "bpe", "counts.parquet"),
            ("Picky BPE", "picky", "counts.parquet"),
            ("Scaffold-BPE", "scaffold", "counts.parquet"),
            ("BPE, from lines", "bpe", "counts.tsv"),
        ):
            command = ["-m", "morphgraph", "train", method, folder / counts, "--pipeline", "plain"]
            command += ["--vocab-size", types, "--out", folder / "model.json"]
            runs[title] = measured(command, NUMBA_NUM_THREADS="1")
            print(f"{title}: {runs[title]['seconds']:.1f} s", flush=True)
    print(f"\n{words:,} distinct words, {types:,} types\n")
    keys = ("seconds", "cpu_seconds", "megabytes")
    rows = [(title, *map(run.__getitem__, keys)) for title, run in runs.items()]
    table(["", "seconds {:.1f}", "of the processor {:.1f}", "peak MB {:,.0f}"], rows)


def make_counts(folder: Path, how_many: int) -> None:
    """Write counts of distinct words as Parquet and as lines.

    First wordfreq's words, then words made of the beginning of one and the end of another that
    share two characters where they meet. By rank, counts follow Zipf's law, half of them are 1, and
    words are in no order, as `morphgraph count` leaves them.
    """
    import pyarrow
    from pyarrow import compute, csv, parquet

    random = np.random.default_rng(1)
    share = how_many // 2  # for each language, as most words are made several times
    blended = pyarrow.concat_arrays(
        [
            _blended_words(list(wordfreq.get_frequency_dict(language, "best")), share, random)
            for language in LANGUAGES
        ]
    )
    blended = blended.take(pyarrow.array(random.permutation(len(blended))))
    known = pyarrow.array(word for word in known_words() if word.isprintable())
    words = compute.unique(pyarrow.concat_arrays([known, blended])).slice(0, how_many)
    if len(words) < how_many:
        sys.exit(f"There are only {len(words):,} words: ask for at most as many.")
    counts = np.maximum(1, how_many / (np.arange(1, how_many + 1) + FLAT)).astype(np.int64)
    rows = pyarrow.table({"word": words, "count": counts})
    rows = rows.take(pyarrow.array(random.permutation(how_many)))
    parquet.write_table(rows, folder / "counts.parquet", row_group_size=2**16, compression="zstd")
    form = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    csv.write_csv(rows, folder / "counts.tsv", form)


def _blended_words(words: list[str], how_many: int, random: Any) -> Any:
    """Return words made of the start of one and the end of another, cut after the same letters."""
    import pyarrow
    from pyarrow import compute

    donors = [word for word in words if word.isalpha() and len(word) > 3][:DONORS]
    cuts = [(word[:at], word[at:]) for word in donors for at in range(OVERLAP, len(word) - 1)]
    _, group = np.unique([begin[-OVERLAP:] for begin, _ in cuts], return_inverse=True)
    by_group, size = np.argsort(group, kind="stable"), np.bincount(group)
    first = np.cumsum(size) - size
    left = random.integers(0, len(cuts), how_many)
    within = (random.random(how_many) * size[group[left]]).astype(np.int64)
    right = by_group[first[group[left]] + within]
    begins, ends = (pyarrow.array(side) for side in zip(*cuts, strict=True))
    pairs = begins.take(pyarrow.array(left)), ends.take(pyarrow.array(right))
    return compute.unique(compute.binary_join_element_wise(*pairs, ""))
