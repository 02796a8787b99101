"""Saved models: every method loads again as it was; anything else is refused with a reason."""

import json
from functools import partial

import pytest
from refusals import refused
from strategies import token_texts

from morphgraph.core.errors import FileFormatError
from morphgraph.segment.bte import Bte, tokeniser_of_types
from morphgraph.segment.dropout import Dropout
from morphgraph.segment.flota import First, Flota, Longest
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import load_segmenter, read_model, write_model
from morphgraph.segment.training import train, training_of
from morphgraph.segment.trimmed import Trimmed
from morphgraph.segment.unigram import Unigram
from morphgraph.segment.wordpiece import Greedy, WordPiece
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

COUNTS = {"undo": 50, "undoing": 20, "doing": 30, "do": 90, "redo": 12, "né": 3}
WORDS = ["undoing", "redoing", "néo", "x", "日"]


def tokens(segmenter):
    return token_texts(segmenter, WORDS)


def same(again, segmenter):
    assert type(again) is type(segmenter)
    assert tokens(again) == tokens(segmenter)
    assert again.name == segmenter.name
    assert again.parameters == segmenter.parameters
    assert list(again.types) == list(segmenter.types)
    assert again.vocabulary_size == segmenter.vocabulary_size
    assert again.signature() == segmenter.signature()
    assert segmenter.signature().count("/") == 0, "a file is named without its folder"


SCORES = (-1.0, -2.0, -3.0, -4.0)
TYPES = SubwordVocabulary(
    ("un", "##do", "do", "[UNK]"), "##", special=frozenset({"[UNK]"}), unknown="[UNK]"
)
ALL = [
    Flota(TYPES),
    Flota(TYPES, 1),
    WordPiece(TYPES, longest_word=7),
    Greedy(TYPES),
    Unigram(TYPES, SCORES),
    Unigram(TYPES, SCORES, single=True),
    First(WordPiece(TYPES), 1),
    Longest(Flota(TYPES, 2), 1),
]
AB = tokeniser_of_types("folder/ab", ["a", "b", "ab"], ["ab"])
ALL += [Dropout(AB, 0.5, 2, queue=True), Trimmed(AB, [9, 9, 1], 3)]
MADE = [pytest.param(lambda one=one: one, id=one.signature()) for one in ALL]
MADE += [
    pytest.param(partial(train, m, COUNTS, 265), id=m)
    for m in METHODS.trained
    if not training_of(m)[1].several
]


@pytest.mark.parametrize("make", MADE)
def test_models_load_again(tmp_path, make):
    segmenter = make()
    data = write_model(segmenter)
    head = json.loads(data)
    assert (head["format"], head["version"]) == ("morphgraph model", 1)
    again = read_model(data, "m.json")
    same(again, segmenter)
    assert write_model(again) == data
    path = tmp_path / "m.json"
    path.write_bytes(data)
    same(load_segmenter(path), segmenter)


def test_an_edited_tokeniser_loads_again():
    tokeniser = tokeniser_of_types("und", ["u", "n", "d", "un", "und"], ["un", ("un", "d")])
    tokeniser.graph.knockout(["un"])
    edited = Bte(tokeniser)
    again = read_model(write_model(edited), "m.json")
    assert (again.name, again.signature()) == (edited.name, edited.signature())
    assert (again.vocabulary_size, tokens(again)) == (4, tokens(edited))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04K\x01.",
        b"[]",
        b'{"format": "morphgraph recipe"}',
        b'{"format": "morphgraph model", "version": 2}',
        b'{"format": "morphgraph model", "version": 1}',
        b'{"format": "morphgraph model", "version": 1, "method": "os.system"}',
        b'{"format": "morphgraph model", "version": 1, "method": "flota"}',
    ],
)
def test_what_is_no_model(data):
    with refused(FileFormatError):
        read_model(data, "m.json")


def test_signatures_differ_by_all_that_matters():
    assert Flota(TYPES, 2).signature().startswith("FLOTA(k=2):vocabulary@")
    assert First(Flota(TYPES, 3), 2).signature().startswith("FIRST(k=2):FLOTA(k=3):vocabulary@")
    queue = Dropout(AB, 0.5, 2, queue=True).signature()
    assert queue.startswith("BPE-dropout(p=0.5,seed=2,queue=true):ab@")
    signatures = {segmenter.signature() for segmenter in ALL}
    signatures.add(Unigram(TYPES, (-1.5, *SCORES[1:])).signature())
    signatures.add(Flota(SubwordVocabulary(("un", "do", "##do"), "##")).signature())
    assert len(signatures) == len(ALL) + 2


@pytest.mark.slow
def test_a_changed_model_has_a_signature_of_its_own():
    """A file cannot pass for the tokeniser that it says it came from."""
    for method in ("bpe", "first"):
        segmenter = load_segmenter("demo:en", method)
        document = json.loads(write_model(segmenter))
        origin = segmenter.signature().rpartition("@")[2]
        assert read_model(json.dumps(document).encode(), "m.json").signature().endswith(origin)
        inner = document["model"] if method == "first" else document
        inner["model"]["model"]["merges"].pop()
        changed = read_model(json.dumps(document).encode(), "m.json")
        assert not changed.signature().endswith(origin)
        # Nor does it without the checksum of its content.
        del document["content"]
        without = read_model(json.dumps(document).encode(), "m.json")
        assert without.signature() == changed.signature()
