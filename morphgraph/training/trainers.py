"""Train tokenisers, or vocabularies with their preprocessing, on word counts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import clock
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.pipelines import PIPELINES, PreparedCorpus, prepare
from morphgraph.tokeniser.document import special_token, tokenizer_document
from morphgraph.tokeniser.hugging_face import assumed_document, from_tokenizer_json
from morphgraph.tokeniser.loading import read_vocabulary
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import Marker, SubwordVocabulary
from morphgraph.training.bpe import TrainedBpe, train_bpe
from morphgraph.training.components import UNKNOWN_TOKEN, components
from morphgraph.training.unigram import sentencepiece_model

Enough = Callable[[], bool] | None

WORDPIECE_UNKNOWN = "[UNK]"
AnyTrained = TypeVar("AnyTrained", bound=TrainedBpe)


class TrainingClock:
    """Describes a training's progress, with an estimate of the remaining time.

    >>> told = TrainingClock("training", "preparing the words")
    >>> told(0.0), told(0.5)
    ('preparing the words', 'training, 0:00 left')
    """

    def __init__(self, what: str, before: str) -> None:
        self.what, self.before, self._started = what, before, time.monotonic()

    def __call__(self, share: float) -> str:
        """Return the message for a share of the work, 0 to 1; it is 0 until training begins."""
        if share <= 0:
            self._started = time.monotonic()
            return self.before
        seconds = time.monotonic() - self._started
        return f"{self.what}, {clock(seconds * (1 - min(share, 1.0)) / share)} left"


# ------------------------------------------------------------------------- by merges


def train_merge_tokeniser(
    learn: Callable[..., AnyTrained],
    prepared: PreparedCorpus,
    vocab_size: int,
    name: str,
    watch: Callable[[float], None],
    enough: Enough = None,
    **settings: Any,
) -> tuple[BpeTokeniser, AnyTrained]:
    """Train merges with ``learn``; return a tokeniser with the pipeline, and the trained model.

    The tokeniser includes types that the method removed.
    """
    # Bytes can spell any text, characters cannot.
    special = [] if prepared.kind == "bytes" else [UNKNOWN_TOKEN]
    trained = learn(
        prepared.counts,
        vocab_size=vocab_size,
        alphabet=prepared.alphabet,
        reserved=len(special),
        progress=watch,
        enough=enough,
        **settings,
    )
    _check_room(vocab_size, len(trained.alphabet) + len(special))
    if enough is not None and enough():
        vocab_size = len(special) + len(trained.vocabulary)
    document = tokenizer_document(
        {text: number for number, text in enumerate([*special, *trained.types])},
        trained.merges,
        [special_token(text, number) for number, text in enumerate(special)],
        {**components(prepared), "post_processor": None},
        unk_token=UNKNOWN_TOKEN if special else None,
    )
    data = json.dumps(document, ensure_ascii=False).encode()
    return from_tokenizer_json(data, f"{name}-{vocab_size}"), trained


def _check_room(vocab_size: int, atoms: int, what: str = "atoms") -> None:
    if vocab_size < atoms:
        raise MorphGraphError(
            f"A vocabulary of {vocab_size:,} types has no room for the {atoms:,} {what} and "
            f"special tokens. Ask for more than {atoms:,}."
        )


def train_tokeniser(
    counts: WordCounts,
    vocabulary_size: int,
    *,
    minimum_count: int = 0,
    special: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
    enough: Enough = None,
) -> tuple[dict[str, Any], int]:
    """Train byte-level BPE with the Ġ marker; return ``tokenizer.json`` data and the merge count.

    Words are first cut as the file's pre-tokeniser cuts them, by GPT-2's pattern.
    ``vocabulary_size`` counts special tokens, the 256 bytes and merged types; there are fewer if no
    pairs remain, or once ``enough`` is true, as in `train`.
    """
    _check_room(vocabulary_size, 256 + len(special), "bytes")
    for text in special:
        if not text or special.count(text) > 1:
            raise MorphGraphError(
                f"The special token “{text}” is empty or repeated. Give each a name of its own, "
                "such as “<unk>”."
            )
    prepared = prepare("plain", counts)
    trained = train_bpe(
        prepared.counts,
        vocab_size=vocabulary_size,
        minimum_count=minimum_count,
        alphabet=prepared.alphabet,
        reserved=len(special),
        progress=progress,
        enough=enough,
    )
    if clashing := set(special).intersection(trained.types):
        raise MorphGraphError(
            f"The special token “{min(clashing)}” is also a trained type. Name it so that it is "
            "no text, such as “<unk>”."
        )
    document = assumed_document({"Ġ": 0}, trained.merges)
    document["added_tokens"] = [special_token(text, number) for number, text in enumerate(special)]
    types = [*special, *trained.types]
    document["model"]["vocab"] = {text: number for number, text in enumerate(types)}
    return document, len(trained.merges)


# ------------------------------------------------------------------------- by probability


def unigram_vocabulary(
    prepared: PreparedCorpus, vocab_size: int, name: str, watch: Callable[[float], None]
) -> SubwordVocabulary:
    """Train Unigram (Kudo 2018) with SentencePiece; return types and log-probabilities."""
    name = f"{name}-{vocab_size}"
    model = sentencepiece_model(prepared, vocab_size)
    watch(0.99)
    marker: Marker = "▁" if PIPELINES[prepared.pipeline].marked else ""
    vocabulary = replace(read_vocabulary(model, name), marker=marker, name=name)
    if "▁" not in vocabulary.ids:
        # The token for a space has no competitor, so its score does not matter.
        scores = vocabulary.scores or ()
        vocabulary = replace(
            vocabulary, types=(*vocabulary.types, "▁"), scores=(*scores, min(scores))
        )
    return _with_pipeline(vocabulary, prepared)


def wordpiece_vocabulary(
    prepared: PreparedCorpus,
    vocab_size: int,
    name: str,
    watch: Callable[[float], None],
    enough: Enough = None,
) -> SubwordVocabulary:
    """Train WordPiece as Hugging Face's trainer does, which merges by pair counts as BPE does.

    That trainer takes no counts from Python, so `train_bpe` makes the merges, with one character
    standing for each atom: those inside a word differ from those that start one.
    """
    letters = sorted({c for word in prepared.counts.words for c in word} | {*prepared.alphabet})
    free = (c for c in map(chr, range(0xF0000, 0x110000)) if c not in set(letters))
    inner = dict(zip(letters, free, strict=False))
    to_inner, from_inner = str.maketrans(inner), str.maketrans({v: k for k, v in inner.items()})
    words = [word[0] + word[1:].translate(to_inner) for word in prepared.counts.words]
    trained = train_bpe(
        WordCounts(words, prepared.counts.counts),
        vocab_size=vocab_size,
        alphabet={*prepared.alphabet, *(inner[c] for c in prepared.alphabet)},
        reserved=1,
        progress=watch,
        enough=enough,
    )
    if enough is not None and enough():
        vocab_size = 1 + len(trained.vocabulary)
    _check_room(vocab_size, len(trained.alphabet) + 1)
    starts = {*inner.values()}
    types = [
        ("##" if text[0] in starts else "") + text.translate(from_inner)
        for text in trained.vocabulary
    ]
    vocabulary = SubwordVocabulary(
        tuple(dict.fromkeys((WORDPIECE_UNKNOWN, *types))),
        "##",
        special=frozenset({WORDPIECE_UNKNOWN}),
        unknown=WORDPIECE_UNKNOWN,
        name=f"{name}-{vocab_size}",
    )
    return _with_pipeline(vocabulary, prepared)


def _with_pipeline(vocabulary: SubwordVocabulary, prepared: PreparedCorpus) -> SubwordVocabulary:
    """Return the vocabulary with the pipeline as its preprocessing."""
    document = vocabulary.document()
    parts = components(prepared)
    document["preprocessor"] |= {
        "normalizer": parts["normalizer"],
        "pre_tokenizer": parts["pre_tokenizer"],
        "leading_space": False,
        "byte_fallback": False,
        "sentencepiece": None,
    }
    document["file"] = parts
    return type(vocabulary).from_document(document)
