"""Files of GLUE and of CoNLL's shared tasks, as their archives have them."""

from pathlib import Path

import pytest
from refusals import refused

from morphgraph.core.errors import FileFormatError
from morphgraph_models.downstream.examples import read_entities, read_labelled
from morphgraph_models.downstream.glue import read_glue

HEADERS = {
    "SST-2": "sentence\tlabel",
    "MRPC": "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String",
    "QQP": "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate",
    "STS-B": "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\t"
    "sentence1\tsentence2\tscore",
    "MNLI": "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\t"
    "sentence1_parse\tsentence2_parse\tsentence1\tsentence2\tlabel1\tgold_label",
    "QNLI": "index\tquestion\tsentence\tlabel",
    "RTE": "index\tsentence1\tsentence2\tlabel",
    "WNLI": "index\tsentence1\tsentence2\tlabel",
}
ROWS = {
    "CoLA": ['gj04\t1\t\tA "cat sleeps.', "gj04\t0\t*\tSleeps cat."],
    "SST-2": ['a "fine film \t1', "dull \t0"],
    "MRPC": ["1\t7\t8\tOne.\tAnother.\r", '0\t7\t8\t"Two.\tThree.\r'],
    "QQP": ["0\t1\t2\tWhy?\tHow?\t1", "1\t3\t4\tbroken", "\t5?\t1", '2\t5\t6\t"Who?\tI.\t0'],
    "STS-B": ["0\tnews\tf\t2012\t1\tx\ty\tA.\tB.\t5.000", "1\tn\tf\t2\t1\tx\ty\tC\tD\t0.5"],
    "MNLI": [
        "0\t1\t2\tfiction\t(\t(\t(\t(\tOne.\tTwo.\tneutral\tneutral",
        "1\t1\t2\tfiction\t(\t(\t(\t(\tA.\tB.\tneutral\tentailment",
    ],
    "QNLI": ["0\tWho?\tHe.\tentailment", "1\tWhy?\tSo.\tnot_entailment"],
    "RTE": ["0\tA.\tB.\tentailment", "1\tC.\tD.\tnot_entailment"],
    "WNLI": ["0\tA.\tB.\t1", "1\tC.\tD.\t0"],
}
LABELS = {
    "STS-B": ("5.000", "0.5"),
    "MNLI": ("neutral", "entailment"),
    "QNLI": ("entailment", "not_entailment"),
    "RTE": ("entailment", "not_entailment"),
}


def write(folder: Path, text: str, name: str = "dev.tsv", encoding: str = "utf-8") -> str:
    (folder / name).write_bytes(text.encode(encoding))
    return str(folder / name)


@pytest.mark.parametrize("task", ROWS)
def test_files_of_glue_are_read_as_they_are(tmp_path: Path, task: str) -> None:
    lines = [*filter(None, [HEADERS.get(task)]), *ROWS[task]]
    *texts, labels = read_glue([write(tmp_path, "\n".join(lines) + "\n")], task)
    assert labels == LABELS.get(task, ("1", "0"))
    assert len(texts) == (1 if task in ("CoLA", "SST-2") else 2)
    assert all(text and text == text.strip() for column in texts for text in column)


def test_quotes_are_characters(tmp_path: Path) -> None:
    assert read_glue([write(tmp_path, ROWS["CoLA"][0])], "CoLA")[0][0] == 'A "cat sleeps.'


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("SST-2", "index\tsentence\n0\tfine\n"),
        ("RTE", f"{HEADERS['RTE']}\n0\tA.\tB.\n"),
        ("CoLA", "gj04\t1\n"),
        ("WNLI", f"{HEADERS['WNLI']}\n"),
    ],
)
def test_what_is_no_file_of_a_task(tmp_path: Path, task: str, text: str) -> None:
    with refused(FileFormatError):
        read_glue([write(tmp_path, text)], task)


def test_pairs_are_two_columns_of_a_table(tmp_path: Path) -> None:
    path = write(tmp_path, "class,one,two\n1,a,b\n0,c,d\n", "pairs.csv")
    assert read_labelled([path], ["two", "one"], "class") == (("b", "d"), ("a", "c"), ("1", "0"))


ENGLISH = """\
-DOCSTART- -X- -X- O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
Peter NNP I-NP I-PER
Paul NNP I-NP B-PER

Oslo NNP I-NP I-LOC
"""
DUTCH = "-DOCSTART- -DOCSTART- O\nCafé N B-ORG\nParis N I-ORG\nis V O\n"


def test_entities_are_read_as_iob2(tmp_path: Path) -> None:
    words, tags = read_entities([write(tmp_path, ENGLISH)])
    assert words == (("EU", "rejects", "Peter", "Paul"), ("Oslo",))
    assert tags == (("B-ORG", "O", "B-PER", "B-PER"), ("B-LOC",))
    path = write(tmp_path, DUTCH, "ned.train", "latin-1")
    assert read_entities([path], "latin-1")[0] == (("Café", "Paris", "is"),)
    with refused(FileFormatError):
        read_entities([path])


@pytest.mark.parametrize("text", ["EU NNP\n", "\n\n"])
def test_what_has_no_entities(tmp_path: Path, text: str) -> None:
    with refused(FileFormatError):
        read_entities([write(tmp_path, text)])
