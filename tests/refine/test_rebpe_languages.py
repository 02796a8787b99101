"""ReBPE on several languages: what each weighs, and that none is worse after any phase."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from small import small_reference
from strategies import MergeList, bpe_of, well_formed

import morphgraph as mg
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import demo_gold_path
from morphgraph.formats.loading import load_tokeniser
from morphgraph.reference.entry import Reference
from morphgraph.reference.readers import read_reference
from morphgraph.refine import ReBPESettings
from morphgraph.refine.rebpe import annealing_pairs
from morphgraph.refine.rebpe_languages import Languages, LanguagesRun
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import GoldSet
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.tokeniser.tokeniser import BpeTokeniser

LINES = st.lists(
    st.lists(st.text("abc", min_size=1, max_size=4), min_size=1).map(" ".join),
    min_size=1,
    max_size=8,
)


def make_run(
    tokeniser: BpeTokeniser,
    golds: Sequence[Reference],
    weights: Sequence[float] = (),
    **settings: object,
) -> LanguagesRun:
    named = [replace(gold, name=f"L{number}") for number, gold in enumerate(golds)]
    languages = Languages.of_golds([GoldSet.of(each) for each in named], weights)
    return LanguagesRun(tokeniser, languages, ReBPESettings(**settings))  # type: ignore[arg-type]


def naive_f1(tokeniser: BpeTokeniser, lines: Sequence[str]) -> float:
    graph = tokeniser.graph
    merges = {
        merge.rank: tuple(graph.types[part] for part in merge.parts)
        for merge in graph.merges().values()
    }
    hits = both = relevant = 0
    for line in lines:
        tokens, _ = oracles.segment(merges, list(line.replace(" ", "")))
        ours, gold = oracles.boundaries(tokens), oracles.boundaries(line.split())
        hits, both = hits + len(ours & gold), both + len(ours) + len(gold)
        relevant += len(gold)
    return 2 * hits / both if relevant else math.nan


@examples(80)
@given(
    merges=well_formed(),
    lines=st.lists(LINES, min_size=2, max_size=3),
    threshold=st.sampled_from([0.05, 0.3, 0.5]),
    weights=st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=3, max_size=3),
    minimum=st.integers(1, 2),
    cascade=st.booleans(),
)
def test_no_language_is_ever_worse(
    merges: MergeList,
    lines: list[list[str]],
    threshold: float,
    weights: list[float],
    minimum: int,
    cascade: bool,
) -> None:
    tokeniser = bpe_of(list(dict.fromkeys(merges)))
    settings = {"threshold": threshold, "minimum_good": minimum, "cascade": cascade}
    golds = [small_reference(*each) for each in lines]
    run = make_run(tokeniser, golds, weights[: len(lines)], **settings, iterations=4)
    start = run.phases[0].f1_by_language
    while True:
        now = run.phases[-1].f1_by_language
        for name, each in zip(start, lines, strict=True):
            assert now[name] == pytest.approx(naive_f1(tokeniser, each), nan_ok=True)
            assert not now[name] < start[name] - 1e-9
        assert not run.worse()
        if run.step() is None:
            break
    assert run.phases[-1].to_dict()["f1_by_language"].keys() == start.keys()


@pytest.mark.slow
def test_one_language_that_gets_better_is_plain_rebpe() -> None:
    gold = read_reference(demo_gold_path("nl"))
    one, other = load_tokeniser("demo:nl"), load_tokeniser("demo:nl")
    plain = ReBPERun(one, Benchmark.build(one, gold))
    plain.finish()
    run = make_run(other, [gold], [3.0])
    run.finish()
    assert [phase.counts for phase in run.phases] == [phase.counts for phase in plain.phases]
    assert [p.f1_by_language["L0"] for p in run.phases] == [p.score.f1 for p in plain.phases]
    sources = [source for step in run.graph.recipe() for source in step["learned"]]
    assert {source["name"] for source in sources} == {"L0"}


def test_weights_say_whose_blame_counts() -> None:
    """un + do is wrong in one, and right in half of the words of the other; x + y is wrong there.

    With weights w and v its R is w ÷ (w + v ÷ 2). The other one gets better by x + y in any case.
    """
    merges = [("u", "n"), ("d", "o"), ("un", "do"), ("x", "y")]
    golds = [small_reference("un do"), small_reference("undo", "x y")]
    for weights, removed in (((1, 1), True), ((1, 3), False), ((1, 2), True), ((), True)):
        tokeniser = from_merges(merges)
        run = make_run(tokeniser, golds, weights, anneal=False)
        run.finish()
        assert ("undo" not in tokeniser.graph) == removed
        assert "xy" not in tokeniser.graph
    shares = next(phase.blame for phase in run.phases if phase.kind == "knockout")
    # Scaled so that all joins of all languages together are about as many as there are.
    assert shares[2] == pytest.approx((3 / 2 * 1 + 3 / 2 / 2, 3 / 2))


def test_what_is_right_in_a_language_is_left_alone() -> None:
    """The other one would be worse without undo; p + q, which is wrong there too, still goes."""
    tokeniser = from_merges([("u", "n"), ("d", "o"), ("un", "do"), ("x", "y"), ("p", "q")])
    golds = [
        small_reference(*["un do", "x y"] * 3),
        small_reference("undo", "undo", "undo", "p q", "v u", "v u", "v u"),
    ]
    run = make_run(tokeniser, golds, [5, 1], anneal=False, reify=False)
    run.finish()
    removed = {text for phase in run.phases for text in phase.change.step.get("types", ())}
    assert removed == {"xy", "pq"}
    assert run.phases[-1].f1_by_language == {"L0": pytest.approx(2 / 3), "L1": 1}


def test_what_occurs_in_a_language_is_left_alone_at_last() -> None:
    """By a threshold of 0.3, un + do is to blame in the other one, which is worse without it."""
    tokeniser = from_merges([("u", "n"), ("d", "o"), ("un", "do"), ("x", "y")])
    right = ["v u"] * 10
    golds = [small_reference("un do", "x y"), small_reference("un do", "undo", "undo", *right)]
    run = make_run(tokeniser, golds, threshold=0.3, anneal=False, reify=False)
    run.finish()
    removed = {text for phase in run.phases for text in phase.change.step.get("types", ())}
    assert removed == {"xy"}
    first, last = run.phases[0].f1_by_language, run.phases[-1].f1_by_language
    assert (last["L0"], last["L1"]) == (pytest.approx(2 / 3), first["L1"])


def from_merges(merges: Sequence[Sequence[str]]) -> BpeTokeniser:
    atoms = dict.fromkeys("".join(map("".join, merges)) + "v")
    types = [*atoms, *("".join(parts) for parts in merges)]
    return tokeniser_of_types("small", types, [tuple(parts) for parts in merges])


def test_annealing_spares_a_group() -> None:
    gold = small_reference(*["ab"] * 8, "a b", "a b", "ab", "cd", "cd", "cd")
    tokeniser = from_merges([("a", "x"), ("b", "x"), ("c", "d"), ("d", "x")])
    graph = tokeniser.graph
    graph.knockout(["cd"])
    benchmark = Benchmark.build(tokeniser, gold)
    settings = ReBPESettings(minimum_ratio=0.6)

    def pairs(*spared: tuple[Sequence[int], bool]) -> list[tuple[str, str]]:
        every = np.arange(len(gold))
        groups = [(np.isin(every, entries), never) for entries, never in spared]
        return annealing_pairs(tokeniser, benchmark, settings, groups)

    both = [("a", "b"), ("c", "d")]
    assert pairs() == both
    assert pairs((range(8), False)) == both
    assert pairs((range(8, 11), False)) == [("c", "d")], "1 of 3 inside a morph"
    assert pairs((range(8), True)) == [("c", "d")], "not at all where it occurs"
    assert pairs((range(11, 14), False), (range(8, 11), False)) == [("c", "d")]


def test_words_kept_aside_decide_nothing() -> None:
    golds = [
        small_reference(*[f"{a} {b}" for a in ("un", "on") for b in ("do", "de", "da", "du")]),
        small_reference(*[f"{a}{b}" for a in ("an", "en") for b in ("do", "de", "da", "du")]),
    ]
    syllables = [("u", "n"), ("o", "n"), ("a", "n"), ("d", "o"), ("d", "e"), ("d", "a")]
    merges = [*syllables, *((a, b) for a in ("un", "on", "an") for b in ("do", "de", "da"))]
    named = [GoldSet.of(replace(gold, name=f"L{number}")) for number, gold in enumerate(golds)]
    [rests, kepts] = zip(*[gold.split(0.5, 3, "words") for gold in named], strict=True)
    learned, scored = Languages.of_golds(rests), Languages.of_golds(kepts)

    def f1(tokeniser: BpeTokeniser, sides: Sequence[GoldSet]) -> list[float]:
        lines = [[" ".join(entry.morphs) for entry in side] for side in sides]
        return [naive_f1(tokeniser, each) for each in lines]

    tokeniser, alone = from_merges(merges), from_merges(merges)
    run = LanguagesRun(tokeniser, learned, ReBPESettings(anneal=False), scored)
    run.finish()
    LanguagesRun(alone, learned, ReBPESettings(anneal=False)).finish()
    assert tokeniser.graph.recipe() == alone.graph.recipe() != []
    for phase in (run.phases[0], run.phases[-1]):
        made = from_merges(merges) if phase.kind == "start" else tokeniser
        found = [*phase.f1_by_language.values()]
        assert found == pytest.approx(f1(made, rests), nan_ok=True)
    assert [*run.scored_f1().values()] == pytest.approx(f1(tokeniser, kepts), nan_ok=True)
    assert run.phases[-1].score.f1 == pytest.approx(
        naive_f1(tokeniser, [" ".join(entry.morphs) for side in kepts for entry in side])
    )
    parts = [source["parts"] for source in tokeniser.graph.recipe()[0]["learned"]]
    assert parts == [[["rest", 0.5, 3, "words"]]] * 3, "of both joined, and of each"


def test_of_several_golds_words_of_all_are_kept_aside_or_of_none() -> None:
    whole, few = mg.read_gold("demo:nl"), mg.read_gold([("undo", ["un", "do"]), ("do", ["do"])])
    tokeniser = mg.load("demo:nl")
    found = tokeniser.rebpe(whole, whole, iterations=1)
    assert found.scored.gold.drawn == "kept aside 0.2 by families, seed 0"
    assert not {*found.scored.gold.texts} & {*found.learned.gold.texts}
    for golds in ((whole, few), (few, whole)):
        found = tokeniser.rebpe(*golds, iterations=1)
        assert found.is_held_in and len(found.scored.gold) == len(whole) + len(few)
        assert found.scored is found.learned
        assert all("learned" not in row for row in found.languages), "it is told once"


@pytest.mark.parametrize(
    ("weights", "settings", "said"),
    [
        ([1], {}, "2 references and 1 weights"),
        ([1, 0], {}, "not above 0"),
        ([1, math.nan], {}, "not above 0"),
        ([], {"portable": True}, "morphgraph export"),
    ],
)
def test_refusals(weights: list[float], settings: dict[str, bool], said: str) -> None:
    with pytest.raises(MorphGraphError, match=said):
        make_run(
            bpe_of([("a", "b")]),
            [small_reference("ab"), small_reference("a b")],
            weights,
            **settings,
        )
