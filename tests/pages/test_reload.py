"""What was open comes back in the same browser: tokeniser, reference, frequencies, edits, run."""

import errno
import os
import re

import pytest

from morphgraph.refine.rebpe import ReBPESettings
from web.state import keep_session
from web.storage import BrowserStore

pytestmark = pytest.mark.slow


GOLD = b"undoing\tun do ing\t7\ndoing\tdo ing\t93\nundo\tun do\t5\n"


@pytest.fixture
def reload(cookies, open_app):
    def again(app, *, tab=True):
        store = app.session.store
        cookies.clear()
        cookies["morphgraph"] = store.token
        if tab:
            cookies["morphgraph-tab"] = store.tab
        return open_app()

    return again


def test_uploads_and_edits_come_back(app, reload, tokenizer_json):
    app.upload("", ("../mine.json", tokenizer_json)).upload("", ("my.tsv", GOLD))
    app.open("compare").upload("", ("counts.tsv", b"undo 12\ndoing 3\n"))
    app.graph.knockout(["un"])
    app.graph.knockout(["in"])
    app.graph.undo()
    app.run()
    scores = app.open("start").metrics()
    again = reload(app)
    study = again.session.study
    assert study.tokeniser.checksum == app.session.study.tokeniser.checksum
    assert study.benchmark.reference == app.session.study.benchmark.reference
    assert study.benchmark.frequency_source == "counts.tsv"
    assert dict(study.benchmark.frequencies or {}) == {"undo": 12, "doing": 3}
    assert again.graph.recipe() == [{"edit": "knockout", "types": ["un"]}]
    assert [change.step["types"] for change in again.graph.undone] == [["in"]]
    assert again.metrics() == scores
    assert again.session.notice == ""
    # And once more.
    assert reload(again).graph.recipe() == again.graph.recipe()


def test_a_demo_comes_back_and_so_do_edits_of_what_was_open_before(app, reload):
    app.graph.knockout(["ies"])
    app.run().choose("Demo", "de")
    again = reload(app)
    assert again.session.language == "de"
    assert again.session.study.benchmark.frequency_source == "wordfreq:de"
    again.choose("Demo", "en")
    assert len(again.graph.history) == 1
    again.session.go_without_gold("en")
    again = reload(again.run())
    assert not again.session.study.benchmark.reference.has_gold
    assert len(again.graph.history) == 1


def test_two_tabs_on_one_study_lose_no_edit(app, reload):
    app.graph.knockout(["ies"])
    other = reload(app.run(), tab=False)
    for tab, types in ((app, ["ing"]), (other, ["er"]), (app, ["ed"]), (other, ["tion"])):
        tab.graph.knockout(types)
        tab.run()
    assert [step["types"] for step in reload(app).graph.recipe()] == [["ies"], ["ing"], ["ed"]]
    assert [step["types"] for step in reload(other).graph.recipe()] == [["ies"], ["er"], ["tion"]]


def test_a_run_of_rebpe_comes_back(app, reload):
    app.remedy("rebpe")
    app.put("rebpe_iterations", 2).press("Step").press("Step").press("Step")
    by_hand = next(text for text in ("ies", "ing", "er", "tion", "ed") if text in app.graph)
    app.graph.knockout([by_hand])  # between two phases
    app.run().press("Step").press("Step")
    app.put("rebpe phase on show", len(app.session.run.phases) - 2).press("Undo up to here")
    before = app.session.run
    again = reload(app)
    run = again.session.run
    assert run.settings == before.settings == ReBPESettings(iterations=2)
    assert len(run.phases) == len(before.phases) == len(before.all_phases) - 1

    def told(phases):
        return [{**phase.to_dict(), "seconds": 0} for phase in phases]

    assert told(run.all_phases) == told(before.all_phases)
    assert again.graph.recipe() == app.graph.recipe()
    assert len(again.graph.undone) == len(app.graph.undone)
    again.remedy("rebpe")
    again.put("rebpe phase on show", len(run.phases)).press("Redo up to here")
    assert len(run.phases) == len(run.all_phases)
    assert again.find("number_input", "Iterations").value == 2


@pytest.mark.parametrize(
    "record",
    [
        b"no JSON",
        b'{"version": 2}',
        b'{"tokeniser": {"name": "demo:xx"}, "reference": {"name": "demo:en"}, "frequencies": null,'
        b' "chose_frequencies": false, "steps": [], "undone": 0, "run": null, "recipes": {}}',
        b'{"tokeniser": {"name": "demo:en"}, "reference": {"name": "demo:en"}, "frequencies": null,'
        b' "chose_frequencies": false, "steps": [{"edit": "knockout", "types": ["none"]}],'
        b' "undone": 0, "run": null, "recipes": {}}',
        b'{"tokeniser": {"name": "demo:en"}, "reference": {"name": "demo:en"}, "frequencies": null,'
        b' "chose_frequencies": false, "steps": [7], "undone": 0, "run": null, "recipes": {}}',
        b'{"tokeniser": {"name": "a", "files": [["a", "../../etc/passwd"]]}, "reference":'
        b' {"name": "demo:en"}, "frequencies": null, "chose_frequencies": false, "steps": [],'
        b' "undone": 0, "run": null, "recipes": {}}',
    ],
)
def test_a_damaged_record_is_the_demo(record, cookies, open_app):
    store = BrowserStore()
    store.keep_record(record)
    cookies.update({"morphgraph": store.token, "morphgraph-tab": store.tab})
    app = open_app()
    assert app.session.language == "en"
    assert not app.graph.history
    app.graph.knockout(["ies"])
    app.run()


def test_nothing_is_written_for_who_only_looks(app, state_folder):
    app.remedy("blame").open("compare").open("start")
    assert not state_folder.exists()


def test_a_full_disk_loses_nothing_that_was_kept_and_is_told(
    app, reload, monkeypatch, state_folder
):
    app.graph.knockout(["ies"])
    app.run()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        app.graph.knockout(["ing"])
        app.run()
        told = f"{state_folder}: no space left on device. Make room there."
        assert told in "\n".join(app.warnings())
        assert told in "\n".join(toast.value for toast in app.test.toast).replace("\\", "")
        app.run()
        assert told in "\n".join(app.warnings())
        assert not app.test.toast  # once
        again = reload(app)
        assert [change.step["types"] for change in again.graph.history] == [["ies"]]
    assert "not kept" not in "\n".join(app.run().warnings())  # there is room again
    assert len(reload(app).graph.history) == 2


def test_a_home_that_cannot_be_written_is_told_once_there_is_something_to_lose(app, state_folder):
    state_folder.write_text("a file where the folder should be")
    assert "not kept" not in "\n".join(app.run().warnings())
    app.graph.knockout(["ies"])
    app.run()
    assert re.search("What you do is not kept .* MORPHGRAPH_STATE", "\n".join(app.warnings()))
    assert len(app.graph.history) == 1
    app.open("build").press("Start")
    [error] = app.errors()
    assert str(state_folder) in error
    assert "MORPHGRAPH_STATE" in error


def test_who_comes_back_hears_what_was_interrupted(app, reload):
    app.graph.knockout(["ies"])
    app.session.doing = "The training of BPE"
    keep_session(app.session)
    record = app.session.store.record()
    app.run()
    assert not reload(app).test.toast  # it ended by itself
    app.session.store.keep_record(record)  # as if the process had ended there
    again = reload(app)
    assert "The training of BPE was interrupted" in again.test.toast[0].value
    assert len(again.graph.history) == 1
    assert not reload(again).test.toast
