"""SentencePiece's maps of characters: damaged ones are refused before a library follows them."""

from __future__ import annotations

import io
import random
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from effort import share_of
from tokenizers import normalizers

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.tokeniser.preprocess import SentencePieceText, check_charsmap

pytestmark = pytest.mark.slow


@cache
def charsmap() -> bytes:
    """The map that SentencePiece ships."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c hello"] * 10),
        model_writer=written,
        vocab_size=12,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    messages: Any = sentencepiece_model_pb2
    model = messages.ModelProto.FromString(written.getvalue())
    return bytes(model.normalizer_spec.precompiled_charsmap)


def test_a_map_of_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its longest text is what ﷺ becomes: 18 letters."""
    check_charsmap(b"", "m.model", "")
    monkeypatch.setenv("MORPHGRAPH_MAX_TEXT_GROWTH", "18")
    check_charsmap(charsmap(), "m.model", "")
    monkeypatch.setenv("MORPHGRAPH_MAX_TEXT_GROWTH", "17")
    with pytest.raises(FileFormatError, match="it has 18 characters for one of a text"):
        check_charsmap(charsmap(), "m.model", "")


def test_damaged_maps_are_refused_or_can_be_used() -> None:
    refused = 0
    for seed in range(share_of(400)):
        choose = random.Random(seed)
        damaged = bytearray(charsmap())
        for _ in range(choose.choice((1, 100, 5_000))):
            damaged[choose.randrange(4 if choose.random() < 0.01 else len(damaged))] ^= (
                1 << choose.randrange(8)
            )
        try:
            check_charsmap(bytes(damaged), "m.model", "")
        except FileFormatError:
            refused += 1
            continue
        some = "".join(map(chr, choose.choices(range(32, 0xD800), k=40)))
        for text in ("ﷺ½Ａé", "日本 ㌔", some):
            normalizers.Precompiled(bytes(damaged)).normalize_str(text)
            # The library may refuse more, which is an error as well.
            with suppress(MorphGraphError):
                SentencePieceText(bytes(damaged)).characters(text)
    assert refused
