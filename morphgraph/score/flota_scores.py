"""FLOTA's own scores: how well a few tokens preserve the morphs of two-morph words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from typing import Literal

import numpy as np

from morphgraph.core import __version__
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.reference.entry import Entry, MorphemeKind, Reference
from morphgraph.score.gold_set import (
    RUNNING_TEXT,
    Counts,
    Flags,
    reference_fields,
    signature_line,
)
from morphgraph.score.uncertainty import paired_p
from morphgraph.segment.flota import First, Flota, Longest
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.vocabulary import SubwordVocabulary
from morphgraph.tokeniser.words import INSIDE_CHARACTER, UNKNOWN, Segmentation

FlotaMethod = Literal["FLOTA", "FIRST", "LONGEST"]
FLOTA_METHODS: tuple[FlotaMethod, ...] = ("FLOTA", "FIRST", "LONGEST")


@dataclass(frozen=True)
class FlotaScore:
    """The scores of one method with at most ``k`` tokens per word (None: no limit).

    ``coverage``: the mean share of an entry's two morphs that are substrings of the concatenated
    kept tokens. ``stem_recall``: the share of entries with a stem among the tokens. ``full_match``:
    the share of entries with both morphs among the tokens. ``tokens``: their mean number per word;
    ``tokens_p``: of a paired t-test of that against the standard segmentation, two-sided.
    ``entries``: what all but stem recall are over; ``entries_with_stem``: what that is. NaN where
    there are none. Source: Hofmann et al. 2022, §3, who give stem recall at k = 1, full match at
    k = 2 and the number of tokens without a limit.
    """

    coverage: float
    stem_recall: float
    full_match: float
    tokens: float
    tokens_p: float
    entries: int
    entries_with_stem: int
    signature: str


def flota_score(
    method: FlotaMethod,
    k: int | None,
    vocabulary: SubwordVocabulary,
    reference: Reference,
    standard: Segmenter,
    *,
    strict: bool = False,
) -> FlotaScore:
    """Score FLOTA, or FIRST or LONGEST of a ``standard`` segmenter, against a reference.

    Scored are entries of exactly two morphs that are both in V while the word is not. In V is what
    a token can spell whole, word-initial or word-internal, as the vocabulary's own normaliser
    leaves it. A token is a morph, for stem recall and full match, if it covers exactly its
    characters, those of the word as it was written; an unknown token counts for none. A stem is
    a free morph; in a compound both are. ``strict``: see `Flota`. `MorphGraphError` for a k
    below 1. Source: Hofmann et al. 2022, §3.

    >>> from morphgraph.segment.wordpiece import WordPiece
    >>> vocabulary = SubwordVocabulary(("un", "##kind", "##k", "##ind", "kind", "unk"), "##")
    >>> entry = Entry("unkind", ("un", "kind"), kinds=(MorphemeKind.PREFIX, MorphemeKind.FREE))
    >>> reference = Reference("gold", "plain", (entry,), (), "0" * 12)
    >>> given = vocabulary, reference, WordPiece(vocabulary)
    >>> found = [flota_score(method, 2, *given) for method in ("FLOTA", "FIRST")]
    >>> [(each.coverage, each.stem_recall, each.full_match) for each in found]
    [(1.0, 1.0, 1.0), (1.0, 0.0, 0.0)]
    """
    pairs = [entry for entry in reference.entries if len(entry.morphs) == 2]
    whole = _in_vocabulary(vocabulary, [entry.word for entry in pairs])
    first, second = (_in_vocabulary(vocabulary, [e.morphs[side] for e in pairs]) for side in (0, 1))
    entries = [pairs[number] for number in np.flatnonzero(~whole & first & second)]
    stems = np.array([_stems(entry) for entry in entries], np.bool_).reshape(-1, 2)
    texts = [entry.word for entry in entries]
    words, usual = (below.encode(texts) for below in (vocabulary, standard))
    segmenter: Segmenter = standard
    if method == "FLOTA":
        segmenter = Flota(vocabulary, k, strict)
    elif k is not None:
        segmenter = (First if method == "FIRST" else Longest)(standard, k)
    segmentation = segmenter.segment(words if method == "FLOTA" else usual)
    known = _known(segmentation, segmenter.unknown_id)
    morphs = _are_tokens(segmentation, entries, known)
    right = morphs & stems
    has_stem = stems[:, 0] | stems[:, 1]
    own = _lengths(segmentation)
    named = {
        **reference_fields(reference),
        "words": RUNNING_TEXT,
        "vocabulary": vocabulary.signature(),
        **({"flota": "strict"} if strict else {}),
        "standard": standard.signature(),
        "version": __version__,
    }
    return FlotaScore(
        _share(_covered(segmentation, entries, known).reshape(-1)),
        _share((right[:, 0] | right[:, 1])[has_stem]),
        _share(morphs[:, 0] & morphs[:, 1]),
        _share(own),
        paired_p(own - _lengths(standard.segment(usual))),
        len(entries),
        int(has_stem.sum()),
        signature_line(named),
    )


def _stems(entry: Entry) -> list[bool]:
    kinds = entry.kinds if entry.kinds and len(entry.kinds) == 2 else (None, None)
    return [kind is MorphemeKind.FREE for kind in kinds]


def _in_vocabulary(vocabulary: SubwordVocabulary, texts: Sequence[str]) -> Flags:
    """Return whether each text is a type in either form, so that FLOTA takes it first."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    unique = list(numbers)  # affixes recur
    is_known = _one_token(vocabulary, unique)
    if vocabulary.preprocessor.suffix:  # word-final forms are also allowed within a word there
        bare = replace(vocabulary.preprocessor, suffix="")
        is_known |= _one_token(replace(vocabulary, preprocessor=bare), unique)
    return is_known[np.fromiter((numbers[text] for text in texts), np.int64, len(texts))]


def _one_token(vocabulary: SubwordVocabulary, texts: Sequence[str]) -> Flags:
    segmentation = Flota(vocabulary, 1).segment(vocabulary.encode(texts))
    lengths = np.array([len(text) for text in texts], np.int64)
    word, start, end = _spans(segmentation, _known(segmentation, UNKNOWN))
    is_token = np.zeros(len(texts), np.bool_)
    is_token[word[(start == 0) & (end == lengths[word])]] = True
    return is_token & (lengths > 0)


def _known(segmentation: Segmentation, unknown: int) -> Flags:
    """Return whether the token, if any, that ends at each atom stands for a type."""
    token = segmentation.token_at
    known: Flags = (token >= 0) & ~np.isin(token, (UNKNOWN, unknown))
    known[list(segmentation.words.unknown)] = False
    return known


def _spans(segmentation: Segmentation, known: Flags) -> tuple[Counts, Counts, Counts]:
    """Return the word and character span of each known token of whole characters."""
    words = segmentation.words
    ends = np.flatnonzero(segmentation.token_at != INSIDE_TOKEN)
    firsts = np.append(0, ends[:-1] + 1)[: len(ends)]
    is_inside = words.gap_position == INSIDE_CHARACTER
    whole = ~is_inside[ends] & ~np.append(False, is_inside)[firsts]
    ends, firsts = ends[whole & known[ends]], firsts[whole & known[ends]]
    word = words.word_of_atom[ends].astype(np.int64)
    before, behind = words.spans
    begin = words.character_offsets[word]
    return word, before[firsts] - begin, behind[ends] - begin


def _covered(segmentation: Segmentation, entries: Sequence[Entry], known: Flags) -> Flags:
    """Return whether each of an entry's two morphs is within its known tokens: (entries, 2)."""
    words, token_at = segmentation.words, segmentation.token_at
    ends = np.flatnonzero(token_at != INSIDE_TOKEN)
    of_atom = known[ends][np.searchsorted(ends, np.arange(len(token_at)))]
    # A character of which a token holds only some bytes is not covered.
    whole = words.characters_of(of_atom) & ~words.characters_of(~of_atom)
    covered = np.ones((len(entries), 2), np.bool_)
    for number, (start, end) in enumerate(pairwise(words.character_offsets.tolist())):
        kept = whole[start:end]
        if not kept.all():
            text = "".join(compress(words.texts[number], kept))
            covered[number] = [morph in text for morph in entries[number].morphs]
    return covered


def _are_tokens(segmentation: Segmentation, entries: Sequence[Entry], known: Flags) -> Flags:
    """Return whether each of an entry's two morphs is a known token: bool, (entries, 2)."""
    word, start, end = _spans(segmentation, known)
    cut = np.array([len(entry.morphs[0]) for entry in entries], np.int64)[word]
    length = np.array([len(entry.word) for entry in entries], np.int64)[word]
    is_token = np.zeros((len(entries), 2), np.bool_)
    is_token[word[(start == 0) & (end == cut)], 0] = True
    is_token[word[(start == cut) & (end == length)], 1] = True
    return is_token


def _lengths(segmentation: Segmentation) -> Counts:
    """Return the number of tokens of each word."""
    words = segmentation.words
    return np.bincount(words.word_of_atom[segmentation.token_at >= 0], minlength=len(words))


def _share(hits: Flags | Counts) -> float:
    return float(hits.mean()) if len(hits) else math.nan
