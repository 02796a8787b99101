"""Where words begin among the tokens of running text."""

from __future__ import annotations

import numpy as np
import pytest

from morphgraph.corpus.counts import WordCounts
from morphgraph.models.downstream.tasks import split_sentences
from morphgraph.models.downstream.token_ids import dense_ids
from morphgraph.segment.models import load_segmenter
from morphgraph.segment.training import train

SENTENCES = [["Undo", "it", ",", "don't", "wait"], ["re-do", "naïve", "日本", "!"], ["x"]]
COUNTS = WordCounts(["undo", "redo", "undoing", "doing", "do", "it"], [9, 8, 7, 6, 5, 3])


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
    segmenter = train(method, COUNTS, 262, pipeline=pipeline)
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
