"""Texts by the public class: the ids, types and texts of the library that the file is for."""

import random
import re
from functools import cache

import pytest
import wordfreq
from effort import one_of, share_of
from sentencepiece import SentencePieceProcessor
from small import trained_pieces
from tokenizers import Tokenizer

import morphgraph as mg

pytestmark = pytest.mark.slow

ODD = re.split(
    r"\s",
    """<unk> <s> </s> [CLS] [SEP] <|endoftext|> <|im_start|>user <|im_end|> un<ent>do 😀 👩‍👩‍👧 é
e\u0301te\u0301 ﬁn ½ 10² 日本語
 Ελλάδα don't WE'LL 1234567 \u200b \ufeff \u0301x a\u00adb ## ▁ Ġ Ä <0x41>
\u3000 \u00a0 x語語y https://a.org/?b=1&c ... --- Türöffner ŉ İI ß""",
)
WHITE = ["", " ", "  ", "\t", "\n", "\r\n\r\n", " a", "a ", " \u3000a", "\n\n  b"]


@cache
def varied_texts(count: int = share_of(2_000, 300)):
    """Words of two languages and odd strings, with all kinds of white space between."""
    draw = random.Random(1)
    words = [word for code in ("en", "de") for word in wordfreq.top_n_list(code, 1_500)]
    texts = [*WHITE, *ODD, "a" * 300]
    while len(texts) < count:
        parts = [
            draw.choice(ODD) if draw.random() < 0.2 else draw.choice(words)
            for _ in range(draw.randrange(1, 9))
        ]
        parts = [part.capitalize() if draw.random() < 0.2 else part for part in parts]
        texts.append(draw.choice([" ", " ", "  ", "", "\n", ", ", "\t"]).join(parts))
    return texts


def check_as_stock(tokeniser, library, texts=None):
    """Ids and types with and without special tokens, and texts again, are the library's."""
    for text in varied_texts() if texts is None else texts:
        for special in (True, False):
            found = library.encode(text, add_special_tokens=special)
            assert tokeniser.encode(text, special_tokens=special) == found.ids, text
            assert tokeniser.tokenize(text, special_tokens=special) == found.tokens, text
            read = library.decode(found.ids, skip_special_tokens=not special)
            assert tokeniser.decode(found.ids, special_tokens=special) == read, text


@pytest.mark.parametrize("name", one_of("qwen2.5", "deepseek-v3", "oscar-de-40k", "oscar-nl-40k"))
def test_published_tokenisers(name, data_folder):
    folder = data_folder / "tokenizers" / name
    check_as_stock(mg.load(folder), Tokenizer.from_file(str(folder / "tokenizer.json")))


def test_every_kind_as_the_library(variant):
    check_as_stock(mg.load(variant.library), variant.library, varied_texts(share_of(400, 200)))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("settings", [{}, {"byte_fallback": True}, {"add_dummy_prefix": False}])
def test_sentencepiece_models(kind, settings, tmp_path):
    data = trained_pieces(wordfreq.top_n_list("de", 2_000), kind, 700, **settings)
    (tmp_path / "a.model").write_bytes(data)
    theirs = SentencePieceProcessor(model_proto=data)
    tokeniser = mg.load(tmp_path / "a.model")
    assert tokeniser.types == tuple(theirs.id_to_piece(n) for n in range(len(theirs)))
    special = ("<unk>", "<s>", "</s>")
    for text in varied_texts(share_of(600, 200)):
        # In a text they are added tokens here and in transformers, as there is none in the library.
        if not any(name in text for name in special):
            ids = theirs.encode(text)
            assert tokeniser.encode(text) == ids, text
            if 0 not in ids:
                assert tokeniser.decode(ids) == theirs.decode(ids), text
