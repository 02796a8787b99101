"""What models are trained on: examples as read, ids, first tokens of words, noise, batches."""

import gzip
import json
import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from safetensors.numpy import save_file

from morphgraph.core.errors import FileFormatError
from morphgraph.corpus.counts import WordCounts
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.segmenter import method_on
from morphgraph.segment.training import train
from morphgraph_models.downstream.examples import (
    TrainingSettings,
    read_conllu,
    read_labelled,
    read_parallel,
    read_texts,
)
from morphgraph_models.downstream.fitting import batch_plan, in_batches, last_checkpoint
from morphgraph_models.downstream.noise import noisy, without_spaces
from morphgraph_models.downstream.tagging import split_sentences
from morphgraph_models.downstream.token_ids import (
    ROLES,
    decoded,
    dense_ids,
    folder_ids,
    model_files,
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


TABLE = partial(read_labelled, text=["text"], label="label")


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(path)


def test_texts_and_labels_come_from_every_kind_of_table(tmp_path: Path) -> None:
    frame = pd.DataFrame([("a, b", 1), ("NA", 0)], columns=["title", "class"])
    csv = written(tmp_path, "a.csv", 'title,class\n"a, b",1\nNA,0\n')
    tsv = written(tmp_path, "a.tsv.gz", "class\ttitle\n1\ta, b\n0\tNA\n")
    frame.to_parquet(tmp_path / "a.parquet")
    frame.astype(str).to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    for path in (csv, tsv, str(tmp_path / "a.parquet"), str(tmp_path / "a.jsonl")):
        assert read_labelled([path], ["title"], "class") == (("a, b", "NA"), ("1", "0"))
    assert len(read_labelled([csv, tsv], ["title"], "class")[0]) == 4


def test_words_and_tags_leave_ranges_and_empty_words_out(tmp_path: Path) -> None:
    for name in ("a.conllu", "a.conllu.gz"):
        words, tags = read_conllu([written(tmp_path, name, CONLLU)])
        assert words == (("Do", "n't", "go"), ("Yes",))
        assert tags == (("AUX", "PART", "VERB"), ("INTJ",))


def test_texts_are_lines_or_a_column(tmp_path: Path) -> None:
    lines = written(tmp_path, "a.txt.gz", "one\r\n\n two \n")
    table = written(tmp_path, "a.csv", "n,text\n1,three\n")
    assert read_texts([lines]) == (("one", "two"),)
    assert read_texts([table], "text") == (("three",),)


def test_parallel_texts_go_line_by_line(tmp_path: Path) -> None:
    source, target = written(tmp_path, "a.en", "a\n\nb\n"), written(tmp_path, "a.de", "x\ny\nz\n")
    assert read_parallel([source, target]) == (("a", "b"), ("x", "z"))


@pytest.mark.parametrize(
    ("name", "text", "read", "message"),
    [
        ("a.csv", "text,class\na,1\n", TABLE, "a.csv, line 1: there is no column “label”. Its col"),
        ("a.csv", "text,label\na,1\nb,\n", TABLE, "a.csv, example 2: its “label” is empty, or"),
        ("a.csv", "text,label\na,1\n,b\n", TABLE, "a.csv, example 2: its text is empty."),
        ("a.csv", "text,label\n", TABLE, "a.csv: it has no text."),
        ("a.csv", 'text,label\n"a,1\n', TABLE, "a.csv: this is not a table ("),
        ("a.parquet", "PAR1text,label\n", TABLE, "a.parquet: this parquet file cannot be read"),
        ("a.txt", "\n \n", read_texts, "a.txt: it has no text."),
        (
            "a.conllu",
            CONLLU.replace("\tVERB", "\t_"),
            read_conllu,
            "line 5: the word “go” has no tag.",
        ),
        ("b.conllu", "1\tword\n", read_conllu, "line 1: it has 2 columns instead of 10."),
        ("a.en", "a\n", read_parallel, "1 files are given, not two."),
    ],
)
def test_what_is_wrong_in_a_file(
    tmp_path: Path, name: str, text: str, read: Any, message: str
) -> None:
    with pytest.raises(FileFormatError, match=re.escape(message)):
        read([written(tmp_path, name, text)])


def test_what_is_cut_off_or_not_parallel(tmp_path: Path) -> None:
    cut = tmp_path / "cut.txt.gz"
    cut.write_bytes(gzip.compress(b"some text " * 100)[:-20])
    with refused(FileFormatError):
        read_texts([str(cut)])
    one, two = written(tmp_path, "a.en", "a\nb\n"), written(tmp_path, "a.de", "x\n")
    with refused(FileFormatError):
        read_parallel([one, two])


COUNTS = WordCounts(["undo", "redo", "undoing", "doing", "do"], [9, 8, 7, 6, 5])
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##do", "##ing", "do")


def wordpiece(folder: Path) -> str:
    path = folder / "vocab.txt"
    path.write_text("".join(f"{text}\n" for text in VOCABULARY))
    return str(path)


@pytest.mark.parametrize("method", [name for name in METHODS.offered if not METHODS[name].counts])
def test_a_model_has_as_many_rows_as_there_are_types(method: str) -> None:
    segmenter = method_on(load_segmenter("demo:en"), method)
    ids = dense_ids(segmenter)
    assert ids.size == len(ROLES) + segmenter.vocabulary_size
    (rows,) = ids.encode(["undoing the unbelievable", "Ω"])
    assert all(len(row) for row in rows)
    assert all(0 <= number < ids.size for row in rows for number in row)
    spelled = [ids.by_id[number] for number in rows[0].tolist()]
    found = segmenter.segment(segmenter.encode(["undoing the unbelievable"], bare=True))
    assert spelled == [segmenter.types[token] for token in found.tokens(0)]


@pytest.mark.parametrize("method", ["picky", "scaffold", "unigram", "bpe-prime", "wordpiece"])
def test_what_training_removed_has_no_row(method: str) -> None:
    segmenter = train(method, COUNTS, 16 if method in ("unigram", "wordpiece") else 262)
    ids = dense_ids(segmenter)
    assert ids.size == len(ROLES) + segmenter.vocabulary_size
    assert sorted(ids.by_id) == list(range(len(ROLES), ids.size))


def test_dropout_is_for_training_only() -> None:
    ids = dense_ids(load_segmenter("demo:en", "dropout", p=0.9))
    first, second = ids.encode(["unbelievable"], draws=2)
    plain = ids.plain().encode(["unbelievable"])[0][0]
    standard = dense_ids(load_segmenter("demo:en")).encode(["unbelievable"])[0][0]
    assert plain.tolist() == standard.tolist()
    assert len({tuple(first[0]), tuple(second[0]), tuple(plain)}) > 1


def test_ids_of_a_folder_are_those_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"vocab_size": 9, "pad_token_id": 0}))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps(
            {"cls_token": {"content": "[CLS]"}, "sep_token": "[SEP]", "mask_token": "[MASK]"}
        )
    )
    for method in (None, "flota"):
        ids = folder_ids(load_segmenter(wordpiece(tmp_path), method), str(tmp_path))
        assert ids.encode(["undo do"])[0][0].tolist() == [5, 6, 8]
        assert dict(ids.special) == {"pad": 0, "unk": 3, "bos": 2, "eos": 3, "mask": 4}
        assert ids.size == 9


def test_a_checkpoint_of_another_tokeniser_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"vocab_size": 8}))
    with refused():
        folder_ids(load_segmenter(wordpiece(tmp_path)), str(tmp_path))


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with refused(FileFormatError):
        model_files(str(tmp_path))
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with refused(FileFormatError):
        model_files(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    save_file({"w": np.zeros(1)}, tmp_path / "model.safetensors")
    found = [Path(file).name for file in model_files(str(tmp_path))]
    assert found == ["config.json", "model.safetensors"]


@pytest.mark.parametrize(
    ("method", "pipeline"),
    [
        *(("bpe", "plain"), ("bpe-prime", "spaces"), ("unigram", "plain")),
        *(("unigram-prime", "spaces"), ("wordpiece-prime", "spaces")),
    ],
)
def test_tokens_spell_their_text_again(method: str, pipeline: str) -> None:
    segmenter = train(method, COUNTS, 270 if method.startswith("bpe") else 40, pipeline=pipeline)
    ids = dense_ids(segmenter)
    text = "undo doing redo"
    pieces = [ids.by_id[number] for number in ids.encode([text])[0][0].tolist()]
    assert decoded(pieces, segmenter) == text


def test_what_has_no_token_is_counted() -> None:
    flota = dense_ids(load_segmenter("demo:en", "flota", k=1))
    assert flota.uncovered(["the the"]) == 0.0
    assert flota.uncovered(["undesirableness"]) > 0.3
    assert np.isnan(flota.uncovered([])) or flota.uncovered([]) == 0.0


SENTENCES = [["Undo", "it", ",", "don't", "wait"], ["re-do", "naïve", "日本", "!"], ["x"]]
SOME_COUNTS = WordCounts(["undo", "redo", "undoing", "doing", "do", "it"], [9, 8, 7, 6, 5, 3])


@pytest.mark.parametrize("method", [None, "flota", "dropout", "first", "greedy"])
def test_each_word_is_tagged_at_its_own_first_token(method: str | None) -> None:
    ids = dense_ids(load_segmenter("demo:en", method))
    (found,) = split_sentences(SENTENCES, ids)
    for words, split in zip(SENTENCES, found, strict=True):
        alone = [ids.encode([f" {word}" for word in words])[0]]
        assert len(split.firsts) == len(words)
        assert (split.firsts >= 0).all() and (np.diff(split.firsts) > 0).all()
        assert split.firsts[0] == 0 and split.firsts.max() < len(split.ids)
        assert len(alone[0]) == len(words)


@pytest.mark.parametrize(
    ("method", "pipeline", "pieces", "firsts"),
    [
        ("bpe", "plain", ["undo", "Ġ", "do", "it"], [0, 1]),
        ("bpe-prime", "spaces", ["undo", "Ġ", "do", "it"], [0, 2]),
        ("bpe-prime", "no-spaces", ["undo", "do", "it"], [0, 1]),
    ],
)
def test_a_space_of_its_own_is_of_no_word(
    method: str, pipeline: str, pieces: list[str], firsts: list[int]
) -> None:
    segmenter = train(method, SOME_COUNTS, 262, pipeline=pipeline)
    ids = dense_ids(segmenter)
    ((split,),) = split_sentences([["undo", "doit"]], ids)
    spelled = [ids.by_id[number] for number in split.ids.tolist()]
    assert "".join(spelled) == "".join(pieces)
    starts = [place for place, text in enumerate(spelled) if place == 0 or text[-1:] != "Ġ"]
    assert split.firsts[0] == 0 and split.firsts[1] in starts
    before = "".join(spelled[: split.firsts[1]])
    assert before.rstrip("Ġ") == "undo"


def test_what_a_method_leaves_out_has_no_place() -> None:
    """FIRST with k = 1 of each word keeps one token of each; a cut-off word keeps none."""
    ids = dense_ids(load_segmenter("demo:en", "first", k=1))
    (found,) = split_sentences([["unbelievableness", "of", "it"]], ids)
    assert len(found[0].ids) == 3
    assert found[0].firsts.tolist() == [0, 1, 2]


def test_every_damage_at_every_place_happens_and_nothing_else() -> None:
    found = Counter(noisy(["abc"] * 2000, 1.0, seed=0))
    assert set(found) == {"bac", "acb", "bc", "ac", "ab", "aabc", "abbc", "abcc"}


def test_a_share_of_the_words_is_damaged_and_spaces_stay() -> None:
    text = "alpha  beta\tgamma delta"
    words = [word for damaged_text in noisy([text] * 500, 0.3, 7) for word in damaged_text.split()]
    changed = sum(word not in text.split() for word in words) / len(words)
    assert 0.26 < changed < 0.34
    # Swapped letters that are alike leave a word as it is; there are none here.
    assert noisy(["a b"], 1.0, 3) == ["a b"]
    assert all("  " in found and "\t" in found for found in noisy([text] * 20, 1.0, 1))


def test_a_seed_repeats_it_whatever_comes_before() -> None:
    texts = ["one two three four", "five six seven"]
    assert noisy(texts, 0.5, 4) == noisy(texts, 0.5, 4) != noisy(texts, 0.5, 5)
    assert noisy(["another text here", texts[1]], 0.5, 4)[1] == noisy(texts, 0.5, 4)[1]


def test_a_share_of_the_spaces_is_dropped_and_nothing_else() -> None:
    text = " one two  three four five "
    found = without_spaces([text] * 500, 0.3, 1)
    assert {each.replace(" ", "") for each in found} == {"onetwothreefourfive"}
    assert all(each.startswith(" one") and each.endswith("five ") for each in found)
    gone = sum(4 - len(each.split()) + 1 for each in found) / (4 * 500)
    assert 0.25 < gone < 0.35
    assert found == without_spaces([text] * 500, 0.3, 1) != without_spaces([text] * 500, 0.3, 2)


LENGTHS = np.array([3, 9, 4, 8, 5, 7, 6])


def settings(**given: object) -> TrainingSettings:
    return TrainingSettings(**{"train": ["a"], "test": ["b"], "batch_size": 2, **given})


def test_each_pass_has_every_example_once() -> None:
    plan = batch_plan(LENGTHS, settings(epochs=2.0), seed=1)
    assert len(plan) == 8
    for number, part in enumerate((plan[:4], plan[4:])):
        assert Counter(key for batch in part for key in batch) == Counter(
            (index, number) for index in range(7)
        )
    # All fit into one pool, so neighbours in length are in one batch.
    pairs = [sorted(LENGTHS[[index for index, _ in batch]]) for batch in plan]
    assert all(pair[-1] - pair[0] <= 1 for pair in pairs)


def test_steps_count_batches_over_as_many_passes_as_it_takes() -> None:
    plan = batch_plan(LENGTHS, settings(steps=10), seed=1)
    assert len(plan) == 10
    assert max(number for batch in plan for _, number in batch) == 2
    assert plan == batch_plan(LENGTHS, settings(steps=10), seed=1)
    assert plan != batch_plan(LENGTHS, settings(steps=10), seed=2)
    assert len(batch_plan(LENGTHS, settings(epochs=0.5), seed=1)) == 2


def test_measuring_goes_through_all_of_them() -> None:
    assert [index for keys in in_batches(LENGTHS, 3) for index, _ in keys] == [0, 2, 4, 6, 5, 3, 1]


def test_only_whole_checkpoints_count(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for step, state in ((5, "{}"), (20, "{}"), (30, '{"cut'), (40, None)):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        if state is not None:
            (folder / "trainer_state.json").write_text(state)
    found = last_checkpoint(tmp_path)
    assert found is not None and found.name == "checkpoint-20"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-20", "checkpoint-5"]
