"""Words as the app shows them: as chips under their gold morphs, and as rows beside the graph."""

import string
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from morphgraph.core.text import SHOWN_MARKER
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.view import merge_key, type_key
from morphgraph.refine.blame import DEFAULT_THRESHOLD, Blame
from morphgraph.refine.outlook import Outlook
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import boundary_positions
from morphgraph.score.comparison import RIGHT_SPLIT, gap_signs, marked_word
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import INSIDE_CHARACTER

_MARKS = f"{string.punctuation}“”„‘’‚«»‹›…–—¿¡。，、！？：；「」"
_TRIED = 20
"""The number of words searched for one that a knockout fixes."""
_ROWS = 30
"""The number of rows of each kind: right and wrong, or better and worse."""


@dataclass(frozen=True, slots=True)
class TokenChip:
    """A token, divided at the gold boundaries inside it.

    ``is_morph``: it is exactly one morph; ``is_half``: it begins inside a character.
    """

    segments: tuple[str, ...]
    tooltip: str
    type: int
    is_culprit: bool = False
    is_morph: bool = False
    is_half: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True)
class WordLine:
    """A word with its tokens; ``morphs`` are empty where no gold segmentation is known.

    ``was``: its tokens before all edits, if they were others.
    """

    word: str
    morphs: tuple[str, ...]
    tokens: tuple[TokenChip, ...]
    was: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WordRow:
    """A word in pieces, each with the sign of the gap before it and a highlight flag.

    ``keys``: the types and merges that made it, as vertices of the merge graph. After an edit,
    ``gain``: how many more gaps are right; ``was``: how it was split; ``won``: where gold
    boundaries were split that had been covered; ``closer``: the type that covers one now, and its
    name.
    """

    number: int
    word: str
    gold: str
    pieces: tuple[tuple[str, str, bool], ...]
    keys: tuple[str, ...]
    gain: int = 0
    was: str = ""
    won: tuple[int, ...] = ()
    closer: tuple[int, str] | None = None


# ------------------------------------------------------------------------------------- chips


def lines_of(study: Study, text: str) -> tuple[list[list[WordLine]], int | None]:
    """Return the words of each line of running text, and the merge most to blame, if any is.

    Where tokens span words, a line stays whole, as the pre-tokeniser has to see it.
    """
    whole = bool(study.tokeniser.several_words)
    words = [[line.strip()] if whole else line.split() for line in text.splitlines()]
    by_word, worst = _words_in(study, list(dict.fromkeys(word for line in words for word in line)))
    lines = [[by_word[word] for word in line if by_word[word].tokens] for line in words]
    return lines, worst


def _words_in(
    study: Study, texts: list[str], graph: MergeGraph | None = None
) -> tuple[dict[str, WordLine], int | None]:
    """Return different words as a state segments them, by default now, and the worst merge."""
    tokeniser, is_now = study.tokeniser, graph is None
    graph = graph or study.graph
    encoded = tokeniser.encode(texts)
    now = segment(graph, encoded)
    before = segment(graph.original(), encoded) if is_now and graph.history else now
    names, ids = tokeniser.readable_types, tokeniser.vocabulary_ids
    benchmark = study.benchmark
    blamed = study.blame() if is_now and study.has_blame else None
    merges, missed = now.arrays.merge_ids, set[int]()
    shown: dict[str, tuple[tuple[str, ...], list[tuple[TokenChip, list[int]]]]] = {}
    for number, word in enumerate(texts):
        # Marks around a word are no part of it.
        marks = len(word) - len(word.lstrip(_MARKS))
        inner = word.strip(_MARKS)
        entry = benchmark.numbers.get(word, benchmark.numbers.get(inner))
        entry = entry if benchmark.reference.has_gold else None
        morphs = () if entry is None else benchmark.reference.entries[entry].morphs
        marks = 0 if "".join(morphs) == word else marks
        gold = [marks + place for place in boundary_positions(morphs)]
        edges = [marks, *gold, marks + sum(map(len, morphs))]
        gaps = encoded.gap_position
        left_out = {each.place for each in encoded.left_out_of(number)}
        chips, start, begin = [], 0, int(encoded.word_offsets[number])
        for last, token in now.token_ends(number):
            is_end = last + 1 == encoded.word_offsets[number + 1]
            following = end = len(word) if is_end else max(start, int(gaps[last]))
            while start < end and start in left_out:
                start += 1
            while start < end and end - 1 in left_out:
                end -= 1
            name, covering = names[token] if token < len(names) else word[start:end], list[int]()
            inside = [place for place in gold if start < place < end]
            for atom in range(begin, last):
                if inside and gaps[atom] in inside and now.is_merged[atom]:
                    covering.append(int(merges[now.closed_by[atom]]))
            marker = name[: len(name) - len(name.lstrip(SHOWN_MARKER))]
            body, length = name[len(marker) :], end - start
            # A token that begins or ends inside a character is whole.
            is_spelt = len(body) == length or (is_end and len(body) > length)
            cuts = [0, *(place - start for place in inside), len(body)]
            segments = [body[a:b] for a, b in pairwise(cuts)] if is_spelt else [body]
            segments[0] = marker + segments[0]
            is_morph = bool(morphs) and not inside and is_spelt and start < end
            is_morph = is_morph and start in edges and end in edges
            is_half = start > 0 and gaps[begin - 1] == INSIDE_CHARACTER
            chip = TokenChip(tuple(segments), "", token, is_morph=is_morph, is_half=bool(is_half))
            chips.append((chip, covering))
            missed.update(covering)
            start, begin = following, last + 1
        shown[word] = morphs, chips
    worst = None if blamed is None else _worst_of(study, missed)
    tooltips: dict[int, str] = {}
    lines = {}
    for number, (word, (morphs, chips)) in enumerate(shown.items()):
        tokens = []
        for chip, covering in chips:
            token = chip.type
            if token not in tooltips:
                tooltips[token] = _tooltip(tokeniser, token, graph, blamed)
            id_, is_culprit = f"{ids[token]}" if token < len(ids) else "", worst in covering
            tokens.append(replace(chip, tooltip=tooltips[token], id=id_, is_culprit=is_culprit))
        then = before.tokens(number)
        was = () if then == now.tokens(number) else tuple(names[t] for t in then if t < len(names))
        lines[word] = WordLine(word, morphs, tuple(tokens), was)
    return lines, worst


def without_marks(word: str) -> str:
    """Return a word without the marks around it, or as it is if it has nothing else.

    >>> without_marks("strawberries,"), without_marks("…")
    ('strawberries', '…')
    """
    return word.strip(_MARKS) or word


def line_in(study: Study, word: str, graph: MergeGraph) -> WordLine:
    """Return a word as a state of the study's graph segments it."""
    return _words_in(study, [word], graph)[0][word]


def _worst_of(study: Study, merges: Iterable[int]) -> int | None:
    """Return the merge with R ≥ 0.5, else any, that closed most of the gold boundaries."""
    blamed, graph = study.blame(), study.graph

    def key(merge: int) -> tuple[bool, float, float, int]:
        joins, wrong = blamed.counts(merge)
        ratio = wrong / joins if joins else 0.0
        return ratio >= DEFAULT_THRESHOLD, wrong, ratio, -graph.merge(merge).rank

    removable = [merge for merge in merges if graph.is_removable(graph.merge(merge).result)]
    return max(removable, key=key, default=None)


def _tooltip(tokeniser: BpeTokeniser, token: int, graph: MergeGraph, blamed: Blame | None) -> str:
    names, ids = tokeniser.readable_types, tokeniser.vocabulary_ids
    lines = []
    for merge in graph.incoming(token) if token < len(graph.types) else ():
        about = [blamed.described(merge)] if blamed else []
        rank = f"rank {graph.merge(merge).rank:,}"
        lines += [graph.describe(merge, names), rank, *filter(None, about)]
    id_ = f"id {ids[token]:,}" if token < len(ids) else "no id of its own"
    return "\n".join([*lines, id_])


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
    right, wrong = (
        [_row(study, one.number, one.gold, _span(study, number, one.word, one.at)) for one in found]
        for found in study.examples(number, _ROWS)
    )
    return right, wrong


def rows_left(study: Study, number: int) -> tuple[list[WordRow], int]:
    """Return words in which another type covers a boundary that one covered before the last edit.

    Frequent words first, each with that type as its ``closer``; and how many they are.
    """
    then, now = study.before_last.segmentation, study.now.segmentation
    words, gold = study.benchmark.words, study.benchmark.gold_gaps()
    gaps = np.flatnonzero(then.is_merged & now.is_merged & (gold == 1))
    gaps = gaps[then.arrays.results[then.closed_by[gaps]] == number]
    owner = words.word_of_atom
    gaps = gaps[np.argsort(-study.benchmark.token_weights[owner[gaps]], kind="stable")]
    left: dict[int, int] = {}
    for gap in gaps.tolist():
        left.setdefault(int(owner[gap]), gap)
    rows = []
    for word, gap in list(left.items())[:_ROWS]:
        closer, at = int(now.arrays.results[now.closed_by[gap]]), int(words.gap_position[gap])
        span = _span(study, closer, words.texts[word], max(0, at))
        row = _row(study, word, study.gold_text(word), span)
        rows.append(replace(row, closer=(closer, study.tokeniser.readable_types[closer])))
    return rows, len(left)


def rows_changed(study: Study) -> tuple[list[WordRow], int]:
    """Return words that the last edit cut differently, improved ones first, and their number."""
    before = study.before_last
    better, total = study.changed_words(before, limit=_ROWS)
    worse, _ = study.changed_words(before, order="worse", limit=_ROWS)
    known = {one.number for one in better}
    rows = []
    for one in [*better, *(one for one in reversed(worse) if one.number not in known)]:
        row = _row(study, one.number, one.gold, (0, 0))
        then, now = (set(state.segmentation.splits(one.number)) for state in (before, study.now))
        won = tuple(p for p in study.gold_positions(one.number) if p in now - then)
        was = marked_word(one.word, then, ())
        rows.append(replace(row, gain=one.gain, was=was, won=won))
    return rows, total


def rows_ahead(outlook: Outlook, words: Iterable[int]) -> list[WordRow]:
    """Return words as an edit would cut them, without what made them."""
    rows, entries = [], outlook.benchmark.reference.entries
    has_gold = outlook.benchmark.reference.has_gold
    for word in words:
        text, (then, now, gold) = outlook.benchmark.words.texts[word], outlook.positions(word)
        pieces = _pieces(text, now, gold, (0, 0))
        morphs = RIGHT_SPLIT.join(entries[word].morphs) if has_gold else ""
        won = tuple(place for place in gold if place in now - then)
        gain, was = int(outlook.gains[word]), marked_word(text, then, ())
        rows.append(WordRow(word, text, morphs, pieces, (), gain, was, won))
    return rows


def _span(study: Study, number: int, word: str, at: int) -> tuple[int, int]:
    """Return where a type stands around a place in a word; (0, 0) if its letters do not."""
    name = study.tokeniser.readable_types[number].strip(SHOWN_MARKER)
    start = word.find(name, max(0, at - len(name)), at + len(name))
    return (start, start + len(name)) if start >= 0 and name else (0, 0)


def _pieces(
    text: str, splits: Iterable[int], gold: Iterable[int], span: tuple[int, int]
) -> tuple[tuple[str, str, bool], ...]:
    """Divide a word at its splits and gold boundaries; what is in the span is highlighted."""
    signs = gap_signs(splits, gold)
    places = sorted({0, *(p for p in (*signs, *span) if 0 < p < len(text)), len(text)})
    return tuple(
        (text[start:end], signs.get(start, ""), span[0] <= start < span[1])
        for start, end in pairwise(places)
    )


def _row(study: Study, word: int, gold: str, span: tuple[int, int]) -> WordRow:
    now = study.now.segmentation
    text = study.benchmark.words.texts[word]
    pieces = _pieces(text, now.splits(word), study.gold_positions(word), span)
    # The types and merges that it is made of, intermediate steps included.
    start, end = now.words.word_offsets[word : word + 2]
    closed = np.unique(now.closed_by[start:end][now.is_merged[start:end]])
    types = {*now.words.atoms[start:end].tolist(), *(token for _, token in now.token_ends(word))}
    types.update(now.arrays.results[closed].tolist())
    merges = now.arrays.merge_ids[closed].tolist()
    keys = (*map(type_key, sorted(types)), *map(merge_key, merges))
    return WordRow(word, text, gold, pieces, keys)
