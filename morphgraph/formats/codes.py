"""Merges without a vocabulary: codes of subword-nmt and fastBPE, and the file of CLIP.

Those programs make their types from the merges alone, and so does this module.
"""

import re
from collections.abc import Iterable
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import decode_utf8
from morphgraph.formats.hugging_face import assumed_document, tokenizer_document
from morphgraph.formats.pipeline_parts import NO_PARTS, replacing, sequence
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, CHAR_TO_BYTE

_END = "</w>"
"""What the last piece of a word ends with."""
_CLIP = b'"bpe_simple_vocab_16e6.txt#version'
_VERSION = b"#version"
_FASTBPE = re.compile(rb"(?:\S+ \S+ \d+\r?\n){2}")
_CLIP_MERGES = 49_152 - 256 - 2
"""CLIP reads so many of the merges in its file, which has five times as many."""
_CLIP_SPECIAL = ("<|startoftext|>", "<|endoftext|>")

_FIX = "Choose the file that learn-bpe or learnbpe wrote, or a tokenizer.json."


def is_codes(data: bytes) -> bool:
    r"""Return whether a file lists merges that mark the end of words, and so need no vocabulary.

    >>> is_codes(b"#version: 0.2\na b</w>\n"), is_codes(b"a b 12\nab c</w> 5\n")
    (True, True)
    >>> is_codes(b"#version: 0.2\n\xc4\xa0 t\n")
    False
    """
    if data.startswith((_CLIP, _CLIP[1:])):
        return True
    if data.startswith(_VERSION):
        return _END.encode() in data
    return _FASTBPE.match(data[:4096]) is not None


def codes_document(data: bytes, name: str) -> dict[str, Any]:
    """Return a file of merges as ``tokenizer.json``; anything else is a `FileFormatError`.

    The types of subword-nmt and fastBPE, which number none, are the characters of the merges by
    code point, the same at the end of a word, and what the merges make, in their order. CLIP's are
    the 256 bytes instead, and its two special tokens at the end.
    """
    merges = _read(data, name)
    letters = sorted({letter for part in _parts(merges) for letter in part.removesuffix(_END)})
    if data.startswith((_CLIP, _CLIP[1:])):
        return _clip_document(merges[:_CLIP_MERGES])
    if _are_bytes(merges, letters):  # CLIP's merges.txt, as transformers writes it
        return _clip_document(merges)
    merges = list(dict.fromkeys(merges))  # of several the first counts
    results = map("".join, merges)
    # A part that nothing makes is never found.
    texts = (*letters, *(letter + _END for letter in letters), *results, *_parts(merges))
    vocabulary = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    decoder = {"type": "BPEDecoder", "suffix": _END}
    parts = {**NO_PARTS, "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": decoder}
    return tokenizer_document(vocabulary, merges, [], parts, end_of_word_suffix=_END)


def _read(data: bytes, name: str) -> list[tuple[str, str]]:
    """Return the merges of a file, each of two parts."""
    lines = decode_utf8(data, name).rstrip("\r\n").split("\n")
    counted = _FASTBPE.match(data) is not None
    merges = []
    for number, line in enumerate(lines, start=1):
        if number == 1 and not counted:
            continue
        parts = line.strip("\r ").split(" ")
        problem = ""
        if not all(parts) or len(parts) != 2 + counted or (counted and not parts[2].isdecimal()):
            problem = f"a merge is expected here, such as “a b{' 12' * counted}”"
        elif _END in parts:
            problem = "the end of a word is a separate part, as in version 0.1 of subword-nmt"
        if problem:
            raise FileFormatError(name, f"line {number:,}", problem, _FIX)
        merges.append((parts[0], parts[1]))
    if not merges:
        raise FileFormatError(name, "", "it has no merges", _FIX)
    return merges


def _parts(merges: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (part for merge in merges for part in merge)


def _are_bytes(merges: Iterable[tuple[str, str]], letters: list[str]) -> bool:
    """Return whether the letters of merges stand for bytes, as some make a character beyond ASCII.

    Latin letters alone could be either.
    """
    return set(letters) <= CHAR_TO_BYTE.keys() and any(
        not text.isascii() and _is_text(bytes(map(CHAR_TO_BYTE.__getitem__, text)))
        for text in ("".join(merge).removesuffix(_END) for merge in merges)
    )


def _is_text(data: bytes) -> bool:
    try:
        return not data.decode().isascii()
    except UnicodeDecodeError:
        return False


def _clip_document(merges: list[tuple[str, str]]) -> dict[str, Any]:
    """Return CLIP's tokeniser, of Radford et al. 2021, with these merges."""
    # By byte, but those that print come first.
    letters = sorted(BYTE_TO_CHAR)
    texts = [*letters, *(letter + _END for letter in letters), *map("".join, merges)]
    vocabulary = {text: number for number, text in enumerate([*texts, *_CLIP_SPECIAL])}
    document = assumed_document(vocabulary, merges)
    # The library would leave the ends of words in the text; transformers makes spaces of them.
    last = {"type": "Strip", "content": " ", "start": 0, "stop": 1}
    document["decoder"] = sequence("decoder", document["decoder"], replacing(_END, " "), last)
    start, end = ((text, vocabulary[text]) for text in _CLIP_SPECIAL)
    flags = {"trim_offsets": False, "add_prefix_space": False}
    document["post_processor"] = {"type": "RobertaProcessing", "cls": start, "sep": end, **flags}
    return document
