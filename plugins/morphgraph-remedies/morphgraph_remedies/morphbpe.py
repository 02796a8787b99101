"""MorphBPE: BPE trained such that no merge is counted, or made, across a gold boundary.

The source says nothing of ties, of words with several analyses or of a tokeniser's pieces: these
rules are ours. Source: Asgari et al. 2025, arXiv 2502.00894.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.reference.entry import Reference
from morphgraph.refine import learned_from
from morphgraph.refine.extending import pack_tokens
from morphgraph.refine.learning import Learned
from morphgraph.score import SHARE_KEPT
from morphgraph.score.gold_set import Cuts, GoldSet
from morphgraph.segment.bte import Bte
from morphgraph.segment.method import Method, Parameters
from morphgraph.segment.segmenter import Segmenter
from morphgraph.segment.training import merged_types
from morphgraph.tokeniser.tokeniser import BpeTokeniser


class MorphBPESettings(Parameters):
    """How large a vocabulary to train, and on which words."""

    types: int | None = Field(
        default=None,
        ge=0,
        description="Train up to this vocabulary size; that of the tokeniser if not given.",
    )

    @property
    def sees_gold(self) -> bool:
        return True


def training_words(gold_set: GoldSet) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return the words to train on, each with its count and its morphs, none without gold.

    Of several entries of a word the first one counts. The counts are those of the gold set's
    frequencies, rounded up to whole numbers, and all of their words are trained on, the others
    without morphs; an entry that has none counts 1.
    Frequencies in lower case cut their own spelling of a word.

    >>> import morphgraph as mg
    >>> gold = mg.read_gold([("Undo", ["Un", "do"]), ("dogs", ["dog", "s"])])
    >>> training_words(gold)
    {'Undo': (1, ('Un', 'do')), 'dogs': (1, ('dog', 's'))}
    """
    corpus: Mapping[str, float] = gold_set.frequencies or {}
    words: dict[str, tuple[int, tuple[str, ...]]] = {}
    for entry, weight in zip(gold_set, gold_set.token_weights.tolist(), strict=True):
        spellings = (entry.word, entry.word.lower(), entry.word.casefold())
        word = next((each for each in spellings if each in corpus), entry.word)
        if word in words or len(word) != len(entry.word):
            continue
        ends = np.cumsum([0, *map(len, entry.morphs)]).tolist()
        morphs = tuple(word[start:end] for start, end in pairwise(ends))
        is_barred = entry.word not in gold_set.reference.exempt
        words[word] = (math.ceil(weight), morphs if is_barred else ())
    for word, weight in corpus.items():
        if word not in words and weight > 0:
            words[word] = (math.ceil(weight), ())
    return {word: each for word, each in words.items() if word and each[0]}


def train_barred(
    tokeniser: BpeTokeniser,
    words: Mapping[str, tuple[int, tuple[str, ...]]],
    merges: int,
    bare: bool = False,
) -> list[tuple[str, str]]:
    """Train BPE on the morphs of words, each as often as its words: the merges, in order.

    ``words``: see `training_words`. The tokeniser only gives pieces and atoms; the marker, or what
    else it puts in front of a word, stays with the first morph. Ties go to the first pair by code
    point of the left, then of the right atom, and to the earlier type. An unknown character is a
    barrier too.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("t", ["c", "d", "g", "h", "o", "s"], [])
    >>> words = {"dogs": (2, ("dog", "s")), "hogs": (1, ("hog", "s")), "gs": (1, ())}
    >>> train_barred(tokeniser, words, 9)
    [('o', 'g'), ('d', 'og'), ('g', 's'), ('h', 'og')]
    """
    from morphgraph.kernels.merge_training import learn_events

    if not words or merges < 1:
        return []
    encoded = tokeniser.encode(list(words), bare=bare)
    cuts = Cuts.of([morphs or None for _, morphs in words.values()])
    begins = np.zeros(len(encoded.atoms) + 1, bool)
    begins[encoded.piece_offsets] = begins[-1] = True
    begins[encoded.gaps_at(cuts.words, cuts.positions) + 1] = True
    counts = np.fromiter((count for count, _ in words.values()), np.int64, len(words))
    packed, types = pack_tokens(tokeniser.graph, encoded, encoded.atoms, begins, counts)
    rows, _ = learn_events(packed, len(types), len(types) + merges)
    return list(merged_types(types, rows)[0])


def learn_morphbpe(
    tokeniser: BpeTokeniser, gold_set: GoldSet, settings: MorphBPESettings
) -> Learned:
    """Return a tokeniser with the pieces and atoms of another one, and MorphBPE's merges.

    Types that both tokenisers have keep their ids.
    `MorphGraphError` for a size without room for what no merge makes.
    """
    edited = tokeniser.copy()
    graph = edited.graph
    words = training_words(gold_set)
    wanted = edited.vocabulary_size if settings.types is None else settings.types
    made = dict.fromkeys(graph.types[merge.result] for merge in graph.merges().values())
    graph.cascade([text for text in made if graph.is_removable(graph.ids[text])])
    room = wanted - edited.vocabulary_size
    if room < 0:
        raise MorphGraphError(
            f"A vocabulary of {wanted:,} types has no room for the {edited.vocabulary_size:,} that "
            f"no merge makes. Give types={edited.vocabulary_size} or more."
        )
    merges = train_barred(edited, words, room, gold_set.bare)
    graph.apply(learned_from(graph.preview_anneal(merges, ()), gold_set))
    return Learned(Bte(edited), {"words": len(words), "merges": edited.graph.merge_count})


def train_morphbpe(
    base: Segmenter,
    words: WordCounts,
    gold: Reference,
    vocabulary_size: int,
    parameters: Mapping[str, Any],
    holdout: float = SHARE_KEPT,
) -> Segmenter:
    """Return what MorphBPE makes of a BPE, and of the word counts that this was trained on.

    It remembers what it has learned from; ``parameters``: those of `MorphBPESettings`. ``holdout``:
    the share of gold that is kept aside, by families of words.
    """
    settings: Any = MORPHBPE.settings({"types": vocabulary_size, **parameters})
    tokeniser = base.editable
    assert tokeniser is not None
    named = replace(tokeniser, name=tokeniser.name.replace("bpe", "morphbpe", 1))
    numbers = map(float, words.counts)
    gold_set = GoldSet.of(gold, dict(zip(words.words, numbers, strict=True)))
    rest, _ = gold_set.set_aside(holdout, 0)
    return learn_morphbpe(named, rest, settings).segmenter


MORPHBPE = Method(
    "morphbpe",
    "MorphBPE (ours)",
    "BPE trained anew, on the words learned from, with no merge across their gold boundaries; on "
    "other words it is plain BPE.",
    None,
    "gold",
    MorphBPESettings,
    source="Asgari et al. 2025",
    seconds=3.0,
    learn=learn_morphbpe,
    retrain=train_morphbpe,
)
