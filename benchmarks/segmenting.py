"""Segmenting by kernels and exported tokenisers, beside Gigatoken, tokenizers, sentencepiece."""

import io
import json
import os
import tempfile
from functools import partial
from typing import Any

import gigatoken
import sentencepiece
import wordfreq
from tokenizers import Tokenizer, models

import morphgraph as mg
from benchmarks import GERMAN_BPE, GERMAN_GOLD, data, in_turns, table
from morphgraph.formats.loading import load_tokeniser, load_vocabulary
from morphgraph.segment.flota import Flota
from morphgraph.segment.method import parse_method
from morphgraph.segment.unigram import Unigram
from morphgraph.segment.wordpiece import WordPiece
from morphgraph.tokeniser.merging import segment as segment_by_merges
from morphgraph.tokeniser.preprocess import printable_bytes

EXPORTED = ("flota", "flota(k=2)", "longest(k=2)", "dropout(p=0.1)")


def segment(words: int = 47_000, rounds: int = 9) -> None:
    """Distinct German words on one thread, beside Gigatoken and the `tokenizers` library."""
    path = data(GERMAN_BPE) / "tokenizer.json"
    tokeniser = load_tokeniser(path)
    model = json.loads(path.read_text())["model"]
    merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"]]
    lemmas = {line.split("\t")[1] for line in data(GERMAN_GOLD).read_text().splitlines()}
    lemmas = {word for word in lemmas if word.isalpha()}
    known = set(wordfreq.get_frequency_dict("de", "large"))
    rest = sorted(word for word in known - lemmas if word.isalpha())
    listed = sorted({*lemmas, *rest[:: max(1, len(rest) // max(1, words - len(lemmas)))]})[:words]
    spaced = [" " + word for word in listed]
    atoms = [printable_bytes(text) for text in spaced]

    def peer(cache: int, full: bool) -> Tokenizer:
        library = Tokenizer(models.BPE(model["vocab"], merges, cache_capacity=cache))
        if full:
            library.pre_tokenizer = Tokenizer.from_file(str(path)).pre_tokenizer
        return library

    # One for each round, because it caches segmentations; its first call prepares it.
    fresh = [gigatoken.Tokenizer.from_json(path.read_bytes()) for _ in range(rounds + 2)]
    for each in fresh:
        each.encode("a")
    text = "".join(spaced)
    uncached, warm, full = peer(0, False), peer(1_000_000, False), peer(0, True)
    encoded = tokeniser.encode(listed)
    # The peer's fastest input: texts of a thousand pre-split words, so that results are few.
    texts = [atoms[i : i + 1000] for i in range(0, len(atoms), 1000)]
    graph = tokeniser.graph
    seconds = in_turns(
        rounds,
        {
            "uncached": lambda: uncached.encode_batch_fast(texts, is_pretokenized=True),
            "warm": lambda: warm.encode_batch_fast(texts, is_pretokenized=True),
            "strings": lambda: segment_by_merges(graph, tokeniser.encode(listed), threads=1),
            # After a method that reads the same tables, so that caches are warm.
            "ours": lambda: segment_by_merges(graph, encoded, threads=1),
            "gigatoken": lambda: fresh.pop().encode(text),
            "full": lambda: full.encode_batch_fast(spaced),
        },
    )
    ids = [t for found in uncached.encode_batch_fast(atoms) for t in found.ids]
    ours = segment_by_merges(graph, encoded).token_at
    vocabulary = tokeniser.vocabulary_ids
    assert [vocabulary[t] for t in ours[ours >= 0]] == ids, "the segmentations differ"
    assert fresh.pop().encode(text).tolist() == ids, "Gigatoken's segmentation differs"
    ms = {name: 1000 * value for name, value in seconds.items()}
    print(f"{len(listed):,} distinct words, oscar-de-40k, one thread, medians of {rounds}\n")
    rows = [
        (title, ms[name], ms[name] / ms[first])
        for title, name, first in (
            ("morphgraph, with the merge behind each join", "ours", "ours"),
            ("tokenizers, no cache", "uncached", "ours"),
            ("tokenizers, warm cache", "warm", "ours"),
            ("morphgraph, from strings", "strings", "strings"),
            ("Gigatoken, from one string, fresh", "gigatoken", "strings"),
            ("tokenizers, from strings, no cache", "full", "strings"),
        )
    ]
    table(["work", "ms {:.1f}", "× ours {:.2f}"], rows)


def substrings(words: int = 50_000, rounds: int = 9) -> None:
    """FLOTA, WordPiece and Unigram on one thread; the last two beside `tokenizers`."""
    counts = wordfreq.get_frequency_dict("en")
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    listed = [word for word in ranked if word.isascii() and word.isalpha()][:words]
    gpt2 = load_vocabulary(data("tokenizers/gpt2/vocab.json"))
    bert = load_vocabulary(data("vocabularies/bert-base-uncased.txt"))
    trained = train_unigram(counts, listed)
    unigram = Unigram(load_vocabulary({"en-8k.model": trained}), single=False)
    vocabulary = list(zip(unigram.types, unigram.log_probabilities, strict=True))
    library_unigram = models.Unigram(vocabulary, 0, False)
    library_wordpiece = models.WordPiece(bert.ids, unk_token="[UNK]")
    marked = ["▁" + word for word in listed]
    segmenters = {
        "FLOTA, GPT-2": Flota(gpt2),
        "FLOTA, BERT": Flota(bert),
        "WordPiece, BERT": WordPiece(bert),
        "Unigram, 8,000 types": unigram,
    }
    encoded = {name: segmenter.encode(listed) for name, segmenter in segmenters.items()}
    ours = {name: partial(segmenters[name].segment, encoded[name]) for name in segmenters}
    # Only the library's models, on words as its pipeline would pass them.
    peers = {
        "WordPiece, BERT": lambda: [library_wordpiece.tokenize(word) for word in listed],
        "Unigram, 8,000 types": lambda: [library_unigram.tokenize(word) for word in marked],
    }
    for name, run in peers.items():
        expected = [[token.id for token in tokens] for tokens in run()]
        segmented = ours[name]()
        same = [segmented.tokens(number) for number in range(len(listed))] == expected
        assert same, f"the segmentations of {name} differ"
    library = {f"{name} (tokenizers)": run for name, run in peers.items()}
    seconds = in_turns(rounds, {**ours, **library})
    print(f"{len(listed):,} distinct English words, encoded, one thread, medians of {rounds}\n")
    rows: list[list[Any]] = []
    for name in segmenters:
        beside = seconds[f"{name} (tokenizers)"] / seconds[name] if name in peers else ""
        rows.append([name, len(listed) / seconds[name], beside])
    table(["work", "words/s {:,.0f}", "tokenizers, × ours {:.1f}"], rows)


def train_unigram(shares: dict[str, float], words: list[str]) -> bytes:
    """Train a model of 8,000 types from the frequencies of some words."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(f"{word}\t{max(1, round(shares[word] * 1e8))}" for word in words),
        input_format="tsv",
        model_writer=model,
        minloglevel=2,
        vocab_size=8_000,
        model_type="unigram",
    )
    return model.getvalue()


def exported(words: int = 60_000, rounds: int = 5) -> None:
    """Exported tokenisers in transformers, in Python and with the kernels, beside its own BPE."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    # Reads the variable as it is imported.
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    path = data(GERMAN_BPE) / "tokenizer.json"
    frequencies = wordfreq.get_frequency_dict("de", "large")
    german = sorted(word for word in frequencies if word.isalpha())
    listed = german[:: len(german) // words][:words]
    texts = [" ".join(["", *listed[at : at + 20]]) for at in range(0, len(listed), 20)]
    tokeniser = mg.load(path)
    removed = tokeniser.knock_out(mg.read_gold("demo:de")).tokeniser
    leaving: dict[str, Any] = {"BPE with merges of three parts": removed}
    for spelled in EXPORTED:
        name, parameters = parse_method(spelled)
        leaving[spelled] = tokeniser.method(name, **parameters)

    def encode_uncached(loaded: Any) -> None:
        loaded._drawing._known.clear()
        loaded(texts)

    # One for each round, because it caches segmentations.
    fresh = [
        PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_file(str(path)))
        for _ in range(rounds + 1)
    ]
    contestants: dict[str, Any] = {"`tokenizers`, BPE": lambda: fresh.pop()(texts)}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HF_MODULES_CACHE"] = f"{folder}/modules"
        for number, (name, segmenter) in enumerate(leaving.items()):
            segmenter.export(f"{folder}/m{number}", words=listed[:100])
            for where in ("Python", "kernels"):
                if where == "kernels" and name.startswith("dropout"):
                    continue  # its samples are drawn in Python
                loaded = AutoTokenizer.from_pretrained(
                    f"{folder}/m{number}", trust_remote_code=True
                )
                if where == "Python":
                    loaded._drawing._kernel = False
                contestants[f"{name}, {where}"] = partial(encode_uncached, loaded)
    seconds = in_turns(rounds, contestants)
    first = next(iter(seconds.values()))
    print(
        f"{len(listed):,} distinct German words in {len(texts):,} texts, oscar-de-40k, one "
        f"thread, medians of {rounds} rounds in turn; nothing is looked up\n"
    )
    rows = [(name, took, len(listed) / took, took / first) for name, took in seconds.items()]
    speeds = ["words a second {:,.0f}", "× tokenizers {:.1f}"]
    table(["work", "seconds {:.2f}", *speeds], rows)
