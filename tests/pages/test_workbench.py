"""The Workbench: one text, word and type through its three pictures, and what the button does."""

import json
import string

import pytest
from small import small_document
from strategies import SEVERAL_MERGES

from morphgraph.draw.all_types import TO_BLAME
from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.segment.models import load_segmenter
from web.edits import CANVAS


def description(app):
    data = app.component("merge_tree")
    return str(data["light"][0]).split("<desc>")[1].split("</desc>")[0]


def state(app, name):
    return app.put(CANVAS, name)


def test_a_visit_begins_with_a_word_and_the_merge_to_blame_for_it(app):
    study, names = app.session.study, app.session.study.tokeniser.readable_types
    assert app.address["word"] == "bakeries"
    now = study.now.segmentation.tokens(study.number_of("bakeries"))
    tokens = " ".join(names[token] for token in now)
    assert description(app) == f"Tokens: {tokens}. Gold: bak eri es."
    number = app.session.selected
    assert names[number] == "ies" == names[app.component("merge_tree")["chosen"]]
    wrong = study.example_counts(number)[1]
    assert f"{wrong} of {wrong}" in app.said()
    [group] = app.component("word_rows")["groups"]
    assert group["count"] == str(wrong)
    for row in group["rows"]:
        assert f"t{number}" in row["keys"]
        assert row["gold"].replace("|", "") == row["word"]
        assert "‿" in [sign for _, sign, _ in row["pieces"]]


def test_the_same_word_and_type_go_through_all_pictures_and_the_address(app):
    held = {name: app.address[name] for name in ("text", "word", "type")}
    state(app, "Type")
    assert app.component("merge_tree") is None
    vertices = app.component("fan_graph")["fan"]["vertices"]
    [middle] = [v for v in vertices if "focus" in v["flags"]]
    assert middle["label"] == "ies"
    assert [v["label"] for v in vertices if v["kind"] == "more"] == ["15 more merges"]
    assert app.address == {"demo": "en", "state": "Type", **held}
    state(app, "All types")
    assert app.address == {"demo": "en", "state": "All types", **held}
    assert app.component("type_overview")["name"] == "ies"
    state(app, "Word")
    assert app.address == {"demo": "en", **held}


def test_all_types_are_listed_by_chips_regions_and_users(app):
    app.session.use_frequencies({"the": 9.0, "undoing": 4.0, "houses": 3.0}, "small.tsv")
    state(app.run(), "All types")
    study, prefix = app.session.study, "types {} " + str(app.session.study_number)
    to_blame = study.blame().candidates()
    assert len(app.table("blame")) == len(to_blame)
    assert app.table("blame")["type"][0] == "ies"
    app.put(prefix.format("region"), (3, 9, 3, 10)).put(
        prefix.format("filters"), ["in the region", TO_BLAME]
    )
    listed = app.table("blame")
    assert set(listed["type"].str.len()) <= {3, 4} and "ies" in set(listed["type"])
    assert 0 < len(listed) < len(to_blame) and listed["blame"].min() >= 85
    [ing] = [n for n, name in enumerate(study.tokeniser.readable_types) if name == "ing"]
    app.put(prefix.format("users of"), ing).put(prefix.format("filters"), ["uses ing"])
    users = {study.graph.merge(m).result for m in study.graph.outgoing(ing)}
    assert len(app.table("blame")) == len(users)


@pytest.mark.parametrize("cascade", [False, True])
def test_the_promise_is_what_the_button_then_does(app, cascade):
    app.put("canvas cascade", cascade)
    number, before = app.session.selected, app.f1
    [promise] = [m.value for m in app.test.markdown if "words better, " in m.value]
    app.press("Knock out")
    study = app.session.study
    better, worse, _ = study.better_worse_same(study.start)
    assert f"F1 {before} → {app.f1}" in promise
    assert f"{better} words better, {worse} worse" in promise
    removed = 8000 - study.tokeniser.vocabulary_size
    assert (removed > 1) == cascade and (f"{removed} types go" in promise) == cascade
    assert not app.graph.is_present(number)
    assert f"F1 {before} → {app.f1} % · {better} better, {worse} worse" in app.said()
    words, *left = app.component("word_rows")["groups"]
    gains = [row["gain"] for row in words["rows"]]
    assert gains == sorted(gains, reverse=True) and sum(gain > 0 for gain in gains) == better
    closers = {row["word"]: row["closer"][1] for group in left for row in group["rows"]}
    assert closers.get("stories") == (None if cascade else "ories")
    assert "before the edits" in app.component("merge_tree")["light"][0]
    drawn = {v["key"]: v for v in state(app, "Type").component("fan_graph")["fan"]["vertices"]}
    assert "ghost" in drawn[f"t{number}"]["flags"]
    if not cascade:
        assert "27 merges now take" in app.said()
        assert any("changed" in v["flags"] for v in drawn.values() if v["kind"] == "merge")
        app.press("Bring it back")
        assert app.graph.is_present(number) and app.f1 == before
        assert app.component("speaking")["said"].startswith("1 edit undone, 0 in all: F1 ")


def test_types_that_would_be_markup_are_text(app):
    first, second = ["<img", "/src=''onerror=alert(1)>"], ["**", "[a](javascript:alert(1))"]
    merges = [first, second, ["".join(first), "".join(second)], ["u", "n"], ["un", "d"]]
    app.upload("", ("tokenizer.json", json.dumps(small_document(merges, "undo")).encode()))
    app.put(f"word {app.session.study_number}", "<script>**un</script>")
    data = app.component("merge_tree")
    assert "<script" not in "".join(data["light"] + data["dark"])


def test_types_that_nothing_forms_are_a_list(app):
    document = json.dumps(small_document(SEVERAL_MERGES, string.printable.strip())).encode()
    app.session.open_tokeniser(from_tokenizer_json(document, "several.json"))
    app.session.use_frequencies({"abcd": 1.0}, "small.tsv")
    app.graph.knockout(["abcd"])
    lists = state(app.run(), "All types").find("pills", "Lists")
    assert "1 never formed" in lists.options


def test_the_vocabulary_stands_beside_that_before_the_edits(app):
    app.graph.knockout(["ies"])
    app.put(CANVAS, "All types").put("vocabularies", True)
    parts = app.table("Types").set_index("Types").loc["Types, |V|"]
    assert (parts["Only in before the edits"], parts["Only in demo:en"]) == ("1", "0")
    for vocabulary in ("demo:nl", "demo:en"):  # both times by the name of the open one
        app.session.keep_model("demo:en", load_segmenter(vocabulary))
        app.run().put("other vocabulary", "model demo:en")
        only = app.table("Types").set_index("Types").loc["Types, |V|", "Only in demo:en"]
        assert (only == "1") == (vocabulary == "demo:en"), only
