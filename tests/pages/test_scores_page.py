"""The Scores page: its numbers, pictures and lists are the library's."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from morphgraph.core.files import demo_gold_path
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.reference.readers import read_reference
from morphgraph.refine.knockout import KnockoutSettings, knock_out
from morphgraph.score.comparison import ERROR_KINDS, ErrorBrowser
from morphgraph.score.flota import flota_scores
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope, Weighting
from morphgraph.score.metrics import METRICS, USUAL
from morphgraph.score.outcome import Outcome, ideal, outcome_of
from morphgraph.score.table import (
    BREAKDOWNS,
    GROUPINGS,
    GoldBoundaries,
    ScoreTable,
    group_scores,
    word_groups,
)
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import write_model
from morphgraph.segment.segmenter import method_on, standard_segmenter
from morphgraph.tables.scores import scores_csv, scores_latex, scores_markdown
from morphgraph.tokeniser.loading import vocabulary_of
from web.edits import knock_out_all
from web.views import errors
from web.views import scores as view

pytestmark = pytest.mark.slow

Downloads = dict[str, Callable[[], bytes]]

GOLD = b"word\tmorphs\nundoing\tun do ing\ngoing\tgo ing\ndo\tdo\n"


@pytest.fixture
def page(app: Any) -> Any:
    return app.open("scores")


# --- what is on the page --------------------------------------------------------------------------


def widget(app: Any, kind: str, label: str) -> Any:
    [found] = [w for w in getattr(app.test, kind) if w.label == label]
    return found


def tab(app: Any, label: str) -> Any:
    """Show what is under a tab."""
    app.test.session_state["scores tab"] = label
    return app.run()


def set_to(app: Any, kind: str, label: str, value: Any) -> Any:
    widget(app, kind, label).set_value(value)
    return app.run()


def pick(app: Any, label: str, option: str) -> Any:
    """Choose what reads like this in the list with this label."""
    box = widget(app, "selectbox", label)
    box.select_index(box.options.index(option))
    return app.run()


def methods(app: Any, *names: str) -> Any:
    return set_to(app, "multiselect", "Methods", list(names))


def references(app: Any, *names: str) -> Any:
    return set_to(app, "multiselect", "References", list(names))


def table(app: Any, column: str) -> Any:
    """The one table with this column."""
    [found] = [d.value for d in app.test.dataframe if column in d.value]
    return found


def scores(app: Any) -> Any:
    return table(app, "types")


def signatures(app: Any) -> list[str]:
    """Those of the table of scores, one for each reference, and then that of FLOTA's."""
    found = [c.value for c in app.test.code if c.value.startswith("reference:")]
    return [value for value in found if " by " not in value]


def csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"))))


def infos(app: Any) -> list[str]:
    return [info.value for info in app.test.info]


def pictures(app: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        json.loads(chart.proto.spec) for chart in app.test.get("plotly_chart")
    ]
    return found


# --- what the library has -------------------------------------------------------------------------


def open_gold_set(app: Any) -> GoldSet:
    benchmark = app.session.study.benchmark
    return GoldSet.of(benchmark.reference, benchmark.frequencies, benchmark.frequency_source)


MORPHS = f"{ideal(GoldSet.of(read_reference(demo_gold_path('en')))).vocabulary_size:,}"
"""|V| of the ideal on the English demo: its different morphs."""


def demo_gold_set(code: str) -> GoldSet:
    known = dict(wordfreq_counts(code).items())
    gold = read_reference(demo_gold_path(code), name=f"demo:{code}")
    return GoldSet.of(gold, known, f"wordfreq:{code}")


def outcomes(app: Any, gold_set: GoldSet, *names: str) -> list[Outcome]:
    tokeniser = app.session.study.tokeniser
    made = []
    for name in names:
        if name == "before the edits":
            made.append(outcome_of(method_on(tokeniser.fork(), "bpe"), gold_set, name))
        else:
            made.append(outcome_of(method_on(tokeniser, name), gold_set, METHODS[name].title))
    return made


def cells(found: ScoreTable) -> list[list[str]]:
    """What the page shows of a table: the value, the stars, the interval."""
    shown = []
    for row in found.estimates:
        assert row is not None
        texts = []
        for name, estimate in row.items():
            share = METRICS[name].unit == "%"
            scale, digits = (100, 1) if share else (1, 2)
            low, high = scale * estimate.interval.low, scale * estimate.interval.high
            if np.isnan(estimate.value):
                texts.append("n/a")
                continue
            spread = f" [{low:.{digits}f}, {high:.{digits}f}]" if high > low else ""
            texts.append(f"{scale * estimate.value:.2f}{estimate.mark}{spread}")
        shown.append(texts)
    return shown


def shown_cells(app: Any, names: Sequence[str] = USUAL) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in scores(app)[list(names)].to_numpy()]


# --- the table ------------------------------------------------------------------------------------


def test_a_newcomer_sees_the_open_tokeniser_and_the_ceiling(page: Any) -> None:
    assert list(scores(page)["tokeniser"]) == ["BPE", "Ideal"]
    assert list(scores(page)["types"]) == ["8,000", MORPHS]
    assert "Test differences to" not in [box.label for box in page.test.selectbox]
    assert [tab.label for tab in page.test.tabs][:3] == ["Overview", "Where", "Words"]
    assert not page.errors()
    assert not page.test.warning


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_every_number_is_the_library_s(page: Any, scope: Scope, weighting: Weighting) -> None:
    methods(page, "bpe", "flota", "greedy")
    set_to(page, "segmented_control", "Gold boundaries", scope)
    set_to(page, "segmented_control", "Each word counts", weighting)
    gold_set = open_gold_set(page)
    found = [*outcomes(page, gold_set, "bpe", "flota", "greedy"), ideal(gold_set)]
    expected = ScoreTable(found, scope, weighting, baseline=0)
    assert shown_cells(page) == cells(expected)
    assert signatures(page) == [expected.signature]
    assert any("*" in cell for row in shown_cells(page) for cell in row)


def test_which_scores(page: Any) -> None:
    chosen = ["exact", "morph_recall", "fertility", "f1"]
    set_to(page, "multiselect", "Scores", chosen)
    assert list(scores(page).columns) == ["tokeniser", "types", *chosen]
    gold_set = open_gold_set(page)
    found = [*outcomes(page, gold_set, "bpe"), ideal(gold_set)]
    expected = ScoreTable(found, metrics=chosen)
    assert shown_cells(page, chosen) == cells(expected)
    set_to(page, "multiselect", "Scores", list(METRICS))
    assert shown_cells(page, list(METRICS)) == cells(ScoreTable(found, metrics=tuple(METRICS)))
    # With none at all, the usual ones.
    set_to(page, "multiselect", "Scores", [])
    assert list(scores(page).columns) == ["tokeniser", "types", *USUAL]


def test_the_baseline(page: Any) -> None:
    methods(page, "bpe", "flota")
    assert widget(page, "selectbox", "Test differences to").value == "BPE"
    assert "*" in str(scores(page).to_numpy()[1])
    assert "|test:" in signatures(page)[0]
    pick(page, "Test differences to", "FLOTA")
    rows = scores(page).to_numpy()
    assert "*" in str(rows[0])
    assert "*" not in str(rows[1])
    assert "against FLOTA" in signatures(page)[0]
    pick(page, "Test differences to", "no test")
    assert "*" not in str(scores(page).to_numpy())
    assert "|test:" not in signatures(page)[0]
    gold_set = open_gold_set(page)
    found = [*outcomes(page, gold_set, "bpe", "flota"), ideal(gold_set)]
    assert shown_cells(page) == cells(ScoreTable(found))


def test_the_gold_as_a_row(page: Any) -> None:
    set_to(page, "toggle", "Gold as a row", False)
    assert list(scores(page)["tokeniser"]) == ["BPE"]
    assert " gold|" not in signatures(page)[0]
    set_to(page, "toggle", "Gold as a row", True)
    assert list(scores(page)["tokeniser"]) == ["BPE", "Ideal"]
    assert " gold|" in signatures(page)[0]


def test_edits_can_be_scored_against_the_start(app: Any) -> None:
    app.open("graph").press("Knock out").open("scores")
    assert list(scores(app)["tokeniser"]) == ["before the edits", "BTE now", "Ideal"]
    assert list(scores(app)["types"]) == ["8,000", "7,999", MORPHS]
    gold_set = open_gold_set(app)
    found = [*outcomes(app, gold_set, "before the edits", "bpe"), ideal(gold_set)]
    expected = ScoreTable(found, baseline=0)
    assert shown_cells(app) == cells(expected)
    assert signatures(app) == [expected.signature]
    assert shown_cells(app)[0] != shown_cells(app)[1]
    # Another edit changes the second row, and not the first one.
    before = shown_cells(app)
    app.graph.knockout([app.graph.types[8500 if len(app.graph.types) > 8500 else 6000]])
    app.run()
    assert list(scores(app)["types"]) == ["8,000", "7,998", MORPHS]
    again = [*outcomes(app, gold_set, "before the edits", "bpe"), ideal(gold_set)]
    assert shown_cells(app) == cells(ScoreTable(again, baseline=0))
    assert shown_cells(app)[0] == before[0]
    # Without edits, there is nothing before them.
    app.session.undo()
    app.session.undo()
    app.run()
    assert list(scores(app)["tokeniser"]) == ["BPE", "Ideal"]


def test_no_method_or_no_reference_is_a_hint(page: Any) -> None:
    methods(page)
    assert infos(page) == ["Choose at least one method and one reference."]
    assert not [d for d in page.test.dataframe if "types" in d.value]
    assert not page.test.get("plotly_chart")
    methods(page, "greedy")
    assert list(scores(page)["tokeniser"]) == ["Greedy", "Ideal"]
    references(page)
    assert infos(page) == ["Choose at least one method and one reference."]


def test_a_method_that_cannot_be_made_leaves_the_others(app: Any) -> None:
    app.session.use_frequencies(None, "")
    app.open("scores")
    methods(app, "bpe", "trimmed", "flota")
    assert list(scores(app)["tokeniser"]) == ["BPE", "FLOTA", "Ideal"]
    assert ["Trimmed BPE needs the word counts" in w.value for w in app.test.warning] == [True]
    # There is but one way to weight words, so there is nothing to choose.
    assert "Each word counts" not in [c.label for c in app.test.segmented_control]


def test_a_model_is_a_row(page: Any) -> None:
    model = write_model(method_on(page.session.study.tokeniser.fork(), "greedy"))
    page.upload("Model", ("mine.json", model)).run()
    assert list(scores(page)["tokeniser"]) == ["BPE", "mine.json", "Ideal"]
    methods(page, "greedy", "model mine.json")
    first, second, _ = shown_cells(page)
    assert first == second


def test_choices_stay_when_another_page_was_shown(page: Any) -> None:
    methods(page, "bpe", "greedy")
    set_to(page, "segmented_control", "Gold boundaries", "whole-word")
    set_to(page, "multiselect", "Scores", ["f1", "exact", "over"])
    references(page, "open", "demo nl")
    before = scores(page)
    page.open("blame").open("scores")
    assert scores(page).equals(before)


# --- several references ---------------------------------------------------------------------------


def test_each_reference_has_rows_and_a_signature_of_its_own(page: Any) -> None:
    methods(page, "bpe", "flota")
    references(page, "open", "demo de")
    set_to(page, "segmented_control", "Each word counts", "tokens")
    assert list(scores(page)["reference"]) == ["demo:en"] * 3 + ["demo:de"] * 3
    assert list(scores(page)["tokeniser"]) == ["BPE", "FLOTA", "Ideal"] * 2
    expected = []
    for gold_set in (open_gold_set(page), demo_gold_set("de")):
        found = [*outcomes(page, gold_set, "bpe", "flota"), ideal(gold_set)]
        expected.append(ScoreTable(found, weighting="tokens", baseline=0))
    assert shown_cells(page) == [row for found in expected for row in cells(found)]
    assert signatures(page) == [found.signature for found in expected]
    assert len(page.test.get("plotly_chart")) == 2


def test_one_more_reference_can_be_uploaded(page: Any) -> None:
    page.upload("One more gold list", ("mine.tsv", GOLD))
    study = page.session.study
    assert widget(page, "multiselect", "References").value == ["open", "file mine.tsv"]
    assert list(scores(page)["reference"]) == ["demo:en"] * 2 + ["mine.tsv"] * 2
    gold_set = GoldSet.of(read_reference(GOLD, name="mine.tsv"))
    found = ScoreTable([*outcomes(page, gold_set, "bpe"), ideal(gold_set)])
    assert shown_cells(page)[2:] == cells(found)
    assert signatures(page)[1] == found.signature
    # The open one stays open, and what this one lacks is n/a.
    assert study.benchmark.reference.name == "demo:en"
    set_to(page, "segmented_control", "Gold boundaries", "whole-word")
    assert set(scores(page).iloc[2][list(USUAL)]) == {"n/a"}
    set_to(page, "segmented_control", "Each word counts", "tokens")
    # Only a reference with frequencies is scored by them.
    assert ["|scores:whole-word tokens|" in signature for signature in signatures(page)] == [
        True,
        False,
    ]
    assert page.session.study is study


def test_a_reference_is_scored_on_though_its_page_was_left_while_it_was_read(page: Any) -> None:
    """The run that reads a file ends where one leaves: the next one finds what was read."""
    more = page.test.session_state["references to score on"]
    more["mine.tsv"] = read_reference(GOLD, name="mine.tsv")
    page.open("blame").open("scores")
    assert widget(page, "multiselect", "References").value == ["open", "file mine.tsv"]
    set_to(page, "multiselect", "References", ["open"])  # not again once it was left out
    page.open("blame").open("scores")
    assert widget(page, "multiselect", "References").value == ["open"]


def test_the_table_tells_the_weighting_of_each_reference(page: Any) -> None:
    page.upload("One more gold list", ("mine.tsv", GOLD))
    set_to(page, "segmented_control", "Each word counts", "tokens")
    assert list(scores(page)["each word"]) == ["by frequency"] * 2 + ["once"] * 2


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02", b"only one column\n" * 3, "Wörter\tWört er\n".encode("utf-16")[:-1]],
)
def test_a_broken_reference_is_a_message_and_changes_nothing(page: Any, content: bytes) -> None:
    before, chosen = scores(page), widget(page, "multiselect", "References").value
    page.upload("One more gold list", ("broken.tsv", content))
    assert any("broken.tsv" in message for message in page.errors())
    assert scores(page).equals(before)
    assert widget(page, "multiselect", "References").value == chosen
    assert "file broken.tsv" not in widget(page, "multiselect", "References").options


def test_two_files_of_the_same_name_are_two_references(page: Any) -> None:
    page.upload("One more gold list", ("mine.tsv", GOLD))
    widget(page, "file_uploader", "One more gold list").clear()
    page.run().upload("One more gold list", ("mine.tsv", b"word\tmorphs\nundo\tun do\n"))
    references(page, "file mine.tsv", "file mine.tsv′")
    assert len(scores(page)) == 4
    first, second = signatures(page)
    assert first != second


def test_errors_on_two_references_of_one_name_can_be_told_apart(page: Any) -> None:
    test_two_files_of_the_same_name_are_two_references(page)
    rows = len(scores(page))
    tab(page, "Words")
    assert len(widget(page, "selectbox", "Tokeniser").options) == rows


def test_hostile_names_stay_text(page: Any) -> None:
    name = "<img src=x onerror=alert(1)>.tsv"
    page.upload("One more gold list", (name, GOLD))
    assert name in list(scores(page)["reference"])
    assert not [m for m in page.test.markdown if m.allow_html and "<img" in m.value]
    assert not [c for c in page.test.caption if "<img src=x" in c.value and "`" not in c.value]


# --- what a method has seen -----------------------------------------------------------------------


def test_what_learned_from_the_words_is_told_apart(app: Any) -> None:
    study = app.session.study
    knock_out_all(app.session, ["ia", "ing"])
    app.open("scores")
    methods(app, "before the edits", "bpe", "flota")
    assert list(map(list, scores(app)["words"])) == [[], ["held in"], ["held in"], []]
    assert "Held in: the method learned" in app.captions()
    labels = pictures(app)[0]["layout"]["yaxis"]["ticktext"]
    assert labels == ["before the edits", "BTE now (held in)", "FLOTA (held in)"]
    # Neither after Undo nor on other words.
    references(app, "demo de")
    assert "words" not in scores(app)
    references(app, "open")
    app.session.undo()
    app.run()
    assert "words" not in scores(app)
    # Edits by hand are nobody's learning; and what was learned comes back with its tokeniser.
    app.session.redo()
    app.session.open_demo("nl")
    app.session.open_demo("en")
    app.run()
    assert app.session.study is not study
    assert ["held in"] in list(map(list, scores(app)["words"]))


def test_held_out_words_stand_beside_those_that_were_seen(app: Any) -> None:
    settings = KnockoutSettings(holdout=0.25, seed=3)
    app.session.note_learning(settings)
    knock_out(app.session.study.tokeniser, app.session.study.benchmark, settings)
    app.open("scores")
    methods(app, "bpe")
    names = ["demo:en", "demo:en", "demo:en, held out", "demo:en, held out"]
    assert list(scores(app)["reference"]) == names
    assert list(map(list, scores(app)["words"])) == [["held in"], [], ["held out"], []]
    seen = open_gold_set(app)
    for gold_set, place in ((seen, 0), (seen.hold_out(0.25, 3), 2)):
        [one] = cells(ScoreTable(outcomes(app, gold_set, "bpe")))
        assert shown_cells(app)[place] == one
    assert "(holdout 0.25 seed 3)" in signatures(app)[1]


@pytest.mark.parametrize(
    ("shown", "others"),
    [("Overview", "breakdowns error_browser"), ("Where", "_overview error_browser"),
     ("Words", "_overview breakdowns")],
)  # fmt: skip
def test_a_tab_that_is_not_shown_computes_nothing(
    page: Any, monkeypatch: pytest.MonkeyPatch, shown: str, others: str
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError(others)

    if "_overview" in others:
        monkeypatch.setattr(ScoreTable, "estimates", property(never))
    if "breakdowns" in others:
        monkeypatch.setattr(view, "break_down", never)
    if "error_browser" in others:
        monkeypatch.setattr(errors, "ErrorBrowser", never)
    methods(page, "bpe", "greedy") if shown == "Overview" else None
    tab(page, shown)
    methods(page, "bpe", "flota")


# --- pictures -------------------------------------------------------------------------------------


def test_pictures(page: Any) -> None:
    control = widget(page, "segmented_control", "Picture")
    assert control.options == ["precision, recall, F1", "radar"]
    methods(page, "bpe", "flota", "greedy")
    expected = ScoreTable(outcomes(page, open_gold_set(page), "bpe", "flota", "greedy"), baseline=0)
    found = [row for row in expected.estimates if row is not None]

    def numbers(picture: dict[str, Any]) -> set[float]:
        """All numbers on its axes, as shares."""
        values: set[float] = set()
        for trace in picture["data"]:
            for axis in ("x", "r"):
                values |= {round(v, 6) for v in trace.get(axis) or [] if isinstance(v, float)}
        return values

    dumbbells = numbers(pictures(page)[0])
    for row in found:
        for name in ("precision", "recall", "f1"):
            assert round(100 * row[name].value, 6) in dumbbells
    set_to(page, "segmented_control", "Picture", "radar")
    radar = numbers(pictures(page)[0])
    for row in found:
        for name in ("precision", "exact", "morph_f1"):
            assert round(100 * row[name].value, 6) in radar
    set_to(page, "segmented_control", "Picture", "differences")
    differences = numbers(pictures(page)[0])
    for row in found[1:]:
        assert round(100 * (row["f1"].value - found[0]["f1"].value), 6) in differences
    # Without a test, there are no differences to show.
    pick(page, "Test differences to", "no test")
    assert widget(page, "segmented_control", "Picture").value == "precision, recall, F1"
    assert numbers(pictures(page)[0]) == dumbbells


def test_a_radar_needs_three_corners(page: Any) -> None:
    set_to(page, "multiselect", "Scores", ["f1", "exact"])
    set_to(page, "segmented_control", "Picture", "radar")
    assert any("at least three scores in %" in info for info in infos(page))


# --- breakdowns -----------------------------------------------------------------------------------


def cell(estimate: Any) -> str:
    low, high = estimate.interval.low, estimate.interval.high
    if np.isnan(estimate.value):
        return "n/a"
    return f"{100 * estimate.value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


@pytest.mark.parametrize("by", BREAKDOWNS)
def test_breakdowns(page: Any, by: str, downloads: Downloads) -> None:
    tab(page, "Where")
    methods(page, "bpe", "flota")
    set_to(page, "segmented_control", "By", by)
    gold_set = open_gold_set(page)
    found = outcomes(page, gold_set, "bpe", "flota")
    if by in GROUPINGS:
        metric = "f1"
        rows = group_scores(found, word_groups(gold_set, by), metrics=[metric])
    else:
        metric = "recall"
        gold = GoldBoundaries(gold_set)
        rows = gold.by_kind(found) if by == "boundaries" else gold.by_affix(found)
    shown = table(page, "group")
    assert list(shown["group"]) == [score.name for score in rows[0]]
    size = "words" if by in GROUPINGS else "boundaries"
    assert list(shown[size]) == [f"{score.size:,}" for score in rows[0]]
    for label, row in zip(("BPE", "FLOTA"), rows, strict=True):
        assert list(shown[label]) == [cell(score.scores[metric]) for score in row]
    assert "Ideal" not in shown.columns
    assert len(page.test.get("plotly_chart")) == 1
    head, *written = csv.reader(io.StringIO(downloads[f"breakdown csv {by}"]().decode("utf-8")))
    assert head[:4] == ["group", f"number of {size}", "tokeniser", metric]
    assert head[4:] == ["low", "high", "signature"]
    each = [(label, score) for label, row in zip(("BPE", "FLOTA"), rows, strict=True)
            for score in row]  # fmt: skip
    for line, (label, score) in zip(written, each, strict=True):
        estimate = score.scores[metric]
        assert line[0].removeprefix("'") == score.name
        assert line[1:3] == [str(score.size), label]
        assert [float(text.replace("n/a", "nan")) for text in line[3:6]] == pytest.approx(
            [estimate.value, estimate.interval.low, estimate.interval.high], nan_ok=True
        )
    # The signature of what is written is on the page.
    [signature] = {line[6] for line in written}
    assert signature in [code.value for code in page.test.code]


def test_columns_of_a_breakdown_have_names_of_their_own(page: Any, downloads: Downloads) -> None:
    tab(page, "Where")
    page.run()
    head = downloads["breakdown csv boundaries"]().decode("utf-8").splitlines()[0].split(",")
    assert len(head) == len(set(head))


def test_a_breakdown_follows_its_score_scope_and_weighting(page: Any) -> None:
    tab(page, "Where")
    set_to(page, "segmented_control", "By", "formation")
    gold_set = open_gold_set(page)
    found = outcomes(page, gold_set, "bpe")
    groups = word_groups(gold_set, "formation")
    for scope in SCOPES:
        for weighting in WEIGHTINGS:
            set_to(page, "segmented_control", "Gold boundaries", scope)
            set_to(page, "segmented_control", "Each word counts", weighting)
            for metric in ("precision", "exact"):
                [box] = [s for s in page.test.selectbox if s.key == "breakdown_metric"]
                box.set_value(metric)
                page.run()
                [row] = group_scores(found, groups, scope, weighting, [metric])
                shown = table(page, "group")
                assert list(shown["BPE"]) == [cell(score.scores[metric]) for score in row]


def test_breakdowns_that_cannot_be_told(app: Any) -> None:
    app.session.use_frequencies(None, "")
    tab(app.open("scores"), "Where")
    set_to(app, "segmented_control", "By", "frequency")
    assert infos(app) == ["Choose word frequencies below."]
    app.upload("One more gold list", ("simple.tsv", b"word\tmorphs\ndo\tdo\ngo\tgo\n"))
    references(app, "file simple.tsv")
    set_to(app, "segmented_control", "By", "boundaries")
    assert "This reference does not say." in infos(app)


def test_a_breakdown_is_of_one_reference_at_a_time(page: Any) -> None:
    tab(page, "Where")
    references(page, "open", "demo de")
    page.choose("On", 1)
    gold_set = demo_gold_set("de")
    [row] = GoldBoundaries(gold_set).by_kind(outcomes(page, gold_set, "bpe"))
    shown = table(page, "group")
    assert list(shown["BPE"]) == [cell(score.scores["recall"]) for score in row]


# --- words and errors -----------------------------------------------------------------------------


def browser(app: Any, method: str = "bpe", scope: Scope = "morphemic") -> ErrorBrowser:
    [found] = outcomes(app, open_gold_set(app), method)
    return ErrorBrowser(found, scope)


def expect_words(app: Any, made: ErrorBrowser, entries: Sequence[int]) -> None:
    """The table shows these entries, and says how many there are."""
    shown = table(app, "marked")
    rows = [made.row(int(entry)) for entry in entries]
    for column in ("word", "gold", "tokens", "marked", "wrong", "missed"):
        assert list(shown[column]) == [getattr(row, column) for row in rows]
    assert list(shown["frequency"]) == [row.weight for row in rows]


def test_the_words_with_errors(page: Any) -> None:
    tab(page, "Words")
    made = browser(page)
    found = made.find()
    assert len(found) > 400
    expect_words(page, made, found[:200])
    assert f"{len(found):,} words, the most wrong gaps first" in page.captions()
    pills = widget(page, "pills", "What is wrong")
    assert pills.options == [f"{kind} {count:,}" for kind, count in made.counts().items()]
    [number] = [n for n in page.test.number_input if n.label.startswith("Page")]
    number.set_value(2)
    page.run()
    expect_words(page, made, found[200:400])


def test_words_are_searched_and_filtered(page: Any) -> None:
    tab(page, "Words")
    made = browser(page)
    set_to(page, "text_input", "Search words", " ABLE ")
    found = made.find(text="able")
    assert 5 < len(found) < 200
    expect_words(page, made, found)
    set_to(page, "pills", "What is wrong", ["both", "exact"])
    fewer = made.find(["both", "exact"], text="able")
    assert len(fewer) > 0
    expect_words(page, made, fewer)
    set_to(page, "text_input", "Search words", "qqqq")
    assert infos(page) == ["No word matches."]
    set_to(page, "text_input", "Search words", "")
    set_to(page, "pills", "What is wrong", [])
    assert infos(page) == ["No word matches."]
    set_to(page, "pills", "What is wrong", list(ERROR_KINDS))
    gold = GoldBoundaries(made.outcome.gold_set)
    pick(page, "With the affix", f"-ed  ({len(gold.affixes['-ed']):,})")
    entries = made.outcome.gold_set.reference.entries
    among = np.array(["ed" in e.morphs[1:] for e in entries])
    assert among.sum() > 10
    expect_words(page, made, made.find(ERROR_KINDS, among=among))
    pick(page, "With the affix", "any affix")
    expect_words(page, made, made.find(ERROR_KINDS)[:200])


def test_all_words_that_are_found_can_be_taken_away(page: Any, downloads: Downloads) -> None:
    tab(page, "Words")
    methods(page, "bpe", "flota")
    page.choose("Tokeniser", "FLOTA")
    set_to(page, "text_input", "Search words", "able")
    made = browser(page, "flota")
    found = made.find(text="able")
    rows = csv_rows(downloads["errors csv"]())
    shown = table(page, "marked")
    for column, name in (("word", "word"), ("gold", "gold"), ("tokens", "tokens"),
                         ("marked", "marked"), ("wrong splits", "wrong")):  # fmt: skip
        assert [row[column] for row in rows] == [str(value) for value in shown[name]]
    assert [row["kind"] for row in rows] == [made.row(int(entry)).kind for entry in found]
    assert len({row["signature"] for row in rows}) == 1
    assert made.outcome.tokeniser in rows[0]["signature"]
    set_to(page, "text_input", "Search words", "")
    assert len(csv_rows(downloads["errors csv"]())) == len(made.find()) > 200


def test_errors_follow_the_scope_and_the_tokeniser(page: Any) -> None:
    tab(page, "Words")
    methods(page, "bpe", "flota")
    set_to(page, "segmented_control", "Gold boundaries", "whole-word")
    made = browser(page, scope="whole-word")
    expect_words(page, made, made.find()[:200])
    page.choose("Tokeniser", "FLOTA")
    made = browser(page, "flota", "whole-word")
    expect_words(page, made, made.find()[:200])
    page.choose("Tokeniser", "Ideal")
    shown = table(page, "marked")
    # The gold only splits affixes off: none of its splits is wrong for the morphs.
    assert set(shown["missed"]) == {0}
    assert [row.replace(" ", "|") for row in shown["tokens"]] == [
        row.replace("·", "|") for row in shown["marked"]
    ]


def test_the_words_of_a_model_can_be_opened_as_they_are_now(page: Any) -> None:
    tab(page, "Words")
    methods(page, "flota")
    expect_words(page, browser(page, "flota"), browser(page, "flota").find()[:200])


# --- FLOTA's own scores ---------------------------------------------------------------------------


def test_flota_s_scores(page: Any, downloads: Downloads) -> None:
    assert not [d for d in page.test.dataframe if "coverage C %" in d.value]
    [toggle] = [t for t in page.test.toggle if "FLOTA" in t.label]
    toggle.set_value(True)
    page.run()
    study = page.session.study
    found = flota_scores(
        vocabulary_of(study.tokeniser),
        study.benchmark.reference,
        standard_segmenter(study.tokeniser),
    )
    shown = table(page, "coverage C %")
    assert list(shown["method"]) == [score.method for score in found.scores]
    for column, name in (
        ("coverage C %", "coverage"),
        ("stem recall R %", "stem_recall"),
        ("full match M %", "full_match"),
    ):
        assert list(shown[column]) == [f"{100 * getattr(s, name):.2f}" for s in found.scores]
    assert signatures(page)[-1] == found.signature
    first = found.scores[0]
    assert f"demo:en: {first.entries:,} words of two morphs" in page.captions()
    [key] = [key for key in downloads if key.startswith("flota csv")]
    rows = csv_rows(downloads[key]())
    assert [row["coverage C %"] for row in rows] == list(shown["coverage C %"])
    assert {row["signature"] for row in rows} == {found.signature}
    references(page, "open", "demo nl")
    assert len([d for d in page.test.dataframe if "coverage C %" in d.value]) == 2


# --- downloads ------------------------------------------------------------------------------------


def test_downloads(page: Any, downloads: Downloads) -> None:
    methods(page, "bpe", "flota")
    references(page, "open", "demo nl")
    tables = []
    for gold_set in (open_gold_set(page), demo_gold_set("nl")):
        found = [*outcomes(page, gold_set, "bpe", "flota"), ideal(gold_set)]
        tables.append(ScoreTable(found, baseline=0))
    assert downloads["download scores.csv"]() == scores_csv(tables)
    assert downloads["download scores.tex"]() == scores_latex(tables)
    assert downloads["download scores.md"]() == scores_markdown(tables)
    rows = csv_rows(downloads["download scores.csv"]())
    assert [row["tokeniser"] for row in rows] == list(scores(page)["tokeniser"])
    assert [row["reference"] for row in rows] == list(scores(page)["reference"])
    for row, shown in zip(rows, scores(page)["f1"], strict=True):
        assert shown.startswith(f"{100 * float(row['f1']):.2f}")
    assert {row["signature"].split("@")[0] for row in rows} == {
        "reference:demo:en",
        "reference:demo:nl",
    }


# --- other programs -------------------------------------------------------------------------------


def test_segmentations_by_another_program_are_a_row(page: Any) -> None:
    page.upload("One more gold list", ("mine.tsv", GOLD)).run()
    references(page, "file mine.tsv")
    page.upload("Segmentations", ("theirs.txt", b"un do ing\ngoing\ndo\n")).run()
    assert not page.test.exception
    row = scores(page).set_index("tokeniser").loc["theirs"]
    assert row["types"] == "n/a"
    # un|do|ing is right, the boundary of go|ing is missed.
    assert row["precision"].startswith("100.00")
    assert row["recall"].startswith("66.67")
    assert "theirs" in widget(page, "selectbox", "Test differences to").options
    assert "predictions:theirs.txt@" in signatures(page)[0]
    set_to(page, "multiselect", "Other programs", [])
    assert "theirs" not in set(scores(page)["tokeniser"])


def test_a_program_that_lacks_words_is_told(page: Any) -> None:
    page.upload("One more gold list", ("mine.tsv", GOLD)).run()
    references(page, "file mine.tsv")
    page.upload("Segmentations", ("theirs.txt", b"un do ing\n")).run()
    assert not page.test.exception
    [warning] = [each.value for each in page.test.warning]
    assert "lacks 2 of the 3 words of mine" in warning
    assert scores(page).set_index("tokeniser").loc["theirs", "precision"].startswith("100.00")
    page.upload("Segmentations", ("others.txt", b"x y\n")).run()
    [error] = [each.value for each in page.test.error]
    assert "segments none of the 3 words" in error
    rows = scores(page).set_index("tokeniser")
    assert rows.loc["others", "f1"] == "failed"
    assert rows.loc["theirs", "precision"].startswith("100.00")


def test_a_file_that_holds_no_segmentations_is_told(page: Any) -> None:
    page.upload("Segmentations", ("theirs.zip", b"PK\x03\x04")).run()
    assert not page.test.exception
    assert any("zip archive" in e.value for e in page.test.error)
