"""Words segmented by their gold, and pairs of texts in one row."""

from pathlib import Path

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from morphgraph.segment.models import load_segmenter
from morphgraph_models.downstream.gold_morphs import GoldMorphs, read_gold_morphs
from morphgraph_models.downstream.token_ids import TokenIds, dense_ids, framed_pairs

WORDPIECE = ("[UNK]", "un", "##do", "##able", "do", "able", "a", "##x", "##y", "the")


def with_gold(model: str, method: str | None = None, **words: str) -> TokenIds:
    segmenter = load_segmenter(model, method)
    morphs = {word: tuple(morphs.split("+")) for word, morphs in words.items()}
    ids = dense_ids(segmenter)
    gold = GoldMorphs(morphs, segmenter.inventory())
    return TokenIds(segmenter, ids.numbers, ids.size, ids.special, ids.by_id, gold)


def spelled(ids: TokenIds, text: str) -> list[str]:
    return [ids.by_id.get(number, "?") for number in ids.encode([text])[0][0].tolist()]


@pytest.mark.parametrize(
    ("text", "gold", "tokens"),
    [
        ("undoable", "un+do+able", ["un", "##do", "##able"]),
        ("undoable", "undo+able", ["un", "##do", "##able"]),  # no type: as the tokeniser does
        ("xundoable", "x+un+doable", ["##x", "un", "do", "##able"]),  # in the other form
        ("the undoable a", "un+doable", ["the", "un", "do", "##able", "a"]),
        ("the able", "un+able", ["the", "able"]),  # not in the gold
    ],
)
def test_a_morph_is_a_token_of_wordpiece(
    tmp_path: Path, text: str, gold: str, tokens: list[str]
) -> None:
    (tmp_path / "vocab.txt").write_text("".join(f"{each}\n" for each in WORDPIECE))
    ids = with_gold(str(tmp_path / "vocab.txt"), **{gold.replace("+", ""): gold})
    assert spelled(ids, text) == tokens


@pytest.mark.parametrize("method", [None, "flota", "dropout"])
def test_a_morph_is_a_token_of_merges(method: str | None) -> None:
    words = {"undesirable": "un+desir+able", "lived": "lived"}
    ids = with_gold("demo:en", method, **words)
    tokens = spelled(ids, "the undesirable lived")
    at = tokens.index("Ġun")
    assert tokens[-2:] == ["able", "Ġlived"]
    assert "".join(tokens[at + 1 : -2]).replace("Ġ", "") == "desir"


def test_gold_is_that_of_the_first_analysis(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text("undoable\tun do able\nundoable\tundo able\ngo\tgo\n")
    found = read_gold_morphs(str(tmp_path / "gold.tsv"))
    assert found == {"undoable": ("un", "do", "able"), "go": ("go",)}


@examples(100)
@given(st.lists(st.integers(5, 9), max_size=12), st.lists(st.integers(5, 9), max_size=12))
def test_the_longer_of_a_pair_is_cut_first(first: list[int], second: list[int]) -> None:
    """By one id at a time, as BERT's own code does."""
    ids, most = dense_ids(load_segmenter("demo:en")), 11
    [row], [begin] = framed_pairs([np.array(first)], [np.array(second)], ids, most)
    while len(first) + len(second) > most - 3:
        (first if len(first) > len(second) else second).pop()
    bos, eos = ids.special["bos"], ids.special["eos"]
    assert row.tolist() == [bos, *first, eos, *second, eos]
    assert begin == len(first) + 2
