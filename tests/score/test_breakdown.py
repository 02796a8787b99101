"""Scores of some words or boundaries: groups by hand, and each as if it stood alone."""

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from small import gold_of, reference_of
from small import small_entry as entry

import morphgraph as mg
from morphgraph.reference.entry import Entry, MorphemeKind
from morphgraph.score.breakdowns import (
    BREAKDOWNS,
    GROUPINGS,
    boundary_groups,
    break_down,
    formation_of,
    word_groups,
)
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet
from morphgraph.score.metrics import METRICS, Tally
from morphgraph.score.outcome import outcome_of
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tokeniser.vocabulary import SubwordVocabulary


def greedy(*types, letters="abcdefghijklmnopqrstuvwxyz-"):
    return Greedy(SubwordVocabulary((*types, *letters)))


SOME = (
    entry("un do", "pf"),
    entry("dog s", "fs"),
    entry("house boat", "ff"),
    entry("dog s house", "fif"),
    entry("re - do", "phf"),
    entry("un do ing / undoing"),
    entry("boat house s / boat houses"),
    entry("do able"),
    entry("cat s", processes=("inflection",)),
    entry("tea m", "f?"),
    entry("dog"),
)
FREQUENCIES = {
    "undo": 5.0, "dogs": 100.0, "houseboat": 0.5, "dogshouse": 2.0, "re-do": 7.0, "undoing": 40.0,
    "doable": 3.0, "cats": 1000.0, "dog": 999.0,
}  # fmt: skip
# un|do, dogs, house|boat, dogs|house, re|-|do, un|do|ing, boat|house|s, do|able, cats, team, dog
SEGMENTER = greedy("un", "do", "dogs", "house", "boat", "re", "ing", "able", "cats", "team", "dog")


def some():
    return GoldSet.of(reference_of(*SOME), FREQUENCIES, "small")


def values(found):
    """The size and score of each group, of the only tokeniser."""
    [row] = found.rows
    pairs = zip(found.groups, row, strict=True)
    return {name: (size, estimate.value) for (name, size), estimate in pairs}


# --- formations -----------------------------------------------------------------------------------

FORMATIONS = [
    (entry("dog"), "simple"),
    (entry("dog / dog", "f"), "simple"),
    (entry("un do", "pf"), "prefixed"),
    (entry("dog s", "fs"), "suffixed"),
    (entry("un do ing", "pfs"), "prefixed and suffixed"),
    (entry("house boat", "ff"), "compound"),
    (entry("dog s house", "fif"), "compound"),
    (entry("house - boat", "fhf"), "compound"),
    (entry("house boat s", "ffs"), "compound with affixes"),
    (entry("un house boat", "pff"), "compound with affixes"),
    (entry("dog s", processes=("inflection",)), "inflected"),
    (entry("do able", processes=("derivation",)), "derived"),
    (entry("do ing s", processes=("derivation", "inflection")), "derived and inflected"),
    (entry("house boat", processes=("compound",)), "compound"),
    (entry("house boat s", processes=("inflection", "compound")), "compound with affixes"),
    (entry("went", processes=("inflection",)), "inflected"),
    (entry("dog", processes=()), "simple"),
    (entry("dog s", "f?", processes=("inflection",)), "inflected"),
    (entry("un do ing / undoing"), "with affixes"),
    (entry("house boat / house boat"), "compound"),
    (entry("boat house s / boat houses"), "compound with affixes"),
    (entry("tea m", "f?"), "unknown"),
    (entry("do able"), "unknown"),
    (entry("dog s / dog s", "fs", processes=("compound",)), "suffixed"),  # kinds tell most
]


@pytest.mark.parametrize(("given_entry", "name"), FORMATIONS)
def test_formations(given_entry, name):
    assert formation_of(given_entry) == name


# --- groups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        ("formation", {"simple": "dog", "prefixed": "undo re-do", "suffixed": "dogs",
                       "compound": "houseboat dogshouse", "compound with affixes": "boathouses",
                       "inflected": "cats", "with affixes": "undoing", "unknown": "doable team"}),
        ("length", {"1–4": "undo dogs cats team dog", "5–7": "re-do undoing doable",
                    "8–10": "houseboat dogshouse boathouses"}),
        ("morphs", {"1": "dog", "2": "undo dogs houseboat doable cats team",
                    "3": "dogshouse re-do undoing boathouses"}),
        ("frequency", {"unknown": "boathouses team", "0.1 to 1": "houseboat",
                       "1 to 10": "undo dogshouse re-do doable", "10 to 100": "undoing",
                       "100 to 1,000": "dogs dog", "1,000 to 10,000": "cats"}),
    ],
)  # fmt: skip
def test_groups_in_their_order(grouping, expected):
    words = np.array([e.word for e in SOME])
    found = {name: " ".join(words[among]) for name, among in word_groups(some(), grouping).items()}
    assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize(
    ("grouping", "morphs", "name"),
    [
        *(("length", "a" * n, "1–4") for n in (1, 4)),
        *(("length", "a" * n, "5–7") for n in (5, 7)),
        *(("length", "a" * n, "8–10") for n in (8, 10)),
        *(("length", "a" * n, "11–13") for n in (11, 13)),
        *(("length", "a" * n, "14–17") for n in (14, 17)),
        *(("length", "a" * n, "18+") for n in (18, 200)),
        *(("morphs", "a " * n, str(n)) for n in (1, 5)),
        *(("morphs", "a " * n, "6+") for n in (6, 7, 16)),
    ],
)
def test_ends_of_groups(grouping, morphs, name):
    assert list(word_groups(gold_of(entry(morphs)), grouping)) == [name]


@pytest.mark.parametrize("power", range(-2, 10))
def test_a_power_of_ten_is_the_first_of_its_band(power):
    entries = [entry("a"), entry("b")]
    just_below = math.nextafter(10.0**power, 0) * (1 - 1e-9)
    gold_set = GoldSet.of(reference_of(*entries), {"a": 10.0**power, "b": just_below}, "x")
    below, above = (
        (name, among.tolist()) for name, among in word_groups(gold_set, "frequency").items()
    )
    assert (below[1], above[1]) == ([False, True], [True, False])
    assert below[0].split(" to ")[1] == above[0].split(" to ")[0]
    nothing = GoldSet.of(reference_of(*entries), {"a": 0.0, "b": 1.0}, "x")
    assert list(word_groups(nothing, "frequency")) == ["0", "1 to 10"]


MORPHS = st.text("ab", min_size=1, max_size=4)


@st.composite
def entries(draw):
    morphs = tuple(draw(st.lists(MORPHS, min_size=1, max_size=7)))
    kinds = st.tuples(*[st.sampled_from([*MorphemeKind, None])] * len(morphs))
    joins = draw(st.tuples(*[st.booleans()] * (len(morphs) - 1)))
    whole = [morphs[0]]
    for morph, joined in zip(morphs[1:], joins, strict=True):
        whole[-1:] = [whole[-1] + morph] if joined else [whole[-1], morph]
    names = st.lists(st.sampled_from(["inflection", "derivation", "compound"]), unique=True)
    told = {"kinds": draw(st.none() | kinds), "processes": draw(st.none() | names.map(tuple))}
    return Entry("".join(morphs), morphs, draw(st.none() | st.just(tuple(whole))), **told)


@st.composite
def gold_sets(draw):
    found = draw(st.lists(entries(), min_size=1, max_size=12))
    counts = st.sampled_from([0.25, 1, 3, 10, 12, 400])
    frequencies = {
        word: draw(counts) for word in sorted({e.word for e in found}) if draw(st.booleans())
    }
    return GoldSet.of(reference_of(*found), frequencies, "random")


SEGMENTERS = st.lists(st.text("ab", min_size=2, max_size=5), max_size=6).map(
    lambda types: greedy(*dict.fromkeys(types), letters="ab")
)


@pytest.mark.parametrize("grouping", GROUPINGS)
@given(gold_set=gold_sets())
def test_groups_share_no_entry_and_leave_none_out(grouping, gold_set):
    groups = word_groups(gold_set, grouping)
    times = np.sum(list(groups.values()), axis=0)
    assert times.tolist() == [1] * len(gold_set.reference)
    assert all(among.any() for among in groups.values())


@pytest.mark.slow
@examples(240)
@given(
    gold_set=gold_sets(),
    segmenter=SEGMENTERS,
    scope=st.sampled_from(SCOPES),
    weighting=st.sampled_from(WEIGHTINGS),
    grouping=st.sampled_from(list(GROUPINGS)),
)
def test_a_group_scores_as_if_it_stood_alone(scope, weighting, grouping, gold_set, segmenter):
    outcome = outcome_of(segmenter, gold_set)
    whole = Tally(outcome, scope, weighting)
    found = values(break_down([outcome], grouping, "recall", scope, weighting))
    groups = word_groups(gold_set, grouping)
    assert list(found) == list(groups)
    for name, among in groups.items():
        part = [gold_set.reference.entries[number] for number in np.flatnonzero(among)]
        alone = outcome_of(segmenter, replace(gold_set, reference=reference_of(*part)))
        tally, within = Tally(alone, scope, weighting), whole.within(among)
        for metric in METRICS.values():
            expected = metric.of(tally).value
            assert metric.of(within).value == pytest.approx(expected, nan_ok=True), metric.title
        size = sum(scope == "morphemic" or e.whole_words is not None for e in part)
        assert found[name] == (size, pytest.approx(tally.recall.value, nan_ok=True))


# --- boundaries -----------------------------------------------------------------------------------


def names_of(gold_set):
    """What meets at each boundary, in their order."""
    places = boundary_groups(gold_set, "boundaries").items()
    return [name for _, name in sorted((n, name) for name, numbers in places for n in numbers)]


def test_what_meets_at_each_boundary():
    assert names_of(some()) == [
        "prefix",  # un do
        "suffix",  # dog s
        "compound",  # house boat
        *("interfix", "interfix"),  # dog s house
        *("hyphen", "hyphen"),  # re - do
        *("affix", "affix"),  # un do ing, one whole word
        *("compound", "affix"),  # boat houses
        *("unknown", "unknown", "unknown"),  # do able, cat s, tea m
    ]


@pytest.mark.parametrize(
    ("kinds", "name"),
    [("pf", "prefix"), ("pp", "prefix"), ("fs", "suffix"), ("ss", "suffix"), ("ps", "prefix"),
     ("sp", "unknown"), ("fp", "unknown"), ("ff", "compound"), ("sf", "unknown"),
     ("fi", "interfix"), ("is", "interfix"), ("fh", "hyphen"), ("hs", "hyphen"), ("ih", "hyphen"),
     ("?s", "suffix"), ("p?", "prefix"), ("??", "unknown")],
)  # fmt: skip
def test_each_pair_of_kinds(kinds, name):
    assert names_of(gold_of(entry("a b", kinds))) == [name]


def affixes_of(*entries):
    found = boundary_groups(gold_of(*entries), "affixes")
    return [(name, numbers.tolist()) for name, numbers in found.items()]


def test_affixes_by_hand():
    """Those with kinds have hyphens; without kinds, each morph stands for itself."""
    entries = (
        entry("Un do ing", "pfs"),
        entry("un able", "pf"),
        entry("dog s house s", "fifs"),
        entry("re - do", "phf"),
        entry("un do"),
        entry("dog"),
        entry("ing", "s"),
    )
    # Boundaries: 0 Un·do 1 do·ing 2 un·able 3 dog·s 4 s·house 5 house·s 6 re·- 7 -·do 8 un·do
    assert affixes_of(*entries) == [
        ("-s-", [3, 4]), ("un-", [0, 2]), ("-ing", [1]), ("-s", [5]), ("do", [8]), ("re-", [6]),
        ("un", [8]),
    ]  # fmt: skip
    assert affixes_of(entry("ha ha"))[0] == ("ha", [0]), "on both sides of a boundary, but once"
    assert affixes_of(entry("dog"), entry("cat", "f")) == []


def test_recall_by_affix_by_hand():
    entries = (entry("un do ing", "pfs"), entry("un able", "pf"), entry("go ing", "fs"))
    frequencies = {"undoing": 4.0, "unable": 1.0, "going": 10.0}
    # un|doing, una|b|l|e, go|ing
    segmenter = greedy("un", "doing", "go", "ing", "una")
    outcome = outcome_of(segmenter, GoldSet.of(reference_of(*entries), frequencies, "small"))
    assert values(break_down([outcome], "affixes")) == {"-ing": (2, 1 / 2), "un-": (2, 1 / 2)}
    found = values(break_down([outcome], "affixes", weighting="tokens"))
    assert found == {"-ing": (2, pytest.approx(10 / 14)), "un-": (2, 4 / 5)}
    many = GoldSet.of(reference_of(*(entry(f"{chr(97 + n)}x do", "pf") for n in range(31))))
    assert len(break_down([outcome_of(segmenter, many)], "affixes").groups) == 30


def by_hand(gold_set, outcome, names, weighting):
    """Recall of each kind of boundary, one boundary after the other."""
    sizes = defaultdict(int)
    right = defaultdict(float)
    whole = defaultdict(float)
    number = 0
    weights = gold_set.weights(weighting)
    for place, found in enumerate(gold_set.reference.entries):
        at = 0
        for morph in found.morphs[:-1]:
            at += len(morph)
            name = names[number]
            sizes[name] += 1
            right[name] += weights[place] * (at in outcome.splits(place))
            whole[name] += weights[place]
            number += 1
    assert number == len(names)
    return {name: (sizes[name], pytest.approx(right[name] / whole[name])) for name in sizes}


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@examples(40)
@given(gold_set=gold_sets(), segmenter=SEGMENTERS)
def test_recall_by_kind_boundary_by_boundary(weighting, gold_set, segmenter):
    outcome = outcome_of(segmenter, gold_set)
    found = break_down([outcome], "boundaries", weighting=weighting)
    assert values(found) == by_hand(gold_set, outcome, names_of(gold_set), weighting)
    sizes = [size for _, size in found.groups]
    assert sizes == sorted(sizes, reverse=True)


def test_intervals_are_over_all_entries_of_the_reference():
    """As for a ratio whose sums leave out the other words but not their places in a resample."""
    outcome = outcome_of(SEGMENTER, gold_of(*SOME * 4))
    found = break_down([outcome], "formation", "recall")
    place = [name for name, _ in found.groups].index("compound")
    right = [0.0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0] * 4
    whole = [0.0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0] * 4
    [interval] = bootstrap_intervals([Ratio(np.array(right), np.array(whole))])
    assert interval.low < 2 / 3 < interval.high
    known = found.rows[0][place].interval
    assert (known.low, known.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("by", BREAKDOWNS)
def test_outcomes_side_by_side_are_as_alone(by):
    gold_set = some()
    outcomes = [
        outcome_of(SEGMENTER, gold_set, "one"),
        outcome_of(greedy("undoing"), gold_set, "two"),
    ]
    how = (by, "exact", "whole-word", "tokens")
    found = break_down(outcomes, *how)
    alone = [break_down([outcome], *how) for outcome in outcomes]
    assert repr(found.rows) == repr(tuple(each.rows[0] for each in alone))
    assert repr(found.rows[0]) != repr(found.rows[1])
    assert found.groups == alone[0].groups
    assert found.labels == ("one", "two")
    metric, counted, scored = ("exact", "words", "whole-word tokens exact")
    if by not in GROUPINGS:
        metric, counted, scored = ("recall", "boundaries", "morphemic tokens recall")
    assert (found.metric, found.counted) == (metric, counted)
    assert f"|scores:{scored} by {by}|" in found.signature
    assert all(outcome.tokeniser in found.signature for outcome in outcomes)


def test_nothing_to_break_down():
    assert break_down([], "length").rows == ()
    outcome = outcome_of(SEGMENTER, gold_of(entry("dog"), entry("cat", "f")))
    for by in ("boundaries", "affixes"):
        assert break_down([outcome, outcome], by).rows == ((), ())
    with refused():
        break_down([outcome], "colour")


def test_gold_of_one_formation_alone():
    whole = mg.read_gold("demo:en").reference
    for formation in ("prefixed", "suffixed", "compound"):
        part = mg.read_gold("demo:en", formation=formation).reference
        assert part.entries == tuple(e for e in whole.entries if formation_of(e) == formation)
        assert part.entries and formation in part.name
    with refused():
        mg.read_gold("demo:en", formation="circumfixed")
