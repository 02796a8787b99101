"""What was open comes back: in the same browser, and by an address that holds edits."""

import base64
import errno
import json
import os
import re
import zlib

import pytest

from morphgraph.refine.rebpe import ReBPESettings
from web.edits import knock_out_type
from web.sharing import edits_in_address
from web.state import keep_session
from web.storage import BrowserStore

pytestmark = pytest.mark.slow

GOLD = b"undoing\tun do ing\t7\ndoing\tdo ing\t93\nundo\tun do\t5\n"


def test_uploads_and_edits_come_back(app, visit, tokenizer_json):
    app.upload("", ("../mine.json", tokenizer_json)).upload("", ("my.tsv", GOLD))
    app.open("compare").upload("", ("counts.tsv", b"undo 12\ndoing 3\n"))
    app.graph.knockout(["un"])
    app.graph.knockout(["in"])
    app.graph.undo()
    app.run()
    scores = app.open("start").metrics()
    again = visit(app.session.store)
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
    assert visit(again.session.store).graph.recipe() == again.graph.recipe()


def test_a_demo_comes_back_and_so_do_edits_of_what_was_open_before(app, visit):
    app.knock_out("ies").choose("Demo", "de")
    again = visit(app.session.store)
    assert again.session.language == "de"
    assert again.session.study.benchmark.frequency_source == "wordfreq:de"
    again.choose("Demo", "en")
    assert len(again.graph.history) == 1
    again.session.go_without_gold("en")
    again = visit(again.run().session.store)
    assert not again.session.study.benchmark.reference.has_gold
    assert len(again.graph.history) == 1


def test_two_tabs_on_one_study_lose_no_edit(app, visit):
    other = visit(app.knock_out("ies").session.store, tab=False)
    for tab, types in ((app, "ing"), (other, "er"), (app, "ed"), (other, "tion")):
        tab.knock_out(types)
    assert visit(app.session.store).knocked_out == [["ies"], ["ing"], ["ed"]]
    assert visit(other.session.store).knocked_out == [["ies"], ["er"], ["tion"]]


def test_a_run_of_rebpe_comes_back(app, visit):
    app.remedy("rebpe")
    app.put("rebpe_iterations", 2).press("Step").press("Step").press("Step")
    app.knock_out(next(text for text in ("ies", "ing", "er", "tion", "ed") if text in app.graph))
    app.press("Step").press("Step")  # the knockout is between two phases
    app.put("rebpe phase on show", len(app.session.run.phases) - 2).press("Undo up to here")
    before, again = app.session.run, visit(app.session.store)
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


DEMO = {"tokeniser": {"name": "demo:en"}, "reference": {"name": "demo:en"}, "steps": []}
DEMO |= {"frequencies": None, "chose_frequencies": False, "run": None, "recipes": {}, "undone": 0}


@pytest.mark.parametrize(
    "record",
    [
        "no JSON",
        {"version": 2},
        DEMO | {"tokeniser": {"name": "demo:xx"}},
        DEMO | {"steps": [{"edit": "knockout", "types": ["none"]}]},
        DEMO | {"steps": [7]},
        DEMO | {"tokeniser": {"name": "a", "files": [["a", "../../etc/passwd"]]}},
    ],
)
def test_a_damaged_record_is_the_demo(record, visit):
    store = BrowserStore()
    store.keep_record((record if isinstance(record, str) else json.dumps(record)).encode())
    app = visit(store)
    assert app.session.language == "en"
    assert not app.graph.history
    app.knock_out("ies")


def test_nothing_is_written_for_who_only_looks(app, state_folder):
    app.remedy("blame").open("compare").open("start")
    assert not state_folder.exists()


def test_a_full_disk_loses_nothing_that_was_kept_and_is_told(app, visit, monkeypatch, state_folder):
    app.knock_out("ies")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        app.knock_out("ing")
        told = f"{state_folder}: no space left on device. Make room there."
        assert told in "\n".join(app.warnings())
        assert told in "\n".join(toast.value for toast in app.test.toast).replace("\\", "")
        assert told in "\n".join(app.run().warnings())
        assert not app.test.toast  # once
        assert visit(app.session.store).knocked_out == [["ies"]]
    assert "not kept" not in "\n".join(app.run().warnings())  # there is room again
    assert len(visit(app.session.store).graph.history) == 2


def test_a_home_that_cannot_be_written_is_told_once_there_is_something_to_lose(app, state_folder):
    state_folder.write_text("a file where the folder should be")
    assert "not kept" not in "\n".join(app.run().warnings())
    app.knock_out("ies")
    assert re.search("What you do is not kept .* MORPHGRAPH_STATE", "\n".join(app.warnings()))
    assert len(app.graph.history) == 1
    [error] = app.open("build").press("Start").errors()
    assert str(state_folder) in error and "MORPHGRAPH_STATE" in error


def test_who_comes_back_hears_what_was_interrupted(app, visit):
    app.graph.knockout(["ies"])
    app.session.doing, store = "The training of BPE", app.session.store
    keep_session(app.session)
    record = store.record()
    app.run()
    assert not visit(store).test.toast  # it ended by itself
    store.keep_record(record)  # as if the process had ended there
    again = visit(store)
    assert "The training of BPE was interrupted" in again.test.toast[0].value
    assert len(again.graph.history) == 1
    assert not visit(again.session.store).test.toast


def arrive(app, text):
    """Open the start page by an address with edits, in a session without any."""
    app.test.query_params["edits"] = text
    return app.open("start")


def packed(told):
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(told).encode())).decode()


def test_an_address_with_edits_makes_them(app):
    study = app.session.study
    knock_out_type(app.session, study.graph.ids["ies"])
    text = edits_in_address(app.session)
    recipe = study.graph.recipe()
    assert 0 < len(text) < 300
    study.graph.undo()
    study.graph.forget_undone()
    arrive(app, text)
    assert study.graph.recipe() == recipe
    # It is made once: what is undone stays undone.
    app.session.undo()
    app.run()
    assert not study.graph.history


IES = {"edit": "knockout", "types": ["ies"]}


NO_RECIPES = [
    "%",
    "AAAA",
    "x" * 1_501,
    packed([]),
    packed({"tokeniser": "another", "steps": []}),
    packed({"tokeniser": None, "steps": [IES]}),
    base64.urlsafe_b64encode(zlib.compress(b" " * 5_000_000)[:1_000]).decode(),
    base64.urlsafe_b64encode(zlib.compress(b"[" * 19_000)).decode(),
]


def test_what_is_no_recipe_is_ignored(app):
    for text in NO_RECIPES:
        arrive(app, text)
        assert not app.graph.history and not app.errors()


def test_an_address_makes_a_hundred_edits_at_most_and_all_of_them_or_none(app):
    graph, checksum = app.graph, app.session.study.tokeniser.checksum
    removable = [t for t in graph.types[400:3_000] if graph.is_removable(graph.ids[t])]
    steps = [{"edit": "knockout", "types": [text]} for text in removable[:101]]
    graph.knockout(removable)  # many types at once
    assert edits_in_address(app.session) == ""
    graph.undo()
    graph.forget_undone()
    for wrong in (steps, [IES, {"edit": "knockout", "types": ["no type"]}]):
        arrive(app, packed({"tokeniser": checksum, "steps": wrong}))
        assert not app.graph.history
    arrive(app, packed({"tokeniser": checksum, "steps": steps[:100]}))
    assert len(app.graph.history) == 100
    assert edits_in_address(app.session)
    app.graph.knockout(removable[100:101])
    assert edits_in_address(app.session) == ""
