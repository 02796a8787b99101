"""Morphs as lists, as pandas, JSON, numpy and DuckDB save them."""

import json
from io import BytesIO
from time import process_time

import numpy as np
import pandas as pd
import pytest
from plain_writing import read, skipped
from refusals import refused

import morphgraph as mg
from morphgraph.core.errors import FileFormatError
from morphgraph.reference.entry import MorphemeKind
from morphgraph.reference.lists import begins_list, strings_in
from morphgraph.reference.readers import read_reference

ODD = ["un", "l'", 'd"o', "a\\b", "é", "𝔘", "[x]", "(y)", ",", "|"]

CELLS = [
    ("('un', 'do')", ["un", "do"]),
    ("('do',)", ["do"]),
    ("('do')", ["do"]),
    ("()", []),
    ("[]", []),
    ("[ 'un' , 'do', ]", ["un", "do"]),
    ("['un' 'do']", ["un", "do"]),
    ("['un'\t 'do' ]", ["un", "do"]),
    ("[np.str_('un'), np.str_('d)o')]", ["un", "d)o"]),
    ('"[""un"", ""do""]"', ["un", "do"]),
    (r'["\u00e9", "\ud835\udd18", "\/\n"]', ["é", "𝔘", "/\n"]),
    (r"['\xe9', '\U0001d518', '\'']", ["é", "𝔘", "'"]),
    (str(ODD), ODD),
    (str(tuple(ODD)), ODD),
    (json.dumps(ODD), ODD),
    (json.dumps(ODD, ensure_ascii=False), ODD),
    (str(np.array(ODD)), ODD),
    (str(np.array(["un"])), ["un"]),
]
NO_LISTS = [
    *("", "un do", "(b, c)", "[un, do]", "[1, 2]", "[None]", "(un) do"),
    *("{'un', 'do'}", "'un', 'do'", "__import__('os')"),
]
MALFORMED = [
    *("('un', 'do'", "['un' 'do' ...", "['un', 'do')", "('un' 'do')", "['un', 2]"),
    *("['un', 'do' 'ing']", "['un', ['do']]", "['un'] + ['do']", "['un' if 1 else 'do']"),
    *(r"['\ud800']", r"['\U0011ffff']", '"[""un"", '),
]


@pytest.mark.parametrize(("cell", "strings"), CELLS)
def test_a_list(cell, strings):
    assert strings_in(cell) == strings


@pytest.mark.parametrize("cell", NO_LISTS)
def test_what_is_no_list(cell):
    assert strings_in(cell) is None and not begins_list(cell)


@pytest.mark.parametrize("cell", MALFORMED)
def test_a_malformed_list(cell):
    assert strings_in(cell) is None and begins_list(cell) is (cell != '"[""un"", ')


def test_the_time_for_a_malformed_list_grows_with_its_length_only():
    start = process_time()
    for text in ("['a'" + " " * 9_990, "[" + "'a' " * 2_400, "['" + "\\" * 9_990):
        for _ in range(100):
            assert strings_in(text) is None
    assert process_time() - start < 10, "minutes, if it grew with the square"


WRITTEN = {
    "tuples": str,
    "lists": lambda morphs: str(list(morphs)),
    "arrays": lambda morphs: str(np.array(morphs)),
    "JSON": lambda morphs: json.dumps(list(morphs)),
}
MORPHS = [("un", "break", "able"), ("l'", "eau"), ("co", "-", "op"), ("do",), ('6"', "-", "wide")]


@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("header", [True, False])
def test_tables_with_lists(write, separator, header):
    rows = [("".join(morphs), write(morphs), 3) for morphs in MORPHS]
    table = pd.DataFrame(rows, columns=["Form", "Segmentation", "freq"])
    text = table.to_csv(sep=separator, index=False, header=header)
    reference = read_reference(text.encode())
    assert [(e.word, e.morphs, e.count) for e in reference.entries] == [
        ("".join(morphs), morphs, 3) for morphs in MORPHS]  # fmt: skip
    assert not reference.left_out and not reference.notice and reference.format == "plain"


def test_a_table_of_lists_alone():
    table = pd.DataFrame({"morphs": MORPHS})
    assert [e.morphs for e in read_reference(table.to_csv(index=False).encode()).entries] == MORPHS
    with refused(FileFormatError):
        read_reference(b'["un", "do"]\n["re", "do"]\n')


def test_lists_of_underlying_morphemes_whole_words_and_kinds():
    reference = read(
        "word,morphs,whole_words,kinds",
        """subsidised,"['subside', 'y', 'ise', 'ed']",['subsidised'],""",
        """houseboats,"['house', 'boat', 's']","('house', 'boats')","['free','free','suffix']\"""",
        """unfit,"['un-', 'fit']",,""",
    )
    first, second, third = reference.entries
    assert (first.morphs, first.underlying) == (
        ("subsid", "is", "ed"), ("subside", "y", "ise", "ed"))  # fmt: skip
    assert first.whole_words == ("subsidised",) and second.whole_words == ("house", "boats")
    assert second.kinds == (MorphemeKind.FREE, MorphemeKind.FREE, MorphemeKind.SUFFIX)
    assert third.morphs == ("un", "fit"), "a mark, as where spaces divide morphs"


def test_lists_that_cannot_be_read_are_skipped():
    reference = read(
        "word,morphs",
        """undo,"('un', 'do')\"""",
        """redo,"('re', 'do'\"""",
        """redo,('re', 'do')""",
        """redo,[]""",
        """redo,"['re', 2]\"""",
        """['a'],[' a ']""",
    )
    assert [entry.morphs for entry in reference.entries] == [("un", "do"), ("['", "a", "']")]
    assert skipped(reference) == [
        ("a list of morphs that is cut off, or not one of strings", 3, 3),
        ("no morphs", 1, 5),
    ]


@pytest.mark.parametrize("name", ["demo:en", "demo:de", "demo:nl", "pairs"])
@pytest.mark.parametrize("form", ["csv", "csv with its index", "tsv", "parquet"])
def test_the_frame_of_a_gold_set_comes_back(name, form):
    gold = mg.read_gold(name if name != "pairs" else [("".join(m), m) for m in MORPHS],
                        frequencies={"do": 1e-05, "unbreakable": 12, "abend": 3})  # fmt: skip
    frame = gold.to_frame()
    if form == "parquet":
        made = BytesIO()
        frame.to_parquet(made)
        data = made.getvalue()
    else:
        separator = "\t" if form == "tsv" else ","
        data = frame.to_csv(index="index" in form, sep=separator).encode()
    again = mg.read_gold(data)
    assert not again.reference.left_out and again.reference.format == "plain"
    assert [(e.word, e.morphs, e.whole_words) for e in again] == [
        (e.word, e.morphs, e.whole_words) for e in gold]  # fmt: skip
    pd.testing.assert_frame_equal(again.to_frame(), frame)


def test_lists_in_a_frame_that_pandas_read():
    frame = pd.DataFrame({"word": ["undo", "redo"], "morphs": ["('un', 'do')", "['re' 'do']"]})
    assert [entry.morphs for entry in mg.read_gold(frame)] == [("un", "do"), ("re", "do")]
    arrays = pd.DataFrame({"word": ["undo"], "morphs": [np.array(["un", "do"])]})
    assert [entry.morphs for entry in mg.read_gold(arrays)] == [("un", "do")]
    with refused():
        mg.read_gold(pd.DataFrame({"word": ["undo"], "morphs": ["un do"]}))
