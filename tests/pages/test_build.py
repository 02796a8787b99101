"""Build: what it trains, what it says of an evaluation, and of runs in every state."""

import json
import re
import time
from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import pytest
import sixty_cells

from morphgraph.batch.run import Run, RunProgress
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.segment.models import write_model
from morphgraph.segment.training import train
from morphgraph.tables.model import text_frame
from tests.pages.conftest import App
from web import batch
from web.choosing import chosen_methods

pytestmark = pytest.mark.slow

TINY = sixty_cells.TINY.replace(", dropout(p=0.1)", "")
HOSTILE = "<b>x</b>\u202e[a](javascript:alert(1))"


@pytest.fixture
def page(state_folder):
    return App("build")


@pytest.fixture
def runs(state_folder):
    return state_folder / "runs"


def badge(page):
    found = [m.value for m in page.test.markdown if "-badge[" in m.value]
    return re.sub(r".*-badge\[(:material/\w+:)?\s*(.*?)\]$", r"\2", found[0]) if found else ""


def write(page, text):
    """Write a text into the editor, which is then checked."""
    return page.set("text_area", "Evaluation", text)


def editor(page):
    return page.find("text_area", "Evaluation")


def left_by(folder, progress=None, configuration=TINY):
    """A folder as a run leaves it."""
    folder.mkdir(parents=True)
    (folder / "configuration.yaml").write_text(configuration, "utf-8")
    if progress is not None:
        text = progress if isinstance(progress, str) else json.dumps(progress)
        (folder / "progress.json").write_text(text, "utf-8")
    return folder


DONE = {"state": "done", "name": "tiny", "total": 2, "done": 2, "started": 1e9, "updated": 1e9 + 90}


def test_train_on_wordfreq_and_open_it(page):
    page.choose("Language", "nl")
    page.set("number_input", "Types", 600).press("Train")
    [(label, model)] = page.session.models.items()
    assert label == "BPE · plain · 600 · wordfreq:nl"
    assert write_model(model) == write_model(train("bpe", wordfreq_counts("nl"), 600))
    assert any(m.value.startswith("**600 types** · ") for m in page.test.markdown)
    page.press("Open it")
    assert page.session.study.tokeniser.vocabulary_size == 600
    assert page.session.study.tokeniser.signature() == model.tokeniser.signature()
    assert page.press("Put it beside BPE")
    assert chosen_methods(page.session) == ["bpe", f"model {label}"]
    # Another page and back: the model is still there.
    page.open("compare").open("build")
    assert list(page.session.models) == [label]


def test_the_other_methods_are_behind_the_third_card(page):
    method = page.find("radio", "Method")
    assert method.options[:2] == ["Picky BPE", "BPE"]
    method.set_value(method.options[2])
    page.run()
    page.choose("Which", "scaffold").set("number_input", "Types", 400).press("Train")
    assert next(iter(page.session.models)).startswith("Scaffold-BPE")
    # What was trained is shown on a few of its words, in place.
    assert [m for m in page.test.markdown if m.value.count(":gray-background[") > 4]


def test_an_error_names_the_line_and_edits_survive_other_pages(page):
    original = editor(page).value
    line = original.split("\n").index("  - flota") + 1
    write(page, original.replace("- flota", "- flotta"))
    [message] = page.errors()
    assert message.startswith(f"demo.yaml, line {line}, field methods[2]: ")
    assert page.find("button", "Start").disabled
    editor(page).set_value(original.replace("- flota", "- floota"))
    page.open("compare").open("build")  # and so does what arrives with the way out
    assert "- floota" in editor(page).value
    assert write(page, original).errors() == []


def test_a_file_of_ones_own(page):
    page.upload("", (f"{HOSTILE}.yaml", b"\xef\xbb\xbf" + TINY.encode()))
    assert editor(page).value == TINY
    assert "1 cell, about" in page.captions()
    box = page.find("selectbox", "Start from")
    assert "\u202e" not in "".join(box.options)
    [message] = write(page, TINY + "colour: red\n").errors()
    assert message.startswith("<b>x</b>")
    assert "\\<b\\>" in page.test.error[0].value  # as text
    # Another one to start from, and back: the edits are still there.
    own = box.value
    page.choose("Start from", "demo")
    assert "colour" not in editor(page).value
    page.choose("Start from", own)
    assert "colour: red" in editor(page).value


@pytest.fixture
def started(monkeypatch):
    """Text and name of what was started, instead of a run."""
    found = []

    def start(text, root, name, _):
        found.append((text, name))
        return Run(name, left_by(root / name, DONE, configuration=text), None)

    monkeypatch.setattr("web.batch.start_run", start)
    return found


def test_what_is_started_is_what_is_in_the_editor_then(page, started):
    # A click takes the last words of the editor with it: no run has checked them yet.
    editor(page).set_value(TINY + "intervls: false\n")
    page.press("Start")
    assert started == []
    assert "there is no such field. Did you mean “intervals”? Use" in page.errors()[0]
    assert page.errors()[1:] == ["Nothing was started: correct the error above first."]
    write(page, TINY)
    later = TINY.replace("name: tiny", "name: other").replace("[en]", "[en, de]")
    editor(page).set_value(later)
    page.press("Start")
    assert started == [(later, "other")]
    editor(page).set_value(TINY)
    page.press("Start").press("Start")
    assert [name for _, name in started] == ["other", "tiny", "tiny-2"]
    assert page.find("selectbox", "Run").value == "tiny-2"


def wait_until(page, state):
    end = time.monotonic() + 60
    while badge(page) != state:
        assert time.monotonic() < end, badge(page)
        time.sleep(0.3)
        page.run()


def test_a_run_that_cannot_begin_says_why(page, runs):
    left_by(runs / "broken", configuration="name: [")
    page.run()
    assert badge(page) == "Not begun"
    page.press("Resume")
    wait_until(page, "Not begun")
    said = " ".join([code.value for code in page.test.code])
    assert "this is not YAML" in said.replace("\n", " ")
    assert "Traceback" not in said


@pytest.mark.parametrize("progress", ["", "[]", '{"state": "done", "total": "x"}'])
def test_garbage_for_progress_breaks_nothing(page, runs, progress):
    (left_by(runs / "x", progress) / "report.html").write_text("what it came to")
    page.put("report x", True)
    left_by(runs / "y", DONE)
    page.run().choose("Run", "x")
    assert badge(page) == "Not begun"
    assert "progress.json cannot be read" in page.errors()[0]
    # What is there is shown all the same.
    assert page.component("frame")["page"] == "what it came to"
    page.choose("Run", "y")
    assert badge(page) == "Done"


def test_the_table_fills_and_a_report_that_is_gone_is_written_again(page, runs, downloads):
    folder = left_by(runs / "tiny", DONE)
    page.run().press("Resume")
    wait_until(page, "Done")
    assert "48.31" in page.table("F1 % ↑").to_string()
    page.put("report tiny", True)
    assert "48.31" in page.component("frame")["page"]
    held = set(ZipFile(BytesIO(downloads["batch files"]())).namelist())
    assert held > {"report.md", "results.parquet", "configuration.yaml", "run.log"}
    assert any(name.startswith("tables/") for name in held)
    # What it had done half of, before its results are written.
    more = TINY.replace("[standard]", "[standard, flota]")
    (folder / "configuration.yaml").write_text(more)
    (run,) = batch.known_runs()
    table, *_ = batch.tables_of_run(replace(run, progress=RunProgress("running", done=2)))
    texts, _ = text_frame(table)
    assert [["not run" in row for row in texts.to_numpy()]] == [[False, True]]


def test_hostile_names_and_failures_are_text(page, runs):
    name = f"{HOSTILE.replace('/', '')}\n**x**" + "y" * 150
    failures = [f"{HOSTILE}: no\nsuch **file**", *(f"task {n}: no" for n in range(30))]
    left_by(runs / name, DONE | {"name": name, "failed": 31, "failures": failures[:20]})
    left_by(runs / "z", DONE)
    page.run()
    box = page.find("selectbox", "Run")
    assert all("\n" not in option and len(option) <= 80 for option in box.options)
    page.choose("Run", name)
    assert badge(page) == "Done" and "Resume" in page.buttons()
    assert "31 tasks failed" in [expander.label for expander in page.test.expander]
    told = [m.value for m in page.test.markdown if m.value.startswith("- ")]
    assert "\\*\\*file\\*\\*" in told[0]
    for markdown in [*page.test.markdown, *page.test.caption]:
        assert "\u202e" not in markdown.value
        assert not re.search(r"(?<!\\)<b>|(?<!\\)\]\(", markdown.value)


def test_the_state_of_a_run(tmp_path):
    def state(progress):
        return batch.state_of(Run("x", tmp_path, progress))

    assert state(RunProgress("running")) == "running"
    assert state(RunProgress("<b>")) == "failed"
    assert state(None) == "never"
    (tmp_path / "console.log").write_bytes(b"")
    assert state(None) == "beginning"
    (tmp_path / "console.log").write_text("it said no")
    assert state(None) == "never"
    assert not batch.is_over(Run("x", tmp_path, RunProgress("running")))
    assert batch.is_over(Run("x", tmp_path, RunProgress("interrupted")))
