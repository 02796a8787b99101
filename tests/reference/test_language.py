"""Languages are told where they can be, and nothing is said of what is in doubt."""

from itertools import product

import pytest

from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.language import mismatch
from morphgraph.reference.readers import read_reference

GERMAN = ["Freundschaft", "Arbeit", "unglaublich", "Zeitungen"]
ENGLISH = ["friendship", "working", "unbelievable", "newspapers"]


@pytest.fixture(scope="module")
def gold():
    return {
        code: [entry.word for entry in read_reference(demo_gold_path(code)).entries]
        for code in ("en", "de", "nl")
    }


def test_the_demos_are_of_their_languages(gold):
    demos = {code: load_tokeniser(f"demo:{code}").readable_types for code in gold}
    types = {code: [name[1:] for name in names] for code, names in demos.items()}
    for one, other in product(gold, types):
        assert mismatch(gold[one], types[other]) == ((one, other) if one != other else ("", ""))


def test_a_few_words(gold):
    assert mismatch(GERMAN, gold["en"]) == ("de", "en")
    assert mismatch(ENGLISH, gold["en"]) == ("", "")
    assert mismatch(["undesirable", "antiaircraft", "zzzz"], gold["en"]) == ("", "")
    assert mismatch(["Hand", "Arm", "warm"], gold["en"]) == ("", "")  # of both
    assert mismatch([], gold["en"]) == mismatch(GERMAN, []) == ("", "")


def test_many_words_of_no_known_language(gold):
    finnish = [
        f"{stem}{ending}"
        for stem in ("taloissa", "kirjasto", "ystävyys", "lukemine")
        for ending in ("mme", "nsa", "kaan", "han", "ko", "kin")
    ]
    assert mismatch(finnish, gold["en"]) == ("", "en")
    assert mismatch(finnish[:5], gold["en"]) == ("", "")  # too few to be sure
    assert mismatch(gold["en"], finnish) == ("", "")
