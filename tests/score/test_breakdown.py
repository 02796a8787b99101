"""Scores of some words or boundaries: groups by hand, and each as if it stood alone."""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.entry import Entry, MorphemeKind, Reference
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope, Weighting
from morphgraph.score.metrics import METRICS
from morphgraph.score.outcome import Outcome, outcome_of
from morphgraph.score.table import (
    BREAKDOWNS,
    GROUPINGS,
    GoldBoundaries,
    GroupScore,
    ScoreTable,
    affix_name,
    break_down,
    formation_of,
    group_scores,
    word_groups,
)
from morphgraph.score.uncertainty import Draws, Ratio, bootstrap_intervals
from morphgraph.segment.segmenter import Segmenter
from morphgraph.segment.wordpiece import Greedy
from morphgraph.tables.scores import breakdown_csv
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

KINDS = {
    "f": MorphemeKind.FREE,
    "p": MorphemeKind.PREFIX,
    "s": MorphemeKind.SUFFIX,
    "i": MorphemeKind.INTERFIX,
    "h": MorphemeKind.HYPHEN,
    "?": None,
}


def entry(
    morphs: str,
    kinds: str | None = None,
    whole: str | None = None,
    processes: tuple[str, ...] | None = None,
) -> Entry:
    parts = tuple(morphs.split())
    return Entry(
        "".join(parts),
        parts,
        None if whole is None else tuple(whole.split()),
        kinds=None if kinds is None else tuple(KINDS[kind] for kind in kinds),
        processes=processes,
    )


def reference(*entries: Entry) -> Reference:
    return Reference("gold.tsv", "plain", entries, (), "0" * 12)


def greedy(*types: str, letters: str = "abcdefghijklmnopqrstuvwxyz-") -> Segmenter:
    return Greedy(SubwordVocabulary((*types, *letters)))


SOME = (
    entry("un do", "pf"),
    entry("dog s", "fs"),
    entry("house boat", "ff"),
    entry("dog s house", "fif"),
    entry("re - do", "phf"),
    entry("un do ing", whole="undoing"),
    entry("boat house s", whole="boat houses"),
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


def some() -> GoldSet:
    return GoldSet.of(reference(*SOME), FREQUENCIES, "small")


def values(scores: Sequence[GroupScore], metric: str = "recall") -> dict[str, tuple[int, float]]:
    return {score.name: (score.size, score.scores[metric].value) for score in scores}


# --- formations -----------------------------------------------------------------------------------

FORMATIONS = [
    (entry("dog"), "simple"),
    (entry("dog", "f", "dog"), "simple"),
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
    (entry("un do ing", whole="undoing"), "with affixes"),
    (entry("house boat", whole="house boat"), "compound"),
    (entry("boat house s", whole="boat houses"), "compound with affixes"),
    (entry("tea m", "f?"), "unknown"),
    (entry("do able"), "unknown"),
    (entry("dog s", "fs", "dog s", ("compound",)), "suffixed"),  # kinds tell most
]


@pytest.mark.parametrize(("given_entry", "name"), FORMATIONS)
def test_formations(given_entry: Entry, name: str) -> None:
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
def test_groups_in_their_order(grouping: str, expected: dict[str, str]) -> None:
    words = np.array([e.word for e in SOME])
    found = [(g.name, " ".join(words[g.entries])) for g in word_groups(some(), grouping)]
    assert found == list(expected.items())


@pytest.mark.parametrize(
    ("length", "name"),
    [(1, "1–4"), (4, "1–4"), (5, "5–7"), (7, "5–7"), (8, "8–10"), (10, "8–10"), (11, "11–13"),
     (13, "11–13"), (14, "14–17"), (17, "14–17"), (18, "18+"), (200, "18+")],
)  # fmt: skip
def test_ends_of_lengths(length: int, name: str) -> None:
    [group] = word_groups(GoldSet.of(reference(entry("a" * length))), "length")
    assert group.name == name


@pytest.mark.parametrize(("morphs", "name"), [(1, "1"), (5, "5"), (6, "6+"), (7, "6+"), (16, "6+")])
def test_many_morphs(morphs: int, name: str) -> None:
    [group] = word_groups(GoldSet.of(reference(entry("a " * morphs))), "morphs")
    assert group.name == name


@pytest.mark.parametrize("power", range(-2, 10))
def test_a_power_of_ten_is_the_first_of_its_band(power: int) -> None:
    entries = [entry("a"), entry("b")]
    just_below = math.nextafter(10.0**power, 0) * (1 - 1e-9)
    gold_set = GoldSet.of(reference(*entries), {"a": 10.0**power, "b": just_below}, "x")
    below, above = word_groups(gold_set, "frequency")
    assert (below.entries.tolist(), above.entries.tolist()) == ([False, True], [True, False])
    assert below.name.split(" to ")[1] == above.name.split(" to ")[0]


MORPHS = st.text("ab", min_size=1, max_size=4)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    morphs = tuple(draw(st.lists(MORPHS, min_size=1, max_size=7)))
    kinds = st.tuples(*[st.sampled_from([*MorphemeKind, None])] * len(morphs))
    joins = draw(st.tuples(*[st.booleans()] * (len(morphs) - 1)))
    whole = [morphs[0]]
    for morph, joined in zip(morphs[1:], joins, strict=True):
        if joined:
            whole[-1] += morph
        else:
            whole.append(morph)
    names = st.lists(st.sampled_from(["inflection", "derivation", "compound"]), unique=True)
    return Entry(
        "".join(morphs),
        morphs,
        draw(st.none() | st.just(tuple(whole))),
        kinds=draw(st.none() | kinds),
        processes=draw(st.none() | names.map(tuple)),
    )


@st.composite
def gold_sets(draw: st.DrawFn) -> GoldSet:
    found = draw(st.lists(entries(), min_size=1, max_size=12))
    counts = st.sampled_from([0.25, 1, 3, 10, 12, 400])
    frequencies = {
        word: draw(counts) for word in sorted({e.word for e in found}) if draw(st.booleans())
    }
    return GoldSet.of(reference(*found), frequencies, "random")


SEGMENTERS = st.lists(st.text("ab", min_size=2, max_size=5), max_size=6).map(
    lambda types: greedy(*dict.fromkeys(types), letters="ab")
)


@pytest.mark.parametrize("grouping", GROUPINGS)
@given(gold_set=gold_sets())
def test_groups_share_no_entry_and_leave_none_out(grouping: str, gold_set: GoldSet) -> None:
    groups = word_groups(gold_set, grouping)
    times = np.sum([group.entries for group in groups], axis=0)
    assert times.tolist() == [1] * len(gold_set.reference)
    assert all(group.entries.any() for group in groups)
    assert len({group.name for group in groups}) == len(groups)


@given(gold_set=gold_sets())
def test_bands_hold_the_frequency(gold_set: GoldSet) -> None:
    for group in word_groups(gold_set, "frequency"):
        known = gold_set.frequencies or {}
        words = [e.word for e, there in zip(gold_set.reference.entries, group.entries,
                                            strict=True) if there]  # fmt: skip
        if group.name == "unknown":
            assert not any(word in known for word in words)
            continue
        low, high = (float(end.replace(",", "")) for end in group.name.split(" to "))
        assert high == pytest.approx(10 * low)
        assert all(low <= known[word] < high for word in words)


@pytest.mark.slow
@examples(240)
@given(
    gold_set=gold_sets(),
    segmenter=SEGMENTERS,
    scope=st.sampled_from(SCOPES),
    weighting=st.sampled_from(WEIGHTINGS),
    grouping=st.sampled_from(list(GROUPINGS)),
)
def test_a_group_scores_as_if_it_stood_alone(
    scope: Scope, weighting: Weighting, grouping: str, gold_set: GoldSet, segmenter: Segmenter
) -> None:
    groups = word_groups(gold_set, grouping)
    metrics = tuple(METRICS)
    outcome = outcome_of(segmenter, gold_set)
    [found] = group_scores([outcome], groups, scope, weighting, metrics)
    assert [score.name for score in found] == [group.name for group in groups]
    for group, score in zip(groups, found, strict=True):
        part = [e for e, there in zip(gold_set.reference.entries, group.entries, strict=True)
                if there]  # fmt: skip
        alone = replace(gold_set, reference=reference(*part))
        table = ScoreTable(
            [outcome_of(segmenter, alone)], scope, weighting, metrics, draws=Draws(resamples=0)
        )
        [row] = table.estimates
        assert row is not None
        for name in metrics:
            assert score.scores[name].value == pytest.approx(row[name].value, nan_ok=True), name
        in_scope = [e for e in part if scope == "morphemic" or e.whole_words is not None]
        assert score.size == len(in_scope)


def test_no_outcome_and_no_group() -> None:
    assert group_scores([], word_groups(some(), "length")) == []
    assert group_scores([outcome_of(SEGMENTER, some())], []) == [[]]


# --- boundaries -----------------------------------------------------------------------------------


def test_what_meets_at_each_boundary() -> None:
    assert GoldBoundaries(some()).names.tolist() == [
        "prefix",  # un do
        "suffix",  # dog s
        "compound",  # house boat
        *("interfix", "interfix"),  # dog s house
        *("hyphen", "hyphen"),  # re - do
        *("affix", "affix"),  # un do ing, one whole word
        *("compound", "affix"),  # boat houses
        "unknown",  # do able
        "unknown",  # cat s
        "unknown",  # tea m
    ]


@pytest.mark.parametrize(
    ("kinds", "names"),
    [("pf", "prefix"), ("pp", "prefix"), ("fs", "suffix"), ("ss", "suffix"), ("ps", "prefix"),
     ("sp", "unknown"), ("fp", "unknown"), ("ff", "compound"), ("sf", "unknown"),
     ("fi", "interfix"), ("is", "interfix"), ("fh", "hyphen"), ("hs", "hyphen"), ("ih", "hyphen"),
     ("?s", "suffix"), ("p?", "prefix"), ("??", "unknown")],
)  # fmt: skip
def test_each_pair_of_kinds(kinds: str, names: str) -> None:
    boundaries = GoldBoundaries(GoldSet.of(reference(entry("a b", kinds))))
    assert boundaries.names.tolist() == [names]


def test_affixes_by_hand() -> None:
    """Those with kinds have hyphens; without kinds, each morph stands for itself."""
    boundaries = GoldBoundaries(
        GoldSet.of(
            reference(
                entry("Un do ing", "pfs"),
                entry("un able", "pf"),
                entry("dog s house s", "fifs"),
                entry("re - do", "phf"),
                entry("un do"),
                entry("dog"),
                entry("ing", "s"),
            )
        )
    )
    # Boundaries: 0 Un·do 1 do·ing 2 un·able 3 dog·s 4 s·house 5 house·s 6 re·- 7 -·do 8 un·do
    assert {name: edges.tolist() for name, edges in boundaries.affixes.items()} == {
        "-s-": [3, 4],
        "un-": [0, 2],
        "-ing": [1],
        "-s": [5],
        "do": [8],
        "re-": [6],
        "un": [8],
    }
    assert list(boundaries.affixes) == ["-s-", "un-", "-ing", "-s", "do", "re-", "un"]
    assert boundaries.owners.tolist() == [0, 0, 1, 2, 2, 2, 3, 3, 4]


def test_recall_by_affix_by_hand() -> None:
    entries = (entry("un do ing", "pfs"), entry("un able", "pf"), entry("go ing", "fs"))
    frequencies = {"undoing": 4.0, "unable": 1.0, "going": 10.0}
    gold_set = GoldSet.of(reference(*entries), frequencies, "small")
    # un|doing, una|b|l|e, go|ing
    outcome = outcome_of(greedy("un", "doing", "go", "ing", "una"), gold_set)
    boundaries = GoldBoundaries(gold_set)
    [found] = boundaries.by_affix([outcome])
    assert values(found) == {"-ing": (2, 1 / 2), "un-": (2, 1 / 2)}
    [found] = boundaries.by_affix([outcome], "tokens")
    assert values(found) == {"-ing": (2, pytest.approx(10 / 14)), "un-": (2, 4 / 5)}
    [found] = boundaries.by_affix([outcome], limit=1)
    assert list(values(found)) == ["-ing"]


def by_hand(gold_set: GoldSet, outcome: Outcome, names: Sequence[str], weighting: Weighting,
            ) -> dict[str, tuple[int, float]]:  # fmt: skip
    """Recall of each kind of boundary, one boundary after the other."""
    sizes: dict[str, int] = defaultdict(int)
    right: dict[str, float] = defaultdict(float)
    whole: dict[str, float] = defaultdict(float)
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
def test_recall_by_kind_boundary_by_boundary(
    weighting: Weighting, gold_set: GoldSet, segmenter: Segmenter
) -> None:
    outcome = outcome_of(segmenter, gold_set)
    boundaries = GoldBoundaries(gold_set)
    [found] = boundaries.by_kind([outcome], weighting)
    assert values(found) == by_hand(gold_set, outcome, boundaries.names.tolist(), weighting)
    assert [s.size for s in found] == sorted((s.size for s in found), reverse=True)


@examples(40)
@given(gold_set=gold_sets())
def test_affixes_are_at_their_boundaries(gold_set: GoldSet) -> None:
    """Whichever boundary an affix has, the affix stands beside it in that word."""
    boundaries = GoldBoundaries(gold_set)
    sides = [
        (number, at)
        for number, found in enumerate(gold_set.reference.entries)
        for at in range(len(found.morphs) - 1)
    ]
    assert [number for number, _ in sides] == boundaries.owners.tolist()
    for name, edges in boundaries.affixes.items():
        for edge in edges.tolist():
            number, at = sides[edge]
            found = gold_set.reference.entries[number]
            kinds = found.kinds or (None,) * len(found.morphs)
            pair = [affix_name(found.morphs[i], kinds[i]) for i in (at, at + 1)]
            assert name in pair


def test_intervals_are_over_all_entries_of_the_reference() -> None:
    """As for a ratio whose sums leave out the other words but not their places in a resample."""
    gold_set = GoldSet.of(reference(*SOME * 4))
    outcome = outcome_of(SEGMENTER, gold_set)
    groups = word_groups(gold_set, "formation")
    [found] = group_scores([outcome], groups, metrics=["recall"])
    place = [group.name for group in groups].index("compound")
    right = [0.0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0] * 4
    whole = [0.0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0] * 4
    [interval] = bootstrap_intervals([Ratio(np.array(right), np.array(whole))])
    assert interval.low < 2 / 3 < interval.high
    known = found[place].scores["recall"].interval
    assert (known.low, known.high) == pytest.approx((interval.low, interval.high))


def test_outcomes_side_by_side_are_as_alone() -> None:
    gold_set = some()
    outcomes = [outcome_of(SEGMENTER, gold_set), outcome_of(greedy("undo", "dog"), gold_set)]
    boundaries = GoldBoundaries(gold_set)
    groups = word_groups(gold_set, "length")
    for together, alone in (
        (boundaries.by_kind(outcomes), [boundaries.by_kind([o])[0] for o in outcomes]),
        (boundaries.by_affix(outcomes), [boundaries.by_affix([o])[0] for o in outcomes]),
        (group_scores(outcomes, groups), [group_scores([o], groups)[0] for o in outcomes]),
    ):
        assert repr(together) == repr(alone)
        assert repr(together[0]) != repr(together[1])


def test_a_reference_without_boundaries() -> None:
    gold_set = GoldSet.of(reference(entry("dog"), entry("cat", "f")))
    boundaries = GoldBoundaries(gold_set)
    outcome = outcome_of(SEGMENTER, gold_set)
    assert boundaries.by_kind([outcome, outcome]) == [[], []]
    assert boundaries.by_affix([outcome]) == [[]]
    assert boundaries.affixes == {}


# --- to take away ---------------------------------------------------------------------------------


def test_a_breakdown_is_what_its_parts_are() -> None:
    outcomes = [outcome_of(SEGMENTER, some(), "one")]
    outcomes.append(outcome_of(greedy("undo"), outcomes[0].gold_set, "other"))
    gold_set = outcomes[0].gold_set
    for by in BREAKDOWNS:
        found = break_down(outcomes, by, "exact", "whole-word", "tokens")
        assert found.labels == ("one", "other")
        if by in GROUPINGS:
            groups = word_groups(gold_set, by)
            rows = group_scores(outcomes, groups, "whole-word", "tokens", ["exact"])
            assert (found.metric, found.counted) == ("exact", "words")
            assert f"|scores:whole-word tokens exact by {by}|" in found.signature
        else:
            gold = GoldBoundaries(gold_set)
            rows = (gold.by_kind if by == "boundaries" else gold.by_affix)(outcomes, "tokens")
            assert (found.metric, found.counted) == ("recall", "boundaries")
            assert f"|scores:morphemic tokens recall by {by}|" in found.signature
        assert repr([list(row) for row in found.rows]) == repr(rows)
        assert all(outcome.tokeniser in found.signature for outcome in outcomes)


def test_an_unknown_breakdown_is_an_error() -> None:
    with pytest.raises(MorphGraphError, match="“colour” is not a breakdown"):
        break_down([outcome_of(SEGMENTER, some())], "colour")


def test_csv_of_a_breakdown() -> None:
    found = break_down([outcome_of(SEGMENTER, some(), "=mine")], "formation", "recall")
    head, *rows = csv.reader(io.StringIO(breakdown_csv(found).decode("utf-8")))
    assert ",".join(head) == "group,number of words,tokeniser,recall,low,high,signature"
    by_name = {row[0]: row[1:] for row in rows}
    assert by_name["simple"] == ["1", "'=mine", "n/a", "n/a", "n/a", found.signature]
    assert by_name["prefixed"][:3] == ["2", "'=mine", "1.0"]
    assert float(by_name["compound"][2]) == pytest.approx(2 / 3)
    assert len(rows) == 8


def test_a_morph_on_both_sides_of_a_boundary_has_it_once() -> None:
    boundaries = GoldBoundaries(GoldSet.of(reference(entry("ha ha"), entry("do able"))))
    assert boundaries.affixes["ha"].tolist() == [0]


def test_a_frequency_of_zero_is_in_no_power_of_ten() -> None:
    gold_set = GoldSet.of(reference(entry("a"), entry("b")), {"a": 0.0, "b": 1.0}, "x")
    assert [group.name for group in word_groups(gold_set, "frequency")] == ["0", "1 to 10"]
