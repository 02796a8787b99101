"""Words beside the merge graph: their segmentation, and the vertices they use."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from morphgraph.graph.view import merge_key, type_key
from morphgraph.refine.study import Study
from morphgraph.score.comparison import gap_signs
from morphgraph.tokeniser.preprocess import SHOWN_MARKER


@dataclass(frozen=True, slots=True)
class WordRow:
    """A word in pieces, each with the sign of the gap before it and a highlight flag.

    Signs: ``|`` split on a gold boundary, ``·`` split inside a morph, ``‿`` gold boundary closed,
    empty where only the chosen type begins or ends. ``keys``: the types and merges that made it, as
    vertices of the merge graph. ``gain``: how many of its gaps an edit corrected.
    """

    number: int
    word: str
    gold: str
    pieces: tuple[tuple[str, str, bool], ...]
    keys: tuple[str, ...]
    gain: int = 0


def rows_through(study: Study, number: int, limit: int = 30) -> tuple[list[WordRow], list[WordRow]]:
    """Return words in which a type's merges joined rightly, and wrongly; frequent first."""
    name = study.tokeniser.readable_types[number].strip(SHOWN_MARKER)
    length = len(name)
    found = []
    for examples in study.examples(number, limit):
        rows = []
        for example in examples:
            low = max(0, example.at - length)
            start = example.word.find(name, low, example.at + length)
            span = (start, start + length) if start >= 0 and name else (0, 0)
            rows.append(_row(study, example.number, example.gold, span))
        found.append(rows)
    return found[0], found[1]


def rows_changed(study: Study, limit: int = 60) -> tuple[list[WordRow], int]:
    """Return words that the last edit cut differently, improved ones first, and their number."""
    half = limit // 2
    better, total = study.changed_words(study.before_last, limit=half)
    worse, _ = study.changed_words(study.before_last, order="worse", limit=half)
    known = {one.number for one in better}
    worst_last = [one for one in reversed(worse) if one.number not in known]
    rows = [_row(study, one.number, one.gold, (0, 0), one.gain) for one in [*better, *worst_last]]
    return rows, total


def _row(study: Study, word: int, gold: str, span: tuple[int, int], gain: int = 0) -> WordRow:
    now = study.now.segmentation
    text = study.benchmark.words.texts[word]
    signs = gap_signs(now.splits(word), study.gold_positions(word))
    places = sorted({0, *(p for p in (*signs, *span) if 0 < p < len(text)), len(text)})
    pieces = tuple(
        (text[start:end], signs.get(start, ""), span[0] <= start < span[1])
        for start, end in pairwise(places)
    )
    return WordRow(word, text, gold, pieces, _keys(study, word), gain)


def _keys(study: Study, word: int) -> tuple[str, ...]:
    """Return the types and merges that a word is made of, intermediate steps included."""
    now = study.now.segmentation
    start, end = now.words.word_offsets[word : word + 2]
    closed = np.unique(now.closed_by[start:end])
    closed = closed[closed >= 0]
    types = {*now.words.atoms[start:end].tolist(), *(token for _, token in now.token_ends(word))}
    types.update(now.arrays.results[closed].tolist())
    merges = now.arrays.merge_ids[closed].tolist()
    return (*map(type_key, sorted(types)), *map(merge_key, merges))
