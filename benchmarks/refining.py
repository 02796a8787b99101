"""Blame, knockout and ReBPE: seconds, and the peak memory of whole processes."""

import os
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import (
    ENGLISH_GOLD,
    GERMAN_BPE,
    GERMAN_GOLD,
    HUNGARIAN_GOLD,
    apart,
    data,
    in_turns,
    table,
)
from morphgraph.core.cache import Cache
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.formats.export import bpe_model, export_model, words_to_check
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.readers import read_reference
from morphgraph.refine.blame import blame
from morphgraph.refine.knockout import candidate_types, threshold_curve
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.segment.training import train
from morphgraph.tokeniser.merging import segment

REBPE = {
    "german": "oscar-de-40k, MorphyNet German derivations",
    "hungarian": "32,000 types trained on wordfreq's Hungarian, SIGMORPHON 2022 Hungarian (dev)",
}
TYPES = 32_000
LLM = {
    "o200k": "tokenizers/tiktoken/o200k_base.tiktoken",
    "Qwen 2.5": "tokenizers/qwen2.5",
    "DeepSeek V3": "tokenizers/deepseek-v3",
}


def knockout(entries: int = 1_000_000) -> None:
    """Blame, knockout and the threshold curve on MorphyNet German, and a click."""
    tokeniser = load_tokeniser(data(GERMAN_BPE))
    reference = read_reference(data(GERMAN_GOLD))
    benchmark = Benchmark.build(tokeniser, reference)
    graph = tokeniser.graph

    def segment_and_blame() -> None:
        blame(benchmark, segment(graph, benchmark.words, threads=1))

    def knock_out_and_score() -> float:
        started = time.perf_counter()
        before = segment(graph, benchmark.words, threads=1)
        benchmark.score(before, "morphemic", "types")
        graph.knockout(candidate_types(tokeniser, blame(benchmark, before), 0.5))
        benchmark.score(segment(graph, benchmark.words, threads=1), "morphemic", "types")
        taken = time.perf_counter() - started
        graph.undo()
        segment(graph, benchmark.words, threads=1)
        return taken

    blamed = blame(benchmark, segment(graph, benchmark.words))
    candidates = len(candidate_types(tokeniser, blamed, 0.5))
    quick = in_turns(9, {"blame": segment_and_blame})
    removing = statistics.median([knock_out_and_score() for _ in range(8)][1:])
    curve = in_turns(3, {"curve": lambda: threshold_curve(tokeniser, benchmark, blamed)})
    results = {
        f"segment {len(reference):,} entries, N and B of all merges": quick["blame"],
        f"knock out {candidates:,} types (R ≥ 0.5), blame and scores included": removing,
        "curve over 99 thresholds (two threads)": curve["curve"],
        f"click on a type, {entries:,} entries": _click_seconds(tokeniser, reference, entries),
    }
    print("oscar-de-40k, MorphyNet German derivations, one thread, medians\n")
    table(["work", "seconds {:.3f}"], results.items())


def _click_seconds(tokeniser: Any, reference: Any, entries: int) -> float:
    """Return the median seconds of 20 clicks, each on another of the worst types.

    A click tries the removal out, then removes the type; then follow the scores, blame and changed
    words of the new state. The reference is repeated up to ``entries``.
    """
    times = -(-entries // len(reference))
    repeated = replace(reference, entries=(reference.entries * times)[:entries])
    study = Study(tokeniser, Benchmark.build(tokeniser, repeated))
    seconds = []
    for type_ in candidate_types(tokeniser, study.blame())[:21]:
        started = time.perf_counter()
        study.preview([type_])
        tokeniser.graph.knockout([type_])
        study.blame()
        study.changed_words(study.before_last)
        seconds.append(time.perf_counter() - started)
    for _ in seconds:
        tokeniser.graph.undo()
    return statistics.median(seconds[1:])


def rebpe(runs: int = 5) -> None:
    """ReBPE to convergence on two real languages, phase by phase, on one core."""
    results = {}
    for case, title in REBPE.items():
        results[case] = measured = apart(run_rebpe, case, runs)
        print(f"\n{title}: {measured['entries']:,} entries, one core, medians of {runs} runs\n")
        rows = [
            (
                *(phase[key] for key in ("iteration", "phase", "vocab_size")),
                *(100 * phase[key] for key in ("precision", "recall", "f1")),
                ", ".join(f"{number:,} {kind}" for kind, number in phase["changes"].items()),
                phase["seconds"],
            )
            for phase in measured["phases"]
        ]
        end = "converged" if measured["converged"] else "not converged"
        rows.append(("", end, "", "", "", "", "in all", measured["seconds"]))
        percent = ["P % {:.2f}", "R % {:.2f}", "F1 % {:.2f}"]
        table(["iteration", "phase", "types {:,}", *percent, "merges", "seconds {:.3f}"], rows)
        print(f"\nPeak memory of the whole process, data included: {measured['megabytes']:,.0f} MB")


def run_rebpe(case: str, runs: int) -> dict[str, Any]:
    """Return the seconds of every phase in several runs, in this process, on one core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if case == "german":
        tokeniser, reference = load_tokeniser(data(GERMAN_BPE)), read_reference(data(GERMAN_GOLD))
    else:
        tokeniser = train("bpe", wordfreq_counts("hu"), TYPES).tokeniser
        reference = read_reference(data(HUNGARIAN_GOLD))
    benchmark = Benchmark.build(tokeniser, reference)
    seconds: list[list[float]] = []
    for _ in range(runs + 1):
        tokeniser.cache = Cache()  # each run computes all of it
        run = ReBPERun(tokeniser.fork(), benchmark)
        run.finish()
        seconds.append([phase.seconds for phase in run.phases])
    medians = [statistics.median(each) for each in zip(*seconds[1:], strict=True)]
    return {
        "entries": len(reference),
        "phases": [
            {**phase.to_dict(), "seconds": each}
            for phase, each in zip(run.phases, medians, strict=True)
        ],
        "seconds": statistics.median(sum(row) for row in seconds[1:]),
        "converged": run.converged,
    }


def llm(gemma: str = "", rounds: int = 3) -> None:
    """Load, export, click and ReBPE on tokenisers of language models, SIGMORPHON 2022 English.

    ``gemma``: the tokenizer.json of Gemma 2. Each work is a process of its own, of whose seconds of
    the processor, and peaks of memory, the least of some rounds is shown.
    """
    paths = {**{name: data(path) for name, path in LLM.items()}, "Gemma 2": Path(gemma)}
    least: dict[str, dict[str, Any]] = {}
    for name, path in paths.items():
        for work in ("load", "export", "click", "rebpe") if path.exists() and path.name else ():
            runs = [apart(run_llm, path, work) for _ in range(rounds)]
            least[f"{name}, {work}"] = {key: min(run[key] for run in runs) for key in runs[0]}
    keys = ("cpu_seconds", "work_seconds", "megabytes")
    rows = [[name, *map(run.__getitem__, keys)] for name, run in least.items()]
    seconds = ["seconds of the process {:,.2f}", "of the work itself {:,.2f}"]
    table(["work", *seconds, "peak MB {:,.2f}"], rows)


def run_llm(path: str, work: str) -> dict[str, Any]:
    """Return the seconds of the processor that a work took; of a click the median of 20."""
    started = time.process_time()
    tokeniser = load_tokeniser(path)
    if work in ("click", "rebpe"):
        reference = read_reference(data(ENGLISH_GOLD))
        started = time.process_time()
    if work == "click":
        return {"work_seconds": _click_seconds(tokeniser, reference, len(reference))}
    if work == "rebpe":
        ReBPERun(tokeniser, Benchmark.build(tokeniser, reference)).finish()
    if work == "export":
        started = time.process_time()
        export_model(bpe_model(tokeniser), words_to_check([]))
    return {"work_seconds": time.process_time() - started}
