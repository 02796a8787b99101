"""Rank files of tiktoken: merges are recovered from the ranks, and edited ones written back."""

import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise, starmap
from typing import Any

import numpy as np

from morphgraph.core.errors import FileFormatError, MorphGraphError
from morphgraph.core.files import checksum
from morphgraph.core.limits import TYPE_CUTS
from morphgraph.core.text import counted
from morphgraph.formats.hugging_face import new_ids, tokenizer_document
from morphgraph.formats.pipeline_parts import PATTERNS, byte_level_parts, special_token
from morphgraph.tokeniser.merging import last_merges, segment_merging
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR, CHAR_TO_BYTE
from morphgraph.tokeniser.tokeniser import BpeTokeniser

_LINE = re.compile(rb"(?:(?:[\w+/]{4})*+(?:[\w+/]{2}==|[\w+/]{3}=)?|=) \d{1,9}\r?", re.A)
_EMPTY = b"="
"""How Whisper's file writes the type that has an id and no bytes, and that no text has."""
_SHOWN = 3
"""How many types an error names."""
NEEDS_PATTERN = (
    "Give the pattern once, with export --pattern or mg.load(…, pattern=…). It is the regular "
    f"expression, or the name of an encoding that does the same: {', '.join(PATTERNS)}."
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
        problem = "a rank file does not say how text is cut, and OpenAI did not publish this one"
        raise FileFormatError(name, "", problem, NEEDS_PATTERN)
    lines = (None if line in (b"", b"\r") else line.split() for line in data.split(b"\n"))
    ranks = checked_ranks(lines, name, "line {:,}")
    return document_of(ranks, name, cut, starmap(special_token, special.items()))


def document_of(
    ids: Mapping[bytes, int], name: str, pattern: str, added: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return types with their ids, whose order are ranks, as ``tokenizer.json``."""
    types = sorted(ids, key=ids.__getitem__)
    whole = b"".join(types).decode("latin-1").translate(dict(enumerate(BYTE_TO_CHAR)))
    texts = [whole[start:end] for start, end in pairwise(accumulate(map(len, types), initial=0))]
    merges = [f"{texts[left]} {texts[right]}" for left, right in _recovered(types, name).values()]
    vocabulary = dict(zip(texts, map(ids.__getitem__, types), strict=True))
    # A type with a merge is what its own string is segmented into, so only others need the rule.
    only_whole = len(merges) < len(types) - 256
    parts = byte_level_parts(pattern)
    return tokenizer_document(vocabulary, merges, added, parts, ignore_merges=only_whole)


def to_ranks(tokeniser: BpeTokeniser) -> bytes:
    """Return a rank file with which tiktoken segments pieces alike: a rank is the id.

    Special tokens, of which tiktoken is told in code, are left out. Errors: see `ranked_types`.
    """
    lines = (
        binascii.b2a_base64(type_, newline=False) + b" %d\n" % rank
        for type_, rank in ranked_types(tokeniser).items()
    )
    return b"".join(lines)


def ranked_types(tokeniser: BpeTokeniser) -> dict[bytes, int]:
    """Return types with their ids if ranks say all merges, or a `MorphGraphError` that counts.

    tiktoken merges the neighbours that together have the lowest rank, whatever merge there is. Two
    tokens side by side are also what their string alone is cut into, so that is the same if the
    lower ranks cut each type into the parts of its last merge, in order of these merges. Special
    tokens and entries of removed types are left out: tiktoken would emit the latter.
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
    recovered = _recovered(types, tokeniser.name).items()
    by_rank = {numbers[at]: (numbers[left], numbers[right]) for at, (left, right) in recovered}
    own = {n: graph.merge(merge) for n, merge in last_merges(graph, segment_merging).items()}

    def parts(merge: Iterable[int]) -> str:
        texts = " + ".join(tokeniser.readable(graph.types[n]) for n in merge)
        return f"“{texts}”" if texts else "no merge"

    others = [
        f"{parts([n])} would be made by {parts(ranked)} instead of {parts(ours)}"
        for n in numbers
        if (ranked := by_rank.get(n, ())) != (ours := own[n].parts if n in own else ())
    ] or [
        f"{parts([later])} has a lower id than {parts([n])}, which is merged before it"
        for n, later in pairwise(sorted(own, key=lambda n: own[n].rank))
        if ids[later] < ids[n]
    ]
    if not others and graph.never_whole is None:
        others = [
            f"{parts([n])} would be emitted, which no merge makes here"
            for n, type_ in zip(numbers, types, strict=True)
            if len(type_) > 1 and n not in own
        ]
    if others:
        differ = counted(len(others), "type differs", "types differ")
        more = f"; and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        raise _no_ranks(tokeniser, f"{differ}: {'; '.join(others[:_SHOWN])}{more}")
    return dict(zip(types, map(ids.__getitem__, numbers), strict=True))


def _no_ranks(tokeniser: BpeTokeniser, problem: str) -> MorphGraphError:
    has_tuples = tokeniser.graph.has_tuples
    first = "Leave only pair merges (--portable), or export" if has_tuples else "Export"
    return MorphGraphError(
        f"Ranks would not segment as {tokeniser.name} does: {problem}. {first} a folder without "
        "--ranks, whose tokenizer.json has the merges themselves."
    )


def checked_ranks(
    entries: Iterable[Sequence[Any] | None], name: str, place: str
) -> dict[bytes, int]:
    """Return the rank of each type but an empty one, from base64 and ranks.

    ``entries``: None for one to skip; ``place``: of one in errors, with ``{:,}`` for its number.
    Errors: `FileFormatError`.
    """
    ranks: dict[bytes, int] = {}
    seen: dict[int, int] = {}
    for number, entry in enumerate(entries, start=1):
        problem = ""
        if entry is None:
            continue
        try:
            text, rank_text = entry
            type_ = b"" if text == _EMPTY else binascii.a2b_base64(text, strict_mode=True)
            rank = int(rank_text)
        except (TypeError, ValueError, binascii.Error):
            problem = "base64 and a rank are expected here"
        else:
            if type_ in ranks:
                problem = "the type is already listed"
            elif not 0 <= rank < 2**31 or rank in seen:
                problem = "the rank is not a valid id"
                if rank in seen:
                    problem = f"{place.format(seen[rank])} already has this rank"
        if problem:
            fix = "Download the file again."
            raise FileFormatError(name, place.format(number), problem, fix)
        ranks[type_], seen[rank] = rank, number
    if missing := [byte for byte in range(256) if bytes([byte]) not in ranks]:
        problem = f"the byte 0x{missing[0]:02X} has no rank"
        raise FileFormatError(name, "", problem, "Download the file again.")
    ranks.pop(b"", None)
    return ranks


def _recovered(types: list[bytes], name: str) -> dict[int, tuple[int, int]]:
    """Return the merges of types in order of their ranks, all as places in the list."""
    from morphgraph.kernels.trie import build_trie, recover_merges

    lengths = np.fromiter(map(len, types), np.int64, len(types))
    TYPE_CUTS.check(int((lengths**2).sum()), name)
    atoms = np.frombuffer(b"".join(types), np.uint8).astype(np.int32)
    offsets = np.append(0, np.cumsum(lengths))
    places = np.arange(len(types), dtype=np.int32)
    table, root, ends, _ = build_trie(atoms, offsets, places, np.zeros(len(types), np.int64), 256)
    left, right = recover_merges(atoms, offsets, table, root, ends)
    merged = np.flatnonzero(left >= 0)
    pairs = zip(left[merged].tolist(), right[merged].tolist(), strict=True)
    return dict(zip(merged.tolist(), pairs, strict=True))
