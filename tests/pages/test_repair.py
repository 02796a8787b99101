"""The page Repair: what each remedy promises is what the library does, and what comes of it."""

import re
from itertools import pairwise

import pytest
from effort import share_of

import morphgraph as mg
from morphgraph.core.text import from_to, percent
from morphgraph.formats.loading import load_tokeniser
from morphgraph.refine.blame import blame
from morphgraph.refine.extending import preview_extend
from morphgraph.refine.knockout import decided_threshold, threshold_curve
from morphgraph.refine.pruning import preview_prune
from morphgraph.refine.rebpe import ReBPESettings
from morphgraph.refine.rebpe_run import ReBPERun
from morphgraph.score.vocabulary_health import compress, corpus_of
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.merging import segment

pytestmark = pytest.mark.slow

SHOWN, SHARE = "rebpe phase on show", "Share of words kept aside"


def big(app):
    [found] = [one.label for one in app.test.button if one.proto.type == "primary"]
    return found


def promised(app):
    """What the curve says of the chosen threshold: of itself, and with what follows it."""
    data = app.component("threshold_line")
    ahead = data["ahead"]
    return data["points"][data["chosen"]]["said"], f"{ahead['gain']} {ahead['rest']}"


@pytest.mark.parametrize(("language", "share"), [("en", 0.0), ("de", 0.2), ("en", 0.5)])
def test_the_button_removes_what_the_library_does_and_keeps_its_promise(app, language, share):
    app.choose("Demo", language)
    app.remedy("blame").set("number_input", SHARE, share)
    demo = f"demo:{language}"
    result = mg.load(demo).knock_out(mg.read_gold(demo), holdout=share)
    before, after = result.scored.before.f1, result.scored.after.f1
    words = str(result.on) if share else "words learned from"
    line, ahead = promised(app)
    assert line == f"{len(result.removed):,} types go. F1 {from_to(before, after)}"
    assert f"({100 * (after - before):+.2f} [" in ahead and f" on {words} · tokens" in ahead
    assert app.f1 == percent(before)
    assert big(app) == f"Knock out {len(result.removed):,} types"
    app.press(big(app))
    [edit] = app.graph.history
    assert tuple(app.graph.types[number] for number in edit.removed_types) == result.removed
    assert (app.f1, app.scored) == (percent(after), f"on {words}")
    assert app.component("tape")["title"] == f"F1 over your edits, on {words}"


def test_the_curve_has_a_best_threshold_which_can_be_taken(app):
    app.remedy("blame")
    data = app.component("threshold_line")
    best = data["points"][data["best"]]
    # An eighth of the words learned from decided it: no word that is scored did.
    study = app.session.study
    rest, kept = study.benchmark.split()
    assert best["threshold"] == decided_threshold(study.tokeniser, rest, "morphemic", "types")
    blamed = blame(rest, segment(app.graph, rest.words))
    for name, words in (("f1", kept), ("learned", rest)):
        points = threshold_curve(study.tokeniser, words, blamed)
        assert [point[name] for point in data["points"]] == [100 * point.f1 for point in points]
    app.put("threshold", best["threshold"])  # as its button does
    assert promised(app)[0] == best["said"]
    assert f"→ {best['f1']:.2f}\xa0%" in best["said"]
    app.open("start").open("repair")
    assert promised(app)[0] == best["said"]


def test_pruning_to_a_size_is_foreseen_and_undone(app):
    app.remedy("prune")
    for by, size in (("leaf-frequency", 7600), ("last", 7950))[: share_of(2)]:
        app.choose("First to go", by).set("number_input", "Types to keep", size)
        study, pruned = app.session.study, load_tokeniser("demo:en")
        counts = corpus_of(study.benchmark).counts
        change = pruned.graph.apply(preview_prune(pruned, 8000 - size, by, counts))
        tokens = study.tokens_per_word(counts), compress(Bte(pruned), counts).fertility
        assert f"{tokens[0]:.3f} → {tokens[1]:.3f} tokens per word" in app.captions()
        before = study.score().f1
        line = app.said()
        app.press(f"Prune {8000 - size} types")
        f1 = from_to(before, study.score().f1).replace("\xa0", " ")
        assert f"{8000 - size} types go: 8,000 → {size:,}. F1 {f1}" in line
        assert study.graph.history[-1].removed_types == change.removed_types
        study.graph.undo()
        app.run()
    app.session.use_frequencies(None, "")
    assert len(app.run().find("selectbox", "First to go").options) == 1


def test_the_open_tokeniser_is_extended(app):
    """As by the library, in one edit."""
    counts = {"undesirable": 5, "houses": 3}
    app.remedy("extend").choose("Words from", "counts")
    assert app.find("button", "Look for them").disabled
    lines = "".join(f"{word}\t{count}\n" for word, count in counts.items())
    app.upload("Word counts", ("counts.tsv", lines.encode()))
    app.set("number_input", "New types", 2).press("Look for them")
    assert not app.graph.history
    # Four tokens and one before; two fewer merges are left of und es ir able.
    assert f"{23 / 8:.3f} → {13 / 8:.3f} tokens per word" in app.captions()
    app.press("Add 2 types")
    [edit] = app.graph.history
    expected = preview_extend(load_tokeniser("demo:en"), counts, 2)
    assert (edit.step, len(edit.added_types)) == (expected.step, 2)
    assert "2 types come." not in app.said(), "more of them are looked for when asked"


def test_a_list_of_types_is_knocked_out(app):
    field = "Types, one per line"
    app.remedy("list").set("text_area", field, "able\nnot one\n")
    assert any("line 2" in error for error in app.errors())
    app.set("text_area", field, "able\n␣und\n")
    assert "2 types go. F1 " in app.said() and "tokens per word" in app.said()
    app.press("Knock out 2 types")
    assert not {"able", "Ġund"} & app.types
    assert app.find("text_area", field).value == ""
    app.press("Undo")
    assert "able" in app.graph
    app.upload("Or a file of them", ("mine.txt", b"able\n")).press("Knock out 1 type")
    assert "able" not in app.types


def library_run(app, share=0.2, **settings):
    """A run as the page's should be, on the tokeniser as it was opened; not yet begun."""
    study = app.session.study
    rest, kept = study.benchmark.split(share)
    return ReBPERun(study.tokeniser.fork(), rest, ReBPESettings(**settings), kept)


def shown(phases):
    return [(phase.iteration, phase.kind, phase.counts, phase.score) for phase in phases]


def step(app, number=1):
    """So many phases of ReBPE, one by one."""
    for _ in range(number):
        app.press("Step")
    return app


def test_phase_by_phase_to_convergence(app):
    app.remedy("rebpe")
    run = library_run(app)
    run.finish()
    expected = run.phases
    step(app, 3)
    assert shown(app.session.run.phases) == shown(expected[:4])
    assert app.f1 == percent(expected[3].score.f1)
    app.press("Run")
    phases = app.session.run.phases
    assert shown(phases) == shown(expected)
    assert re.fullmatch(
        r"ReBPE: \d+ phases, \d+ iterations, converged", app.test.subheader[0].value
    )
    per_word = (f"{phase.tokens / len(run.scored):.2f}" for phase in (expected[0], expected[-1]))
    f1 = from_to(expected[0].score.f1, expected[-1].score.f1).replace("\xa0", " ")
    assert f"F1 {f1}" in app.said()
    assert f"tokens per word {' → '.join(per_word)}" in app.said()
    assert not {"Run", "Step"} & set(app.buttons())
    # The largest step is on show; the last phase has nothing to do.
    gains = [then.score.f1 - now.score.f1 for now, then in pairwise(phases)]
    assert app.component("run_line")["chosen"] == 1 + gains.index(max(gains))
    given = app.component("run_line")
    assert [point["f1"] for point in given["points"]] == [100 * phase.score.f1 for phase in phases]
    assert [point["kind"] for point in given["points"]] == [phase.kind for phase in phases]
    assert "removed" in given["points"][2]["said"]
    rest = run.benchmark
    last = rest.scores(segment(app.graph, rest.words))[0].f1
    assert given["points"][-1]["beside"] == 100 * last, "on the words learned from"
    app.put(f"rebpe word {app.session.study_number}", "antiaircraft")
    word = app.component("run_line")["word"]
    assert word["morphs"] == ["anti", "air", "craft"]
    rows = [["".join(token["segments"]) for token in row["tokens"]] for row in word["rows"]]
    assert all("".join(row) == "␣antiaircraft" for row in rows)
    assert all(one != two for one, two in pairwise(rows))
    assert [n for row in word["rows"] for n in row["phases"]] == list(range(len(phases)))
    assert [token["is_morph"] for token in word["rows"][-1]["tokens"]] == [True, True, True]
    app.put(SHOWN, 0)
    assert len(app.table("iteration")) == len(phases), "the log of the whole run"
    app.put(SHOWN, len(phases) - 1)
    assert app.test.info[0].value.endswith("nothing to change. So the run has converged.")


def test_to_look_at_a_phase_changes_nothing_and_undo_leads_there(app):
    step(app.remedy("rebpe"), 5)
    phases = app.session.run.phases
    kinds = ["start", "anneal", "knockout", "reify", "knockout", "reify"]
    assert [phase.kind for phase in phases] == kinds
    score = app.f1
    app.put(SHOWN, 2)
    assert app.session.run.phases == phases
    assert app.f1 == score
    merges = app.table("how")
    assert dict(merges["how"].value_counts()) == phases[2].counts
    assert merges["is made from"][0].endswith(" joins wrong")
    changed = app.test.dataframe[1].value
    assert list(changed["gain"]) == sorted(changed["gain"], reverse=True)
    app.press("Undo up to here")
    assert app.session.run.phases == phases[:3]
    assert app.f1 == percent(phases[2].score.f1)
    assert len(app.graph.history) == 2
    app.put(SHOWN, 5)
    assert "is undone" in app.test.info[0].value
    undone = [point["undone"] for point in app.component("run_line")["points"]]
    assert undone == [False] * 3 + [True] * 3
    app.press("Redo up to here")
    assert app.session.run.phases == phases
    assert "Redo up to here" not in app.buttons()
    # The undo of the bar moves the line along.
    for _ in range(4):
        app.press("Undo")
    step(app)
    assert app.session.run.all_phases == app.session.run.phases
    assert shown(app.session.run.phases) == shown(phases[:3])


def test_start_over_and_a_new_run(app):
    step(app.remedy("rebpe"), 3)
    edits = app.graph.recipe()
    app.press("New run from here")
    assert app.graph.recipe() == edits
    assert len(app.session.run.all_phases) == 1
    step(app)
    app.press("Start over")
    assert app.graph.recipe() == edits
    app.open("start").press("Undo")
    assert len(app.graph.history) == len(edits) - 1


def test_settings_are_those_of_the_run(app):
    app.remedy("rebpe")
    app.set("toggle", "Anneal", False).set("number_input", "Threshold", 0.7)
    app.press("Run")
    expected = library_run(app, anneal=False, threshold=0.7)
    expected.finish()
    assert shown(app.session.run.phases) == shown(expected.phases)
    labels = ("Anneal", "Repair", "Link")
    assert all(app.find("toggle", label).disabled for label in labels)
    # Another page and back: the same run, with the same settings.
    run = app.session.run
    app.remedy("blame").remedy("rebpe")
    assert app.session.run is run
    app.press("Start over")
    assert not app.graph.history
    assert not any(t.disabled for t in app.test.toggle)


def test_a_run_does_not_go_on_by_itself_on_another_tokeniser(app):
    app.remedy("rebpe")
    app.session.ask("all")
    app.open("compare").choose("Demo", "de")
    app.remedy("rebpe")
    assert not app.graph.history
    # Nor on the same one, for who comes back to the page.
    app.session.ask("all")
    app.session.just_asked = False
    app.open("compare").remedy("rebpe")
    assert not app.graph.history


def test_undo_and_redo_stop_a_run(app):
    step(app.remedy("rebpe")).press("Undo")
    for move in (app.session.redo, app.session.undo):
        app.session.ask("all")
        move()
        app.run()
        assert app.session.asked == ""
        assert app.session.run.upcoming is not None
