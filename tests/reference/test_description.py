"""A reference in numbers, by hand."""

from math import isnan

import pytest

from morphgraph.reference.entry import Entry, MorphemeKind, Reference, describe_reference
from morphgraph.reference.readers import read_reference

P, F, S, H = MorphemeKind.PREFIX, MorphemeKind.FREE, MorphemeKind.SUFFIX, MorphemeKind.HYPHEN


def reference(*entries):
    return Reference("gold.tsv", "plain", entries, (), "0" * 12)


def test_by_hand():
    found = describe_reference(
        reference(
            Entry("Unfits", ("Un", "fit", "s"), ("Unfits",), kinds=(P, F, S)),
            Entry("undo", ("un", "do"), ("undo",), kinds=(P, F)),
            Entry("redo", ("re", "do"), kinds=(P, F)),
            Entry("undoing", ("un", "do", "ing")),  # no kinds: not counted among them
            Entry("co-op", ("co", "-", "op"), kinds=(None, H, F)),
            Entry("undo", ("und", "o"), kinds=(F, None)),
            Entry("redo", ("re", "do"), kinds=(P, F)),
            Entry("cat", ("cat",), kinds=(F,)),
        )
    )
    assert (found.entries, found.words, found.words_with_several_analyses) == (8, 6, 1)
    assert list(found.morphs_per_word.items()) == [(1, 1), (2, 4), (3, 3)]
    assert found.index_of_synthesis == pytest.approx(18 / 8)
    assert found.whole_word_share == 0.25
    assert found.entries_with_kinds == 7
    assert found.kinds == {"free": 7, "prefix": 4, "suffix": 1, "interfix": 0, "hyphen": 1}
    assert found.morphs_without_kind == 2
    assert found.longest_word == "undoing"
    assert found.prefixes == (("re", 2), ("un", 2)) and found.suffixes == (("s", 1),)


def test_nothing_is_not_zero():
    found = describe_reference(reference())
    assert isnan(found.index_of_synthesis) and isnan(found.whole_word_share)
    assert (found.entries, found.words, found.longest_word) == (0, 0, "")
    assert found.morphs_per_word == {} and found.kinds == {} and found.prefixes == ()


def test_real_data(data_folder):
    folder = data_folder / "references"
    found = describe_reference(read_reference(folder / "morphynet/deu.derivational.v1.tsv"))
    # each entry names one affix and one base
    assert found.entries_with_kinds == found.entries == 29_364
    assert found.whole_word_share == 1 and found.kinds["interfix"] == 0
    hungarian = describe_reference(read_reference(folder / "sigmorphon2022/hun.word.dev.tsv"))
    assert hungarian.kinds == {} and hungarian.whole_word_share == 0
    assert 2 < hungarian.index_of_synthesis < 5
