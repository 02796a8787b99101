"""Parity-aware BPE: merges chosen in the language that is behind; what comes out is plain BPE."""

from typing import Any

from pydantic import Field

from morphgraph.corpus.counts import LanguageCounts
from morphgraph.corpus.pipelines import PreparedLanguages
from morphgraph.segment.bte import Bte
from morphgraph.segment.method import Method, Parameters, Training
from morphgraph.segment.training import (
    TrainedBpe,
    merged_types,
    packed_texts,
    train_merge_tokeniser,
)

MINIMUM_COUNT = 2
"""Training ends where the best pair of the chosen language is rarer."""


class ParityParameters(Parameters):
    """Training parameters of parity-aware BPE."""

    global_merges: int = Field(
        default=0,
        ge=0,
        description="How many of the first merges all languages choose together (hybrid).",
    )
    window: int = Field(
        default=0,
        ge=0,
        description="The number of last merges of which no language has more than its share times "
        "alpha; 0 for no limit, 100 in the paper.",
    )
    alpha: float = Field(
        default=2.0, ge=1, description="How many times its share of the window a language may have."
    )


def train_parity(
    counts: LanguageCounts,
    *,
    vocab_size: int,
    minimum_count: int = MINIMUM_COUNT,
    alphabet: Any = (),
    reserved: int = 0,
    **options: Any,
) -> TrainedBpe:
    """Train parity-aware BPE on words of several languages.

    Each step takes the language whose development text has the most tokens, or, without such texts,
    whose training text has the fewest atoms per token, the first of equals. Its most frequent pair,
    of several the last by code point, is merged in all languages; if that is rarer than
    ``minimum_count``, training ends. ``options``: `ParityParameters`; the rest is as in
    `trained_events`. Source: Foroutan et al. 2025.

    >>> from morphgraph.corpus.counts import WordCounts
    >>> languages = {"A": WordCounts(["ab", "cd"], [5, 4]), "B": WordCounts(["xy", "xz"], [3, 3])}
    >>> development = {"A": WordCounts(["ab"], [2]), "B": WordCounts(["xy"], [3])}
    >>> train_parity(LanguageCounts(languages, development), vocab_size=99).merges
    (('x', 'z'), ('x', 'y'), ('a', 'b'))
    """
    from morphgraph_remedies.parity_kernel import learn_parity

    names = counts.names
    texts = [counts.languages[name] for name in names]
    texts += [counts.development[name] for name in names if counts.development]
    packed, atoms = packed_texts(texts, alphabet)
    words, tokens = (list(each) for each in zip(*packed, strict=True))
    n = len(names)
    rows = learn_parity(
        words[:n],
        tokens[:n],
        words[n:],
        tokens[n:],
        atoms,
        vocab_size - reserved,
        minimum_count=minimum_count,
        **options,
    )
    return TrainedBpe(atoms, *merged_types(atoms, rows))


def _trained(prepared: PreparedLanguages, *given: Any, **more: Any) -> Bte:
    def learn(_: Any, **settings: Any) -> TrainedBpe:
        return train_parity(prepared.languages, **settings)

    return Bte(train_merge_tokeniser(learn, prepared, *given, **more)[0])


PARITY = Method(
    "parity",
    "Parity-aware BPE",
    "BPE whose merges are chosen in the language with the longest text so far.",
    None,
    "training",
    ParityParameters,
    source="Foroutan et al. 2025",
    training=Training(
        "BPE that merges in the language that is behind: counts of several (Foroutan et al. 2025).",
        _trained,
        ParityParameters,
        several=True,
        seconds=5.0,
    ),
)
