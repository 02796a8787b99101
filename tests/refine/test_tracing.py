"""Following a run: one word through its phases, and the merges that each phase changed."""

from collections.abc import Callable

import pytest

from morphgraph.core.files import demo_gold_path
from morphgraph.reference.entry import Reference
from morphgraph.reference.readers import read_reference
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import (
    ReBPERun,
    ablation,
    changed_merges,
    edits_after,
    follow_phases,
)
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.loading import load_tokeniser
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser


@pytest.fixture(scope="module")
def reference() -> Reference:
    return read_reference(demo_gold_path("en"))


@pytest.fixture
def tokeniser() -> BpeTokeniser:
    return load_tokeniser("demo:en")


@pytest.mark.slow
def test_a_followed_word_is_as_segmented_after_each_phase(
    tokeniser: BpeTokeniser, reference: Reference
) -> None:
    benchmark = Benchmark.build(tokeniser, reference)
    run = ReBPERun(tokeniser, benchmark)
    texts = ["antiaircraft", "undesirable", "unhappiness", reference.entries[0].word]
    words = tokeniser.encode(texts)
    expected: dict[str, list[list[int]]] = {text: [] for text in texts}
    while True:
        segmentation = segment(run.graph, words)
        for number, text in enumerate(texts):
            expected[text].append(segmentation.tokens(number))
        if run.step() is None:
            break
    assert len(run.phases) > 6
    followed = follow_phases(
        run, lambda graph: [*map(segment(graph, words).tokens, range(len(texts)))]
    )
    assert [list(tokens) for tokens in zip(*followed, strict=True)] == list(expected.values())
    assert len(followed) == len(run.phases)
    for edits, tokens in zip(edits_after(run), followed, strict=True):
        graph = run.graph.earlier(len(run.graph.history) - edits)
        assert segment(graph, words).tokens(0) == tokens[0]
    assert len({tuple(tokens) for tokens in map(tuple, map(str, expected["antiaircraft"]))}) > 1
    # Gone back, only the phases that are left are followed.
    run.go_to(3)
    assert (
        follow_phases(run, lambda graph: segment(graph, words).tokens(0)) == expected[texts[0]][:3]
    )


def test_edits_before_a_run_belong_to_its_start(
    tokeniser: BpeTokeniser, reference: Reference
) -> None:
    tokeniser.graph.knockout(["Ġthe"])
    run = ReBPERun(tokeniser, Benchmark.build(tokeniser, reference))
    words = tokeniser.encode(["the"])
    assert len(follow_phases(run, lambda graph: segment(graph, words).tokens(0))[0]) > 1
    run.step()
    assert edits_after(run) == [1, 2]


def test_changed_merges_by_kind(
    small_tokeniser: Callable[..., BpeTokeniser], small_reference: Callable[..., Reference]
) -> None:
    """The merge a + b closed five gaps, four of them boundaries: abc and abd become tuple merges.

    Their pair (a, b) is on the blacklist, so b + c and b + d are created, one in each.
    """
    tokeniser = small_tokeniser([("a", "b"), ("ab", "c"), ("ab", "d")], "abcd")
    benchmark = Benchmark.build(tokeniser, small_reference("a b", "a b", "abc", "a bd", "a bd"))
    run = ReBPERun(tokeniser, benchmark, ReBPESettings(anneal=False, threshold=0.6))
    run.step()
    graph = tokeniser.graph

    def shown() -> list[tuple[str, str, list[str], list[str], int]]:
        names = graph.types
        return [
            (
                entry.kind,
                names[entry.result],
                [names[part] for part in entry.before],
                [names[part] for part in entry.after],
                entry.also,
            )
            for entry in changed_merges(graph, run.phases[-1].change)
        ]

    assert shown() == [
        ("removed", "ab", ["a", "b"], [], 0),
        ("split", "abc", ["ab", "c"], ["a", "b", "c"], 0),
        ("split", "abd", ["ab", "d"], ["a", "b", "d"], 0),
    ]
    run.step()
    assert shown() == [
        ("created", "bc", [], ["b", "c"], 1),
        ("created", "bd", [], ["b", "d"], 1),
        ("shortened", "abc", ["a", "b", "c"], ["a", "bc"], 0),
        ("shortened", "abd", ["a", "b", "d"], ["a", "bd"], 0),
    ]


@pytest.mark.slow
def test_every_change_of_a_run_is_shown(tokeniser: BpeTokeniser, reference: Reference) -> None:
    run = ReBPERun(tokeniser, Benchmark.build(tokeniser, reference))
    while phase := run.step():
        entries = changed_merges(run.graph, phase.change)
        for kind, number in phase.counts.items():
            assert sum(entry.kind == kind for entry in entries) == number
        for entry in entries:
            if entry.kind != "removed":
                assert run.graph.merge(entry.merge).rank == entry.rank


@pytest.mark.slow
def test_ablation_is_four_runs(tokeniser: BpeTokeniser, reference: Reference) -> None:
    benchmark = Benchmark.build(tokeniser, reference)
    before = tokeniser.signature()
    steps = [{"edit": "knockout", "types": ["Ġthe"]}]
    shares: list[float] = []
    cells = ablation(tokeniser, benchmark, ReBPESettings(iterations=3), steps, shares.append)
    assert tokeniser.signature() == before
    assert [(cell.anneal, cell.reify) for cell in cells] == [
        (False, False),
        (False, True),
        (True, False),
        (True, True),
    ]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    for cell in cells:
        fork = load_tokeniser("demo:en")
        fork.graph.replay(steps)
        run = ReBPERun(
            fork,
            benchmark,
            ReBPESettings(
                anneal=cell.anneal,
                repair=cell.reify,
                link=cell.reify,
                expand=cell.reify,
                iterations=3,
            ),
        )
        last = run.finish()[-1]
        assert (cell.score, cell.vocabulary_size) == (last.score, last.vocabulary_size)
        assert cell.converged == run.converged
        assert cell.iterations == last.iteration
    assert len({cell.score.f1 for cell in cells}) == 4


@pytest.mark.slow
def test_a_run_goes_back_and_forth(tokeniser: BpeTokeniser, reference: Reference) -> None:
    run = ReBPERun(tokeniser, Benchmark.build(tokeniser, reference))
    run.finish()
    everything, merges = run.phases, dict(run.graph.merges())
    assert run.converged
    for position in (len(everything) - 1, 4, 9, 1, 2, len(everything)):
        run.go_to(position)
        assert run.phases == everything[:position]
        assert run.graph.merge_count == everything[position - 1].merges
    assert dict(run.graph.merges()) == merges
    # Undo elsewhere moves the run along, and it goes on from there.
    run.go_to(1)
    run.graph.redo()
    assert [phase.kind for phase in run.phases] == ["start", "anneal"]
    assert run.upcoming == (1, "knockout")
    run.step()
    assert run.all_phases == run.phases
    run.finish()
    assert [phase.counts for phase in run.phases] == [phase.counts for phase in everything]
    assert [(m.rank, m.parts, m.result) for m in run.graph.merges().values()] == [
        (m.rank, m.parts, m.result) for m in merges.values()
    ]


def test_redo_brings_back_nothing_that_a_run_has_cut_off(
    small_tokeniser: Callable[..., BpeTokeniser], small_reference: Callable[..., Reference]
) -> None:
    tokeniser = small_tokeniser([("a", "b"), ("ab", "c")], "abc")
    run = ReBPERun(tokeniser, Benchmark.build(tokeniser, small_reference("a b", "a bc")))
    run.step()
    run.step()
    assert tokeniser.graph.history
    run.go_to(1)
    assert tokeniser.graph.undone
    phase = run.step()  # annealing again, which changes nothing
    assert phase is not None
    assert phase.change.is_empty
    assert not tokeniser.graph.undone


def test_a_run_knows_when_it_is_stale(tokeniser: BpeTokeniser, reference: Reference) -> None:
    tokeniser.graph.knockout(["Ġthe"])
    run = ReBPERun(tokeniser, Benchmark.build(tokeniser, reference))
    assert not run.is_stale
    run.step()
    tokeniser.graph.knockout(["ing"])
    assert not run.is_stale
    run.go_to(1)
    assert not run.is_stale
    tokeniser.graph.knockout(["er"])
    assert run.is_stale
    tokeniser.graph.undo()
    assert not run.is_stale
    tokeniser.graph.undo()
    assert run.is_stale
    tokeniser.graph.knockout(["ing"])
    assert run.is_stale


def test_the_last_character_of_a_word_is_one_atom_even_if_a_merge_makes_it(
    small_tokeniser: Callable[..., BpeTokeniser], small_reference: Callable[..., Reference]
) -> None:
    """Words have e</w> as an atom, so a + b + e</w> can apply and must not be repaired."""
    tokeniser = small_tokeniser(
        [("a", "b", "e</w>"), ("e", "</w>")], "abe</w>", end_of_word_suffix="</w>"
    )
    benchmark = Benchmark.build(tokeniser, small_reference("abe", "a b"))
    settings = ReBPESettings(anneal=False, link=False, expand=False)
    run = ReBPERun(tokeniser, benchmark, settings)
    before = tokeniser.graph.merges()
    run.finish()
    assert tokeniser.graph.merges() == before
