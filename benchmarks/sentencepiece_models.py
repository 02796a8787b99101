"""SentencePiece BPE models, trained here: words segmented differently than by `sentencepiece`.

Run: ``python -m benchmarks.sentencepiece_models``
"""

import sys
import time

from benchmarks.common import save, table

WORDS = 30_000
TRAINED_ON = 100_000
MODELS = {
    "English, byte fallback": ("en", {"vocab_size": 8_000, "byte_fallback": True}),
    "German": ("de", {"vocab_size": 16_000}),
    "Finnish, symbols": (
        "fi",
        {"vocab_size": 8_000, "user_defined_symbols": ["<sep>", "ssa", "ks", "▁ei"]},
    ),
}


def main() -> None:
    """Print how many words differ; exit with status 1 if any does."""
    import io

    import sentencepiece
    import wordfreq

    from morphgraph.tokeniser.loading import from_sentencepiece
    from morphgraph.tokeniser.merging import segment

    rows = []
    results = {}
    for name, (language, settings) in MODELS.items():
        shares = wordfreq.get_frequency_dict(language, wordlist="best")
        ranked = sorted(shares, key=lambda word: (-shares[word], word))
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(
                f"{word}\t{max(1, round(shares[word] * 1e8))}" for word in ranked[:TRAINED_ON]
            ),
            input_format="tsv",
            model_writer=model,
            model_type="bpe",
            minloglevel=2,
            **settings,
        )
        library = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        started = time.perf_counter()
        tokeniser = from_sentencepiece(model.getvalue(), f"{language}.model")
        loading = time.perf_counter() - started
        words = ranked[:WORDS]
        started = time.perf_counter()
        found = segment(tokeniser.graph, tokeniser.encode(words))
        seconds = time.perf_counter() - started
        expected = library.encode(words)
        differ = sum(
            [tokeniser.vocabulary_id(token) for token in found.tokens(number)] != expected[number]
            for number in range(len(words))
        )
        merges = tokeniser.graph.merge_count
        rows.append([name, f"{len(tokeniser.graph.types):,}", f"{merges:,}", f"{len(words):,}"])
        rows[-1] += [str(differ), f"{loading:.1f}", f"{seconds:.1f}"]
        results[name] = {"words": len(words), "merges": merges, "differ": differ}
    table(
        ["model", "types", "merges", "words", "differ", "loading, s", "encoding and cutting, s"],
        rows,
    )
    save("sentencepiece_models", results)
    if any(row["differ"] for row in results.values()):
        sys.exit("Some words are cut otherwise than by sentencepiece.")


if __name__ == "__main__":
    main()
