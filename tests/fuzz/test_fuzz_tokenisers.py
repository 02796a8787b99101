"""Damaged tokenisers, vocabularies, models, recipes and word counts: a result, or our own error."""

import json
import os
import re
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from effort import share_of
from fuzz.cases import run_cases
from fuzz.mutations import mutated
from merge_method_oracles import released_model
from model_folders import saved_files
from small import trained_pieces
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from morphgraph.core.files import parse_json
from morphgraph.core.plugins import installed
from morphgraph.corpus.counts import WordCounts, parse_word_counts
from morphgraph.corpus.pipelines import PIPELINES, prepare
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.formats.loading import load_tokeniser, load_vocabulary, vocabulary_of
from morphgraph.formats.recipe import read_recipe, replay, write_recipe
from morphgraph.kernels import DROPPED
from morphgraph.segment.bte import Bte
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.flota import First, Flota, Longest
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import read_model, write_model
from morphgraph.segment.segmenter import method_on
from morphgraph.segment.training import train, training_of
from morphgraph.segment.trimmed import token_counts
from morphgraph.segment.unigram import Unigram
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import UNKNOWN
from tests.tokeniser.conftest import byte_level, metaspace, suffix

pytestmark = pytest.mark.fuzz

CASES = share_of(8_000)
"""Damaged files, all kinds together."""

COUNTS = {"undo": 50, "undoing": 20, "doing": 30, "do": 90, "redo": 12, "né": 3, "anna": 5}
WORDS = ["undoing", "re-doing it", "né", "e\u0301👩‍👧x", "", "日本 <unk>", "abababab" * 5]


def _trained(model, trainer, pre_tokenizer, normalizer=None):
    library = Tokenizer(model)
    library.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        library.normalizer = normalizer
    library.decoder = decoders.ByteLevel()
    library.train_from_iterator([word for word, n in COUNTS.items() for _ in range(n)], trainer)
    return json.dumps(json.loads(library.to_str()), ensure_ascii=False).encode()


def _wordpiece():
    trainer = trainers.WordPieceTrainer(
        vocab_size=50, special_tokens=["[UNK]", "[CLS]"], show_progress=False
    )
    pipeline = pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer()
    return _trained(models.WordPiece(unk_token="[UNK]"), trainer, *pipeline)


def _unigram():
    trainer = trainers.UnigramTrainer(
        vocab_size=40, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )
    return _trained(models.Unigram(), trainer, pre_tokenizers.Metaspace(), normalizers.NFC())


def _sentencepiece(kind, size, **settings):
    lines = [" ".join([word] * n) for word, n in COUNTS.items()] * 3
    return trained_pieces(lines, kind, size, **settings)


def _bte():
    types = {text: n for n, text in enumerate(["<unk>", *"abdeinoru", "un", "do", "undo", "ing"])}
    model = {"type": "BTE", "unk_token": "<unk>", "vocab": {**types, "g": 50}}
    model["merges"] = [["d", "o"], ["u", "n"], ["un", "d", "o"], ["i", "n", "g"]]
    special = {"id": 0, "content": "<unk>", "special": True}
    pipeline = {"normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "Whitespace"}}
    return json.dumps(
        {"version": "1.0", "added_tokens": [special], **pipeline, "model": model}
    ).encode()


def _model(method):
    size = 40 if method in ("unigram", "wordpiece") else 265
    return write_model(train(method, COUNTS, size))


@cache
def base():
    """A tokeniser that recipes are replayed on."""
    return from_tokenizer_json(metaspace("always").to_str().encode(), "base.json")


def _offered(method):
    given = {"threshold": 40} if method == "trimmed" else {}
    return write_model(method_on(base(), method, given, WordCounts.from_mapping(COUNTS)))


def _recipe():
    tokeniser = base().fork()
    merges = [*tokeniser.graph.merges().values()]
    types = tokeniser.graph.types
    tokeniser.graph.knockout([types[merges[2].result]])
    first = types[merges[0].result]
    steps = json.loads(write_recipe(tokeniser))
    steps["steps"].append({"edit": "anneal", "merges": [[first, first]], "atoms": ["x"]})
    return json.dumps(steps).encode()


def check_segmenter(segmenter):
    """Use all of a segmenter's protocol; what it finds must be sound."""
    assert segmenter.vocabulary_size >= 0
    assert segmenter.signature()
    assert segmenter.name and segmenter.parameters is not None
    for bare in (False, True):
        words = segmenter.encode(WORDS, bare=bare)
        found = segmenter.segment(words)
        count = len(words.atoms)
        assert len(found.token_at) == len(found.closed_by) == len(words.gap_position) == count
        tokens = found.token_at[(found.token_at >= 0) & (found.token_at != UNKNOWN)]
        assert found.token_at.min(initial=0) >= DROPPED
        assert tokens.max(initial=-1) < len(segmenter.types)
        assert found.closed_by.min(initial=0) >= -1
        inside = np.append(found.closed_by, -1)[:count] >= 0
        assert (inside == (found.token_at == -1)).all()
        for number in range(len(words)):
            for atom, token in found.token_ends(number):
                assert isinstance(segmenter.token_text(words, atom, token), str)
            found.splits(number)


def use_tokeniser(tokeniser):
    bte = Bte(tokeniser)
    check_segmenter(bte)
    check_segmenter(Dropout(tokeniser, 0.5, 1))
    check_segmenter(First(bte, 1))
    assert len(tokeniser.readable_types) == len(tokeniser.graph.types)
    tokeniser.missing_atoms(WORDS)
    tokeniser.search("do")
    for name, data in saved_files(tokeniser).items():
        if name.startswith("token"):
            load_tokeniser({name: data})


def use_vocabulary(vocabulary):
    assert vocabulary.vocabulary_size == len(vocabulary.types)
    greedy = Greedy(vocabulary)
    for segmenter in (greedy, Flota(vocabulary, 2), WordPiece(vocabulary), Longest(greedy, 2)):
        check_segmenter(segmenter)
    if vocabulary.scores is not None:
        check_segmenter(Unigram(vocabulary))
    SubwordVocabulary.from_document(json.loads(json.dumps(vocabulary.document())))


def read_tokeniser(data):
    tokeniser = load_tokeniser({"tokenizer.json": data})
    use_tokeniser(tokeniser)
    use_vocabulary(vocabulary_of(tokeniser))


def read_sentencepiece(data):
    use_tokeniser(load_tokeniser({"spiece.model": data}))


def read_codes(data):
    use_tokeniser(load_tokeniser({"codes": data}))


def read_types(name):
    def read(data):
        use_vocabulary(load_vocabulary({name: data}))

    return read


def read_any_json(data):
    read_types("tokenizer.json")(data)


def read_saved(data):
    segmenter = read_model(data, "model.json")
    check_segmenter(segmenter)
    write_model(segmenter)


def read_steps(data):
    tokeniser = base().fork()
    replay(tokeniser, read_recipe(data, "recipe.json"), "recipe.json")
    check_segmenter(Bte(tokeniser))
    saved_files(tokeniser)


def read_counts(data):
    counts = parse_word_counts(data, "counts.tsv")
    assert counts.total > 0
    prepare("plain", PIPELINES["knockout"].words(counts))
    token_counts(base(), counts)


def read_released(data):
    [reader] = installed().select(group="morphgraph.released", name="picky")
    check_segmenter(reader.load()(parse_json(data, "picky.json"), "picky.json"))


@cache
def _vocabulary_and_merges():
    model = json.loads(byte_level(False).to_str())["model"]
    merges = "\n".join(" ".join(parts) for parts in model["merges"])
    vocabulary = json.dumps(model["vocab"], ensure_ascii=False)
    return vocabulary.encode(), f"#version: 0.2\n{merges}\n".encode()


def read_vocab_json(data):
    files = {"vocab.json": data, "merges.txt": _vocabulary_and_merges()[1]}
    use_tokeniser(load_tokeniser(files))


def read_merges(data):
    vocabulary = _vocabulary_and_merges()[0]
    use_tokeniser(load_tokeniser({"vocab.json": vocabulary, "merges.txt": data}))


LIST = "[UNK]\n[CLS]\nun\n##do\ndo\n##ing\nre\nn\n##é\n日\n##b\na\n##a\n"
MARKED_LIST = "<unk>\n▁un\ndo\ning\n▁\nu\nn\nd\n▁re\né\n<0x41>\nab\n"
BYTE_LIST = "<unk>\nĠun\ndo\nĠ\nu\nn\nd\nÃ©\nÃ\n©\nab\n"
CODES = "#version: 0.2\nu n\nd o</w>\nn é</w>\nun do</w>\ni n\nin g</w>\nd o\ndo ing</w>\n"
COUNTED_CODES = "u n 90\nd o</w> 80\nn é</w> 9\nun do</w> 7\ni n 7\nin g</w> 6\n"
WORD_COUNTS = "undo\t50\nundoing 20\nnew york\t7\ndon't 3\nco-op\t0\n日本\t9\nné 4\n"

BPE = {"kind": "bpe", "size": 290, "byte_fallback": True}
UNIGRAM = {"kind": "unigram", "size": 30, "hard_vocab_limit": False}
UNIGRAM |= {"normalization_rule_name": "identity"}

SEEDS = {
    "byte-level tokenizer.json": (byte_level(False).to_str().encode, read_tokeniser),
    "metaspace tokenizer.json": (metaspace("always").to_str().encode, read_tokeniser),
    "suffix tokenizer.json": (suffix().to_str().encode, read_tokeniser),
    "BTE tokeniser": (_bte, read_tokeniser),
    "byte-level tokenizer.json as types": (byte_level(False).to_str().encode, read_any_json),
    "suffix tokenizer.json as types": (suffix().to_str().encode, read_any_json),
    "WordPiece tokenizer.json": (_wordpiece, read_any_json),
    "Unigram tokenizer.json": (_unigram, read_any_json),
    "vocab.json with merges.txt": (lambda: _vocabulary_and_merges()[0], read_vocab_json),
    "merges.txt with vocab.json": (lambda: _vocabulary_and_merges()[1], read_merges),
    "vocab.json": (lambda: _vocabulary_and_merges()[0], read_types("vocab.json")),
    "SentencePiece Unigram": (partial(_sentencepiece, **UNIGRAM), read_types("spiece.model")),
    "SentencePiece BPE with bytes": (partial(_sentencepiece, **BPE), read_types("spiece.model")),
    "SentencePiece BPE with merges": (partial(_sentencepiece, **BPE), read_sentencepiece),
    "list with ##": (LIST.encode, read_types("types.txt")),
    "list with ▁": (MARKED_LIST.encode, read_types("types.txt")),
    "list with Ġ": (BYTE_LIST.encode, read_types("types.txt")),
    "codes of subword-nmt": (CODES.encode, read_codes),
    "codes of fastBPE": (COUNTED_CODES.encode, read_codes),
    "recipe": (_recipe, read_steps),
    "word counts": (WORD_COUNTS.encode, read_counts),
    "released Picky": (lambda: json.dumps(released_model()).encode(), read_released),
    **{f"model of {method}": (partial(_offered, method), read_saved) for method in METHODS.offered},
    "model of WordPiece": (
        lambda: write_model(WordPiece(load_vocabulary({"types.txt": LIST.encode()}))),
        read_saved,
    ),
    **{
        f"trained model of {method}": (partial(_model, method), read_saved)
        for method in METHODS.trained
        if not training_of(method)[1].several
    },
}
EACH = max(50, -(-CASES // len(SEEDS)))  # of fewer, none may be fit to be read


@cache
def seed_of(name):
    return SEEDS[name][0]()


@cache
def donors():
    names = ("metaspace tokenizer.json", "Unigram tokenizer.json", "BTE tokeniser", "list with ##")
    return tuple(seed_of(name) for name in names)


WITH_KERNELS = "BTE or byte-level or list or SentencePiece or model or indices"
CHECKED = "NUMBA_BOUNDSCHECK" in os.environ


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.skipif(CHECKED, reason="it would start itself")
def test_no_kernel_reads_or_writes_out_of_bounds(tmp_path):
    """The same once more, with kernels that are compiled to check every index."""
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(tmp_path),  # those for use must not be mixed up with these
        "MORPHGRAPH_FUZZ_SECONDS": "60",  # compiling takes its time
    }
    options = ["-p", "no:cacheprovider", "-k", WITH_KERNELS, __file__]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-3000:]
    passed = re.search(r"(\d+) passed", ended.stdout)
    assert passed and int(passed[1]) >= 20, ended.stdout[-500:]


@pytest.mark.skipif(not CHECKED, reason="only the test above has such kernels")
def test_indices_are_checked():
    from morphgraph.kernels.trie import keep_tokens

    none = np.zeros(0, np.int32)
    with pytest.raises(IndexError):
        keep_tokens(np.array([0, 5]), np.zeros(5, np.uint8), 1, False, none, none)


@pytest.mark.timeout(120, method="thread")  # ends what hangs in a kernel, too
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files_give_a_result_or_our_error(name):
    data, read = seed_of(name), SEEDS[name][1]
    read(data)
    outcome = run_cases(name, lambda seed: read(mutated(seed, data, donors())), EACH)
    # Else the damage would be too much, or too little, to try anything.
    assert outcome.read > EACH // 50, outcome
    assert outcome.refused > EACH // 10, outcome
