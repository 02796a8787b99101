"""Tokenisers of every kind, each trained by the `tokenizers` library."""

import json
import re
from dataclasses import dataclass, field
from functools import cache

import pytest
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from morphgraph.formats.hugging_face import from_tokenizer_json
from morphgraph.tokeniser.tokeniser import BpeTokeniser

TEXT = re.split(
    r"\s+",
    """the newest and the widest lowlands were undone by unbreakable fountains of unhappiness
Der Ärger über die Größe der Straßen: Türöffner, Fußbälle, Mißverständnisse und Maßstäbe
in 2024 costs 1234.50 doing's don't we'll naïve café déjà-vu co-operation e-mail aaaa abababab""",
)
GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


@dataclass(frozen=True)
class Variant:
    """A tokeniser as the library has it and as we load it."""

    library: Tokenizer = field(repr=False)
    tokeniser: BpeTokeniser = field(repr=False)
    leading_space: bool

    def text(self, word):
        """What the library must be given so that it sees the word as in running text."""
        return " " + word if self.leading_space else word


def _byte_level(library):
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<pad>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    library.train_from_iterator([" ".join(TEXT)], trainer)


def _characters(library, size=130, words=TEXT, **settings):
    settings = {"special_tokens": ["<unk>"], "show_progress": False} | settings
    trainer = trainers.BpeTrainer(vocab_size=size, **settings)
    library.train_from_iterator(words, trainer)


def byte_level(prefix_space):
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    library.decoder = decoders.ByteLevel()
    _byte_level(library)
    return library


def split_then_bytes():
    """As GPT-4 and Llama 3: a pattern of its own, then bytes."""
    library = Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(GPT4), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    _byte_level(library)
    return library


def metaspace(scheme):
    library = Tokenizer(models.BPE(unk_token="<unk>"))
    library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    _characters(library, words=[" ".join(TEXT)])
    return library


def llama2():
    """As Llama 2: markers by the normaliser, no pre-tokeniser, bytes for unknown characters."""
    library = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    library.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    _characters(library, size=400, special_tokens=["<unk>", *BYTES])
    document = json.loads(library.to_str())
    document["added_tokens"] = document["added_tokens"][:1]  # the bytes are types like others
    return Tokenizer.from_str(json.dumps(document))


def fused_unknown():
    """Neighbouring unknown characters become one unknown token."""
    library = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    library.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    _characters(library)
    return library


def suffix():
    """As in Sennrich et al. 2016: the end of a word is marked."""
    library = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    _characters(library, end_of_word_suffix="</w>")
    return library


def plain(normalizer=None):
    """No marker at all."""
    library = Tokenizer(models.BPE(unk_token="<unk>"))
    library.pre_tokenizer = pre_tokenizers.Whitespace()
    if normalizer is not None:
        library.normalizer = normalizer
    _characters(library)
    return library


def normalised(*steps):
    """Byte-level behind normalisers."""
    library = Tokenizer(models.BPE())
    library.normalizer = normalizers.Sequence(list(steps))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    _byte_level(library)
    return library


def added(prefix_space):
    """Added tokens, special or not, of which one starts with another."""
    library = byte_level(prefix_space)
    library.add_special_tokens(["<ent>", "<ent>s"])
    library.add_tokens([AddedToken("ab", normalized=False), "ing"])
    return library


def added_with_metaspace():
    library = metaspace("always")
    library.add_special_tokens(["<ent>"])
    library.add_tokens(["ab"])
    return library


VARIANTS = {
    "byte-level": (lambda: byte_level(False), True),
    "byte-level, adds a space": (lambda: byte_level(True), False),
    "split, then bytes": (split_then_bytes, True),
    "metaspace always": (lambda: metaspace("always"), False),
    "metaspace first": (lambda: metaspace("first"), False),
    "metaspace never": (lambda: metaspace("never"), True),
    "Llama 2": (llama2, False),
    "fused unknown": (fused_unknown, False),
    "suffix": (suffix, False),
    "plain": (plain, False),
    "plain, uncased": (
        lambda: plain(
            normalizers.Sequence(
                [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
            )
        ),
        False,
    ),
    "NFD": (lambda: normalised(normalizers.NFD()), True),
    "NFC": (lambda: normalised(normalizers.NFC()), True),
    "NFKC": (lambda: normalised(normalizers.NFKC()), True),
    "NFKD, lower case": (lambda: normalised(normalizers.NFKD(), normalizers.Lowercase()), True),
    "ß as ss": (lambda: normalised(normalizers.Replace("ß", "ss")), True),
    "added tokens": (lambda: added(False), True),
    "added tokens, adds a space": (lambda: added(True), False),
    "added tokens, metaspace": (added_with_metaspace, False),
}


@cache
def _made(name):
    make, leading_space = VARIANTS[name]
    library = make()
    tokeniser = from_tokenizer_json(library.to_str().encode(), f"{name}.json")
    return Variant(library, tokeniser, leading_space)


@pytest.fixture(scope="session", params=list(VARIANTS))
def variant(request):
    """Each kind of tokeniser in turn."""
    return _made(request.param)


@pytest.fixture(scope="session")
def variant_named():
    """A kind of tokeniser by its name."""
    return _made
