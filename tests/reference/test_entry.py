"""Several references as one, a seeded sample, names of references, and statistics by hand."""

from math import isnan

import pytest
from refusals import refused

from morphgraph.reference.entry import (
    Entry,
    MorphemeKind,
    Reference,
    describe_reference,
    join_references,
)
from morphgraph.reference.readers import read_reference

DERIVATIONS = b"waffnen\tentwaffnen\tV\tV\tent\tprefix\nx\n"
INFLECTIONS = "désengager\tdésengageraient\tV|COND;3;PL\tdésengager|eraient\na\tb c\tV|PST\tb|c"


def test_inflections_and_derivations_in_one():
    first = read_reference(INFLECTIONS.encode(), name="folder/inflections.tsv")
    second = read_reference(DERIVATIONS, name="derivations.tsv")
    joined = join_references([first, second])
    assert joined.entries == first.entries + second.entries
    assert joined.name == "inflections.tsv + derivations.tsv"
    assert joined.format == "morphynet-inflection + morphynet-derivation"
    assert joined.partial == "derivations.tsv: one affix a word"
    assert [(skip.reason, skip.count, skip.first_line) for skip in joined.skipped] == [
        ("inflections.tsv: word with a space", 1, 2),
        ("derivations.tsv: not six columns", 1, 2),
    ]
    assert joined.checksum not in (first.checksum, second.checksum)
    assert joined.checksum != join_references([second, first]).checksum
    assert join_references([first]) is first


def test_a_sample_is_seeded_in_order_and_named():
    gold = read_reference("demo:en")
    drawn = gold.sample(50, seed=3)
    places = [gold.entries.index(entry) for entry in drawn.entries]
    assert len(drawn) == len(set(places)) == 50 and places == sorted(places)
    assert gold.sample(50, seed=3) == drawn
    assert gold.sample(50, seed=4).entries != drawn.entries
    assert drawn.name == f"demo:en (50 of {len(gold):,} entries, seed 3)"
    assert drawn.checksum == gold.checksum
    assert gold.sample(len(gold)) is gold and gold.sample(10**9) is gold
    with refused():
        gold.sample(0)


# Statistics

P, F, S, H = MorphemeKind.PREFIX, MorphemeKind.FREE, MorphemeKind.SUFFIX, MorphemeKind.HYPHEN


def reference(*entries):
    return Reference("gold.tsv", "plain", entries, (), "0" * 12)


def test_statistics_by_hand():
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
    kinds = {"free": 7, "prefix": 4, "suffix": 1, "interfix": 0, "infix": 0, "hyphen": 1}
    assert found.kinds == kinds
    assert found.morphs_without_kind == 2
    assert found.longest_word == "undoing"
    assert found.prefixes == (("re", 2), ("un", 2)) and found.suffixes == (("s", 1),)


def test_statistics_of_nothing_are_not_zero():
    found = describe_reference(reference())
    assert isnan(found.index_of_synthesis) and isnan(found.whole_word_share)
    assert (found.entries, found.words, found.longest_word) == (0, 0, "")
    assert found.morphs_per_word == {} and found.kinds == {} and found.prefixes == ()
