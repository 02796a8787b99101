"""What every method of the registry does, ours and those of plug-ins."""

import copy
import pickle
from functools import cache

import pytest

import morphgraph as mg
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import load_segmenter

pytestmark = pytest.mark.slow

COUNTS = dict(list(wordfreq_counts("en", wordlist="small").items())[:1000])
FEW = {"undo": 5, "desirable": 4, "able": 9, "house": 7}
TEXTS = ["undesirable houses", " an undoing", "<unk> ab 12", "Undesirable houses, 😀"]
NAMES = [name for name in METHODS.segmenting if name not in METHODS.learning]


@cache
def tokeniser_by(name):
    """One by each method, with its own parameters, trained on few words if it must be."""
    method = METHODS[name]
    if method.needs == "training":
        return mg.train(name, COUNTS, 600)
    if name in ("wordpiece", "unigram"):
        return mg.train(name, FEW, 60)
    return mg.load("demo:en").method(name, counts=COUNTS if method.counts else None)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_value(name, tmp_path):
    """Copied, pickled or saved, it is the same."""
    made = tokeniser_by(name)
    made.save(tmp_path / "saved.json")
    copies = [copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    for each in (*copies, mg.load(tmp_path / "saved.json")):
        assert each == made and hash(each) == hash(made)
        assert (each.types, len(each)) == (made.types, len(made.types))
        assert [each.encode(text) for text in TEXTS] == [made.encode(text) for text in TEXTS]
        assert each.segment(["undone"]) == made.segment(["undone"])
    assert (made == mg.load("demo:en")) is (name == "bpe")


@pytest.mark.parametrize("name", [name for name in NAMES if METHODS[name].standalone])
def test_its_export_comes_back_as_it(name, tmp_path):
    base = tokeniser_by(name)
    made = base.export(tmp_path / "out", words=["undesirable", "houses"])
    ids = [base.encode(text) for text in TEXTS]
    folder = mg.load(tmp_path / "out")
    assert [folder.encode(text) for text in TEXTS] == ids
    if made.kind == "folder":
        file = next(iter((tmp_path / "out").glob("tokeniser.*.json")))
        alone = load_segmenter(file)
        assert alone.method == load_segmenter(tmp_path / "out").method == name
        assert [mg.load(file).encode(text) for text in TEXTS] == ids
