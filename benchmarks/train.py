"""Train 32,000 merges on 1,000,000 distinct words: seconds and peak memory beside other trainers.

    python -m benchmarks.train [--words N] [--merges N] [--rounds N] [--languages en,de,fi,ru]

The words are those of wordfreq's larger lists, taken in turn from each language by rank, without
doubles, as byte-level strings with a leading Ġ. Each trainer runs in a process of its own, in turn,
on one thread, and gets the same Python list of words, each counted once; Gigatoken gets them as
one text, which it cuts into words itself. Seconds run from these to the trained merges, imports
included, with the kernels compiled beforehand; memory is the peak of the whole process. Our merges
and those of `BpeTrainer` must be identical. Results go to benchmarks/results/train.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, median, save, table

ONE_THREAD = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "NUMBA_NUM_THREADS": "1"}


def collect_words(languages: list[str], how_many: int) -> list[str]:
    """Take words of each language in turn, most frequent first, until there are enough."""
    import wordfreq

    from morphgraph.tokeniser.byte_level import encode

    words: dict[str, None] = {}
    lists = [list(wordfreq.get_frequency_dict(language, "best")) for language in languages]
    for rank in zip_longest(*lists):
        for word in rank:
            if word is not None and len(word.split()) == 1:
                words[encode(" " + word)] = None
                if len(words) == how_many:
                    return list(words)
    raise SystemExit(f"{', '.join(languages)} have only {len(words):,} words: add a language.")


def morphgraph(words: list[str], types: int) -> Callable[[], list[list[str]]]:
    import numpy as np

    from morphgraph.corpus.counts import WordCounts
    from morphgraph.segment.training import train_bpe

    trained = train_bpe(WordCounts(words, np.ones(len(words), np.int64)), vocab_size=types)
    return lambda: list(map(list, trained.merges))


def hugging_face(words: list[str], types: int) -> Callable[[], list[list[str]]]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=types, min_frequency=0, special_tokens=[], show_progress=False
    )
    tokenizer.train_from_iterator(words, trainer, length=len(words))
    return lambda: json.loads(tokenizer.to_str())["model"]["merges"]


def gigatoken(words: list[str], types: int) -> Callable[[], list[list[str]]]:
    import gigatoken

    from morphgraph.tokeniser.byte_level import encode

    _, merges = gigatoken.train_bpe(words[0].encode(), types, [])
    return lambda: [[encode(part.decode("latin-1")) for part in pair] for pair in merges]


TRAINERS = {"morphgraph": morphgraph, "BpeTrainer": hugging_face, "Gigatoken": gigatoken}


def peak_megabytes() -> float:
    """Return the process's peak resident memory; unlike `ru_maxrss`, not that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def run_here(trainer: str, words_file: str, types: int, merges_file: str) -> None:
    """Train in this process; print seconds and memory, write the merges."""
    words = Path(words_file).read_text(encoding="utf-8").split("\n")
    if trainer == "Gigatoken":
        from tokenizers.decoders import ByteLevel

        words = ["".join(ByteLevel().decode([word]) for word in words)]
    loaded = peak_megabytes()
    start = time.perf_counter()
    merges = TRAINERS[trainer](words, types)
    seconds = time.perf_counter() - start
    measured = {"seconds": seconds, "megabytes": peak_megabytes(), "megabytes_words": loaded}
    Path(merges_file).write_text(json.dumps(merges()), encoding="utf-8")
    print(json.dumps(measured))


def run_apart(trainer: str, words_file: Path, types: int, merges_file: Path) -> dict[str, float]:
    """Train in a process of its own, on one thread."""
    arguments = ["--run", trainer, str(words_file), str(types), str(merges_file)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.train", *arguments],
        cwd=ROOT,
        env=os.environ | ONE_THREAD,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])  # Gigatoken prints, too
    return result


def compare(languages: list[str], how_many: int, merges: int, rounds: int) -> dict[str, Any]:
    words = collect_words(languages, how_many)
    types = merges + len(set("".join(words)))
    runs: dict[str, list[dict[str, float]]] = {trainer: [] for trainer in TRAINERS}
    with tempfile.TemporaryDirectory() as folder:
        words_file = Path(folder, "words.txt")
        few_words_file = Path(folder, "few.txt")
        words_file.write_text("\n".join(words), encoding="utf-8")
        few_words_file.write_text("\n".join(words[:100]), encoding="utf-8")
        run_apart("morphgraph", few_words_file, 300, Path(folder, "few.json"))  # compiles
        for number in range(1, rounds + 1):
            for trainer, done in runs.items():
                done.append(run_apart(trainer, words_file, types, Path(folder, trainer)))
                print(f"round {number}, {trainer}: {done[-1]['seconds']:.2f} s", flush=True)
            ours, theirs = (
                json.loads(Path(folder, trainer).read_text())
                for trainer in ("morphgraph", "BpeTrainer")
            )
            if ours != theirs:
                raise SystemExit("The two trainers found different merges.")
    return {
        "languages": languages,
        "words": len(words),
        "characters": sum(map(len, words)),
        "merges": len(ours),
        "identical": True,
        "runs": runs,
        "versions": {name: version(name) for name in ("tokenizers", "gigatoken", "numba", "numpy")}
        | {"python": platform.python_version()},
    }


def summary(result: dict[str, Any]) -> None:
    """Print the medians of each trainer beside ours, and add the ratios to the result."""
    medians = {
        trainer: [median([run[of] for run in runs]) for of in ("seconds", "megabytes")]
        for trainer, runs in result["runs"].items()
    }
    seconds, memory = medians["morphgraph"]
    result["times_faster"] = {name: s / seconds for name, (s, _) in medians.items()}
    result["share_of_memory"] = {name: memory / mb for name, (_, mb) in medians.items()}
    rows = [
        [name, f"{s:.2f}", f"{s / seconds:.1f}", f"{mb:.0f}"] for name, (s, mb) in medians.items()
    ]
    table(["trainer", "seconds", "× ours", "peak MB"], rows)
    print(
        f"{result['merges']:,} merges on {result['words']:,} distinct words "
        f"({', '.join(result['languages'])}), medians; BpeTrainer's merges are identical."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--merges", type=int, default=32_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--languages", default="en,de,fi,ru")
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        trainer, words_file, types, merges_file = options.run
        run_here(trainer, words_file, int(types), merges_file)
        return
    result = compare(options.languages.split(","), options.words, options.merges, options.rounds)
    summary(result)
    save("train", result)


if __name__ == "__main__":
    main()
