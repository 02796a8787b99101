"""Examples as they are read, and what is wrong in a file, with its line."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pandas as pd
import pytest

from morphgraph.core.errors import FileFormatError
from morphgraph.models.downstream.task import (
    check_classes,
    read_conllu,
    read_labelled,
    read_parallel,
    read_texts,
)

CONLLU = """\
# text = Don't go
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t_\t_\t_\t_
2\tn't\tnot\tPART\tRB\t_\t_\t_\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_
3.1\tthere\tthere\tADV\t_\t_\t_\t_\t_\t_

1\tYes\tyes\tINTJ\tUH\t_\t_\t_\t_\t_
"""


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


def test_texts_and_labels_come_from_every_kind_of_table(tmp_path: Path) -> None:
    rows = [("a, b", "1"), ("NA", "0")]
    frame = pd.DataFrame(rows, columns=["title", "class"])
    csv = written(tmp_path, "a.csv", 'title,class\n"a, b",1\nNA,0\n')
    tsv = written(tmp_path, "a.tsv.gz", "class\ttitle\n1\ta, b\n0\tNA\n")
    frame.to_parquet(tmp_path / "a.parquet")
    for path in (csv, tsv, str(tmp_path / "a.parquet")):
        found = read_labelled([path], "title", "class")
        assert found == (("a, b", "NA"), ("1", "0"))
    assert len(read_labelled([csv, tsv], "title", "class")[0]) == 4


def test_words_and_tags_leave_ranges_and_empty_words_out(tmp_path: Path) -> None:
    for name in ("a.conllu", "a.conllu.gz"):
        words, tags = read_conllu([written(tmp_path, name, CONLLU)], 3)
        assert words == (("Do", "n't", "go"), ("Yes",))
        assert tags == (("AUX", "PART", "VERB"), ("INTJ",))
    _, fine = read_conllu([written(tmp_path, "b.conllu", CONLLU)], 4)
    assert fine == (("VB", "RB", "VB"), ("UH",))


def test_texts_are_lines_or_a_column(tmp_path: Path) -> None:
    lines = written(tmp_path, "a.txt.gz", "one\r\n\n two \n")
    table = written(tmp_path, "a.csv", "n,text\n1,three\n")
    assert read_texts([lines]) == (("one", "two"),)
    assert read_texts([table], "text") == (("three",),)


def test_parallel_texts_go_line_by_line(tmp_path: Path) -> None:
    source, target = written(tmp_path, "a.en", "a\n\nb\n"), written(tmp_path, "a.de", "x\ny\nz\n")
    assert read_parallel([source, target]) == (("a", "b"), ("x", "z"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "text,class\na,1\n", "a.csv, line 1: there is no column “label”. Its columns:"),
        ("a.csv", "text,label\na,1\nb,\n", "a.csv, row 3: the column “label” is empty."),
        ("a.csv", "text,label\n", "a.csv: it has a header only."),
        ("a.csv", 'text,label\n"a,1\n', "a.csv: it is not a table ("),
        ("a.parquet", "text,label\n", "a.parquet: it is not a table ("),
    ],
)
def test_what_is_wrong_in_a_table(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = written(tmp_path, name, text)
    with pytest.raises(FileFormatError, match=re.escape(message)):
        read_labelled([path], "text", "label")


def test_what_is_wrong_in_other_files(tmp_path: Path) -> None:
    cut = tmp_path / "cut.txt.gz"
    cut.write_bytes(gzip.compress(b"some text " * 100)[:-20])
    with pytest.raises(FileFormatError, match=r"cut.txt.gz: it is cut off or is not gzip\."):
        read_texts([str(cut)])
    with pytest.raises(FileFormatError, match=r"a.txt: it has no text\."):
        read_texts([written(tmp_path, "a.txt", "\n \n")])
    no_tag = written(tmp_path, "a.conllu", CONLLU.replace("\tVERB", "\t_"))
    with pytest.raises(FileFormatError, match=r"a.conllu, line 5: the word “go” has no tag\."):
        read_conllu([no_tag], 3)
    with pytest.raises(FileFormatError, match=r"line 1: it has 2 columns instead of 10\."):
        read_conllu([written(tmp_path, "b.conllu", "1\tword\n")], 3)
    one, two = written(tmp_path, "a.en", "a\nb\n"), written(tmp_path, "a.de", "x\n")
    with pytest.raises(FileFormatError, match=r"a.de: it has 1 lines, .*a.en has 2\."):
        read_parallel([one, two])
    with pytest.raises(FileFormatError, match=r"1 files are given, not two\."):
        read_parallel([one])


def test_a_class_that_training_lacks_is_refused() -> None:
    with pytest.raises(FileFormatError, match=r"t.csv: no example of training has the label “c”\."):
        check_classes({"a": 2, "b": 1}, {"a": 1, "c": 1}, "t.csv", "label")
    with pytest.raises(FileFormatError, match=r"all examples of training have the tag “a”\."):
        check_classes({"a": 2}, {"a": 1}, "t.csv", "tag")
    check_classes({"a": 2, "b": 1}, {"a": 1}, "t.csv", "label")
