"""The tape: a point for each edit, with the library's F1, and nothing that is undone is lost."""

from morphgraph.core.text import in_percent
from web.copies import MOST_COPIES, copies_of
from web.edits import go_to_edit


def knock_out(app, *types):
    """One knockout of each type, by hand."""
    for text in types:
        app.graph.knockout([text])
    app.run()


def test_each_edit_is_a_point_with_its_f1(app):
    app.remedy("blame")
    assert [point["label"] for point in app.component("tape")["points"]] == ["start"]
    knock_out(app, "ies", "ating")
    [everything] = [b.label for b in app.test.button if b.label.startswith("Knock out ")]
    app.press(everything)
    study, data = app.session.study, app.component("tape")
    _, kept = study.benchmark.split()
    f1 = [kept.scores(state_of(study, n, kept))[0].f1 for n in range(4)]
    assert [point["f1"] for point in data["points"]] == [100 * value for value in f1]
    assert data["done"] == 3
    number = everything.split()[2]
    labels = [point["label"] for point in data["points"]]
    assert labels == ["start", "ies", "ating", f"{number} types"]
    last = data["points"][-1]
    assert last["said"].startswith(f"knocked out {labels[-1]} · F1 {in_percent(f1[-1])} (+")
    assert data["title"].endswith(f"on {len(kept)} words kept aside")
    assert all(point["learned"] is not None for point in data["points"])
    go_to_edit(app.session, 1)
    app.run()
    assert app.component("tape")["done"] == 1
    assert len(app.component("tape")["points"]) == 4


def state_of(study, edits, benchmark):
    from morphgraph.tokeniser.merging import segment

    return segment(study.graph.earlier(len(study.graph.history) - edits), benchmark.words)


def test_what_was_undone_stays_as_a_copy_when_one_goes_another_way(app):
    app.remedy("blame")
    knock_out(app, "ies", "ating")
    before = app.graph.recipe()
    go_to_edit(app.session, 1)
    app.run()
    assert not copies_of(app.session), "nothing is lost as long as it can be redone"
    knock_out(app, "ers")
    assert copies_of(app.session) == {"branch with ating": before}
    # One more each time one goes back and on by another edit; the oldest goes if need be.
    for number in range(MOST_COPIES + 1):
        go_to_edit(app.session, 1)
        app.run()
        knock_out(app, app.session.study.tokeniser.graph.types[300 + number])
    copies = copies_of(app.session)
    assert len(copies) == MOST_COPIES
    assert "branch with ating" not in copies
