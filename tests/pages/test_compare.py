"""The page Compare: every figure, cell and table is the library's, in each view and state."""

import hashlib
import json
from concurrent.futures import wait
from dataclasses import replace
from threading import Event

import pytest

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import demo_gold_path
from morphgraph.core.text import percent
from morphgraph.reference import catalogue
from morphgraph.reference.readers import read_reference
from morphgraph.refine import KnockoutSettings, ReBPESettings
from morphgraph.refine.knockout import knock_out
from morphgraph.refine.learning import Learner
from morphgraph.score.breakdowns import BREAKDOWNS, GROUPINGS, break_down
from morphgraph.score.comparison import Comparison, worst_words
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on
from morphgraph.tables.model import HELD_IN, shown_texts
from morphgraph.tables.scores import breakdown_table, scores_table, words_table
from morphgraph.tables.writing import to_csv, to_latex, to_markdown
from tests.pages.conftest import as_read
from web import sources
from web.sources import references_there

pytestmark = pytest.mark.slow

METRICS = ("f1", "precision", "recall", "exact", "fertility")
GOLD = b"word\tmorphs\nundoing\tun do ing\ngoing\tgo ing\ndo\tdo\n"
QUICK = ("bpe", "dropout", "flota", "greedy")
F1 = "F1, all words"
ASIDE = "F1, words kept aside"


@pytest.fixture
def page(app):
    """The page with methods that need no training."""
    app.test.query_params["methods"] = ",".join(QUICK)
    return app.open("compare")


def rows(app):
    return app.component("comparison")["rows"]


def texts(app):
    return [row["text"] for row in rows(app)]


def heads(app, kind="title"):
    return [head[kind] for head in app.component("comparison")["heads"]]


def figures(app):
    """The figures by their names, as one reads them."""
    found = app.component("comparison")["figures"]
    return {
        row["label"]: [f"{one['text']} {one['mark']}".strip() for one in row["cells"]]
        for row in found
    }


def methods(app, *names):
    return app.set("multiselect", "Methods", list(names))


def typed(app, text):
    """What somebody types in the corner of the grid."""
    app = app.put("compare_text", text)
    assert app.component("comparison")["typed"] == text
    return app


def rows_by(app, way):
    return app.set("segmented_control", "Rows", way)


def view(app, name):
    return app.set("segmented_control", "View", name)


def gold_of(app):
    known = app.session.study.benchmark
    return GoldSet.of(known.reference, known.frequencies, known.frequency_source)


def outcomes(app, gold, *names):
    tokeniser = app.session.study.tokeniser
    return [outcome_of(method_on(tokeniser, n), gold, METHODS[n].title) for n in names]


@pytest.mark.parametrize(("scope", "weighting"), [("morphemic", "types"), ("whole-word", "tokens")])
def test_the_head_has_the_library_s_figures(page, scope, weighting):
    page.set("segmented_control", "Gold boundaries", scope)
    page.set("segmented_control", "Each word counts", weighting)
    page.set("multiselect", "More figures", ["morph_f1"])
    found = outcomes(page, gold_of(page), *QUICK)
    metrics = (*METRICS, "morph_f1")
    table = ScoreTable(found, scope, weighting, metrics, baseline=0)
    known = sorted(table.estimates, key=lambda row: -row["f1"].value)  # the best first
    order = map(table.estimates.index, known)
    assert heads(page) == [table.labels[place] for place in order]
    f1 = [one["f1"] for one in known]
    marks = ["" if one.p != one.p else one.mark or "n.s." for one in f1]
    shown = figures(page)
    pairs = zip(f1, marks, strict=True)
    assert shown[F1] == [f"{percent(o.value, 1)} {m}".strip() for o, m in pairs]
    assert "" in marks and "***" in marks
    spans = [f"{percent(o.interval.low, 1)}–{percent(o.interval.high, 1)}" for o in f1]
    assert shown["95 % interval"] == spans
    pairs = [[percent(one[name].value, 1) for name in ("precision", "recall")] for one in known]
    assert shown["precision · recall"] == [" · ".join(pair) for pair in pairs]
    assert shown["words exactly right"] == [f"{percent(o['exact'].value, 0)} %" for o in known]
    assert shown["tokens per word"] == [f"{one['fertility'].value:.2f}" for one in known]
    assert shown["Morph F1 %"] == [percent(one["morph_f1"].value) for one in known]
    assert table.signature in [code.value for code in page.test.code]


def test_rows_are_chosen_and_leave_the_figures(downloads, page):
    gold = gold_of(page)
    found = outcomes(page, gold, *QUICK)
    words = [entry.morphs for entry in gold]
    labels = [one.label for one in found]
    whole = Comparison([], gold.texts, words, labels=labels, outcomes=found)
    before, differ = figures(page), whole.disputed()
    assert texts(page) == [gold.texts[number] for number in differ[:50]]
    assert f"{len(differ)} of {len(gold)} words differ" in page.captions()
    order = [labels.index(title) for title in heads(page)]
    for row, number in zip(rows(page), differ, strict=False):
        cells = whole.row(number).cells
        assert [one["exact"] for one in row["cells"]] == [cells[p].exact for p in order]
        assert [one["count"] for one in row["cells"]] == [len(cells[p].tokens) for p in order]
    written = words_table(whole, list(map(whole.row, differ)))
    assert downloads["download comparison.csv"]() == to_csv(written)
    table = scores_table([ScoreTable(found, metrics=METRICS, baseline=0)])
    for name, write in (("csv", to_csv), ("tex", to_latex), ("md", to_markdown)):
        assert downloads[f"download scores.{name}"]() == write(table)
    page.set("number_input", f"Page of {-(-len(differ) // 50)}", 2)
    assert texts(page) == [gold.texts[number] for number in differ[50:100]]

    rows_by(page, "worst")
    worst = worst_words(found[0])[:50]
    assert texts(page) == [gold.texts[number] for number in worst.tolist()]
    rows_by(page, "random")
    typed(page, "undesirable unhappily undesirable zzz")
    assert texts(page) == ["undesirable", "unhappily", "zzz"]
    typed(page, "undesirable unhappily\n\n a cat")
    assert texts(page) == ["undesirable unhappily", "a cat"]
    rows_by(page, "differ")  # words of the reference take the place of both
    assert len(rows(page)) == 50
    assert figures(page) == before


def test_every_method_is_what_the_library_makes(page):
    typed(page, "undesirable antiaircraft")
    names = [name for name in METHODS.offered if not METHODS[name].counts and name != "dropout"]
    methods(page, *names)
    tokeniser = page.session.study.tokeniser
    gold = [row["gold"] for row in rows(page)]
    made = Comparison([method_on(tokeniser, name) for name in names], texts(page), gold)
    places = {name: place for place, name in enumerate(heads(page, "name"))}
    for row, expected in zip(rows(page), made.rows, strict=True):
        for name, cell in zip(names, expected.cells, strict=True):
            assert row["cells"][places[name]]["count"] == len(cell.tokens)
            pieces = [[p.text, "dropped" * p.dropped] for p in cell.pieces]
            assert [one[::2] for one in row["cells"][places[name]]["pieces"]] == pieces


def test_an_edit_leaves_the_rows_and_is_compared_with_the_start(page):
    before = texts(page)
    page.graph.knockout(["ia", "al", "ers"])
    assert texts(page.run()) == before
    assert {"before the edits", "BPE, edited"} <= {*heads(page)}
    gold = gold_of(page)
    found = outcomes(page, gold, "bpe")
    start = outcome_of(method_on(page.session.study.tokeniser.fork(), "bpe"), gold)
    table = ScoreTable([start, *found], metrics=("f1",), baseline=0)
    shown = dict(zip(heads(page), figures(page)[F1], strict=True))
    for title, row in zip(("before the edits", "BPE, edited"), table.estimates, strict=True):
        assert row and shown[title].split()[0] == percent(row["f1"].value, 1)
    assert "baseline" in heads(page, "told")[heads(page).index("before the edits")]
    page.session.undo()
    assert "before the edits" not in heads(page.run())


def test_what_learns_is_scored_on_words_that_it_has_not_seen(app):
    methods(app.open("compare"), "bpe", "rebpe")
    app.settle()
    study = app.session.study
    rest, kept = study.benchmark.split()
    learner = Learner(study.tokeniser.fork(), METHODS["rebpe"], ReBPESettings())
    made = [method_on(study.tokeniser, "bpe"), learner.learn(rest)]
    found = ScoreTable([outcome_of(one, kept) for one in made], metrics=("f1",), baseline=0)
    f1 = [percent(row["f1"].value, 1) for row in found.estimates if row]
    assert heads(app) == ["ReBPE", "BPE"]
    assert [figure.split()[0] for figure in figures(app)[ASIDE]] == f1[::-1]
    assert texts(app) and {*texts(app)} <= {*kept.numbers}
    assert not any(row["note"] for row in rows(app))
    said = app.component("comparison")["said"]
    assert f"over {len(kept)} words kept aside" in said
    # A typed word that it learned from says so.
    taught = next(word for word in study.benchmark.numbers if word not in kept.numbers)
    typed(app, f"{taught} {next(iter(kept.numbers))} zzz")
    assert [row["note"] for row in rows(app)] == [HELD_IN, "", ""]
    assert not any(heads(app, "seen")), "F1 stays on words kept aside"


def test_what_learned_before_the_page_is_told_apart(app):
    app.put("holdout", 0.0)
    study = app.session.study
    knock_out(study.tokeniser, study.benchmark, KnockoutSettings(threshold=0.9))
    methods(app.open("compare"), "before the edits", "bpe")
    seen = dict(zip(heads(app), heads(app, "seen"), strict=True))
    assert seen == {"before the edits": "", "BPE, edited": HELD_IN}


def test_segmentations_of_another_program_are_a_column(app):
    app.session.open_reference(read_reference(GOLD, name="mine.tsv"))
    methods(app.open("compare"), "bpe")
    app.upload("Segmentations of another program", ("theirs.txt", b"un do ing\ngoing\n")).run()
    column = heads(app).index("theirs")
    shown = {row["text"]: row["cells"][column] for row in rows(rows_by(app, "random"))}
    assert shown["undoing"]["exact"] and not shown["going"]["exact"]
    assert shown["do"]["pieces"] == [], "its file lacks it"
    assert figures(app)["precision · recall"][column] == "100.0 · 66.7"
    typed(app, "zzz")
    assert rows(app)[0]["cells"][column] is None
    app.upload("Segmentations of another program", ("others.txt", b"x y\n")).run()
    assert "segments none of the 3 words" in app.errors()[0]
    assert "others" not in heads(app)


def test_an_uploaded_model_is_chosen_at_once_and_a_broken_one_is_a_message(page):
    model = write_model(method_on(page.session.study.tokeniser.fork(), "bpe"))
    page.upload("Model", ("my model.json", model)).run()
    assert "my model.json" in heads(page)
    page.find("file_uploader", "Model").clear()
    page.run().upload("Model", ("broken.json", b'{"format": "morphgraph model", "version": 1}'))
    assert any("broken.json" in message for message in page.errors())
    assert len(heads(page)) == len(QUICK) + 1


def test_the_field_that_finds_stays_open_while_a_method_joins(page):
    page.press("Find anything").run()
    assert page.find("selectbox", "A page, an action, a type, or any word")
    # One dialog at a time: another takes its place, and another page has none.
    page.press("History, export").run()
    assert not [box for box in page.test.selectbox if "any word" in box.label]
    page.open("build").open("compare")
    assert "Check and prepare" not in page.buttons()


def test_what_cannot_be_trained_is_a_message_and_what_is_stopped_leaves(app, monkeypatch):
    def refused(*_, **__):
        raise MorphGraphError("There is no room for it.")

    monkeypatch.setattr("web.jobs.train", refused)
    app.put("compare_picky_threshold", 0.77).test.query_params["methods"] = "bpe,picky"
    app.open("compare")
    wait([work for _, work in app.test.session_state["worker beside"].known.values()])
    assert "There is no room for it." in app.run().warnings()
    asked = Event()

    def slow(*_, progress, **__):
        while True:
            progress(0.5)
            asked.set()

    monkeypatch.setattr("web.jobs.train", slow)
    methods(methods(app, "bpe"), "bpe", "picky")
    assert asked.wait(60)
    assert [cell is None for cell in rows(app.run())[0]["cells"]] == [False, True]
    assert heads(app.click("stop waiting beside")) == ["BPE"]


def test_the_address_holds_what_is_compared(page, visit):
    """Whoever opens that address sees the same; a hostile one is harmless."""
    typed(page, "undo redo")
    methods(page, "bpe", "dropout")
    assert page.address["methods"] == "bpe,dropout"
    other = visit()
    for name in ("words", "methods"):
        other.test.query_params[name] = page.address[name]
    other.open("compare")
    assert (rows(other), figures(other)) == (rows(page), figures(page))
    hostile = visit()
    hostile.test.query_params["methods"] = "dropout(p=99),<script>,flota,nothing"
    hostile.test.query_params["words"] = "<script>alert(1)</script>"
    assert texts(hostile.open("compare")) == ["<script>alert(1)</script>"]


def test_without_gold_there_are_tokens_per_word(page):
    page.session.go_without_gold("en")
    page.run()
    assert [*figures(page)] == ["tokens per word"]
    assert not rows(page)[0]["gold"] and rows(page)[0]["cells"]
    view(page, "Where errors are")
    assert any("needs a reference" in as_read(text.value) for text in page.test.markdown)


def test_where_errors_are(downloads, page):
    view(methods(page, "bpe", "flota"), "Where errors are")
    page.set("segmented_control", "Each word counts", "tokens")
    found = outcomes(page, gold_of(page), "flota", "bpe")
    for by in BREAKDOWNS:
        page.set("segmented_control", "By", by)
        metric = "recall"
        if by in GROUPINGS:
            page.choose("Score", metric := "precision")
        expected = breakdown_table(break_down(found, by, metric, "morphemic", "tokens"))
        assert page.table("group").to_numpy().tolist() == shown_texts(expected)
        assert downloads["download breakdown.csv"]() == to_csv(expected)


@pytest.fixture
def greek(monkeypatch, tmp_path):
    """A public reference that is on this machine."""
    data = "λόγος\tλόγ ος\nund\tun d\n".encode()
    path = tmp_path / "references" / "small" / "greek.tsv"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    about = {"name": "small-greek", "title": "Small", "languages": ("ell",), "format": "plain"}
    about |= {"url": "https://example.org/greek.tsv", "size": len(data)}
    about["sha256"] = hashlib.sha256(data).hexdigest()
    source = replace(catalogue.SOURCES["morphynet-deu"], **about)
    monkeypatch.setenv("MORPHGRAPH_DATA", str(tmp_path))
    monkeypatch.setattr(catalogue, "SOURCES", {"small-greek": source})
    references_there.clear()


def test_all_methods_on_several_references(greek, downloads, page):
    page.upload("", ("mine.tsv", GOLD)).session.open_demo("en")
    view(methods(page.run(), "bpe", "flota"), "Languages")
    chosen = ["open", "demo de", "file mine.tsv", "public small-greek"]
    page.set("multiselect", "References", chosen)
    page.set("segmented_control", "Each word counts", "tokens")
    counts = dict(sources.wordfreq_counts("de").items())
    german = read_reference(demo_gold_path("de"), name="demo:de")
    golds = [gold_of(page), GoldSet.of(german, counts, "wordfreq:de")]
    golds.append(GoldSet.of(read_reference(GOLD, name="mine.tsv")))
    golds.append(GoldSet.of(read_reference("catalogue:small-greek")))
    tables = [
        ScoreTable(outcomes(page, gold, "bpe", "flota"), "morphemic", over, METRICS, baseline=0)
        for gold, over in zip(golds, ("tokens", "tokens", "types", "types"), strict=True)
    ]
    assert downloads["download scores.csv"]() == to_csv(scores_table(tables))
    [chart] = [json.loads(chart.proto.spec) for chart in page.test.get("plotly_chart")]
    names = ["demo:en", "demo:de", "mine.tsv", "catalogue:small-greek"]
    assert chart["layout"]["yaxis"]["ticktext"] == names
    [drawn] = (trace["text"] for trace in chart["data"] if trace["type"] == "scatter")
    places = [["BPE", "FLOTA"].index(name) for name in chart["layout"]["xaxis"]["ticktext"]]
    known = [table.estimates[place] for table in tables for place in places]
    assert drawn == [percent(one["f1"].value, 1) for one in known]


def test_an_own_reference_is_shown_here_with_what_was_read_of_it(app):
    app.upload("", ("mine.tsv", GOLD + b"broken line\n"))
    assert "3 words read, 1 line skipped" in as_read(app.captions())
    assert F1 in figures(app) or ASIDE in figures(app)
