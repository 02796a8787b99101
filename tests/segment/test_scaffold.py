"""Scaffold-BPE: segmenting, after training, against a naive one."""

import merge_method_oracles as naive
import oracles
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import trained_segmenter

from morphgraph.core.errors import MorphGraphError
from morphgraph.segment.bte import tokeniser_of_types
from morphgraph.segment.trimmed import Scaffold, train_scaffold


@examples(200)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 9), min_size=1),
    st.lists(st.text("abcd", max_size=12), max_size=6),
    st.integers(3, 30),
)
def test_same_as_naive(counts: dict[str, int], listed: list[str], size: int) -> None:
    trained = train_scaffold(counts, vocab_size=size)
    scaffold = trained_segmenter(trained)
    ranked = oracles.listed(trained.merges)
    listed = [*listed, *counts]
    words = scaffold.encode(listed)
    found = scaffold.segment(words)
    assert ((found.closed_by < 0) == (found.token_at >= 0)).all()
    for number, word in enumerate(listed):
        whole = oracles.segment(ranked, word)[0]
        ends = found.token_ends(number)
        shown = [scaffold.token_text(words, atom, token) for atom, token in ends]
        assert shown == naive.demolish(ranked, whole, trained.scaffolds)
        decomposed = [scaffold.types[d.type] for d in scaffold.decomposed(words, number)]
        assert decomposed == [token for token in whole if token in trained.scaffolds]
    assert scaffold.vocabulary_size == len(trained.vocabulary)
    assert scaffold.name == "Scaffold-BPE"


def test_refuses() -> None:
    tokeniser = tokeniser_of_types("x", ["a", "b", "ab"], ["ab"])
    for wrong in ("a", "abc"):
        with pytest.raises(MorphGraphError, match=f"“{wrong}” cannot be a scaffold"):
            Scaffold(tokeniser, [wrong])
