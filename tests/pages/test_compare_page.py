"""The comparison page: words, methods, filters and details."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from morphgraph.corpus.counts import WordCounts
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on
from morphgraph.segment.training import train
from morphgraph.tokeniser.preprocess import shown_token
from web import components, method_picker
from web.state import app_cache

pytestmark = pytest.mark.slow


def rows(app: Any) -> list[dict[str, Any]]:
    """The rows that the table was given."""
    [found] = [
        element.proto
        for element in app.test.get("bidi_component")
        if element.proto.component_name.endswith("comparison")
    ]
    listed: list[dict[str, Any]] = json.loads(found.json)["rows"]
    return listed


def control(app: Any, label: str) -> Any:
    [found] = [c for c in app.test.segmented_control if c.label == label]
    return found


def methods(app: Any, *names: str) -> Any:
    [box] = [m for m in app.test.multiselect if m.label == "Methods"]
    box.set_value(list(names))
    return app.run()


def type_words(app: Any, text: str) -> Any:
    [field] = [f for f in app.test.text_input if f.label == "Words"]
    field.set_value(text)
    return app.run()


def draw(app: Any, how: str) -> Any:
    """Ask for words of the reference, drawn like this."""
    [radio] = [r for r in app.test.radio if r.label == "Draw those"]
    radio.set_value(how)
    return app.run()


def heads(app: Any) -> list[str]:
    """What stands above the columns, and opens their settings."""
    labels = [block.proto.popover.label for block in app.test.get("popover")]
    return [label for label in labels if label.startswith("**")]


@pytest.fixture
def compare(app: Any) -> Any:
    """The page with methods that need no training."""
    app.test.query_params["methods"] = "bpe,dropout,flota,greedy"
    app.open("compare")
    return app


def test_the_methods_of_the_literature_are_chosen_at_first(app: Any) -> None:
    app.open("compare")
    labels = list(app.test.dataframe[0].value["method"])
    assert labels == ["BPE", "BPE-dropout", "Trimmed BPE", "Picky BPE", "FLOTA"]
    assert all(len(row["cells"]) == 5 for row in rows(app))
    assert not app.test.warning
    # Trained on the same counts, to the same size.
    sizes = dict(zip(labels, app.test.dataframe[0].value["types"], strict=True))
    assert sizes["Picky BPE"] == sizes["BPE"] == "8,000"
    picky = next(s for s in app.test.dataframe[0].value["signature"] if s.startswith("Picky"))
    assert "picky-plain-8000" in picky
    # Trimmed by counts of the reference's word frequencies.
    study = app.session.study
    counts = {word: round(n) for word, n in study.benchmark.frequencies.items()}
    trimmed = method_on(study.tokeniser, "trimmed", {}, WordCounts.from_mapping(counts))
    assert sizes["Trimmed BPE"] == f"{trimmed.vocabulary_size:,}"
    # An edit adds what was before it, once.
    app.graph.knockout(["ia"])
    app.run()
    labels = list(app.test.dataframe[0].value["method"])
    assert labels[0] == "before the edits"
    assert labels[1:] == ["BTE now", "BPE-dropout", "Trimmed BPE", "Picky BPE", "FLOTA"]
    methods(app, "bpe", "flota")
    app.graph.knockout(["un"])
    app.run()
    assert len(rows(app)[0]["cells"]) == 2


def test_each_column_says_its_settings_and_its_score_and_can_be_taken_off(compare: Any) -> None:
    [box] = [m for m in compare.test.multiselect if m.label == "Methods"]
    f1 = [value.removesuffix("0") for value in compare.test.dataframe[0].value["F1 %"]]
    names = ["**BPE** ", "**BPE\\-dropout** p = 0.1 · ", "**FLOTA** ", "**Greedy** "]
    for head, name, score in zip(heads(compare), names, f1, strict=True):
        assert head.startswith(f"{name}F1 ")
        assert abs(float(head.rpartition(" ")[2].removesuffix("\xa0%")) - float(score)) < 0.06
    [field] = [n for n in compare.test.number_input if n.key == "compare_flota_k"]
    field.set_value(2)
    compare.run()
    assert "k = 2" in heads(compare)[2]
    [button] = [b for b in compare.test.button if b.key == "compare drop dropout"]
    button.click()
    compare.run()
    [box] = [m for m in compare.test.multiselect if m.label == "Methods"]
    assert box.value == ["bpe", "flota", "greedy"]
    assert len(rows(compare)[0]["cells"]) == 3


def test_words_are_in_sight_before_what_takes_long_is_made(
    app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.session.use_frequencies({"lower": 7.0, "lowest": 5.0}, "small.tsv")
    seen: list[Any] = []
    real, make = components.comparison_table, method_picker.make_method

    def table(labels: Any, shown: Any, **options: Any) -> None:
        seen.append(options["columns"])
        real(labels, shown, **options)

    def made(current: Any, place: str, name: str, settings: Any) -> Any:
        seen.append(name)
        return make(current, place, name, settings)

    monkeypatch.setattr(components, "comparison_table", table)
    monkeypatch.setattr(method_picker, "make_method", made)
    app.test.query_params["methods"] = "bpe,trimmed,flota"
    app.open("compare")
    assert seen[:4] == ["bpe", "flota", [0, None, 1], "trimmed"]
    assert seen[4:] == ["bpe", "trimmed", "flota", [0, 1, 2]]
    # In another session it is made already.
    seen.clear()
    other = type(app)()
    other.session.use_frequencies({"lower": 7.0, "lowest": 5.0}, "small.tsv")
    other.test.query_params["methods"] = "trimmed"
    other.open("compare")
    assert seen == ["trimmed", [0]]


def test_what_other_visitors_models_pushed_out_does_not_keep_the_page_running(
    app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = app_cache()
    monkeypatch.setattr(cache, "entries", 100)
    for number in range(100):
        cache.get("another visitor", number, lambda: None)
    app.session.use_frequencies({"lower": 7.0, "lowest": 5.0}, "small.tsv")
    app.test.query_params["methods"] = "trimmed,picky"
    app.open("compare")
    assert len(app.test.dataframe[0].value) == 2
    for name in ("ia", "un", "er"):  # edits, after which trimmed BPE is another one
        app.graph.knockout([name])
        app.run()
        assert len(app.test.dataframe[0].value) == 3
        assert not app.test.exception


def test_picky_bpe_is_trained_once_for_the_same_counts_and_size(
    app: Any, open_app: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def count(counts: WordCounts, size: int, **options: Any) -> Any:
        made.append(1)
        return train("picky", counts, 262, **options)

    monkeypatch.setattr(method_picker, "train", lambda _, *given, **how: count(*given, **how))

    def opened(visit: Any, newer: float) -> Any:
        visit.session.use_frequencies({"lower": 7.0, "lowest": 5.0, "newer": newer}, "small.tsv")
        visit.test.query_params["methods"] = "picky"
        visit.open("compare")
        return visit

    page = opened(app, 3.0)
    assert len(made) == 1
    [signature] = page.test.dataframe[0].value["signature"]
    assert signature.startswith("Picky")
    page.graph.knockout(["ia"])  # it is none of what it is trained on
    page.run()
    opened(open_app(), 3.0)
    assert len(made) == 1
    opened(open_app(), 4.0)
    assert len(made) == 2
    [field] = [n for n in page.test.number_input if n.label == "threshold"]
    field.set_value(0.8)
    page.run()
    assert len(made) == 3


def test_what_needs_counts_is_not_chosen_without_them(app: Any) -> None:
    app.session.use_frequencies(None, "")
    app.open("compare")
    assert list(app.test.dataframe[0].value["method"]) == ["BPE", "BPE-dropout", "FLOTA"]
    methods(app, "bpe", "picky")
    assert any("word counts" in warning.value for warning in app.test.warning)
    assert any("Trimmed BPE and Picky BPE need word counts" in t.value for t in app.test.markdown)
    # One click takes those of the reference's language, and shows what needed them.
    app.press("Use wordfreq’s for English")
    assert app.session.study.benchmark.frequency_source == "wordfreq:en"
    [box] = [m for m in app.test.multiselect if m.label == "Methods"]
    assert {"trimmed", "picky"} <= set(box.value)
    assert "use the frequencies of the language" not in [b.key for b in app.test.button]


def test_the_worst_words_of_the_reference_come_first(compare: Any) -> None:
    worst = compare.session.study.worst_words(50)
    assert [row["text"] for row in rows(compare)] == [word.word for word in worst]
    assert all(row["gold"] for row in rows(compare))
    assert all(len(row["cells"]) == 4 for row in rows(compare))


@pytest.mark.parametrize("how", ["most blame", "at random", "with an affix", "most disputed"])
def test_other_draws(compare: Any, how: str) -> None:
    draw(compare, how)
    found = rows(compare)
    assert 5 < len(found) <= 50
    if how == "with an affix":
        assert all("un" in row["gold"] for row in found)
    if how == "most disputed":
        assert all(len({str(c["pieces"]) for c in row["cells"]}) > 1 for row in found)
    if how == "most blame":
        splits = [sum(p[1] == "missed" for p in row["cells"][0]["pieces"]) for row in found]
        assert all(splits)


def test_typed_words_and_sentences(compare: Any) -> None:
    type_words(compare, "undesirable unhappily undesirable zzz")
    assert [row["text"] for row in rows(compare)] == ["undesirable", "unhappily", "zzz"]
    [lines] = [t for t in compare.test.text_area if t.label == "Texts, one a line"]
    lines.set_value("undesirable unhappily\n\n a cat")
    compare.run()
    assert [row["text"] for row in rows(compare)] == ["undesirable unhappily", "a cat"]
    # Words of the reference take the place of both.
    draw(compare, "at random")
    assert len(rows(compare)) == 50


def test_every_method_is_what_the_library_makes(compare: Any) -> None:
    type_words(compare, "undesirable antiaircraft")
    methods(compare, *METHODS.offered)
    tokeniser = compare.session.study.tokeniser
    for number, name in enumerate(METHODS.offered):
        if name in ("trimmed", "dropout"):
            continue
        segmenter = method_on(tokeniser, name)
        words = segmenter.encode(["undesirable", "antiaircraft"])
        segmentation = segmenter.segment(words)
        for word, row in enumerate(rows(compare)):
            tokens = [
                shown_token(segmenter.token_text(words, atom, token))
                for atom, token in segmentation.token_ends(word)
            ]
            assert row["cells"][number]["tokens"] == " ".join(map(shown_token, tokens))


def test_filters(compare: Any) -> None:
    everything = rows(compare)
    control(compare, "Show").set_value("methods disagree")
    compare.run()
    fewer = rows(compare)
    assert 0 < len(fewer) <= len(everything)
    assert all(len({str(c["pieces"]) for c in row["cells"]}) > 1 for row in fewer)
    control(compare, "Show").set_value("one beats another")
    compare.run().choose("Better", 2).choose("than", 0)

    def errors(cell: dict[str, Any]) -> int:
        return sum(piece[1] in ("wrong", "missed") for piece in cell["pieces"])

    better = rows(compare)
    assert better
    assert all(errors(row["cells"][2]) < errors(row["cells"][0]) for row in better)


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_cell_shows_how_it_came_about(compare: Any, column: int) -> None:
    word = rows(compare)[0]["text"]
    label = ["BPE", "BPE-dropout", "FLOTA"][column]
    compare.test.session_state["compare cell"] = (word, label)
    compare.run()
    assert any(word in heading.value for heading in compare.test.subheader)
    if column == 1:
        shares = compare.test.dataframe[0].value["share"]
        assert 0 < shares.sum() <= 1


def test_edits_can_be_compared_with_the_start(compare: Any) -> None:
    study = compare.session.study
    study.graph.knockout(study.worst_words and ["ia"])
    type_words(compare, "antiaircraft")
    methods(compare, "bpe", "before the edits")
    now, before = rows(compare)[0]["cells"]
    assert now["tokens"] != before["tokens"]
    # Each has its merge tree, with the gold boundaries.
    for label, tokens in (("BTE now", now["tokens"]), ("before the edits", before["tokens"])):
        compare.test.session_state["compare cell"] = ("antiaircraft", label)
        compare.run()
        [tree] = [
            json.loads(element.proto.json)
            for element in compare.test.get("bidi_component")
            if element.proto.component_name.endswith("merge_tree")
        ]
        assert f"Tokens: {tokens}." in tree["light"][0]


def test_the_address_holds_the_comparison(compare: Any) -> None:
    type_words(compare, "undo redo")
    methods(compare, "bpe", "dropout")
    [field] = [n for n in compare.test.number_input if n.label == "p"]
    field.set_value(0.4)
    compare.run()
    assert compare.address["methods"] == "bpe,dropout(p=0.4, seed=0)"
    assert compare.address["words"] == "undo redo"
    # Whoever opens that address sees the same.
    shown = rows(compare)
    other = type(compare)()
    other.test.query_params["methods"] = compare.address["methods"]
    other.test.query_params["words"] = compare.address["words"]
    other.open("compare")
    assert rows(other) == shown


def test_the_address_holds_the_demo_and_the_filter(compare: Any) -> None:
    compare.choose("Demo", "de")
    control(compare, "Show").set_value("methods disagree")
    compare.run()
    shown = rows(compare)
    other = type(compare)()
    for name in ("methods", "demo", "show"):
        other.test.query_params[name] = compare.address[name]
    other.open("compare")
    assert other.session.language == "de"
    assert rows(other) == shown
    # Whoever chooses another demo then stays with it.
    other.choose("Demo", "nl")
    assert other.session.language == "nl"


def test_what_the_address_asks_for_later_is_shown(compare: Any) -> None:
    """As after Back and Forward: the page runs again with another address."""
    first = rows(compare)
    type_words(compare, "undo redo")
    methods(compare, "bpe", "dropout")
    compare.go_back(draw="0,50", methods="bpe,dropout,flota(k=1),greedy")
    assert [row["text"] for row in rows(compare)] == [row["text"] for row in first]
    assert "k = 1" in heads(compare)[2]
    assert compare.address["methods"] == "bpe,dropout(p=0.1, seed=0),flota(k=1),greedy"


def test_the_address_holds_what_was_drawn(compare: Any) -> None:
    draw(compare, "at random")
    [seed] = [n for n in compare.test.number_input if n.label == "Seed"]
    seed.set_value(7)
    compare.run()
    shown = rows(compare)
    other = type(compare)()
    for name in ("draw", "methods"):
        other.test.query_params[name] = compare.address[name]
    other.open("compare")
    assert rows(other) == shown


def test_hostile_addresses_are_harmless(app: Any) -> None:
    app.test.query_params["methods"] = "dropout(p=99),<script>,flota(k=nan),greedy(q=1)"
    app.test.query_params["words"] = "<script>alert(1)</script>"
    app.test.query_params["draw"] = f"{'1' * 5000},{'2' * 5000},{'3' * 5000}"
    app.open("compare")
    assert [row["text"] for row in rows(app)] == ["<script>alert(1)</script>"]
    type_words(app, "")
    assert len(rows(app)) == 50


def test_an_uploaded_model_is_chosen_at_once_and_told_apart(compare: Any) -> None:
    model = write_model(method_on(compare.session.study.tokeniser.fork(), "bpe"))
    compare.upload("Model", ("my model.json", model)).run()
    [box] = [m for m in compare.test.multiselect if m.label == "Methods"]
    assert "model my model.json" in box.value
    assert len(rows(compare)[0]["cells"]) == 5
    labels = list(compare.test.dataframe[0].value["method"])
    assert labels == ["BPE", "BPE-dropout", "FLOTA", "Greedy", "my model.json"]


def test_broken_models_are_a_message(compare: Any) -> None:
    compare.upload("Model", ("broken.json", b'{"format": "morphgraph model", "version": 1}'))
    assert any("broken.json" in message for message in compare.errors())
    assert len(rows(compare)[0]["cells"]) == 4


def test_another_word_does_not_show_a_cell_that_nobody_clicked(compare: Any) -> None:
    type_words(compare, "alpha beta")
    compare.test.session_state["compare cell"] = ("beta", "FLOTA")
    compare.run()
    assert any("beta" in heading.value for heading in compare.test.subheader)
    type_words(compare, "gamma delta")
    assert not any("FLOTA" in heading.value for heading in compare.test.subheader)
