"""The page of evaluations: what it says of a file, and of runs in every state."""

import json
import re
import time
from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import pytest

from morphgraph.batch.run import Run, RunProgress
from morphgraph.tables.model import text_frame
from web import batch

pytestmark = pytest.mark.slow

TINY = """name: tiny
title: A tiny one
languages: [en]
tokenisers:
  - file: demo:en
methods: [standard]
references: ['demo:en']
intervals: false
"""
HOSTILE = "<b>x</b>\u202e[a](javascript:alert(1))"


@pytest.fixture
def page(open_app):
    return open_app("build")


@pytest.fixture
def runs(state_folder):
    return state_folder / "runs"


def badges(page):
    """The state of the run, as its badge says."""
    found = [m.value for m in page.test.markdown if "-badge[" in m.value]
    return re.sub(r".*-badge\[(:material/\w+:)?\s*(.*?)\]$", r"\2", found[0]) if found else ""


def left_by(folder, progress=None, configuration=TINY):
    """A folder as a run leaves it."""
    folder.mkdir(parents=True)
    (folder / "configuration.yaml").write_text(configuration, "utf-8")
    if progress is not None:
        text = progress if isinstance(progress, str) else json.dumps(progress)
        (folder / "progress.json").write_text(text, "utf-8")
    return folder


DONE = {"state": "done", "name": "tiny", "total": 2, "done": 2, "started": 1e9, "updated": 1e9 + 90}


def test_an_error_names_the_line_and_edits_survive_other_pages(page):
    original = page.find("text_area", "Evaluation").value
    line = original.split("\n").index("  - flota") + 1
    page.set("text_area", "Evaluation", original.replace("- flota", "- flotta"))
    [message] = page.errors()
    assert message.startswith(f"demo.yaml, line {line}, field methods[2]: ")
    assert "flota" in message
    assert page.find("button", "Start").disabled
    page.find("text_area", "Evaluation").set_value(original.replace("- flota", "- floota"))
    page.open("compare").open("build")  # and so does what arrives with the way out
    assert "- floota" in page.find("text_area", "Evaluation").value
    page.set("text_area", "Evaluation", original)
    assert page.errors() == []


def test_a_file_of_ones_own(page):
    page.upload("", (f"{HOSTILE}.yaml", b"\xef\xbb\xbf" + TINY.encode()))
    assert page.find("text_area", "Evaluation").value == TINY
    assert "1 cell, about" in page.captions()
    box = page.find("selectbox", "Start from")
    assert len(box.options) >= 2
    assert "\u202e" not in "".join(box.options)
    page.set("text_area", "Evaluation", TINY + "colour: red\n")
    [message] = page.errors()
    assert message.startswith("<b>x</b>")
    assert "\\<b\\>" in page.test.error[0].value  # as text
    # Another one to start from, and back: the edits are still there.
    own = box.value
    page.choose("Start from", "demo")
    assert "colour" not in page.find("text_area", "Evaluation").value
    page.choose("Start from", own)
    assert "colour: red" in page.find("text_area", "Evaluation").value


@pytest.fixture
def started(monkeypatch):
    """Text, name and options of what was started, instead of a run."""
    found = []

    def start(text, root, name, options):
        found.append((text, name, options))
        return Run(name, left_by(root / name, DONE, configuration=text), None)

    monkeypatch.setattr("web.batch.start_run", start)
    return found


def test_what_is_started_is_what_is_in_the_editor_then(page, started):
    # A click takes the last words of the editor with it: no run has checked them yet.
    page.find("text_area", "Evaluation").set_value(TINY + "intervls: false\n")
    page.press("Start")
    assert started == []
    assert "there is no such field. Did you mean “intervals”? Use" in page.errors()[0]
    assert page.errors()[1:] == ["Nothing was started: correct the error above first."]
    page.set("text_area", "Evaluation", TINY)
    later = TINY.replace("name: tiny", "name: other").replace("[en]", "[en, de]")
    page.find("text_area", "Evaluation").set_value(later)
    page.press("Start")
    assert [(text, name) for text, name, _ in started] == [(later, "other")]
    page.find("text_area", "Evaluation").set_value(TINY)
    page.press("Start").press("Start")
    assert [name for _, name, _ in started] == ["other", "tiny", "tiny-2"]
    assert page.find("selectbox", "Run").value == "tiny-2"


def wait_until(page, states, seconds=60):
    end = time.monotonic() + seconds
    while badges(page) not in states:
        assert time.monotonic() < end, badges(page)
        time.sleep(0.3)
        page.run()
    return page


def test_a_run_that_cannot_begin_says_why(page, runs):
    left_by(runs / "broken", configuration="name: [")
    page.run()
    assert badges(page) == "Not begun"
    page.press("Resume")
    wait_until(page, {"Starting"} if badges(page) == "Starting" else {"Not begun"})
    wait_until(page, {"Not begun"})
    said = " ".join([code.value for code in page.test.code])
    assert "this is not YAML" in said.replace("\n", " ")
    assert "Traceback" not in said


def test_what_failed_is_told_as_text(page, runs):
    failures = [f"{HOSTILE}: no\nsuch **file**", *(f"task {n}: no" for n in range(30))]
    left_by(runs / "x", DONE | {"failed": 31, "failures": failures[:20]})
    page.run()
    assert badges(page) == "Done"
    assert "Resume" in page.buttons()
    assert "31 tasks failed" in [expander.label for expander in page.test.expander]
    told = [m.value for m in page.test.markdown if m.value.startswith("- ")]
    assert told[0].startswith("- \\<b\\>x")
    assert "\\*\\*file\\*\\*" in told[0]


@pytest.mark.parametrize("progress", ["", "[]", '{"state": "done", "total": "x"}'])
def test_garbage_for_progress_breaks_nothing(page, runs, progress):
    (left_by(runs / "x", progress) / "report.html").write_text("what it came to")
    page.put("report x", True)
    left_by(runs / "y", DONE)
    page.run().choose("Run", "x")
    assert badges(page) == "Not begun"
    assert "progress.json cannot be read" in page.errors()[0]
    # What is there is shown all the same.
    assert page.component("frame")["page"] == "what it came to"
    page.choose("Run", "y")
    assert badges(page) == "Done"


def test_the_table_fills_and_a_report_that_is_gone_is_written_again(page, runs, downloads):
    folder = left_by(runs / "tiny", DONE)
    page.run().press("Resume")
    wait_until(page, {"Done"})
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


def test_hostile_names_are_text(page, runs):
    name = f"{HOSTILE.replace('/', '')}\n**x**" + "y" * 150
    left_by(runs / name, DONE | {"name": name})
    left_by(runs / "z", DONE)
    page.run()
    box = page.find("selectbox", "Run")
    assert all("\n" not in option and len(option) <= 80 for option in box.options)
    page.choose("Run", name)
    for markdown in [*page.test.markdown, *page.test.caption]:
        assert "\u202e" not in markdown.value
        assert not re.search(r"(?<!\\)<b>|(?<!\\)\]\(", markdown.value)
