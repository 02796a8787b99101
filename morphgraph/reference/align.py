"""From underlying morphemes to surface morphs: the alignment of docs/how/alignment.md.

Strings become flat arrays of code points here, go through one kernel call, and come back as
substrings of the words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt

from morphgraph.reference.entry import Entry, MorphemeKind

HYPHENS = "-\u2010\u2011"  # as on the keyboard, and Unicode's hyphens
_HYPHEN_SET = frozenset(HYPHENS)


class Alignment(NamedTuple):
    """The morphs of a word, and for each the position of its morpheme, or −1 where it has none."""

    morphs: tuple[str, ...]
    sources: tuple[int, ...]


class SourceRow(NamedTuple):
    """What a reader finds in a line: a word, its morphemes, and facts about them.

    `pieces` gives each morpheme the index of its whole word (not descending), `kinds` its kind;
    either is None where the source does not say; `whole_words` are those that the source lists.
    `underlying` are the source's own morphemes where they differ from `morphemes`. `is_explicit`
    where the source divides the word itself, hyphens included. If `suffix`, the last morpheme, is
    given, the rest of the word after it is a separate morph. `linked`, `tree`: see `Entry`.
    """

    line: int
    word: str
    morphemes: Sequence[str]
    pieces: Sequence[int] | None = None
    corpus_count: float | None = None
    kinds: Sequence[MorphemeKind | None] | None = None
    processes: tuple[str, ...] | None = None
    underlying: tuple[str, ...] | None = None
    is_explicit: bool = False
    whole_words: tuple[str, ...] | None = None
    suffix: str = ""
    linked: tuple[str, ...] | None = None
    tree: str = ""


def align_morphemes(words: Sequence[str], morphemes: Sequence[Sequence[str]]) -> list[Alignment]:
    """Align each word with its underlying morphemes (Bauwens & Delobelle 2024, §4.1).

    The morphs of a word concatenate to it and none is empty. Morphemes without surface
    have no morph; unmatched characters belong to the morph on their left, and at the start of the
    word they are a morph of their own with source −1.

    Morphemes that concatenate to the word are its morphs: all characters match, and no other
    alignment can match as many.

    >>> align_morphemes(["subsidised"], [["subside", "y", "ise", "ed"]])
    [Alignment(morphs=('subsid', 'is', 'ed'), sources=(0, 2, 3))]
    """
    alignments: dict[int, Alignment] = {}
    unlike = []
    for index, (word, parts) in enumerate(zip(words, morphemes, strict=True)):
        if "".join(parts) == word:
            kept = tuple(i for i, part in enumerate(parts) if part)
            alignments[index] = Alignment(tuple(filter(None, parts)), kept)
        else:
            unlike.append(index)
    if unlike:
        aligned = _align_batch([words[i] for i in unlike], [morphemes[i] for i in unlike])
        alignments.update(zip(unlike, aligned, strict=True))
    return [alignments[index] for index in range(len(words))]


def _align_batch(words: list[str], morphemes: list[Sequence[str]]) -> list[Alignment]:
    """Align all words in one kernel call; numba is only loaded if needed."""
    from morphgraph.kernels.alignment import align

    normal_words, cuts = zip(*map(normalise_with_cuts, words), strict=True)
    known = {part: normalise(part) for part in {part for parts in morphemes for part in parts}}
    normal_morphemes = [known[part] for parts in morphemes for part in parts]
    entry_offsets = _offsets(morphemes)
    starts, sources, sizes = align(
        _points(normal_words),
        _offsets(normal_words),
        _points(normal_morphemes),
        _offsets(normal_morphemes),
        entry_offsets,
    )
    all_starts, all_sources = starts.tolist(), sources.tolist()
    slots = (entry_offsets[:-1] + np.arange(len(words))).tolist()
    aligned = []
    for word, cut, slot, size in zip(words, cuts, slots, sizes.tolist(), strict=True):
        if size <= 1:
            source = all_sources[slot] if size else -1
            aligned.append(Alignment((word,), (source,)) if word else Alignment((), ()))
            continue
        edges = [cut[start] for start in all_starts[slot : slot + size]]
        edges.append(len(word))
        morphs = [word[a:b] for a, b in pairwise(edges)]
        origins = all_sources[slot : slot + size]
        if not all(morphs):  # a cut fell after a character that the normal form writes as several
            origins = [source for source, morph in zip(origins, morphs, strict=True) if morph]
            morphs = [morph for morph in morphs if morph]
        aligned.append(Alignment(tuple(morphs), tuple(origins)))
    return aligned


def _points(strings: Sequence[str]) -> npt.NDArray[np.int32]:
    return np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), np.int32)


def _offsets(parts: Sequence[Sequence[str]]) -> npt.NDArray[np.int64]:
    return np.fromiter(accumulate(map(len, parts), initial=0), np.int64, len(parts) + 1)


def has_hyphen(word: str) -> bool:
    """Return whether a word contains a hyphen."""
    return "-" in word or not (word.isascii() or _HYPHEN_SET.isdisjoint(word))


def is_hyphen(morph: str) -> bool:
    """Return whether a morph consists of hyphens only."""
    return bool(morph) and not morph.strip(HYPHENS)


def separate_hyphens(alignment: Alignment) -> Alignment:
    """Make each hyphen between two morphs a separate morph (docs/how/alignment.md)."""
    last = len(alignment.morphs) - 1
    morphs: list[str] = []
    sources: list[int] = []
    for i, (morph, source) in enumerate(zip(*alignment, strict=True)):
        core = morph.lstrip(HYPHENS) if i else morph
        core = core.rstrip(HYPHENS) if i < last else core
        if not core:
            core = morph
        at = morph.index(core)
        for text, origin in ((morph[:at], -1), (core, source), (morph[at + len(core) :], -1)):
            if text:
                morphs.append(text)
                sources.append(origin)
    return Alignment(tuple(morphs), tuple(sources))


def whole_words(alignment: Alignment, pieces: Sequence[int]) -> tuple[str, ...]:
    """Join the morphs whose morphemes belong to one whole word.

    Morphs without a morpheme, and hyphens, which are not words, belong to the whole word on their
    left; those at the start are joined to the first morph that has a morpheme.
    """
    if pieces[0] == pieces[-1]:
        return ("".join(alignment.morphs),)
    joined: list[str] = []
    current: int | None = None  # the whole word that the last string in `joined` belongs to
    for morph, source in zip(*alignment, strict=True):
        owner = current if source < 0 or is_hyphen(morph) else pieces[source]
        if joined and current in (None, owner):
            joined[-1] += morph
        else:
            joined.append(morph)
        current = owner
    return tuple(joined)


def split_rest(alignment: Alignment, suffix: str) -> Alignment:
    """Make the rest of the last morph after a suffix a separate morph, with source −1."""
    *others, last = alignment.morphs
    if not others or not last.startswith(suffix) or len(last) == len(suffix):
        return alignment
    return Alignment((*others, suffix, last[len(suffix) :]), (*alignment.sources, -1))


def entries_from(rows: Sequence[SourceRow]) -> list[Entry]:
    """Return the entries of all rows, aligned in one batch."""
    entries = []
    alignments = align_morphemes([r.word for r in rows], [r.morphemes for r in rows])
    for row, alignment in zip(rows, alignments, strict=True):
        if row.suffix:
            alignment = split_rest(alignment, row.suffix)
        if has_hyphen(row.word) and not row.is_explicit:
            alignment = separate_hyphens(alignment)
        joined = row.whole_words
        if joined is None and row.pieces is not None:
            joined = whole_words(alignment, row.pieces)
        kinds: tuple[MorphemeKind | None, ...] | None = None
        if row.kinds is not None:
            kinds = tuple(
                MorphemeKind.HYPHEN if is_hyphen(morph) else row.kinds[at] if at >= 0 else None
                for morph, at in zip(*alignment, strict=True)
            )
        own = row.underlying or tuple(filter(None, row.morphemes))
        differs = own not in ((), alignment.morphs)
        about = joined, row.corpus_count, row.line, kinds, row.processes, own if differs else None
        entries.append(Entry(row.word, alignment.morphs, *about, row.linked, row.tree))
    return entries


# ------------------------------------------------------------------------------ the normal form
#
# Letters are compared without case and accents: NFD → without combining marks → NFKC → lower case
# (docs/how/alignment.md). As that may be shorter (n + ◌̃ → n) or longer (ﬁ → f + i) than the
# surface, each cut has to be mapped back.


def _unmarked(text: str) -> str:
    """Apply NFD, remove combining marks, and apply NFKC; keep case."""
    bare = "".join(c for c in normalize("NFD", text) if category(c)[0] != "M")
    return normalize("NFKC", bare)


def _lower(text: str) -> str:
    """Return the text in lower case, character by character."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower()[0] for c in text)


_JAMO = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")


@cache
def _alone(char: str) -> str:
    """Return the normal form of a context-free character, else ''.

    Characters whose form is not one character, jamo (they join to syllables), spacing voice marks
    and Σ (ς at the end of a word) are left to the slow path.
    """
    normal = _lower(_unmarked(char))
    if len(normal) != 1 or char == "Σ" or category(normal)[0] == "M":
        return ""
    if not "가" <= char <= "힣" and _JAMO.search(normalize("NFKD", char)):
        return ""
    return normal


def normalise(text: str) -> str:
    """Return the normal form in which words and morphemes are compared."""
    return normalise_with_cuts(text)[0]


def normalise_with_cuts(text: str) -> tuple[str, Sequence[int]]:
    """Return the normal form, and where to cut the surface for each position 0…n in it.

    The cuts ascend from 0 to `len(text)`. A mark stays with the letter on its left. A cut inside
    one surface character falls after it, as skipped characters stay with the left morph.

    >>> normalise_with_cuts("ﬁn")
    ('fin', [0, 1, 1, 2])
    """
    if text.isascii():
        return text.lower(), range(len(text) + 1)
    letters = [_alone(c) for c in text]
    if all(letters):
        return "".join(letters), range(len(text) + 1)

    unmarked = _unmarked(text)
    clusters = _clusters(text)
    if "".join(normal for _, normal in clusters) != unmarked:
        clusters = [(0, unmarked)]
    clusters = [cluster for cluster in clusters if cluster[1]]
    cuts: list[int] = []
    for index, (start, normal) in enumerate(clusters):
        after = clusters[index + 1][0] if index + 1 < len(clusters) else len(text)
        cuts += [start if index else 0] + [after] * (len(normal) - 1)
    return _lower(unmarked), [*cuts, len(text)]


def _clusters(text: str) -> list[tuple[int, str]]:
    """Yield the start and normal form of the shortest independently normalisable pieces."""
    clusters: list[tuple[int, str]] = []
    begin, normal = 0, ""
    for i, char in enumerate(text):
        alone, together = _unmarked(char), _unmarked(text[begin : i + 1])
        if i > begin and together == normal + alone:
            clusters.append((begin, normal))
            begin, normal = i, alone
        else:
            normal = together
    return [*clusters, (begin, normal)] if text else []
