"""One tokeniser on several languages: every number of a row, against plain counting."""

import math
from dataclasses import replace

import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from small import small_reference
from strategies import bpe_of, well_formed

from morphgraph.core.errors import MorphGraphError
from morphgraph.score.by_language import labels_of, language_of_reference, rows_by_language
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.outcome import outcome_of
from morphgraph.score.table import ScoreTable, SegmentationFailure, outcomes_of
from morphgraph.score.uncertainty import Draws
from morphgraph.segment.bte import Bte
from morphgraph.tables.scores import languages_table

LINES = st.lists(
    st.lists(st.text("abc", min_size=1, max_size=4), min_size=1).map(" ".join), min_size=1
)
NONE = Draws(0)


def in_language(reference, language, name=""):
    return GoldSet.of(replace(reference, language=language, name=name or f"{language}.tsv"))


@examples(60)
@given(merges=well_formed(), first=LINES, second=LINES)
def test_as_counted_naively(merges, first, second):
    merges = list(dict.fromkeys(merges))
    golds = [
        in_language(small_reference(*lines), language)
        for lines, language in ((first, "deu"), (second, "ell"))
    ]
    bpe = Bte(bpe_of(merges))
    rows = rows_by_language([ScoreTable([outcome_of(bpe, gold)], draws=NONE) for gold in golds])
    assert len(rows) == 2
    listed = oracles.listed(merges)
    for row, lines in ((r, first if r.language == "German" else second) for r in rows):
        hits = predicted = relevant = 0
        tokens = []
        for line in lines:
            cut, _ = oracles.segment(listed, list(line.replace(" ", "")))
            tokens.append(cut)
            ours, gold = oracles.boundaries(cut), oracles.boundaries(line.split())
            hits += len(ours & gold)
            predicted, relevant = predicted + len(ours), relevant + len(gold)
        f1 = 2 * hits / (predicted + relevant) if relevant else math.nan
        assert row.f1 == pytest.approx(f1, nan_ok=True)
        assert row.entries == len(lines)
        assert row.uncut == pytest.approx(sum(len(cut) == 1 for cut in tokens) / len(lines))
        fertility = row.scores(["fertility"])["fertility"].value
        assert fertility == pytest.approx(sum(map(len, tokens)) / len(lines))


def test_the_language_of_a_reference():
    known = replace(small_reference("xy"), language="urd")
    assert language_of_reference(known) == ("Urdu", "Arabic")
    unknown = replace(small_reference("слово", "abc", "дом"), name="folder/words.tsv")
    assert language_of_reference(unknown) == ("words.tsv", "Cyrillic")
    assert language_of_reference(replace(unknown, language="mul"))[1] == "Cyrillic"


def tables_of(golds):
    bpe = Bte(bpe_of([("a", "b")]))
    return [ScoreTable(outcomes_of([("BPE", bpe)], gold), draws=NONE) for gold in golds]


def test_the_order_and_the_names():
    golds = [
        in_language(small_reference("ab"), "nld"),  # no boundary: F1 is n/a
        in_language(small_reference("a b"), "spa", "first.tsv"),
        in_language(small_reference("ab c"), "spa", "second.tsv"),
    ]
    rows = rows_by_language(tables_of(golds))
    assert labels_of(rows) == ["Spanish · second.tsv", "Spanish · first.tsv", "Dutch"]
    assert [row.f1 for row in rows][:2] == [1, 0]


def test_a_tokeniser_that_fails_has_no_numbers():
    def fail():
        raise MorphGraphError("no words")

    gold = in_language(small_reference("a b"), "deu")
    [failure] = outcomes_of([("BPE", fail)], gold)
    assert isinstance(failure, SegmentationFailure)
    [row] = rows_by_language([ScoreTable([failure], draws=NONE)])
    assert math.isnan(row.f1) and math.isnan(row.uncut)


def test_the_table():
    golds = [
        in_language(small_reference("a b", "ab c"), "deu"),
        in_language(replace(small_reference("ab c"), partial="one boundary a word"), "ita"),
    ]
    shown = languages_table(rows_by_language(tables_of(golds)), ["recall", "f1"])
    assert [row.names for row in shown.rows] == [("Italian", "Latin"), ("German", "Latin")]
    assert [cell.value for cell in shown.rows[1].cells] == [2, 0.5, 2 / 3, 0.5]
    assert "partial (one boundary a word)" in shown.notes[0]
    assert not any(cell.is_best for row in shown.rows for cell in row.cells)
