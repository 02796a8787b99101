"""Words for the eye: as chips under their gold morphs, and as rows beside the merge graph."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from morphgraph.draw.merge_tree import MergeTree, TreeMerge, describe_in_study
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.view import merge_key, type_key
from morphgraph.refine.blame import DEFAULT_THRESHOLD
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import boundary_positions
from morphgraph.score.comparison import gap_signs
from morphgraph.tokeniser.preprocess import SHOWN_MARKER

_TRIED = 20
"""The number of words searched for one that a knockout fixes."""
_ROWS = 30
"""The number of rows of each kind: right and wrong, or better and worse."""


@dataclass(frozen=True, slots=True)
class TokenChip:
    """A token, divided at the gold boundaries inside it; ``is_morph``: it is exactly one morph."""

    segments: tuple[str, ...]
    tooltip: str
    type: int
    is_culprit: bool = False
    is_morph: bool = False


@dataclass(frozen=True, slots=True)
class WordLine:
    """A word with its tokens; ``morphs`` are empty where no gold segmentation is known."""

    word: str
    morphs: tuple[str, ...]
    tokens: tuple[TokenChip, ...]


@dataclass(frozen=True, slots=True)
class Culprit:
    """The merge most to blame for the gold boundaries that tokens of some words cross.

    ``type``: the id of its result; ``description``: ``at + ing → ating``; ``examples``: gold
    segmentations of words in which it closed a boundary; ``f1`` and ``gain``: after its knockout.
    """

    type: int
    name: str
    description: str
    joins: float
    wrong_joins: float
    examples: tuple[str, ...]
    f1: float
    gain: float


@dataclass(frozen=True, slots=True)
class WordRow:
    """A word in pieces, each with the sign of the gap before it and a highlight flag.

    ``keys``: the types and merges that made it, as vertices of the merge graph; ``gain``: gaps that
    an edit corrected.
    """

    number: int
    word: str
    gold: str
    pieces: tuple[tuple[str, str, bool], ...]
    keys: tuple[str, ...]
    gain: int = 0


# ------------------------------------------------------------------------------------- chips


def lines_of(study: Study, text: str) -> tuple[list[list[WordLine]], Culprit | None]:
    """Return the words of each line of running text, and the merge most to blame, if any is."""
    blamed = study.blame()
    trees = [
        [describe_in_study(study, word, blamed) for word in line.split()]
        for line in text.splitlines()
    ]
    worst = _worst_merge(study, [tree for line in trees for tree in line])
    found = [[_line(study, tree, worst) for tree in line if tree.leaves] for line in trees]
    return found, _culprit(study, worst) if worst else None


def line_in(study: Study, word: str, graph: MergeGraph) -> WordLine:
    """Return a word as a state of the study's graph segments it."""
    return _line(study, describe_in_study(study, word, None, graph=graph), None)


def _line(study: Study, tree: MergeTree, worst: TreeMerge | None) -> WordLine:
    first_merge = len(tree.leaves)
    missed = ((gap.leaf, gap.merge) for gap in tree.gaps if gap.merge is not None)
    closed_by = {leaf: tree.merges[vertex - first_merge].merge for leaf, vertex in missed}
    ends = {gap.leaf for gap in tree.gaps if gap.kind == "hit"} | {len(tree.leaves) - 1}
    begins = {0, *(end + 1 for end in ends)}
    if tree.morphs:  # a lone marker
        begins.add(tree.morphs[0].first)
    ids, chips = study.tokeniser.vocabulary_ids, []
    for root in tree.roots:
        made, (first, last) = tree.merge_at(root) or tree.leaves[root], tree.ends(root)
        segments, covering = [""], set()
        whole = {c.first: c for c in tree.characters if first <= c.first and c.last <= last}
        inside = {n for c in whole.values() for n in range(c.first + 1, c.last + 1)}
        for leaf in range(first, last + 1):
            if leaf not in inside:  # a character of several bytes
                segments[-1] += whole[leaf].label if leaf in whole else tree.leaves[leaf].label
            if leaf < last and leaf in closed_by:
                segments.append("")
                covering.add(closed_by[leaf])
        id_ = f"id {ids[made.type]:,}" if made.type < len(ids) else "no id of its own"
        is_morph = tree.has_gold and not covering and first in begins and last in ends
        is_culprit = worst is not None and worst.merge in covering
        tooltip = f"{made.tooltip}\n{id_}"
        chips.append(TokenChip(tuple(segments), tooltip, made.type, is_culprit, is_morph))
    return WordLine(tree.word, tuple(span.label for span in tree.morphs), tuple(chips))


def _worst_merge(study: Study, trees: Iterable[MergeTree]) -> TreeMerge | None:
    """Return the merge with R ≥ 0.5, else any, that closed most of the gold boundaries here."""
    blamed = study.blame()
    return max(
        (
            merge
            for tree in trees
            for merge in tree.merges
            if merge.closes and study.graph.is_removable(merge.type)
        ),
        key=lambda m: (
            m.ratio >= DEFAULT_THRESHOLD,
            blamed.counts(m.merge)[1],
            m.ratio,
            -(m.rank or 0),
        ),
        default=None,
    )


def _culprit(study: Study, worst: TreeMerge) -> Culprit:
    joins, wrong_joins = study.blame().counts(worst.merge)
    preview = study.preview([study.graph.types[worst.type]])
    _, wrong = study.examples(worst.type, 12)
    names = study.tokeniser.readable_types
    return Culprit(
        worst.type,
        names[worst.type],
        study.graph.describe(worst.merge, names),
        joins,
        wrong_joins,
        tuple(dict.fromkeys(example.gold for example in wrong)),
        preview.after.f1,
        preview.after.f1 - preview.before.f1,
    )


def illustrative_word(study: Study, number: int) -> str:
    """Return the most frequent word with a boundary crossed by the ``number``-th worst merge.

    Merges with R ≥ 0.5 are counted, those that closed most gold boundaries first, over and over. If
    there are none: the ``number``-th of the words with wrong gaps, or without gold, of those of at
    least three tokens; the first word if there is none.

    >>> import morphgraph as mg
    >>> from morphgraph.score.boundaries import Benchmark
    >>> from morphgraph.formats.loading import load_tokeniser
    >>> tokeniser = load_tokeniser("demo:en")
    >>> gold = mg.read_gold([("undo", ["un", "do"]), ("redo", ["re", "do"])])
    >>> study = Study(tokeniser, Benchmark.on(gold, tokeniser))
    >>> [illustrative_word(study, number) for number in range(3)]
    ['undo', 'redo', 'undo']
    """
    texts = study.benchmark.words.texts
    blamed = study.blame()
    places = blamed.candidates()
    order = places[np.argsort(-blamed.blamed[places], kind="stable")].tolist()
    types = dict.fromkeys(int(blamed.arrays.results[place]) for place in order)
    removable = [type_ for type_ in types if study.graph.is_removable(type_)]
    if removable:
        return _fixed_word(study, removable[number % len(removable)])
    if study.benchmark.reference.has_gold:
        words = study.worst_order() or [0]
    else:
        words = np.flatnonzero(study.now.tally.predicted > 1).tolist() or [0]
    return texts[words[number % len(words)]]


def _fixed_word(study: Study, type_: int) -> str:
    """Return the most frequent word that the type's knockout fixes, or else that it damaged."""
    _, wrong = study.examples(type_, _TRIED)
    after = study.preview([study.graph.types[type_]]).segmentation
    for example in wrong:
        number = study.number_of(example.word) or 0
        morphs = study.benchmark.reference.entries[number].morphs
        if set(boundary_positions(morphs)) <= set(after.splits(number)):
            return example.word
    return wrong[0].word


# ------------------------------------------------------------------------------------- rows


def rows_through(study: Study, number: int) -> tuple[list[WordRow], list[WordRow]]:
    """Return words in which a type's merges joined rightly, and wrongly; frequent first."""
    name = study.tokeniser.readable_types[number].strip(SHOWN_MARKER)
    length = len(name)
    found = []
    for examples in study.examples(number, _ROWS):
        rows = []
        for one in examples:
            start = one.word.find(name, max(0, one.at - length), one.at + length)
            span = (start, start + length) if start >= 0 and name else (0, 0)
            rows.append(_row(study, one.number, one.gold, span))
        found.append(rows)
    return found[0], found[1]


def rows_changed(study: Study) -> tuple[list[WordRow], int]:
    """Return words that the last edit cut differently, improved ones first, and their number."""
    better, total = study.changed_words(study.before_last, limit=_ROWS)
    worse, _ = study.changed_words(study.before_last, order="worse", limit=_ROWS)
    known = {one.number for one in better}
    shown = [*better, *(one for one in reversed(worse) if one.number not in known)]
    return [_row(study, one.number, one.gold, (0, 0), one.gain) for one in shown], total


def _row(study: Study, word: int, gold: str, span: tuple[int, int], gain: int = 0) -> WordRow:
    now = study.now.segmentation
    text = study.benchmark.words.texts[word]
    signs = gap_signs(now.splits(word), study.gold_positions(word))
    places = sorted({0, *(p for p in (*signs, *span) if 0 < p < len(text)), len(text)})
    pieces = tuple(
        (text[start:end], signs.get(start, ""), span[0] <= start < span[1])
        for start, end in pairwise(places)
    )
    # The types and merges that it is made of, intermediate steps included.
    start, end = now.words.word_offsets[word : word + 2]
    closed = np.unique(now.closed_by[start:end][now.is_merged[start:end]])
    types = {*now.words.atoms[start:end].tolist(), *(token for _, token in now.token_ends(word))}
    types.update(now.arrays.results[closed].tolist())
    merges = now.arrays.merge_ids[closed].tolist()
    keys = (*map(type_key, sorted(types)), *map(merge_key, merges))
    return WordRow(word, text, gold, pieces, keys, gain)
