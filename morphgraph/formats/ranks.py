"""Rank files of tiktoken: merges are recovered from the ranks, and edited ones written back."""

import binascii
import re
from itertools import accumulate, pairwise, starmap, zip_longest
from typing import Any

import numpy as np

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.core.limits import TYPE_CUTS
from morphgraph.formats.hugging_face import new_ids, tokenizer_document
from morphgraph.formats.pipeline_parts import PATTERNS, byte_level_parts, special_token
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, CHAR_TO_BYTE
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_LINE = re.compile(rb"(?:(?:[\w+/]{4})*+(?:[\w+/]{2}==|[\w+/]{3}=)?|=) \d{1,9}\r?", re.A)
_EMPTY = b"="
"""How Whisper's file writes the type that has an id and no bytes, and that no text has."""
NEEDS_PATTERN = (
    "Give it once, with export --pattern or mg.load(…, pattern=…): the regular expression, or the "
    f"name of an encoding that does the same: {', '.join(PATTERNS)}."
)

_END, _PROMPT = "<|endoftext|>", "<|endofprompt|>"
_FILL = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_PUBLISHED = {
    "306cd27f03c1": ("r50k_base", {_END: 50256}),
    "94b5ca7dff4d": ("r50k_base", {_END: 50256}),
    "223921b76ee9": (
        "cl100k_base",
        {_END: 100257, **dict(zip(_FILL, range(100258, 100261), strict=True)), _PROMPT: 100276},
    ),
    "446a9538cb6c": ("o200k_base", {_END: 199999, _PROMPT: 200018}),
    # Whisper's. Those after it have other ids in its latest models.
    "b34b360dbb49": ("r50k_base", {_END: 50257, "<|startoftranscript|>": 50258}),
}
"""By checksum, the pattern and the special tokens of published files."""


def is_ranks(data: bytes) -> bool:
    """Return whether a file looks like ranks: base64, a space, and a number in each line.

    >>> is_ranks(b"IQ== 0\\nIg== 1\\n"), is_ranks(b"un do\\n")
    (True, False)
    """
    lines = [line for line in data[:4096].split(b"\n")[:-1] or [data] if line.strip()]
    return bool(lines) and all(map(_LINE.fullmatch, lines[:20]))


def ranks_document(data: bytes, name: str, pattern: str | None) -> dict[str, Any]:
    """Return a rank file as ``tokenizer.json``; anything else is a `FileFormatError`.

    Published files are known by their checksums. ``pattern``: for others, the regular expression
    that cuts texts into pieces, or the name of an encoding. A rank is also the id. A
    type of several bytes is merged from the two parts into which the types of lower ranks cut it;
    one that they cut into more is a type that no merge makes, and then a piece that is a type as a
    whole stays whole (``ignore_merges``).
    """
    cut, special = _PUBLISHED.get(checksum(data), (pattern, {}))
    if not cut:
        problem = "a rank file does not say how text is cut, and this is none that OpenAI published"
        raise FileFormatError(name, "", problem, NEEDS_PATTERN)
    ranks = _read(data, name)
    types = sorted(ranks, key=ranks.__getitem__)
    whole = b"".join(types).decode("latin-1").translate(dict(enumerate(BYTE_TO_CHAR)))
    texts = [whole[start:end] for start, end in pairwise(accumulate(map(len, types), initial=0))]
    merges = [f"{texts[left]} {texts[right]}" for left, right in _recovered(types, name)]
    parts = byte_level_parts(cut)
    vocabulary = dict(zip(texts, map(ranks.__getitem__, types), strict=True))
    added = starmap(special_token, special.items())
    # A type with a merge is what its own string is segmented into, so only others need the rule.
    only_whole = len(merges) < len(types) - 256
    return tokenizer_document(vocabulary, merges, added, parts, ignore_merges=only_whole)


def to_ranks(tokeniser: BpeTokeniser) -> bytes:
    """Return a rank file with which tiktoken segments pieces alike, or a `MorphGraphError`.

    A rank is the id, and tiktoken merges the neighbours that together have the lowest, whatever
    merge there is. Two tokens side by side are also what their string alone is cut into, so that is
    the same if the lower ranks cut each type into the parts of its merge, in order of the merges.
    Special tokens and entries of removed types are left out: tiktoken is told of the former in code
    and would emit the latter.
    """
    graph, ids = tokeniser.graph, new_ids(tokeniser)
    numbers = sorted(
        (n for n in ids if graph.types[n] not in tokeniser.special), key=ids.__getitem__
    )
    try:
        types = [bytes(map(CHAR_TO_BYTE.__getitem__, graph.types[n])) for n in numbers]
    except KeyError:
        types = []
    if sum(len(type_) == 1 for type_ in types) < 256:
        raise _no_ranks(tokeniser, "its types are not made of all 256 bytes")
    by_rank = [(numbers[a], numbers[b]) for a, b in _recovered(types, tokeniser.name)]
    own = [merge.parts for merge in graph.merges().values()]
    for parts, ranked in zip_longest(own, by_rank):
        if parts != ranked:
            merge, other = (
                " + ".join(tokeniser.readable(graph.types[n]) for n in each or ()) or "nothing"
                for each in (parts, ranked)
            )
            raise _no_ranks(tokeniser, f"first, it would merge “{other}” and not “{merge}”")
    if len(own) < len(types) - 256:
        raise _no_ranks(tokeniser, "it would emit types that no merge makes here")
    lines = (
        binascii.b2a_base64(t, newline=False) + b" %d\n" % ids[n]
        for t, n in zip(types, numbers, strict=True)
    )
    return b"".join(lines)


def _no_ranks(tokeniser: BpeTokeniser, problem: str) -> MorphGraphError:
    return MorphGraphError(
        f"tiktoken would not segment as {tokeniser.name} does: {problem}. Leave out --ranks; the "
        "tokenizer.json is read by the tokenizers library."
    )


def _read(data: bytes, name: str) -> dict[bytes, int]:
    """Return the rank of each type but an empty one; blank lines are skipped, as in tiktoken."""
    ranks: dict[bytes, int] = {}
    seen: dict[int, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        problem = ""
        if line in (b"", b"\r"):
            continue
        try:
            text, rank_text = line.split()
            type_ = b"" if text == _EMPTY else binascii.a2b_base64(text, strict_mode=True)
            rank = int(rank_text)
        except (ValueError, binascii.Error):
            problem = "base64, a space and a rank are expected here"
        else:
            if type_ in ranks:
                problem = "the type is listed already"
            elif not 0 <= rank < 2**31 or rank in seen:
                problem = "the rank is no valid id"
                if rank in seen:
                    problem = f"line {seen[rank]:,} has this rank already"
        if problem:
            fix = "Download the file again."
            raise FileFormatError(name, f"line {number:,}", problem, fix)
        ranks[type_], seen[rank] = rank, number
    if missing := [byte for byte in range(256) if bytes([byte]) not in ranks]:
        problem = f"the byte 0x{missing[0]:02X} has no rank"
        raise FileFormatError(name, "", problem, "Download the file again.")
    ranks.pop(b"", None)
    return ranks


def _recovered(types: list[bytes], name: str) -> list[tuple[int, int]]:
    """Return the merges of types in order of their ranks, as pairs of places in the list."""
    from morphgraph.kernels.trie import build_trie, recover_merges

    lengths = np.fromiter(map(len, types), np.int64, len(types))
    TYPE_CUTS.check(int((lengths**2).sum()), name)
    atoms = np.frombuffer(b"".join(types), np.uint8).astype(np.int32)
    offsets = np.append(0, np.cumsum(lengths))
    places = np.arange(len(types), dtype=np.int32)
    table, root, ends, _ = build_trie(atoms, offsets, places, np.zeros(len(types), np.int64), 256)
    left, right = recover_merges(atoms, offsets, table, root, ends)
    merged = np.flatnonzero(left >= 0)
    return list(zip(left[merged].tolist(), right[merged].tolist(), strict=True))
