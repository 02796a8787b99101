"""The comparison: eight methods on 1,000 words, cells, scores, intervals and agreement.

Run: ``python -m benchmarks.compare``
"""

import time

from benchmarks.common import data_folder, median, one_thread, save, table

METHODS = (
    "bpe",
    "dropout(p=0.1)",
    "dropout(p=0.3)",
    "trimmed(threshold=100)",
    "flota",
    "first(k=2)",
    "longest(k=2)",
    "greedy",
)


def main() -> None:
    """Print seconds."""
    one_thread()
    from morphgraph.corpus.counts import wordfreq_counts
    from morphgraph.reference.readers import read_reference
    from morphgraph.score.comparison import Comparison
    from morphgraph.segment.method import parse_method
    from morphgraph.segment.segmenter import method_on
    from morphgraph.tokeniser.loading import load_tokeniser

    data = data_folder()
    tokeniser = load_tokeniser(data / "tokenizers" / "oscar-de-40k")
    reference = read_reference(data / "references" / "morphynet" / "deu.derivational.v1.tsv")
    counts = wordfreq_counts("de")
    started = time.perf_counter()
    segmenters = [method_on(tokeniser, *parse_method(text), counts) for text in METHODS]
    made = time.perf_counter() - started
    entries = reference.entries[:1000]
    seconds = []
    for _ in range(8):
        started = time.perf_counter()
        comparison = Comparison(
            segmenters, [entry.word for entry in entries], [entry.morphs for entry in entries]
        )
        _ = comparison.rows, comparison.summaries, comparison.agreement
        seconds.append(time.perf_counter() - started)
    results = {
        "make the eight methods, once": made,
        "compare 1,000 words, first time": seconds[0],
        "compare 1,000 words, median after it": median(seconds[1:]),
    }
    print("oscar-de-40k, MorphyNet German derivations, one thread\n")
    table(["work", "seconds"], [[name, f"{value:.2f}"] for name, value in results.items()])
    save("compare", results)


if __name__ == "__main__":
    main()
