"""MorphScore 2, and tables in Parquet, as small files in their true shape."""

import duckdb
import pytest
from plain_writing import read, skipped
from refusals import refused

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import REFERENCE_LINES
from morphgraph.reference.readers import read_reference

MORPHSCORE_2 = (
    "language,dataset_source,data_split,wordform,unique,lemma,stem,preceding_part,following_part,"
    "pos,morph_comp,sentence,sentence_id,word_freq,word_freq_norm",
    'eng_latn,EWT,train,undoing,unique,do,do,un,ing,VERB,,"He said, ""undoing""",1,5,2.5e-06',
    "eng_latn,EWT,test-a,cats,unique,cat,cat,,s,NOUN,Number=Plur,x,2,3,0.001",
    "eng_latn,EWT,dev,redo,unique,do,do,re,,VERB,,x,3,1,",
    "eng_latn,EWT,dev,cat,unique,cat,cat,,,NOUN,,x,4,1,1e-06",
    "eng_latn,EWT,test,cats,repeat,cat,cat,,s,NOUN,,x,5,3,0.001",
    "eng_latn,EWT,train,making,unique,make,mak,,ing,VERB,,x,6,3,0.001",
    "eng_latn,EWT,train,4ths,unique,4th,4th,,s,NOUN,,x,7,3,0.001",
    "eng_latn,EWT,train,Dogs,unique,dog,dog,,s,NOUN,,x,8,3,0.001",
    "eng_latn,EWT,other,dogs,unique,dog,dog,,s,NOUN,,x,9,3,0.001",
    "eng_latn,EWT,train,a b,unique,a,a,, b,NOUN,,x,10,3,0.001",
)
LINES = [(2, "un do ing", 2_500), (3, "cat s", 1_000_000), (4, "re do", None), (5, "cat", 1_000)]
SKIPPED = [
    ("a repeated word (unique is not unique)", 6),
    ("stem that is not the lemma", 7),
    ("word with a digit", 8),
    ("parts that do not concatenate to the word", 9),
    ("of another data split", 10),
    ("word with a space", 11),
]


def shown(reference):
    return [(entry.line, " ".join(entry.morphs), entry.count) for entry in reference.entries]


def test_morphscore_2():
    reference = read(*MORPHSCORE_2)
    assert reference.format == "morphscore2"
    assert shown(reference) == [(n, m, c and pytest.approx(c)) for n, m, c in LINES]
    assert skipped(reference) == [(reason, 1, line) for reason, line in SKIPPED]
    assert reference.partial_note.startswith("The gold is partial (a stem and what is beside it)")


def test_a_data_split_and_rows_that_the_filter_leaves_out():
    test = read(*MORPHSCORE_2, data_split="test")
    assert [entry.line for entry in test.entries] == [3]
    for kept, line in (("repeated", 6), ("stems", 7), ("digits", 8)):
        found = read(*MORPHSCORE_2, keep_rows=[kept])
        assert [entry.line for entry in found.entries] == sorted([2, 3, 4, 5, line])
    for options in ({"data_split": "x"}, {"keep_rows": ["x"]}, {"keep_rows": "stems"}):
        with refused():
            read(*MORPHSCORE_2, **options)


def parquet(folder, query):
    path = folder / "gold.parquet"
    duckdb.sql(f"copy ({query}) to '{path}' (format parquet)")
    return path


def test_parquet_is_read_as_its_csv(tmp_path):
    (tmp_path / "gold.csv").write_text("\n".join(MORPHSCORE_2))
    path = parquet(tmp_path, f"from read_csv('{tmp_path / 'gold.csv'}')")
    for source in (path, path.read_bytes()):
        found = read_reference(source)
        assert found.entries == read(*MORPHSCORE_2).entries
        assert [entry.line for entry in found.entries] == [1, 2, 3, 4], "its rows"
        assert skipped(found) == [(reason, 1, line - 1) for reason, line in SKIPPED]
    # no word has anything before its stem: pandas writes a column of NaN
    numbers = "'NaN'::double as preceding_part, 's' as following_part, 1 as word_freq_norm"
    path = parquet(
        tmp_path,
        "select 'cats' as wordform, 'cat' as stem, 'cat' as lemma, 'unique' as unique, "
        f"'train' as data_split, null as x, {numbers}",
    )
    assert shown(read_reference(path)) == [(1, "cat s", 10**9)]


def test_other_tables_in_parquet(tmp_path):
    path = parquet(tmp_path, "select 'undo' as Word, ['un', 'do'] as morphs, 3 as count")
    assert shown(read_reference(path)) == [(1, "un do", 3)]
    path = parquet(tmp_path, "select 'aircraft' as stim, 'air' as c1, 'craft' as c2, 1 as nparses, "
                   "'yes' as correctParse")  # fmt: skip
    assert read_reference(path).format == "ladec"


def test_parquet_that_cannot_be_read(tmp_path, monkeypatch):
    path = parquet(tmp_path, "select 'undo' as text")
    with refused(FileFormatError):
        read_reference(path)
    with refused(FileFormatError):
        read_reference(path.read_bytes()[:-20], name="cut.parquet")
    path = parquet(tmp_path, "select 'a b' as word, 'a b' as morphs from range(3)")
    with refused(FileFormatError):
        read_reference(path)
    monkeypatch.setenv(REFERENCE_LINES.variable, "2")
    with refused(FileFormatError):
        read_reference(path)
