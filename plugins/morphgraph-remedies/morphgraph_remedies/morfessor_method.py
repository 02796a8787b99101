"""Morfessor Baseline as a method: the most probable sequence of its morphs."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from morphgraph.corpus.pipelines import PreparedCorpus
from morphgraph.reference.silver import dampened, train_baseline
from morphgraph.segment.method import Method, Parameters, Training
from morphgraph.segment.training import UNKNOWN_TOKEN, check_vocabulary_size, with_pipeline
from morphgraph.segment.unigram import Unigram
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

_PER_LETTER = 100.0
"""How many rare morphs cost as much as a letter that is no morph."""


class MorfessorParameters(Parameters):
    """What Morfessor Baseline is trained with."""

    corpus_weight: float = Field(
        default=1.0, gt=0, description="α, the weight of the corpus; larger: fewer splits."
    )
    words: int = Field(
        default=50_000, ge=1, description="At most this many words, the most frequent."
    )
    seed: int = Field(default=0, ge=0, description="For the order in which words are visited.")


class Morfessor(Unigram):
    """The most probable sequence of morphs, as Morfessor's Viterbi search without smoothing.

    A letter that is no morph is a token of its own, and only taken where no morphs fit. Source:
    Virpioja et al. 2013.
    """

    method = "morfessor"
    name = "Morfessor"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """None: all that matters is in the vocabulary."""
        return {}


def _trained(
    prepared: PreparedCorpus,
    vocab_size: int,
    name: str,
    watch: Callable[[float], None],
    corpus_weight: float,
    words: int,
    seed: int,
) -> Morfessor:
    """Return the letters of the words and the most frequent morphs, as many as there is room."""
    counts = dampened(prepared.counts, words)
    model = train_baseline(counts, seed, corpus_weight, watch=watch)
    letters = sorted({*prepared.alphabet, *(c for word in counts for c in word)})
    check_vocabulary_size(vocab_size, len(letters) + 1)
    morphs: list[tuple[str, int]] = model.get_constructions()
    every = math.log(model.tokens + sum(counts.values()))
    scores = dict.fromkeys((UNKNOWN_TOKEN, *letters), -_PER_LETTER * every)
    room = vocab_size - len(scores)
    for morph, count in sorted(morphs, key=lambda pair: (-pair[1], pair[0])):
        if morph in scores or room > 0:
            room -= morph not in scores
            scores[morph] = math.log(count) - every
    vocabulary = SubwordVocabulary(
        tuple(scores),
        special=frozenset({UNKNOWN_TOKEN}),
        unknown=UNKNOWN_TOKEN,
        scores=tuple(scores.values()),
        name=f"{name}-{vocab_size}",
    )
    return Morfessor(with_pipeline(vocabulary, prepared))


MORFESSOR = Method(
    "morfessor",
    "Morfessor",
    "The most probable sequence of morphs, which were found without gold; - and ' stand alone.",
    Morfessor,
    "training",
    MorfessorParameters,
    source="Virpioja et al. 2013",
    training=Training(
        "Morphs that make the lexicon and the words together shortest (Virpioja et al. 2013).",
        _trained,
        MorfessorParameters,
        atoms="unmarked",
        stoppable=False,
        seconds=60.0,
    ),
    standalone="morphgraph.standalone.lookup:Unigram",
)
