"""The drawer exports: forms, checks, and that an edit makes them be made again; and copies."""

import io
import json
import re
import zipfile

import pytest
from gguf_models import write_merges

import morphgraph as mg
from tests.pages.conftest import as_read
from web.copies import MOST_COPIES
from web.drawer import GGUF, PLAIN, TUPLES

pytestmark = pytest.mark.slow


def said(app):
    return "\n".join(as_read(message.value) for message in app.test.success)


def form(app, name):
    app.test.radio(key="export_form").set_value(name)
    app.run()


def expect_form(app, kind, file):
    """What was prepared has this form, this file, and says how to load it."""
    assert f"It is a {kind}" in said(app)
    [tip] = [b.help for b in app.test.get("download_button") if b.label == "Download"]
    assert file in tip
    [how] = [code.value for code in app.test.code if "AutoTokenizer" in code.value]
    assert ("trust_remote_code=True" in how) == (file != "tokenizer.json")


def test_it_is_plain_or_as_it_is_and_checked_anew(app):
    app.open("history").press("Check and prepare")
    expect_form(app, "`tokenizer.json`", "tokenizer.json")
    app.knock_out("ies")
    assert not app.test.success, "what was checked is another tokeniser"
    plain, *_ = app.test.radio(key="export_form").proto.captions
    assert re.search(
        r"F1 \d\d\.\d\d\s% instead of \d\d\.\d\d\s% on the 188 words kept aside", plain
    )
    app.press("Check and prepare")
    expect_form(app, "`tokenizer.json`", "tokenizer.json")
    assert app.graph.tuple_merges(), "what is open stays as it is"
    form(app, TUPLES)
    assert not app.test.success
    app.press("Check and prepare")
    expect_form(app, "folder for `transformers`", "merges.py")
    tuples = f"{len(app.graph.tuple_merges()):,}"
    assert re.search(rf"\b{tuples} merges are of more than two parts", said(app))
    # Coming back shows it again; undoing asks for a check again.
    app.open("start").open("history")
    assert "the same ids" in said(app)
    app.press("Undo")
    assert not app.test.success and "Check and prepare" in app.buttons()


def test_a_model_in_gguf_gets_the_merges(app, downloads, tmp_path):
    model = write_merges(tmp_path / "model.gguf", app.session.study.tokeniser)
    app.upload("", ("model.gguf", model.read_bytes())).knock_out("ies")
    form(app.open("history"), GGUF)
    app.press("Check and prepare")
    (tmp_path / "new.gguf").write_bytes(downloads["download morphgraph-tokeniser.gguf"]())
    form(app, PLAIN)
    app.press("Check and prepare")
    made = io.BytesIO(downloads["download morphgraph-tokeniser.zip"]())
    zipfile.ZipFile(made).extractall(tmp_path)
    words = ["bakeries", "studies", "families", "unhappily"]
    new, plain = mg.load(tmp_path / "new.gguf"), mg.load(tmp_path / "morphgraph-tokeniser")
    assert new.segment(words) == plain.segment(words) != mg.load("demo:en").segment(words)


def test_a_copy_can_be_left_and_opened_again(app, downloads, visit):
    def keep(name):
        app.find("text_input", "Keep the present state as").set_value(name)
        app.press("Keep a copy")

    def rows():
        row = re.compile(r"\*\*(.*)\*\*  \n:small\[(.*)\]")
        found = (row.fullmatch(as_read(m.value)) for m in app.test.markdown)
        return {one[1]: one[2] for one in found if one}

    app.graph.knockout(["ies"])
    app.graph.knockout(["ing"])
    keep_f1 = app.open("history").f1
    keep("<b>two</b> " + "x" * 60)
    [two] = app.session.copies[app.session.study.tokeniser.checksum]
    assert two == "<b>two</b> " + "x" * 29
    assert rows() == {two: "7,998 types · 2 edits"}
    app.press("Undo")
    keep("")
    assert list(rows()) == [two, "1 edit"]
    app.graph.knockout(["er"])  # which nobody keeps
    assert app.click("swap_horiz copy 0").knocked_out == [["ies"], ["ing"]]
    assert list(rows()) == [two, "1 edit", "before switching"]
    assert app.click("swap_horiz copy 1").knocked_out == [["ies"]]
    assert list(rows()) == [two, "1 edit", "before switching"], "Redo leads back"
    assert len(app.press("Redo").graph.history) == 2
    assert app.click("swap_horiz copy 2").knocked_out == [["ies"], ["er"]] and len(rows()) == 3
    app.press("Undo").click("delete copy 2")
    # They come back in the same browser, are taken along, and compared.
    app = visit(app.session.store).open("history")
    assert list(rows()) == [two, "1 edit"] and app.knocked_out == [["ies"]]
    app.click("swap_horiz copy 0")
    steps = json.loads(downloads["download recipe.json"]())["steps"]
    assert [step["types"] for step in steps] == [["ies"], ["ing"]]
    app.click("swap_horiz copy 1").open("compare")
    grid = app.set("multiselect", "Methods", ["bpe", f"copy {two}"]).component("comparison")
    titles = [head["title"] for head in grid["heads"]]
    texts = [cell["text"] for cell in grid["figures"][0]["cells"]]
    scores = dict(zip(titles, texts, strict=True))
    assert scores[two] == f"{float(keep_f1):.1f}" != scores["BPE, edited"]


def test_no_switch_loses_edits_where_no_more_copies_are_kept(app):
    app.graph.knockout(["ies"])
    app.open("history")
    for _ in range(MOST_COPIES):
        app.press("Keep a copy")
    assert app.find("button", "Keep a copy").disabled
    app.graph.undo()
    app.knock_out("ing").click("swap_horiz copy 0")
    assert app.knocked_out == [["ing"]]
    assert "Remove one first" in app.test.toast[0].value
