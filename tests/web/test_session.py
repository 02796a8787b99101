"""What clicks do to a session, and what it keeps when something else is opened."""

import gc
import tracemalloc
import weakref
from functools import partial

import pytest
import streamlit as st
from small import blame_table, small_reference, small_tokeniser

from morphgraph.refine.knockout import candidate_types
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from web.components import Click, new_clicks
from web.edits import bring_back, handle_clicks, knock_out_type
from web.sources import Source, reference_of, tokeniser_of
from web.state import Session, app_cache

FIRST = [("u", "n"), ("un", "d")]
MERGES = [("u", "n"), ("e", "n"), ("un", "d"), ("und", "en"), ("k", "und")]


def opened(tokeniser, *words):
    return Session(Study(tokeniser, Benchmark.build(tokeniser, small_reference(*words))))


@pytest.fixture
def edited():
    st.session_state.clear()
    return opened(small_tokeniser(MERGES), "k und en", "un d", "en d")


def test_a_click_chooses_and_a_double_click_centres_also_what_a_merge_makes(edited):
    graph = edited.study.graph
    handle_clicks(edited, [Click(1, f"m{graph.producer('und')}", "click")])
    assert (edited.selected, edited.focus) == (graph.ids["und"], None)
    handle_clicks(edited, [Click(2, f"t{graph.ids['un']}", "double")])
    assert edited.selected == edited.focus == graph.ids["un"]
    for key in ["t999999", "m999999", "t-1", "x", "tx", ""]:
        handle_clicks(edited, [Click(3, key, "click")])
    assert edited.selected == graph.ids["un"]


def test_an_atom_stays_and_a_message_says_why(edited):
    knock_out_type(edited, edited.study.graph.ids["u"])
    assert edited.study.graph.history == ()
    assert "atom" in st.session_state["edit message"]


def test_one_of_several_types_is_brought_back(edited):
    graph = edited.study.graph
    graph.knockout(["un", "und"])
    graph.knockout(["en"])
    bring_back(edited, graph.ids["un"])
    assert {"un"} == {"un", "und", "en"} & {graph.types[n] for n in graph.type_ids()}
    assert [step["types"] for step in graph.recipe()] == [["und"], ["en"]]
    bring_back(edited, graph.ids["en"])
    assert "en" in graph
    assert len(graph.undone) == 1, "the last edit alone is undone, so it can be made again"


def test_what_went_with_another_type_does_not_come_back_alone(edited):
    graph = edited.study.graph
    graph.cascade(["und"])
    bring_back(edited, graph.ids["kund"])
    assert "kund" not in graph
    assert len(graph.history) == 1
    assert "undo" in st.session_state["edit message"].lower()


def test_what_the_browser_sends_is_not_trusted():
    pending = [
        {"sequence": 3.0, "key": "t7", "kind": "click"},
        {"sequence": 2, "key": "t5", "kind": "double"},
        {"sequence": 1, "key": "t1", "kind": "click"},  # handled before
        {"sequence": "4", "key": "t1", "kind": "click"},
        {"sequence": 5, "key": 6, "kind": "click"},
        {"sequence": 6, "key": "t1", "kind": "drag"},
        "click",
        None,
    ]
    assert new_clicks(pending, 1) == ([Click(2, "t5", "double"), Click(3, "t7", "click")], 3)
    assert new_clicks("nonsense", 4) == ([], 4)


def test_chosen_frequencies_stay_with_the_next_reference():
    current = opened(small_tokeniser(FIRST), "un d", "un do")
    current.use_frequencies({"und": 3.0, "undo": 1.0}, "mine.tsv")
    current.open_reference(small_reference("un do"))
    assert current.study.benchmark.frequency_source == "mine.tsv"
    current.open_reference(small_reference("un do", counts=[2]))
    assert current.study.benchmark.frequency_source == "counts in the reference"


@pytest.fixture
def visitors():
    """Two sessions that opened the same files."""
    loaded, reference = small_tokeniser(FIRST), small_reference("un d", "un do")
    loaded.checksum = "known"

    def visitor():
        current = Session(Study(loaded, Benchmark.build(loaded, reference)))
        current.open_tokeniser(loaded.fork())
        return current

    return visitor(), visitor()


def test_what_sessions_on_the_same_files_compute_is_computed_once(visitors):
    first, second = visitors
    made = []
    assert first.study.benchmark is second.study.benchmark
    assert first.study.now is second.study.now
    assert first.study.blame() is second.study.blame()
    for current in (first, second, first):
        assert current.once(("blame",), lambda: made.append(1) or len(made)) == 1
    for current in visitors:
        current.study.graph.knockout(["und"])
    assert first.study.now is second.study.now, "they made the same edit"
    assert first.study.start is second.study.start
    assert first.once(("blame",), lambda: "of another state") == "of another state"


def test_edits_of_one_session_are_not_seen_in_another(visitors):
    first, second = visitors
    first.study.graph.knockout(["und"])
    assert first.once(("edits",), lambda: len(first.study.graph.history)) == 1
    assert second.once(("edits",), lambda: len(second.study.graph.history)) == 0
    assert second.study.now is second.study.start is first.study.start
    first.undo()
    assert first.study.now is second.study.now


@pytest.mark.slow
def test_what_nobody_has_open_any_more_is_dropped(visitors):
    first, second = visitors
    gone = weakref.ref(first.study.now), weakref.ref(first.study.benchmark)
    assert gone[0]() is second.study.now
    for current in (first, second):
        current.open_demo("en")
    app_cache().drop(1.0, 0.0)
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_the_content_of_a_file_is_in_memory_once():
    one, two = (Source("a.json", (("a.json", bytes([1, 2, 3] * 9)),)).shared() for _ in range(2))
    assert one is two
    assert Source("b.json", one.files).shared() is not one, "a name is shown, and is one's own"


@pytest.mark.data
@pytest.mark.soak
def test_one_more_session_on_large_files_costs_little(data_folder):
    """What is derived has a bound for all sessions together; beyond that one costs little."""

    def visitor(skip):
        current = Session(None)  # the next lines open one
        current.open_demo("en")
        for path, kind, use in (
            ("tokenizers/oscar-de-40k/tokenizer.json", tokeniser_of, current.open_tokeniser),
            ("references/morphynet/deu.derivational.v1.tsv", reference_of, current.open_reference),
        ):
            file = data_folder / path
            source = Source(file.name, ((file.name, file.read_bytes()),))
            use(kind(source), source)
        study = current.study
        worst = candidate_types(study.tokeniser, study.blame(), 0.5)[skip:]
        for type_ in worst[:5]:
            study.graph.knockout([type_])
            blamed = study.blame()
            current.once(("table",), partial(blame_table, study.tokeniser, blamed))
            assert study.start and study.before_last
            current.note_edits()
        return current

    others = [visitor(0)]
    tracemalloc.start()
    used = []
    for skip in (10, 20):
        others.append(visitor(skip))
        assert app_cache().used <= app_cache().size
        app_cache().drop()
        gc.collect()
        used.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    cost = used[1] - used[0]
    assert cost < 10e6, f"{cost / 1e6:.1f} MB"
