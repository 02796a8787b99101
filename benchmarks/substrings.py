"""FLOTA, WordPiece and Unigram on one thread; the last two compared to `tokenizers`.

Run: ``python -m benchmarks.substrings``
"""

from benchmarks.common import data_folder, in_turns, median, one_thread, save, table

WORDS = 50_000
ROUNDS = 9


def main() -> None:
    """Print words per second and ratios."""
    one_thread()
    import io

    import sentencepiece
    import wordfreq
    from tokenizers import models

    from morphgraph.segment.flota import Flota
    from morphgraph.segment.unigram import Unigram
    from morphgraph.segment.wordpiece import WordPiece
    from morphgraph.tokeniser.loading import load_vocabulary, read_vocabulary

    counts = wordfreq.get_frequency_dict("en")
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    words = [word for word in ranked if word.isascii() and word.isalpha()][:WORDS]
    gpt2 = load_vocabulary(data_folder() / "tokenizers" / "gpt2" / "vocab.json")
    bert = load_vocabulary(data_folder() / "vocabularies" / "bert-base-uncased.txt")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(f"{w}\t{max(1, round(counts[w] * 1e8))}" for w in words),
        model_writer=model,
        input_format="tsv",
        vocab_size=8_000,
        model_type="unigram",
        minloglevel=2,
    )
    unigram = Unigram(read_vocabulary(model.getvalue(), "en-8k.model"), single=False)
    wordpiece = WordPiece(bert)
    vocabulary = list(zip(unigram.types, unigram.log_probabilities, strict=True))
    library_unigram = models.Unigram(vocabulary, 0, False)
    library_wordpiece = models.WordPiece(bert.ids, unk_token="[UNK]")
    marked = ["▁" + word for word in words]

    segmenters = {
        "FLOTA, GPT-2": Flota(gpt2),
        "FLOTA k = 2, GPT-2": Flota(gpt2, 2),
        "FLOTA, BERT": Flota(bert),
        "FLOTA k = 2, BERT": Flota(bert, 2),
        "WordPiece, BERT": wordpiece,
        "Unigram, 8,000 types": unigram,
    }
    encoded = {name: segmenter.encode(words) for name, segmenter in segmenters.items()}
    contestants = {
        name: lambda name=name: segmenters[name].segment(encoded[name]) for name in segmenters
    }
    # Only the library's models, on words as its pipeline would pass them.
    peers = {
        "WordPiece, BERT": lambda: [library_wordpiece.tokenize(word) for word in words],
        "Unigram, 8,000 types": lambda: [library_unigram.tokenize(word) for word in marked],
    }
    for name, run in peers.items():
        expected = [[token.id for token in tokens] for tokens in run()]
        found = segmenters[name].segment(encoded[name])
        same = [found.tokens(number) for number in range(len(words))] == expected
        assert same, f"the segmentations of {name} differ"
    seconds = in_turns(
        ROUNDS, **contestants, **{f"{name} (tokenizers)": run for name, run in peers.items()}
    )
    ms = {name: 1000 * median(values) for name, values in seconds.items()}
    print(f"{len(words):,} distinct English words, encoded, one thread, medians of {ROUNDS}\n")
    rows = []
    for name in segmenters:
        peer = ms.get(f"{name} (tokenizers)")
        rows.append(
            [
                name,
                f"{ms[name]:.1f}",
                f"{len(words) / ms[name] * 1000:,.0f}",
                f"{peer:.1f}" if peer else "",
                f"{peer / ms[name]:.1f}" if peer else "",
            ]
        )
    table(["work", "ms", "words/s", "tokenizers, ms", "× ours"], rows)
    save("substrings", {"words": len(words), "milliseconds": ms})


if __name__ == "__main__":
    main()
