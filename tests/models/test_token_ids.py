"""Ids of texts: dense for a model made from scratch, the file's own for a checkpoint."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.models.downstream.token_ids import (
    ROLES,
    decoded,
    dense_ids,
    folder_ids,
    model_files,
)
from morphgraph.segment.method import METHODS
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.segmenter import method_on
from morphgraph.segment.training import train

COUNTS = WordCounts(["undo", "redo", "undoing", "doing", "do"], [9, 8, 7, 6, 5])
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##do", "##ing", "do")


def wordpiece(folder: Path) -> str:
    path = folder / "vocab.txt"
    path.write_text("".join(f"{text}\n" for text in VOCABULARY))
    return str(path)


@pytest.mark.parametrize("method", [name for name in METHODS.offered if name != "trimmed"])
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
    message = "the model has no row for the type “do”. Carry its embeddings over"
    with pytest.raises(MorphGraphError, match=re.escape(message)):
        folder_ids(load_segmenter(wordpiece(tmp_path)), str(tmp_path))


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"there is no config\.json with model\."):
        model_files(str(tmp_path))
    (tmp_path / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(FileFormatError, match=r"its weights are pickled \(pytorch_model.bin\)"):
        model_files(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"x")
    found = [Path(file).name for file in model_files(str(tmp_path))]
    assert found == ["config.json", "model.safetensors"]


@pytest.mark.parametrize(
    ("method", "pipeline"),
    [("bpe", "plain"), ("bpe-prime", "spaces"), ("unigram", "plain"), ("unigram-prime", "spaces")],
)
def test_tokens_spell_their_text_again(method: str, pipeline: str) -> None:
    segmenter = train(
        method, COUNTS, 40 if method.startswith("unigram") else 270, pipeline=pipeline
    )
    ids = dense_ids(segmenter)
    text = "undo doing redo"
    pieces = [ids.by_id[number] for number in ids.encode([text])[0][0].tolist()]
    assert decoded(pieces, segmenter) == text


def test_what_has_no_token_is_counted() -> None:
    flota = dense_ids(load_segmenter("demo:en", "flota", k=1))
    assert flota.uncovered(["the the"]) == 0.0
    assert flota.uncovered(["undesirableness"]) > 0.3
    assert np.isnan(flota.uncovered([])) or flota.uncovered([]) == 0.0
