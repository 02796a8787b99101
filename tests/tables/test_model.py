"""Whatever a table holds, and wherever: each way to write it keeps texts texts."""

import csv
import io
import math
import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from small import small_tokeniser

from morphgraph.score.comparison import Comparison, WordPart
from morphgraph.segment.bte import Bte
from morphgraph.tables.model import Cell, Column, Row, Table, table_of_texts, with_best
from morphgraph.tables.scores import comparison_html
from morphgraph.tables.writing import frame_csv, to_csv, to_html, to_latex, to_markdown
from tests.batch.test_report import Page

SIGNS = "&\"'{}\\$#%_^~][|`*+@-aé≥☃ \t\n\r\udcff"
PARTS = [*SIGNS, "<script>", "</td>", "\\end{table}", "=1", *"＝＋－＠"]
HOSTILE = st.lists(st.sampled_from(PARTS), min_size=1, max_size=6).map("".join)
TAGS = re.compile("div|table|thead|tbody|tr|th|td|span|sup|small|p|code")
ALLOWED = {"class", "scope", "colspan", "tabindex", "hidden"}
"""Attributes: none that runs or fetches anything."""


@st.composite
def tables(draw):
    """A table in which every text is hostile."""

    def text():
        return draw(HOSTILE)

    width = draw(st.integers(1, 4))
    forms = draw(st.lists(st.sampled_from(["text", "percent"]), min_size=width, max_size=width))
    columns = tuple(
        Column(text(), form, draw(st.sampled_from([-1, 0, 1])), spread=(text(),)) for form in forms
    )

    def cell(column):
        if column.form == "percent":
            return Cell(draw(st.floats(0, 1)), 0.25, 0.75, p=draw(st.sampled_from([math.nan, 0.0])))
        word = text()
        parts = (WordPart(word, "start"), WordPart(word, "wrong"))
        return Cell(f"{word} {word}", tokens=(word, word), pieces=parts)

    rows = [
        Row(
            (text(), text()),
            tuple(map(cell, columns)),
            block=draw(st.integers(0, 1)),
            error=draw(st.just("") | HOSTILE),
            is_baseline=draw(st.booleans()),
            before=(("facts", text()),),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return Table(
        text(),
        (Column(text()), Column(text())),
        columns,
        with_best(rows, columns),
        (text(),),
        blocks=(text(), text()),
        constants={text(): text()},
        signatures=(text(),),
        notes=(text(),),
    )


@given(tables())
def test_no_text_becomes_html(table):
    page = Page(to_html(table))
    assert all(TAGS.fullmatch(tag) and set(given) <= ALLOWED for tag, given in page.tags)
    shown = "".join("".join(page.texts).split())
    for text in (*table.blocks, *table.signatures, *(row.names[1] for row in table.rows)):
        assert "".join(text.replace("\udcff", "?").split()) in shown


@given(tables())
def test_no_text_becomes_latex(table):
    source = to_latex(table, "x")
    plain = re.sub(r"\\(?:\\|textbackslash|[{}$&#%_])", "", source.split("\n", 1)[1])
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert "#" not in plain and "%" not in plain
    assert source.count(r"\begin{table}") == source.count(r"\end{table}") > 0
    body = re.findall(r"\\midrule\n(.*?)\\bottomrule", source, re.S)
    assert len(body) == source.count(r"\begin{tabular}"), "no text ends a tabular"


@given(tables())
def test_no_text_becomes_markdown(table):
    lines = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
    ends = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines]
    assert set(ends) == {len(table.columns) + 3}
    assert len(lines) == len(table.rows) + 2 * len(table.blocks)
    assert not any(re.search(r"(?<!\\)(?:\\\\)*[<`]", line) for line in lines)


@given(tables())
def test_no_text_becomes_a_formula(table):
    rows = list(csv.reader(io.StringIO(to_csv(table).decode("utf-8"), newline="")))
    for value in (value for row in rows for value in row):
        is_number = re.fullmatch(r"-?[0-9.e-]+", value) is not None
        assert is_number or not value.lstrip().startswith(tuple("=+-@＝＋－＠")), value
        assert not value.startswith(("\t", "\r")), value


def test_csv_has_all_digits_and_counts_are_whole():
    columns = (Column("F1", "percent", csv="f1", extras=("low", "seeds")), Column("n", "count"))
    row = Row(("a",), (Cell(1.0, 1 / 3, seeds=2), Cell(-8000.0)), after=(("signature", "s"),))
    failed = Row(("=b",), (Cell(state="failed"), Cell()), after=(("signature", "s"),))
    text = to_csv(Table("", (Column("name"),), columns, (row, failed))).decode()
    assert text.splitlines() == [
        "name,f1,f1 low,f1 seeds,n,signature",
        "a,1.0,0.3333333333333333,2,-8000,s",
        "'=b,failed,n/a,0,n/a,s",
    ]


def test_signatures_that_no_row_has_stand_at_the_end_of_csv():
    table = table_of_texts(["a", "b"], [["x", "1"]])
    assert to_csv(table).decode() == "a,b\nx,1\n"
    assert to_csv(Table("", table.names, table.columns, table.rows, signatures=("=s",))) == (
        b"a,b\nx,1\nsignature,'=s\n"
    )


def test_the_best_of_each_group():
    columns = (Column("F1", "percent", 1), Column("edits", "ratio", -1), Column("n", "count"))

    def best(*rows):
        return [[cell.is_best for cell in row.cells] for row in with_best(rows, columns)]

    def row(value, **more):
        return Row(("x",), tuple(Cell(value, state="done") for _ in columns), **more)

    assert best(row(0.5), row(0.9)) == [[False, True, False], [True, False, False]]
    assert best(row(0.5), row(0.9, group=1)) == [[False] * 3] * 2, "one alone is not the best"
    assert best(row(0.5), row(0.4), row(0.9, group=-1))[0][0], "nobody's rival"
    assert best(row(0.5), row(0.4), row(0.9, held_in=True))[0][0]
    assert best(row(0.9, held_in=True), row(0.4, held_in=True))[0][0]
    assert best(row(math.nan), row(0.4)) == [[False] * 3] * 2


def test_csv_is_exact_and_no_formula():
    data = pd.DataFrame(
        {"=a": ["=1+1", "b"], "value": [0.1, float("nan")], "n": pd.array([1, None], "Int64")}
    )
    assert frame_csv(data).decode() == "'=a,value,n\n'=1+1,0.1,1\nb,n/a,n/a\n"
    assert frame_csv(data[:0]).decode() == "'=a,value,n\n"


WORDS = ["<script>alert(1)</script>", "=cmd()", 'a"b,c', "50%_{x}\\"]


def test_a_comparison_as_html():
    alphabet = "".join(sorted(set("".join(WORDS) + "undo")))
    segmenters = [Bte(small_tokeniser(m, alphabet)) for m in ([("u", "n")], [("n", "d")])]
    gold = [("un", "do"), *[None] * len(WORDS)]
    comparison = Comparison(segmenters, ["undo", *WORDS], gold)
    page = Page(comparison_html(comparison, comparison.rows, "<b>title").decode())
    assert {"script", "b"}.isdisjoint(tag for tag, _ in page.tags)
    named = {name for _, attributes in page.tags for name in attributes}
    assert not [name for name in named if name.startswith("on") or name in ("src", "href")]
    assert all(text in "".join(page.texts) for text in (*WORDS, "<b>title"))
