"""Segmenting distinct words on one thread, compared to Gigatoken and the `tokenizers` library.

Run: ``python -m benchmarks.segment``
"""

from benchmarks.common import data_folder, in_turns, median, one_thread, save, table

WORDS = 47_000
ROUNDS = 9


def main() -> None:
    """Print milliseconds and ratios."""
    one_thread()
    import json

    import gigatoken
    import wordfreq
    from tokenizers import Tokenizer, models

    from morphgraph.tokeniser.byte_level import encode
    from morphgraph.tokeniser.loading import load_tokeniser
    from morphgraph.tokeniser.merging import segment

    path = data_folder() / "tokenizers" / "oscar-de-40k" / "tokenizer.json"
    tokeniser = load_tokeniser(path)
    model = json.loads(path.read_text())["model"]
    merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"]]
    known = set(wordfreq.get_frequency_dict("de", "large"))
    derivations = data_folder() / "references" / "morphynet" / "deu.derivational.v1.tsv"
    lemmas = {line.split("\t")[1] for line in derivations.read_text().splitlines()}
    lemmas = {word for word in lemmas if word.isalpha()}
    rest = sorted(word for word in known - lemmas if word.isalpha())
    step = max(1, len(rest) // (WORDS - len(lemmas)))
    words = sorted({*lemmas, *rest[::step]})[:WORDS]
    spaced = [" " + word for word in words]
    atoms = [encode(text) for text in spaced]

    def peer(cache: int, full: bool) -> Tokenizer:
        made = Tokenizer(models.BPE(model["vocab"], merges, cache_capacity=cache))
        if full:
            made.pre_tokenizer = Tokenizer.from_file(str(path)).pre_tokenizer
        return made

    # One for each round, because it caches segmentations; its first call prepares it.
    fresh = [gigatoken.Tokenizer.from_json(path.read_bytes()) for _ in range(ROUNDS + 2)]
    for each in fresh:
        each.encode("a")
    text = "".join(spaced)

    uncached, warm, full = peer(0, False), peer(1_000_000, False), peer(0, True)
    encoded = tokeniser.encode(words)
    # Gigatoken's fastest input: texts of a thousand pre-split words, so that results are few.
    texts = [atoms[i : i + 1000] for i in range(0, len(atoms), 1000)]
    seconds = in_turns(
        ROUNDS,
        uncached=lambda: uncached.encode_batch_fast(texts, is_pretokenized=True),
        warm=lambda: warm.encode_batch_fast(texts, is_pretokenized=True),
        ours_from_strings=lambda: segment(tokeniser.graph, tokeniser.encode(words), threads=1),
        # After a method that reads the same tables, so that caches are warm.
        ours=lambda: segment(tokeniser.graph, encoded, threads=1),
        gigatoken=lambda: fresh.pop().encode(text),
        full=lambda: full.encode_batch_fast(spaced),
    )
    ids = [t for found in uncached.encode_batch_fast(atoms) for t in found.ids]
    ours = segment(tokeniser.graph, encoded).token_at
    vocabulary = tokeniser.vocabulary_ids
    assert [vocabulary[t] for t in ours[ours >= 0]] == ids, "the segmentations differ"
    assert fresh.pop().encode(text).tolist() == ids, "Gigatoken's segmentation differs"
    ms = {name: 1000 * median(values) for name, values in seconds.items()}
    print(
        f"{len(words):,} distinct words, oscar-de-40k, one thread, "
        f"medians of {ROUNDS} rounds in turn\n"
    )
    rows = [
        ["morphgraph, with the merge behind each join", f"{ms['ours']:.1f}", "1.0"],
        ["tokenizers, no cache", f"{ms['uncached']:.1f}", f"{ms['uncached'] / ms['ours']:.1f}"],
        ["tokenizers, warm cache", f"{ms['warm']:.1f}", f"{ms['warm'] / ms['ours']:.1f}"],
        ["morphgraph, from strings", f"{ms['ours_from_strings']:.1f}", "1.0"],
        [
            "Gigatoken, from one string, fresh",
            f"{ms['gigatoken']:.1f}",
            f"{ms['gigatoken'] / ms['ours_from_strings']:.2f}",
        ],
        [
            "tokenizers, from strings, no cache",
            f"{ms['full']:.1f}",
            f"{ms['full'] / ms['ours_from_strings']:.1f}",
        ],
    ]
    table(["work", "ms", "× ours"], rows)
    save("segment", {"words": len(words), "milliseconds": ms})


if __name__ == "__main__":
    main()
