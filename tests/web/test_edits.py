"""What clicks and keys do to a session, without a browser."""

import pytest
import streamlit as st
from small import small_reference, small_tokeniser

from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from web.components import Click, new_clicks
from web.edits import bring_back, handle_clicks, knock_out_type
from web.state import Session

MERGES = [("u", "n"), ("e", "n"), ("un", "d"), ("und", "en"), ("k", "und")]


@pytest.fixture
def current():
    tokeniser = small_tokeniser(MERGES)
    reference = small_reference("k und en", "un d", "en d")
    st.session_state.clear()
    return Session(Study(tokeniser, Benchmark.build(tokeniser, reference)))


def test_a_click_chooses_and_a_double_click_centres_also_what_a_merge_makes(current):
    graph = current.study.graph
    handle_clicks(current, [Click(1, f"m{graph.producer('und')}", "click")])
    assert (current.selected, current.focus) == (graph.ids["und"], None)
    handle_clicks(current, [Click(2, f"t{graph.ids['un']}", "double")])
    assert current.selected == current.focus == graph.ids["un"]
    for key in ["t999999", "m999999", "t-1", "x", "tx", ""]:
        handle_clicks(current, [Click(3, key, "click")])
    assert current.selected == graph.ids["un"]


def test_an_atom_stays_and_a_message_says_why(current):
    knock_out_type(current, current.study.graph.ids["u"])
    assert current.study.graph.history == ()
    assert "atom" in st.session_state["edit message"]


def test_one_of_several_types_is_brought_back(current):
    graph = current.study.graph
    graph.knockout(["un", "und"])
    graph.knockout(["en"])
    bring_back(current, graph.ids["un"])
    assert {"un"} == {"un", "und", "en"} & {graph.types[n] for n in graph.type_ids()}
    assert [step["types"] for step in graph.recipe()] == [["und"], ["en"]]
    bring_back(current, graph.ids["en"])
    assert "en" in graph
    assert len(graph.undone) == 1, "the last edit alone is undone, so it can be made again"


def test_what_went_with_another_type_does_not_come_back_alone(current):
    graph = current.study.graph
    graph.cascade(["und"])
    bring_back(current, graph.ids["kund"])
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
