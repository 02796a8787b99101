"""Train BPE, Picky BPE and Scaffold-BPE on 10,000,000 distinct words: seconds and peak memory.

    python -m benchmarks.train_at_size [--words N] [--types N] [--peer-words N] [--folder PATH]

The words are those of wordfreq's larger lists of English, German, Finnish and Russian, and then,
until there are enough, words made of the beginning of one and the end of another one that share two
characters where they meet. By rank, counts follow Zipf's law, half of them are 1, and words are in
no order, as `morphgraph count` leaves them; a seed fixes them all. They are written once as Parquet
and once as lines, to ``--folder`` if that is given.

Each training is one `morphgraph train` from the file to the model's, in a process of its own, with
the kernels compiled beforehand: seconds by the clock and of the processor, and the process's
largest resident memory, all as the operating system tells them when it ends. With fewer words, the
same beside Hugging Face's `BpeTrainer` (`tokenizers`), which counts text: it gets every word once,
behind Ġ, on one thread, as does ours. Results go to benchmarks/results/train_at_size.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.common import save, table
from benchmarks.train import ONE_THREAD

LANGUAGES = ("en", "de", "fi", "ru")
METHODS = ("bpe", "picky", "scaffold")
_DONORS = 60_000
_OVERLAP = 2
_FLAT = 2.7
"""The constant added to each rank in Mandelbrot's form of Zipf's law."""


def make_counts(folder: Path, how_many: int, *, once: bool) -> None:
    """Write the counts, as ``N.parquet`` and ``N.tsv``; ``once``: each 1, as ``Nonce.parquet``."""
    import numpy as np
    import pyarrow
    import wordfreq
    from pyarrow import compute, csv, parquet

    random = np.random.default_rng(1)
    lists = [list(wordfreq.get_frequency_dict(language, "best")) for language in LANGUAGES]
    known = [word for rank in zip_longest(*lists) for word in rank if word and word.isprintable()]
    share = how_many // 2  # for each language, as most words are made several times
    made = pyarrow.concat_arrays([_blended_words(words, share, random) for words in lists])
    made = made.take(pyarrow.array(random.permutation(len(made))))
    words = compute.unique(pyarrow.concat_arrays([pyarrow.array(known), made])).slice(0, how_many)
    if len(words) < how_many:
        raise SystemExit(f"There are only {len(words):,} words: ask for at most as many.")
    counts = np.maximum(1, how_many / (np.arange(1, how_many + 1) + _FLAT)).astype(np.int64)
    order = pyarrow.array(random.permutation(how_many))
    numbers = pyarrow.array(np.ones(how_many, np.int64) if once else counts).take(order)
    rows = pyarrow.table({"word": words.take(order), "count": numbers})
    name = f"{how_many}once" if once else str(how_many)
    parquet.write_table(rows, folder / f"{name}.parquet", row_group_size=2**16, compression="zstd")
    form = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    csv.write_csv(rows, folder / f"{name}.tsv", form)
    print(f"{how_many:,} words such as {', '.join(rows['word'].slice(0, 8).to_pylist())}")


def _blended_words(words: list[str], how_many: int, random: Any) -> Any:
    """Return words made of the start of one and the end of another, cut after the same letters."""
    import numpy as np
    import pyarrow
    from pyarrow import compute

    donors = [word for word in words if word.isalpha() and len(word) > 3][:_DONORS]
    cuts = [(word[:at], word[at:]) for word in donors for at in range(_OVERLAP, len(word) - 1)]
    _, group = np.unique([begin[-_OVERLAP:] for begin, _ in cuts], return_inverse=True)
    by_group, size = np.argsort(group, kind="stable"), np.bincount(group)
    first = np.cumsum(size) - size
    left = random.integers(0, len(cuts), how_many)
    within = (random.random(how_many) * size[group[left]]).astype(np.int64)
    right = by_group[first[group[left]] + within]
    begins, ends = (pyarrow.array(side) for side in zip(*cuts, strict=True))
    pairs = begins.take(pyarrow.array(left)), ends.take(pyarrow.array(right))
    return compute.unique(compute.binary_join_element_wise(*pairs, ""))


def merges_of_peer(words_file: Path, types: int, out: Path) -> None:
    """Train the peer on the words of a file, each once, and save the tokeniser."""
    from pyarrow import parquet
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    from morphgraph.tokeniser.byte_level import byte_alphabet

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=types,
        min_frequency=0,
        initial_alphabet=list(byte_alphabet()),
        special_tokens=[],
        show_progress=False,
    )
    file = parquet.ParquetFile(words_file)
    words = (w for some in file.iter_batches(columns=["word"]) for w in some["word"].to_pylist())
    tokenizer.train_from_iterator(words, trainer)
    tokenizer.save(str(out))


def measured(command: list[str]) -> dict[str, float]:
    """Return the seconds and peak memory of a process, as the operating system counts them."""
    started = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, *command], os.environ | ONE_THREAD)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed.")
    return {
        "seconds": time.perf_counter() - started,
        "processor_seconds": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10),
        "load": os.getloadavg()[0],
    }


def training(counts: Path, types: int, out: Path, method: str | None) -> dict[str, float]:
    """Return measurements of one `morphgraph train`."""
    command = ["-m", "morphgraph", "train", "--counts", str(counts), "--vocab-size", str(types)]
    return measured([*command, "--out", str(out), *(["--method", method] if method else [])])


def compare(folder: Path, how_many: int, types: int, peer_words: int) -> dict[str, Any]:
    here = ["-m", "benchmarks.train_at_size"]
    # In processes of their own: a process's peak memory includes that of its parent.
    for number, once in ((how_many, ""), (peer_words, "once"), (2000, "")):
        if not (folder / f"{number}{once}.parquet").exists():
            measured([*here, "--make", str(number), str(folder), once])
    for method in METHODS:
        training(folder / "2000.parquet", 300, folder / "few.json", method)  # compiles
    counts = folder / f"{how_many}.parquet"
    runs = {}
    for name, method, file in (
        *((method, method, counts) for method in METHODS),
        ("bpe, from lines", "bpe", counts.with_suffix(".tsv")),
    ):
        runs[name] = training(file, types, folder / "model.json", method)
        print(f"{name}: {runs[name]['seconds']:.1f} s", flush=True)
    words, peer, ours = folder / f"{peer_words}once.parquet", folder / "peer", folder / "ours"
    beside = {"morphgraph": training(words, types, ours, None)}
    beside["BpeTrainer"] = measured([*here, "--peer", str(words), str(types), str(peer)])
    merges = [
        [tuple(m.split(" ") if isinstance(m, str) else m) for m in found["model"]["merges"]]
        for found in (json.loads(file.read_bytes()) for file in (ours, peer))
    ]
    if merges[0] != merges[1]:
        raise SystemExit("The two trainers found different merges.")
    return {
        "words": how_many,
        "types": types,
        "peer_words": peer_words,
        "runs": runs,
        "beside": beside,
    }


def summary(result: dict[str, Any]) -> None:
    """Print one table for all words, and one beside the peer."""
    kinds = ("seconds", "processor_seconds", "megabytes", "load")
    header = ["seconds", "of the processor", "peak MB", "load", "× first"]
    for title, words in (("runs", result["words"]), ("beside", result["peer_words"])):
        runs = result[title]
        first = next(iter(runs.values()))["processor_seconds"]
        print(f"\n{words:,} distinct words, {result['types']:,} types\n")
        rows = [
            [
                name,
                *(f"{run[kind]:,.{0 if kind == 'megabytes' else 1}f}" for kind in kinds),
                f"{run['processor_seconds'] / first:.1f}",
            ]
            for name, run in runs.items()
        ]
        table(["", *header], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=10_000_000)
    parser.add_argument("--types", type=int, default=64_000)
    parser.add_argument("--peer-words", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="keep the counts there")
    parser.add_argument("--make", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        number, to, once = options.make
        make_counts(Path(to), int(number), once=bool(once))
        return
    if options.peer:
        words, types, out = options.peer
        merges_of_peer(Path(words), int(types), Path(out))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        result = compare(folder, options.words, options.types, options.peer_words)
    summary(result)
    save("train_at_size", result)


if __name__ == "__main__":
    main()
