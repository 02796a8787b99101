"""Blame, knockout and the threshold curve on MorphyNet German, a click on a reference of a million
entries, and the time to import.

Run: ``python -m benchmarks.knockout``
"""

import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.common import data_folder, in_turns, median, one_thread, save, table

if TYPE_CHECKING:
    from morphgraph.reference.entry import Reference
    from morphgraph.tokeniser.tokeniser import BpeTokeniser

IMPORTS = {
    "import morphgraph": "import morphgraph",
    "import all that scoring needs, numba included": "import morphgraph.tokeniser.loading, "
    "morphgraph.reference.readers, morphgraph.refine.knockout, morphgraph.kernels.segmenting",
}


def import_seconds(statement: str) -> float:
    """Return the median of seven timings of a statement in a fresh interpreter."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    found = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(7)
    ]
    return median(found)


def click_seconds(tokeniser: "BpeTokeniser", reference: "Reference", entries: int) -> list[float]:
    """Return the seconds of 20 clicks, each on another of the worst types.

    A click removes a type; then follow the scores, blame and changed words of the new state.
    ``entries``: the reference is repeated up to this size.
    """
    from morphgraph.refine.knockout import candidate_types
    from morphgraph.refine.study import Study
    from morphgraph.score.boundaries import Benchmark

    times = -(-entries // len(reference))
    repeated = replace(reference, entries=(reference.entries * times)[:entries])
    study = Study(tokeniser, Benchmark.build(tokeniser, repeated))
    worst = candidate_types(tokeniser, study.blame())[:21]
    seconds = []
    for type_ in worst:
        started = time.perf_counter()
        tokeniser.graph.knockout([type_])
        study.blame()
        study.changed_words(study.before_last)
        seconds.append(time.perf_counter() - started)
    for _ in worst:
        tokeniser.graph.undo()
    return seconds[1:]


def main() -> None:
    """Print seconds."""
    one_thread()
    from morphgraph.reference.readers import read_reference
    from morphgraph.refine.blame import blame
    from morphgraph.refine.knockout import candidate_types, threshold_curve
    from morphgraph.score.boundaries import Benchmark
    from morphgraph.tokeniser.loading import load_tokeniser
    from morphgraph.tokeniser.merging import segment

    data = data_folder()
    tokeniser = load_tokeniser(data / "tokenizers" / "oscar-de-40k")
    reference = read_reference(data / "references" / "morphynet" / "deu.derivational.v1.tsv")
    benchmark = Benchmark.build(tokeniser, reference)
    graph = tokeniser.graph

    def segment_and_blame() -> None:
        blame(benchmark, segment(graph, benchmark.words, threads=1))

    def knock_out_and_score() -> None:
        before = segment(graph, benchmark.words, threads=1)
        benchmark.score(before, "morphemic", "types")
        graph.knockout(candidate_types(tokeniser, blame(benchmark, before), 0.5))
        benchmark.score(segment(graph, benchmark.words, threads=1), "morphemic", "types")
        knocked_out.append(len(graph.history[-1].removed_types))

    def measure_knockout() -> float:
        started = time.perf_counter()
        knock_out_and_score()
        seconds = time.perf_counter() - started
        graph.undo()
        segment(graph, benchmark.words, threads=1)
        return seconds

    knocked_out: list[int] = []
    first = in_turns(9, blame=segment_and_blame)
    measure_knockout()
    knockout = median([measure_knockout() for _ in range(7)])
    blamed = blame(benchmark, segment(graph, benchmark.words))
    curve = in_turns(3, curve=lambda: threshold_curve(tokeniser, benchmark, blamed))
    results = {
        f"segment {len(reference):,} entries, N and B of all merges": median(first["blame"]),
        f"knock out {knocked_out[0]:,} types (R ≥ 0.5), blame and scores included": knockout,
        "curve over 99 thresholds (two threads)": median(curve["curve"]),
        "click on a type, 1,000,000 entries": median(
            click_seconds(tokeniser, reference, 1_000_000)
        ),
        **{name: import_seconds(statement) for name, statement in IMPORTS.items()},
    }
    print("oscar-de-40k, MorphyNet German derivations, one thread, medians\n")
    table(["work", "seconds"], [[name, f"{value:.3f}"] for name, value in results.items()])
    save("knockout", results)


if __name__ == "__main__":
    main()
