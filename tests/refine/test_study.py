"""A study: states, previews, changed words, examples and marked words."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small_reference, small_tokeniser
from strategies import well_formed

from morphgraph.refine.blame import blame
from morphgraph.refine.study import ChangedWord, Study
from morphgraph.score.boundaries import Benchmark

UNDO = [("u", "n"), ("d", "o"), ("un", "do"), ("i", "n"), ("in", "g"), ("undo", "ing")]


@pytest.fixture
def study():
    def make(*lines, merges=UNDO, counts=None):
        tokeniser = small_tokeniser(merges, "abcdinoug")
        return Study(tokeniser, Benchmark.build(tokeniser, small_reference(*lines, counts=counts)))

    return make


def made_of(graph):
    """Return the parts of the merges that make each type."""
    found = {}
    for number in graph.merge_ids():
        merge = graph.merge(number)
        parts = tuple(graph.types[part] for part in merge.parts)
        found.setdefault(graph.types[merge.result], set()).add(parts)
    return found


def took_part(state, graph, types):
    """Return behind which atoms a join made one of the types."""
    results, closed_by = state.segmentation.arrays.results, state.segmentation.closed_by
    made = [results[number] if number >= 0 else -1 for number in closed_by]
    return np.isin(np.array(made), [graph.ids[text] for text in types])


@given(
    merges=well_formed(),
    lines=st.lists(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1), min_size=1),
    data=st.data(),
)
def test_a_preview_is_what_the_edit_then_does(merges, lines, data):
    tokeniser = small_tokeniser(list(dict.fromkeys(merges)), "abc")
    reference = small_reference(*map(" ".join, lines))
    study = Study(tokeniser, Benchmark.build(tokeniser, reference))
    graph = study.graph
    for _ in range(3):
        types = [graph.types[n] for n in graph.type_ids() if not graph.is_atom(n)]
        if not types:
            break
        gone = data.draw(st.lists(st.sampled_from(types), min_size=1, unique=True))
        cascade, portable = data.draw(st.booleans()), data.draw(st.booleans())
        preview, edits = study.preview(gone, cascade=cascade, portable=portable), len(graph.history)
        before, was = study.now, graph.copy()
        changes = graph.replay(preview.steps)
        assert changes == [c for c in (preview.change, preview.portable) if c is not None]
        left = {graph.types[number] for number in graph.type_ids()}
        removed = {was.types[number] for number in was.type_ids()} - left
        assert {*gone, *preview.also} == removed and len(preview.also) == len(removed) - len(gone)
        assert all(preview.cost())
        cost, now, words = preview.to_dict(), study.now, study.benchmark.words
        tokens = [
            sum(len(state.segmentation.tokens(word)) for word in range(len(words))) / len(words)
            for state in (before, now)
        ]
        assert cost["tokens_per_word"] == pytest.approx(tokens)
        pairs = {n for n in was.merge_ids() if len(was.merge(n).parts) == 2}
        assert cost["tuple_merges"] == sum(
            len(graph.merge(n).parts) > 2 for n in pairs if graph.has_merge(n)
        )
        if portable:  # other words are as before
            made, made_before = made_of(graph), made_of(was)
            rewired = {text for text in left if made.get(text) != made_before.get(text)}
            took = took_part(before, was, removed) | took_part(now, graph, rewired)
            differ = now.segmentation.changed_words(before.segmentation)
            assert set(differ.tolist()) <= set(words.word_of_atom[took].tolist())
        morphemic = before.score("morphemic", "types")
        assert astuple(preview.before)[2:] == astuple(morphemic)[2:]
        after = study.now.score("morphemic", "types")
        assert astuple(preview.after)[2:] == astuple(after)[2:]
        examples, changed = study.changed_words(before)
        assert preview.changed_words == changed == len(examples)
        # The state before the last edit is made anew from the graph where it was not kept.
        fresh = Study(tokeniser, study.benchmark)
        for state, expected in ((fresh.state_after(edits), before), (fresh.start, study.start)):
            assert np.array_equal(state.segmentation.token_at, expected.segmentation.token_at)


def test_changed_words(study):
    # Without undoing: undo|ing, one right split more. Without undo: un|do|ing, another one, and
    # un|do, which is wrong; in ding nothing changes.
    made = study("un do ing", "undo", "d ing")
    start = made.now
    made.graph.knockout(["undoing", "undo"])
    better, count = made.changed_words(start)
    assert count == 2
    assert better == [
        ChangedWord("undoing", "un|do|ing", "un‿do‿ing", "un|do|ing", 2),
        ChangedWord("undo", "undo", "undo", "un·do", -1),
    ]
    worse, _ = made.changed_words(start, order="worse")
    assert worse == better[::-1]
    shown, count = made.changed_words(start, limit=1)
    assert (shown, count) == (better[:1], 2)
    assert made.changed_words(made.now) == ([], 0)


def test_marked(study):
    made = study("u ndo ing", "do gs", "x")
    found = made.now.segmentation
    # u‿n is closed by u + n; undoing is one token.
    assert made.marked(0, found) == "u‿ndo‿ing"
    # dogs: do|g, where s is outside the alphabet and belongs to g; gold do|gs.
    assert made.marked(1, found) == "do|gs"
    assert made.marked(2, found) == "x"
    assert made.gold_text(0) == "u|ndo|ing"


def test_worst_words(study):
    # ungod: un|g|o|d against un|god: 2 wrong. undoing: one token against three: 2 wrong. d|ing is
    # right, and does not stand in the list. The more frequent one is first among equals.
    made = study("un god", "un do ing", "d ing", "ug", counts=[1, 5, 9, 1])
    found = made.worst_words()
    assert [(word.word, word.gain) for word in found] == [
        ("undoing", -2),
        ("ungod", -2),
        ("ug", -1),
    ]
    assert found[1].after == "un|g·o·d"
    assert made.worst_words(limit=1) == found[:1]


def test_examples(study):
    # un + do is right in undo and undoxundo, wrong in undoing; undong is more frequent.
    made = study("undo", "un do ing", "un dong", "undoxun do", counts=[1, 2, 7, 3])
    right, wrong = made.examples(made.graph.id_of("undo"))
    assert [example.word for example in right] == ["undoxundo", "undo"]
    assert [example.word for example in wrong] == ["undong", "undoxundo", "undoing"]
    assert (wrong[0].gold, wrong[0].at) == ("un|dong", 2)
    assert wrong[1].at == 7, "the place where it is wrong"
    one, other = made.examples(made.graph.id_of("undo"), limit=1)
    assert (one, other) == (right[:1], wrong[:1])
    assert made.examples(made.graph.id_of("u")) == ([], []), "an atom has no merge"


def test_blame_is_that_of_the_present_state(study):
    made = study("un do ing", "undo")
    assert made.blame().applied.tolist() == [2, 2, 2, 1, 1, 1]
    assert made.blame() is made.blame()
    made.graph.knockout(["undo"])
    # un + do + ing closes two gaps, both on a boundary.
    fresh = blame(made.benchmark, made.now.segmentation)
    assert made.blame().applied.tolist() == fresh.applied.tolist() == [2, 2, 1, 1, 2]
    assert made.blame().blamed.tolist() == [0, 0, 0, 0, 2]


def test_f1_after_each_edit_is_that_of_its_state(study):
    made = study("un do ing", "do ing", "un do")
    graph = made.graph
    for removed in ("undo", "undoing", "un"):
        if removed in graph:
            graph.knockout([removed])
    edits = len(graph.history)
    assert edits >= 2
    expected = [made.state_after(n).score("morphemic", "types").f1 for n in range(edits + 1)]
    fresh = Study(made.tokeniser, made.benchmark)
    assert fresh.f1_after_edits() == expected
    graph.undo()
    assert fresh.f1_after_edits() == expected, "what was undone is known from before"
    made.tokeniser.cache.drop()
    never = Study(made.tokeniser, made.benchmark).f1_after_edits()
    assert never[:-1] == expected[:-1]
    assert never[-1] != never[-1]
