"""Training Picky BPE and Scaffold-BPE compared to BPE, and segmenting with dropout, on one thread.

Run: ``python -m benchmarks.remedies``
"""

from benchmarks.common import data_folder, in_turns, median, one_thread, save, table

LANGUAGES = ["en", "de", "fi", "ru"]
WORDS = 300_000
TYPES = 8192
ROUNDS = 7
TRAINING_BAR = 1.5  # × our own BPE
DROPOUT_BAR = 300_000  # words a second


def main() -> None:
    """Print seconds, ratios and words per second."""
    one_thread()
    import numpy as np
    import wordfreq

    from benchmarks.train import collect_words
    from morphgraph.corpus.counts import WordCounts
    from morphgraph.segment.dropout import Dropout
    from morphgraph.segment.picky import train_picky
    from morphgraph.segment.training import train_bpe
    from morphgraph.segment.trimmed import train_scaffold
    from morphgraph.tokeniser.loading import load_tokeniser
    from morphgraph.tokeniser.merging import segment

    listed = collect_words(LANGUAGES, WORDS)
    counts = WordCounts(listed, np.ones(len(listed), np.int64))
    training = in_turns(
        ROUNDS,
        bpe=lambda: train_bpe(counts, vocab_size=TYPES),
        picky=lambda: train_picky(counts, vocab_size=TYPES, threshold=0.9),
        strict=lambda: train_picky(counts, vocab_size=TYPES, threshold=0.6),
        scaffold=lambda: train_scaffold(counts, vocab_size=TYPES),
    )
    tokeniser = load_tokeniser(data_folder() / "tokenizers" / "oscar-de-40k")
    german = [word for word in wordfreq.get_frequency_dict("de", "large") if word.isalpha()]
    words = tokeniser.encode(german)
    dropout = Dropout(tokeniser, p=0.1)
    segmenting = in_turns(
        ROUNDS,
        bpe=lambda: segment(tokeniser.graph, words, threads=1),
        dropout=lambda: dropout.segment(words, threads=1),
    )
    seconds = {name: median(values) for name, values in training.items()}
    speed = {name: len(words) / median(values) for name, values in segmenting.items()}
    print(
        f"{WORDS:,} distinct words ({', '.join(LANGUAGES)}), {TYPES:,} types; oscar-de-40k on "
        f"{len(words):,} words; one thread, medians of {ROUNDS} rounds in turn\n"
    )
    names = {
        "bpe": "train BPE",
        "picky": "train Picky BPE, T = 0.9",
        "strict": "train Picky BPE, T = 0.6",
        "scaffold": "train Scaffold-BPE",
    }
    table(
        ["work", "seconds", "× BPE"],
        [
            [shown, f"{seconds[name]:.3f}", f"{seconds[name] / seconds['bpe']:.2f}"]
            for name, shown in names.items()
        ],
    )
    print()
    table(
        ["work", "words a second"],
        [
            ["segment", f"{speed['bpe']:,.0f}"],
            ["segment with dropout, p = 0.1", f"{speed['dropout']:,.0f}"],
        ],
    )
    held = seconds["picky"] <= TRAINING_BAR * seconds["bpe"] and speed["dropout"] >= DROPOUT_BAR
    print(
        f"\nBars: Picky BPE ≤ {TRAINING_BAR} × BPE, dropout ≥ {DROPOUT_BAR:,} words a second: "
        + ("held" if held else "missed")
    )
    save("remedies", {"seconds": seconds, "words_a_second": speed})


if __name__ == "__main__":
    main()
