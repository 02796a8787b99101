"""ReBPE to convergence on two real languages, phase by phase, on one core.

Run: ``python -m benchmarks.rebpe``
"""

import json
import os
import resource
import subprocess
import sys

from benchmarks.common import data_folder, median, one_thread, save, table

RUNS = 5
CASES = {
    "german": "oscar-de-40k, MorphyNet German derivations",
    "hungarian": "32,000 types trained on wordfreq's Hungarian, SIGMORPHON 2022 Hungarian (dev)",
}


def measure(case: str) -> None:
    """Print, as JSON, the seconds of every phase in each of several runs, in this process."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    one_thread()
    from morphgraph.core.cache import Cache
    from morphgraph.corpus.counts import wordfreq_counts
    from morphgraph.reference.readers import read_reference
    from morphgraph.refine.rebpe import ReBPERun
    from morphgraph.score.boundaries import Benchmark
    from morphgraph.segment.training import train_tokeniser
    from morphgraph.tokeniser.hugging_face import from_tokenizer_json
    from morphgraph.tokeniser.loading import load_tokeniser

    data = data_folder()
    if case == "german":
        tokeniser = load_tokeniser(data / "tokenizers" / "oscar-de-40k")
        reference = read_reference(data / "references" / "morphynet" / "deu.derivational.v1.tsv")
    else:
        document, _ = train_tokeniser(wordfreq_counts("hu"), 32_000)
        tokeniser = from_tokenizer_json(json.dumps(document).encode(), "hu-32k")
        reference = read_reference(data / "references" / "sigmorphon2022" / "hun.word.dev.tsv")
    benchmark = Benchmark.build(tokeniser, reference)
    seconds: list[list[float]] = []
    for _ in range(RUNS + 1):
        tokeniser.cache = Cache()  # each run computes all of it
        run = ReBPERun(tokeniser.fork(), benchmark)
        run.finish()
        seconds.append([phase.seconds for phase in run.phases])
    phases = [
        {**phase.to_dict(), "seconds": median([row[number] for row in seconds[1:]])}
        for number, phase in enumerate(run.phases)
    ]
    print(
        json.dumps(
            {
                "entries": len(reference),
                "phases": phases,
                "seconds": median([sum(row) for row in seconds[1:]]),
                "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "converged": run.converged,
            }
        )
    )


def main() -> None:
    """Print a table for each language."""
    data_folder()
    results = {}
    for case, title in CASES.items():
        command = [sys.executable, "-m", "benchmarks.rebpe", case]
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        results[case] = found
        print(f"\n{title}: {found['entries']:,} entries, one core, medians of {RUNS} runs\n")
        rows = [
            [
                str(phase["iteration"]),
                phase["phase"],
                f"{phase['vocab_size']:,}",
                *(f"{100 * phase[name]:.2f}" for name in ("precision", "recall", "f1")),
                ", ".join(f"{number:,} {kind}" for kind, number in phase["changes"].items()),
                f"{phase['seconds']:.3f}",
            ]
            for phase in found["phases"]
        ]
        end = "converged" if found["converged"] else "not converged"
        rows.append(["", end, "", "", "", "", "in all", f"{found['seconds']:.3f}"])
        header = ["iteration", "phase", "types", "P %", "R %", "F1 %", "merges", "seconds"]
        table(header, rows)
        print(f"\nPeak memory of the whole process, data included: {found['peak MB']:,.0f} MB")
    save("rebpe", results)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        main()
