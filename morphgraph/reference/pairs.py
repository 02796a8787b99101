"""A gold segmentation from words and morphs in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from morphgraph.core.errors import MorphGraphError, check_list
from morphgraph.core.files import checksum
from morphgraph.core.text import shortened
from morphgraph.reference.align import SourceRow, entries_from
from morphgraph.reference.entry import Reference
from morphgraph.reference.source import MAX_MORPHEMES, word_problem


def reference_of_pairs(
    pairs: Iterable[tuple[str, Sequence[str]]], name: str = "pairs"
) -> Reference:
    """A reference of words, each with its morphs; morphs that do not concatenate are aligned.

    `MorphGraphError` names the first wrong pair. The checksum is that of all pairs.

    >>> reference_of_pairs([("unbreakable", ["un", "break", "able"])]).entries[0].morphs
    ('un', 'break', 'able')
    """
    rows = [_row(number, pair) for number, pair in enumerate(pairs, start=1)]
    if not rows:
        raise MorphGraphError("There are no pairs. Give at least one word with its morphs.")
    content = json.dumps([(row.word, row.morphemes) for row in rows]).encode()
    return Reference(name, "pairs", tuple(entries_from(rows)), (), checksum(content))


def _row(number: int, pair: object) -> SourceRow:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise MorphGraphError(
            f"Pair {number:,}, {shortened(repr(pair))}, is not a word with its morphs. Write "
            '("undo", ["un", "do"]).'
        )
    word, given = pair
    if not isinstance(word, str):
        raise MorphGraphError(
            f"Pair {number:,}: the word is {shortened(repr(word))}. Give a string."
        )
    problem = word_problem(word)
    if problem is None:
        try:
            morphs = check_list(given, "morphs")
        except MorphGraphError as error:
            raise MorphGraphError(f"Pair {number:,}, “{shortened(word)}”: {error}") from error
        if not any(morphs):
            problem = "no morphs"
        elif len(morphs) > MAX_MORPHEMES:
            problem = f"more than {MAX_MORPHEMES} morphemes"
    if problem is not None:
        raise MorphGraphError(f"Pair {number:,}, “{shortened(word)}”: {problem}. Correct it.")
    spelled = "".join(morphs) == word
    return SourceRow(number, word, morphs, underlying=() if spelled else None, is_explicit=spelled)
