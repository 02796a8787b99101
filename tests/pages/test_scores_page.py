"""The Scores page: its numbers, pictures and lists are the library's."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from morphgraph.core.files import demo_gold_path
from morphgraph.core.text import percent
from morphgraph.corpus.counts import wordfreq_counts
from morphgraph.reference.readers import read_reference
from morphgraph.refine import KnockoutSettings
from morphgraph.score.breakdowns import BREAKDOWNS, GROUPINGS, boundary_groups, break_down
from morphgraph.score.comparison import ERROR_KINDS, ErrorBrowser
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope
from morphgraph.score.outcome import Outcome, ideal, outcome_of
from morphgraph.score.table import ScoreTable
from morphgraph.segment.method import METHODS
from morphgraph.segment.segmenter import method_on
from morphgraph.tables.model import HELD_IN, HELD_IN_NOTE, shown_texts
from morphgraph.tables.scores import breakdown_table, scores_table
from morphgraph.tables.writing import to_csv, to_latex, to_markdown
from web.edits import knock_out_all

pytestmark = pytest.mark.slow

Downloads = dict[str, Callable[[], bytes]]

GOLD = b"word\tmorphs\nundoing\tun do ing\ngoing\tgo ing\ndo\tdo\n"


@pytest.fixture
def page(open_app: Any) -> Any:
    return methods(open_app("scores"), "bpe")


def pick(app: Any, label: str, option: str) -> Any:
    """Choose what reads like this in the list with this label."""
    box = app.find("selectbox", label)
    box.select_index(box.options.index(option))
    return app.run()


def methods(app: Any, *names: str) -> Any:
    return app.set("multiselect", "Methods", list(names))


def references(app: Any, *names: str) -> Any:
    return app.set("multiselect", "References", list(names))


def scores(app: Any) -> Any:
    shown = [table.value for table in app.test.dataframe]
    return pd.concat([one for one in shown if {"Tokeniser", "|V|"} <= {*one}], ignore_index=True)


def signatures(app: Any) -> list[str]:
    """Those of the table of scores, one for each reference."""
    found = [c.value for c in app.test.code if c.value.startswith("reference:")]
    return [value for value in found if " by " not in value][1:]  # after that of the bar


def csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"))))


def infos(app: Any) -> list[str]:
    return [info.value for info in app.test.info]


def pictures(app: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        json.loads(chart.proto.spec) for chart in app.test.get("plotly_chart")
    ]
    return found


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


def titles(app: Any) -> list[str]:
    """Those of the tables of scores, one for each reference."""
    return [line for line in app.captions().splitlines() if " boundaries over word " in line][1:]


def cells(*found: ScoreTable) -> list[list[str]]:
    """What the page shows of tables: the values, stars and intervals."""
    table = scores_table(found)
    table = table.with_intervals("f1") if len(table.columns) > 6 else table
    return [line[2:] for line in shown_texts(table)]


def shown_cells(app: Any) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in scores(app).iloc[:, 2:].to_numpy()]


def names(app: Any) -> list[str]:
    return list(scores(app)["Tokeniser"])


def test_every_number_is_the_library_s(page: Any) -> None:
    methods(page, "bpe", "flota", "greedy")
    gold_set = open_gold_set(page)
    found = [*outcomes(page, gold_set, "bpe", "flota", "greedy"), ideal(gold_set)]
    for scope, weighting in product(SCOPES, WEIGHTINGS):
        page.set("segmented_control", "Gold boundaries", scope)
        page.set("segmented_control", "Each word counts", weighting)
        expected = ScoreTable(found, scope, weighting, baseline=0)
        assert shown_cells(page) == cells(expected)
        assert signatures(page) == [expected.signature]
        assert any("*" in cell for row in shown_cells(page) for cell in row)


def test_one_more_reference_can_be_uploaded(page: Any) -> None:
    page.upload("One more gold list", ("mine.tsv", GOLD))
    study = page.session.study
    assert page.find("multiselect", "References").value == ["open", "file mine.tsv"]
    assert [c.partition(",")[0] for c in titles(page)] == ["demo:en", "mine.tsv"]
    gold_set = GoldSet.of(read_reference(GOLD, name="mine.tsv"))
    found = ScoreTable([*outcomes(page, gold_set, "bpe"), ideal(gold_set)])
    assert shown_cells(page)[2:] == cells(found)
    assert signatures(page)[1] == found.signature
    # The open one stays open, and what this one lacks is n/a.
    assert study.benchmark.reference.name == "demo:en"
    page.set("segmented_control", "Gold boundaries", "whole-word")
    assert {*shown_cells(page)[2]} == {"n/a"}
    page.set("segmented_control", "Each word counts", "tokens")
    assert [title.rsplit(" ", 1)[-1] for title in titles(page)] == ["tokens", "types"]
    # Only a reference with frequencies is scored by them.
    assert ["|scores:whole-word tokens|" in signature for signature in signatures(page)] == [
        True,
        False,
    ]
    assert page.session.study is study


def test_what_learned_from_the_words_is_told_apart(app: Any) -> None:
    study = app.session.study
    knock_out_all(app.session, KnockoutSettings(threshold=0.9))
    app.open("scores")
    methods(app, "before the edits", "bpe", "flota")
    # All of them are on the words that were kept aside.
    assert ", kept aside 0.2" in titles(app)[0]
    _, kept = study.benchmark.split()
    before, after = (study.score(kept.parts[-1], edits=edits).f1 for edits in (0, 1))
    assert app.f1 == percent(after)
    for row, f1 in enumerate((before, after)):
        assert scores(app)["F1 % ↑"][row].startswith(percent(f1))
    assert HELD_IN_NOTE not in app.captions()
    labels = pictures(app)[0]["layout"]["yaxis"]["ticktext"]
    methods_shown = ("before the edits", "BPE, edited", "FLOTA")
    assert labels == [f"{name}<br>kept aside" for name in methods_shown]
    # Neither after Undo nor on other words.
    references(app, "demo de")
    assert "kept aside" not in titles(app)[0]
    references(app, "open")
    app.session.undo()
    app.run()
    assert "kept aside" not in titles(app)[0]
    # Edits by hand are nobody's learning; and what was learned comes back with its tokeniser.
    app.session.redo()
    app.session.open_demo("nl")
    app.session.open_demo("en")
    app.run()
    assert app.session.study is not study
    assert ", kept aside 0.2" in titles(app)[0]


def test_what_learned_from_all_words_is_held_in(app: Any) -> None:
    app.remedy("blame").set("number_input", "Share of words kept aside", 0.0)
    app.press(next(name for name in app.buttons() if name.startswith("Knock out all")))
    methods(app.open("scores"), "before the edits", "bpe")
    assert [HELD_IN in name for name in names(app)] == [False, True, False]
    assert HELD_IN_NOTE in app.captions()
    labels = pictures(app)[0]["layout"]["yaxis"]["ticktext"]
    assert labels == ["before the edits", f"BPE, edited<br>{HELD_IN}"]


def browser(app: Any, method: str = "bpe", scope: Scope = "morphemic") -> ErrorBrowser:
    [found] = outcomes(app, open_gold_set(app), method)
    return ErrorBrowser(found, scope)


def expect_words(app: Any, made: ErrorBrowser, entries: Sequence[int]) -> None:
    """The table shows these entries, and says how many there are."""
    shown = app.table("marked")
    rows = made.words(entries)
    for column in ("word", "gold", "tokens", "marked", "wrong", "missed", "frequency"):
        assert list(shown[column]) == list(rows[column])


def test_segmentations_by_other_programs_are_rows(page: Any) -> None:
    page.upload("One more gold list", ("mine.tsv", GOLD)).run()
    references(page, "file mine.tsv")
    page.upload("Segmentations", ("theirs.txt", b"un do ing\ngoing\ndo\n")).run()
    row = scores(page).set_index("Tokeniser").loc["theirs"]
    # un|do|ing is right, the boundary of go|ing is missed; there is no vocabulary.
    assert [row[f"{name} % ↑"][:6] for name in ("Precision", "Recall")] == ["100.00", "66.67"]
    assert row["|V|"] == "n/a"
    assert "theirs" in page.find("selectbox", "Test differences to").options
    assert "predictions:theirs.txt@" in signatures(page)[0]
    page.upload("Segmentations", ("others.txt", b"x y\n")).run()
    assert "segments none of the 3 words" in page.errors()[0]
    assert scores(page).set_index("Tokeniser").loc["others", "|V|"] == "failed"
    page.set("multiselect", "Other programs", [])
    assert "theirs" not in names(page)


def test_breakdowns(page: Any, downloads: Downloads) -> None:
    page.put("scores tab", "Where")
    methods(page, "bpe", "flota")
    gold_set = open_gold_set(page)
    found = outcomes(page, gold_set, "bpe", "flota")
    page.set("segmented_control", "Each word counts", "tokens")
    for by in BREAKDOWNS:
        page.set("segmented_control", "By", by)
        if by in GROUPINGS:
            metric, size = "precision", "words"
            page.choose("Score", metric)
        else:
            metric, size = "recall", "boundaries"
        expected = break_down(found, by, metric, "morphemic", "tokens")
        shown = page.table("group")
        assert list(shown["group"]) == [name for name, _ in expected.groups]
        assert shown.to_numpy().tolist() == shown_texts(breakdown_table(expected))
        *written, last = csv_rows(downloads["download breakdown.csv"]())
        assert [row[size] for row in written] == [str(number) for _, number in expected.groups]
        # The signature of what is written is on the page.
        assert last[size] in [code.value for code in page.test.code]


def test_chosen_scores_on_several_references_and_their_files(
    page: Any, downloads: Downloads
) -> None:
    chosen = ["exact", "morph_recall", "fertility", "f1"]
    methods(page, "bpe", "flota").set("multiselect", "Scores", chosen)
    references(page, "open", "demo de")
    page.set("segmented_control", "Each word counts", "tokens")
    assert [title.partition(",")[0] for title in titles(page)] == ["demo:en", "demo:de"]
    tables = []
    for gold_set in (open_gold_set(page), demo_gold_set("de")):
        found = [*outcomes(page, gold_set, "bpe", "flota"), ideal(gold_set)]
        tables.append(ScoreTable(found, weighting="tokens", metrics=chosen, baseline=0))
    assert shown_cells(page) == cells(*tables)
    assert signatures(page) == [table.signature for table in tables]
    assert downloads["download scores.csv"]() == to_csv(scores_table(tables))
    assert downloads["download scores.tex"]() == to_latex(scores_table(tables))
    assert downloads["download scores.md"]() == to_markdown(scores_table(tables))


def test_edits_can_be_scored_against_the_start(app: Any) -> None:
    methods(app.open("graph").press("Knock out").open("scores"), "before the edits", "bpe")
    assert names(app) == ["before the edits †", "BPE, edited", "Ideal"]
    assert list(scores(app)["|V|"]) == ["8,000", "7,999", MORPHS]
    gold_set = open_gold_set(app)
    found = [*outcomes(app, gold_set, "before the edits", "bpe"), ideal(gold_set)]
    assert shown_cells(app) == cells(ScoreTable(found, baseline=0))
    assert shown_cells(app)[0] != shown_cells(app)[1]
    # Without edits, there is nothing before them.
    app.session.undo()
    assert names(app.run()) == ["BPE", "Ideal"]


def test_words_are_searched_filtered_and_taken_away(page: Any, downloads: Downloads) -> None:
    page.put("scores tab", "Words")
    made = browser(page)
    found = made.find()
    expect_words(page, made, found[:200])
    assert f"{len(found):,} words, the most boundary errors first" in page.captions()
    pills = page.find("pills", "What is wrong")
    assert pills.options == [f"{kind} {count:,}" for kind, count in made.counts().items()]
    [number] = [n for n in page.test.number_input if n.label.startswith("Page")]
    number.set_value(2)
    expect_words(page.run(), made, found[200:400])

    methods(page, "bpe", "flota").set("segmented_control", "Gold boundaries", "whole-word")
    page.choose("Tokeniser", "FLOTA").set("text_input", "Search words", " ABLE ")
    made = browser(page, "flota", "whole-word")
    expect_words(page, made, made.find(text="able"))
    written = csv_rows(downloads["download errors.csv"]())
    assert [row["word"] for row in written] == list(page.table("marked")["word"])
    assert made.outcome.tokeniser in written[0]["signature"]
    page.set("segmented_control", "Gold boundaries", "morphemic")
    page.set("text_input", "Search words", "").set("pills", "What is wrong", [])
    assert infos(page) == ["No word matches."]
    page.set("pills", "What is wrong", list(ERROR_KINDS))
    made = browser(page, "flota")
    affixes = boundary_groups(made.outcome.gold_set, "affixes")
    pick(page, "With the affix", f"-ed  ({len(affixes['-ed']):,})")
    entries = made.outcome.gold_set.reference.entries
    among = np.array(["ed" in e.morphs[1:] for e in entries])
    expect_words(page, made, made.find(ERROR_KINDS, among=among))
