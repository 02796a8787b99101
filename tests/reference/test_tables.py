"""MorphScore 2, and tables in Parquet, as small files in their true shape."""

import pytest
from plain_writing import read, skipped

from morphgraph.core.errors import MorphGraphError

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


def test_a_data_split():
    test = read(*MORPHSCORE_2, data_split="test")
    assert [entry.line for entry in test.entries] == [3]
    with pytest.raises(MorphGraphError, match="train, dev, test"):
        read(*MORPHSCORE_2, data_split="x")
