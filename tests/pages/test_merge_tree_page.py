"""The merge tree page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from morphgraph.reference.entry import Reference
from morphgraph.refine.blame import blame
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web.state import Session
from web.views.trees import before_and_after, now, trees_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGE = "pages/2_Merge_tree.py"


def open_page(app: Any) -> Any:
    app.test.switch_page(PAGE)
    return app.run()


def picture(app: Any) -> dict[str, Any] | None:
    """What the tree component was given."""
    found = [
        element.proto
        for element in app.test.get("bidi_component")
        if element.proto.component_name.endswith("merge_tree")
    ]
    return json.loads(found[0].json) if found else None


def description(app: Any) -> str:
    data = picture(app)
    assert data is not None
    return str(data["light"][0]).split("<desc>")[1].split("</desc>")[0]


def type_word(app: Any, word: str) -> Any:
    [field] = [field for field in app.test.text_input if field.label == "Word"]
    field.set_value(word)
    return app.run()


def messages(app: Any) -> str:
    return " ".join(info.value.replace("\\", "") for info in app.test.info)


def table(app: Any) -> list[dict[str, Any]]:
    [frame] = [d.value for d in app.test.dataframe if "step" in d.value]
    rows: list[dict[str, Any]] = frame.to_dict("records")
    return rows


def test_it_starts_with_the_worst_word(app: Any) -> None:
    open_page(app)
    study = app.session.study
    worst = study.worst_words(1)[0]
    assert app.test.text_input[0].value == worst.word
    assert description(app) == (f"Tokens: {worst.before}. Gold: {worst.gold.replace('|', ' ')}.")
    rows = table(app)
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    missed = worst.after.count("‿")
    assert sum(row["gold boundaries closed"] for row in rows) == missed


def test_another_of_the_worst_words_can_be_chosen(app: Any) -> None:
    open_page(app)
    [box] = [s for s in app.test.selectbox if s.label.startswith("Or one of the worst")]
    assert "|" in box.options[4]
    wanted = app.session.study.worst_words(5)[4].word
    app.choose(box.label, wanted)
    assert app.test.text_input[0].value == wanted
    assert f"Merge tree of {wanted}<" in picture(app)["light"][0]  # type: ignore[index]


def test_the_r_of_the_table_is_that_of_the_merge(app: Any) -> None:
    open_page(app)
    study = app.session.study
    blamed = study.blame()
    names = study.tokeniser.readable_types
    shown = {
        study.graph.describe(merge, names): f"{blamed.ratio[place]:.0%}".replace("%", "\xa0%")
        for place, merge in enumerate(blamed.arrays.merge_ids)
    }
    assert all(row["blame"] == shown[row["merge"]] for row in table(app))


def test_a_word_that_is_in_no_list_has_no_gold(app: Any) -> None:
    type_word(open_page(app), "unbreakablenesses")
    assert "Gold" not in description(app)
    assert "not in the reference" in app.captions()
    assert "gold boundaries closed" not in table(app)[0]


def test_the_word_is_kept_while_one_looks_elsewhere(app: Any) -> None:
    type_word(open_page(app), "unhappily")
    app.open("scores")
    open_page(app)
    assert app.test.text_input[0].value == "unhappily"


@pytest.mark.parametrize("word", ["", "   "])
def test_nothing_typed_is_a_message(app: Any, word: str) -> None:
    type_word(open_page(app), word)
    assert "Type a word" in messages(app)
    assert picture(app) is None


def test_of_several_words_the_first_is_shown(app: Any) -> None:
    type_word(open_page(app), " under standing ")
    assert "One word at a time" in messages(app)
    assert "Merge tree of under<" in picture(app)["light"][0]  # type: ignore[index]


def test_of_a_very_long_word_the_start_is_shown(app: Any) -> None:
    type_word(open_page(app), "ab" * 5000)
    assert "first 200 of 10,000" in messages(app)
    assert f"Merge tree of {'ab' * 100}<" in picture(app)["light"][0]  # type: ignore[index]


def test_characters_outside_the_alphabet_are_named(
    app: Any, small_document: Callable[..., dict[str, Any]]
) -> None:
    document = json.dumps(small_document([["u", "n"]], "undo")).encode()
    app.upload("Tokeniser", ("tokenizer.json", document))
    type_word(open_page(app), "unx`*日")
    assert "Not in the alphabet" in app.captions()
    assert "日" in app.captions()
    type_word(app, "zzz")
    assert "No merge applies" in app.captions()


def test_types_that_would_be_markup_are_text(app: Any, hostile_document: bytes) -> None:
    app.upload("Tokeniser", ("tokenizer.json", hostile_document))
    type_word(open_page(app), "<script>**un</script>")
    data = picture(app)
    assert data is not None
    assert "<script" not in "".join(data["light"] + data["dark"])


def test_edits_are_shown_before_and_after(app: Any) -> None:
    app.open("graph")
    study = app.session.study
    number = app.session.selected
    [example, *_] = study.examples(number)[1]
    app.press("Knock out").press("Undo")
    type_word(open_page(app), example.word)
    before = description(app)
    assert not app.test.segmented_control
    app.open("graph").press("Knock out")
    open_page(app)
    after = description(app)
    tokens = before.split(". Gold")[0]
    assert after.startswith(f"before the last edit: {tokens}.")
    assert " now: Tokens: " in after
    [choice] = app.test.segmented_control
    choice.set_value("nothing")
    app.run()
    assert description(app).startswith("Tokens: ")
    type_word(app, "zq")
    app.test.segmented_control[0].set_value("all edits")
    app.run()
    assert "now, and before any edit: Tokens: " in description(app)


def test_a_deep_link_opens_the_page() -> None:
    test = AppTest.from_file(ROOT / "app.py", default_timeout=60).switch_page(PAGE).run()
    assert not test.exception
    assert test.text_input[0].label == "Word"


# ------------------------------------------------------------------------------ states and blame


@pytest.fixture
def current(
    small_tokeniser: Callable[..., BpeTokeniser], small_reference: Callable[..., Reference]
) -> Session:
    tokeniser = small_tokeniser([("u", "n"), ("un", "d"), ("und", "o")], "undo")
    return Session(Study(tokeniser, Benchmark.build(tokeniser, small_reference("un do", "und o"))))


def test_the_states_of_a_word(current: Session) -> None:
    graph = current.study.graph
    assert before_and_after(current, 0, "last") == [("", 0)]
    graph.knockout(["undo"])
    graph.knockout(["und"])
    states = before_and_after(current, 0, "start")
    assert states == [("before any edit", 0), ("now", 2)]
    first = trees_of(current, 0, states)
    assert [[m.label for m in tree.merges] for tree in first] == [["un", "und", "undo"], ["un"]]
    last = trees_of(current, "undo", before_and_after(current, "undo", "last"))
    assert [[m.label for m in tree.merges] for tree in last] == [["un", "und"], ["un"]]
    assert before_and_after(current, "nu", "last") == [("now, and before the last edit", 2)]


def test_r_is_that_of_the_state_shown(current: Session) -> None:
    """Each state has its own blame, after further edits too."""
    study = current.study
    states = [study.graph.copy()]
    for removed in ("und", "un"):
        study.graph.knockout([removed])
        states.append(study.graph.copy())
        for edits, graph in enumerate(states):
            known = blame(study.benchmark, segment(graph, study.benchmark.words))
            for number in range(2):
                [tree] = trees_of(current, number, [("", edits)])
                ratios = [known.ratio[known.place(merge.merge)] for merge in tree.merges]
                assert [merge.ratio for merge in tree.merges] == ratios
    [tree] = trees_of(current, 0, [("", 0)])
    assert [merge.ratio for merge in tree.merges] == [0.0, 0.5, 0.5]


def test_an_earlier_graph_is_made_once(current: Session) -> None:
    graph = current.study.graph
    graph.knockout(["undo"])
    kept = current.graph_after(0)
    assert current.graph_after(0) is kept
    assert "undo" in kept
    graph.knockout(["und"])
    assert current.graph_after(0) is kept
    before_last = current.graph_after(1)
    assert "undo" not in before_last
    assert "und" in before_last


def test_a_text_of_the_reference_is_its_word(current: Session) -> None:
    assert current.study.number_of("undo") == 0
    assert current.study.number_of("do") is None
    assert trees_of(current, "undo", now(current))[0].has_gold
    assert not trees_of(current, "do", now(current))[0].has_gold
