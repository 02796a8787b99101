"""Merges without a vocabulary: subword-nmt's, fastBPE's and CLIP's, as those programs use them."""

import gzip
import random
from collections import Counter
from itertools import pairwise

import pytest
import wordfreq
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from transformers import CLIPTokenizer

import morphgraph as mg
from morphgraph.core.errors import FileFormatError
from morphgraph.formats.codes import is_codes
from morphgraph.segment.models import load_segmenter

END = "</w>"


def characters(word):
    return [*word[:-1], word[-1] + END]


def replaced(tokens, pair):
    """All that stand there from the left, as both programs do."""
    found = []
    for token in tokens:
        if found and (found[-1], token) == pair and not found[-1].endswith("\0"):
            found[-1] += token + "\0"  # it is done in this round
        else:
            found.append(token)
    return [token.removesuffix("\0") for token in found]


def learned(counts, merges):
    words = {word: characters(word) for word in counts}
    found = []
    while len(found) < merges:
        pairs = Counter()
        for word, tokens in words.items():
            for pair in pairwise(tokens):
                pairs[pair] += counts[word]
        if not pairs:
            break
        found.append(max(pairs, key=lambda pair: (pairs[pair], pair)))
        words = {word: replaced(tokens, found[-1]) for word, tokens in words.items()}
    return found


def applied(word, merges):
    """Of the pairs in a word, the first merge goes first, everywhere."""
    tokens, ranks = characters(word), {pair: n for n, pair in reversed([*enumerate(merges)])}
    while known := [pair for pair in pairwise(tokens) if pair in ranks]:
        tokens = replaced(tokens, min(known, key=ranks.__getitem__))
    return tokens


def codes(merges, ends="\n"):
    """A file of subword-nmt."""
    return ends.join(["#version: 0.2", *map(" ".join, merges), ""]).encode()


def counted(merges):
    """A file of fastBPE."""
    return "".join(f"{a} {b} {90 - n}\n" for n, (a, b) in enumerate(merges)).encode()


WORDS = st.dictionaries(st.text("abé", min_size=1, max_size=8), st.integers(1, 9), min_size=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("codes")


@examples(60)
@given(WORDS, st.lists(st.text("abé", min_size=1, max_size=9), min_size=1))
def test_words_are_cut_as_subword_nmt_does(folder, counts, others):
    merges = learned(counts, 12)
    letters = {letter for pair in merges for letter in "".join(pair).removesuffix(END)}
    if len(merges) < 2 or not any(END in "".join(pair) for pair in merges):
        return
    for name, data in (("codes.txt", codes(merges)), ("codes", counted(merges))):
        (folder / name).write_bytes(data)
        found = mg.load(folder / name)
        for word in (*counts, *others):
            if letters >= {*word}:
                assert found.segment([word]) == [applied(word, merges)], (word, merges)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_types_are_characters_and_what_the_merges_make(ends, tmp_path):
    data = codes([("t", "h"), ("th", "e</w>"), ("a", "t</w>"), ("t", "h")], ends)
    expected = ["a", "e", "h", "t", "a</w>", "e</w>", "h</w>", "t</w>", "th", "the</w>", "at</w>"]
    for name in ("codes.txt", "codes", "bpe.32000"):
        (tmp_path / name).write_bytes(data)
        found = mg.load(tmp_path / name)
        assert list(found.types) == expected
        assert [found.encode(text) for text in ("the  at", "theat", "at\nhe", "t")] == (
            [[9, 10], [8, 1, 10], [10, 2, 5], [7]]
        )
        assert found.decode([9, 10]) == "the at"
        assert load_segmenter({name: data}).vocabulary_size == len(expected)


def test_a_part_that_nothing_makes_is_never_found(tmp_path):
    (tmp_path / "codes").write_bytes(codes([("a", "b"), ("xy", "a</w>")]))
    found = mg.load(tmp_path / "codes")
    assert found.segment(["xya", "ab"]) == [["x", "y", "a</w>"], ["a", "b</w>"]]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"#version: 0.2\na b</w>\n\nab c\n", "line 3"),
        (b"#version: 0.2\na b</w>\nab c d\n", "line 3"),
        (b"#version: 0.1\na b\nab </w>\n", "line 3"),
        (b"a b 12\nab c</w> 5\nabc d\n", "line 3"),
        (b"a b 12\nab c</w> 5\nabc d e\n", "line 3"),
        (b'"bpe_simple_vocab_16e6.txt#version: 0.2 - Size: 49152\n', ""),
    ],
)
def test_damaged_codes(data, place, tmp_path):
    (tmp_path / "codes").write_bytes(data)
    with refused(FileFormatError, place):
        mg.load(tmp_path / "codes")


def test_merges_that_need_their_vocabulary_are_no_codes():
    assert not is_codes("#version: 0.2\nĠ t\nĠt he\n".encode())
    assert not is_codes(b"a b 12\n") and not is_codes(b"a 1\nb 2\n") and not is_codes(b"a\nb\n")


PRINTED = [*range(33, 127), *range(161, 173), *range(174, 256)]
LETTERS = [chr(byte) for byte in PRINTED] + [chr(256 + n) for n in range(256 - len(PRINTED))]
HEADER = '"bpe_simple_vocab_16e6.txt#version: 0.2 - Size: 49152\n'
SIGNS = (" ", " ", " ", ", ", "'s ", "  ", "\n", "! ", " 2026 ", "🙂", " …", "-")


def clip_merges():
    """Learned from words of many languages, as bytes."""
    drawn, byte_of = random.Random(0), dict(zip(PRINTED, map(chr, PRINTED), strict=True))
    others = (byte for byte in range(256) if byte not in byte_of)
    byte_of |= {byte: chr(256 + n) for n, byte in enumerate(others)}
    words = [word for language in ("en", "de", "ru", "ja") for word in top(language)]
    counts = {"".join(map(byte_of.__getitem__, word.encode())): 1 for word in words}
    drawn.shuffle(words)
    return learned(counts, 300)


def top(language):
    return wordfreq.top_n_list(language, 150, wordlist="small")


@pytest.mark.parametrize("name", ["bpe_simple_vocab_16e6.txt", "vocab.txt.gz", "merges.txt"])
def test_clip_makes_its_vocabulary_of_its_merges(name, tmp_path):
    merges = clip_merges()
    # As CLIP's SimpleTokenizer does.
    types = [*LETTERS, *(letter + END for letter in LETTERS), *map("".join, merges)]
    types += ["<|startoftext|>", "<|endoftext|>"]
    theirs = CLIPTokenizer(vocab={text: n for n, text in enumerate(types)}, merges=merges)
    header = "#version: 0.2\n" if name == "merges.txt" else HEADER
    data = (header + "".join(f"{a} {b}\n" for a, b in merges)).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    found = mg.load(tmp_path / name)
    assert list(found.types) == types
    drawn = random.Random(1)
    for language in ("en", "de", "ru", "ja", "tr", "ar"):
        for _ in range(10):
            words = drawn.choices(top(language), k=9)
            text = "".join(
                drawn.choice([word, word.upper()]) + drawn.choice(SIGNS) for word in words
            )
            ids = theirs.encode(text)
            assert found.encode(text) == ids, text
            assert found.decode(ids) == theirs.decode(ids, skip_special_tokens=True)


def test_clip_reads_some_of_its_merges(tmp_path):
    """The file has 262,144, of which those that fit into 49,408 types are used."""
    pairs = [f"{a} {b}" for a in LETTERS for b in LETTERS]
    path = tmp_path / "bpe_simple_vocab_16e6.txt"
    path.write_text(HEADER + "\n".join(pairs) + "\n", encoding="utf-8")
    found = mg.load(path)
    assert len(found) == 49_408
    assert found.encode("a")[::2] == [49_406, 49_407]
