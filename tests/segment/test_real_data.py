"""Exactness on real tokenisers and words: the `tokenizers` library, and the naive oracle."""

import csv
import random

import oracles
import pytest
import rebpe_oracle
from effort import one_of, share_of
from strategies import check_graph, file_ids
from tokenizers import Tokenizer, models, pre_tokenizers

import morphgraph as mg
from morphgraph.formats.loading import load_tokeniser
from morphgraph.tokeniser.merging import segment


def library_ids(library, texts):
    """The segmentation of the `tokenizers` library."""
    encodings = library.encode_batch_fast(list(texts), add_special_tokens=False)
    return [encoding.ids for encoding in encodings]


def assert_same(tokeniser, library, words):
    """All words have the same ids, in running text and bare."""
    assert file_ids(tokeniser, words, bare=True) == library_ids(library, words)
    expected = library_ids(library, [" " + word for word in words])
    assert file_ids(tokeniser, words, bare=False) == expected


@pytest.fixture(scope="module")
def german_words(data_folder):
    """Every word of MorphyNet German: bases and derivations."""
    path = data_folder / "references/morphynet/deu.derivational.v1.tsv"
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    return list(dict.fromkeys(word for row in rows for word in row[:2]))


def test_morphynet_german(data_folder, german_words):
    path = data_folder / "tokenizers/oscar-de-40k/tokenizer.json"
    assert len(german_words) > 30_000
    assert_same(load_tokeniser(path), Tokenizer.from_file(str(path)), german_words)


def titles(folder):
    """All titles of all files."""
    found = []
    for path in sorted((folder / "text").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            found += [row["text"] for row in csv.DictReader(file)]
    return found


def test_arxiv_titles(data_folder):
    folder = data_folder / "tokenizers/gpt2"
    tokeniser = load_tokeniser(folder)
    model = models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
    library = Tokenizer(model)
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    texts = titles(data_folder)
    assert len(texts) == 48_000
    assert file_ids(tokeniser, texts, bare=True) == library_ids(library, texts)
    words = sorted({word for text in texts for word in text.split()})
    assert len(words) > 30_000
    assert_same(tokeniser, library, words)


@pytest.mark.parametrize("size", one_of(400, 1, 7, 50, 1000, 2500, 5000))
def test_random_knockouts(data_folder, german_words, size):
    """After knocking out a random set, the segmentation is the naive oracle's."""
    chosen = random.Random(size)
    tokeniser = load_tokeniser(data_folder / "tokenizers/oscar-de-40k/tokenizer.json")
    graph = tokeniser.graph
    types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
    # Half of the set are short types, which many others are made from.
    gone = {*chosen.sample(types[:8000], (size + 1) // 2)}
    gone |= {*chosen.sample(sorted(set(types) - gone), size - len(gone))}
    assert len(gone) == size
    merges = {m.rank: m for m in map(graph.merge, graph.merge_ids())}
    plain = {
        rank: tuple(graph.types[part] for part in merge.parts) for rank, merge in merges.items()
    }
    lookup = oracles.Lookup(rebpe_oracle.substituted(plain, gone))
    graph.knockout(gone)
    check_graph(graph)
    words = chosen.sample([word for word in german_words if word.isalpha()], 300)
    encoded = tokeniser.encode(words)
    found = segment(graph, encoded)
    expected = [lookup.segment(encode(word)) for word in words]
    assert [[graph.types[t] for t in found.tokens(n)] for n in range(len(words))] == expected
    untouched = segment(graph.original(), encoded)
    if size >= 400:
        assert len(found.changed_words(untouched)) > 0, "a set that changes nothing tests nothing"


def encode(word):
    """A German word as GPT-2's characters, with the space before it, by the library."""
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    return "".join(piece for piece, _ in pieces.pre_tokenize_str(word))


def test_dropout_on_a_tokeniser_with_several_added_tokens_is_exported(data_folder, tmp_path):
    """Of texts with added tokens in them nothing is drawn, which is no difference."""
    dropout = mg.load(data_folder / "tokenizers/oscar-de-40k").method("dropout", p=0.1)
    made = dropout.export(tmp_path / "out")
    assert (made.checked_words, made.checked_sentences) == (share_of(10_000), share_of(1_000))
