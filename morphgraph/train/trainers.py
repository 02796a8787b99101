"""Every way to train a tokeniser from word counts, behind one function: `train`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import clock
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.pipelines import PIPELINES, PreparedCorpus, prepare
from morphgraph.corpus.text import Progress
from morphgraph.segment.parameters import Parameters
from morphgraph.segment.picky import PickyParameters
from morphgraph.segment.registry import METHODS
from morphgraph.tokeniser.document import special_token, tokenizer_document
from morphgraph.tokeniser.hugging_face import assumed_document, from_tokenizer_json
from morphgraph.train.bpe import TrainedBpe, train_bpe
from morphgraph.train.components import UNKNOWN_TOKEN, components
from morphgraph.train.picky import train_picky
from morphgraph.train.scaffold import train_scaffold
from morphgraph.train.unigram import sentencepiece_model

if TYPE_CHECKING:
    from morphgraph.tokeniser.vocabulary import SubwordVocabulary
    from morphgraph.tokeniser.words import Segmenter

Cancelled = Callable[[], bool] | None
Enough = Callable[[], bool] | None

WORDPIECE_UNKNOWN = "[UNK]"
_WITHOUT_SPACES = ("spaces", "no-spaces")


class TrainingClock:
    """What to tell of a training: what is done, and for how long it will go on at that rate.

    >>> told = TrainingClock("training", "preparing the words")
    >>> told(0.0), told(0.5)
    ('preparing the words', 'training, 0:00 left')
    """

    def __init__(self, what: str, before: str) -> None:
        self.what, self.before, self._started = what, before, time.monotonic()

    def __call__(self, share: float) -> str:
        """The line for a share of the work, 0 to 1, which is 0 before the training begins."""
        if share <= 0:
            self._started = time.monotonic()
            return self.before
        seconds = time.monotonic() - self._started
        return f"{self.what}, {clock(seconds * (1 - min(share, 1.0)) / share)} left"


class TrainingStopped(MorphGraphError):
    """The training was stopped before its end; nothing came out."""


@dataclass(frozen=True)
class Trainer:
    """A way to train: what it is, what it can be told, and what does it.

    ``title``: of what comes out, that of the method of its name if not given. ``pipelines``: those
    that it can follow, its own first. ``kind``: the atoms that it needs, where they are not the
    pipeline's. ``stoppable``: it tells its progress and can be stopped; else it runs to its end.
    ``seconds``: a guess at how long 32,000 types take on one core.
    """

    name: str
    description: str
    run: Callable[..., Segmenter] = field(repr=False)
    title: str = ""
    parameters: type[Parameters] = Parameters
    pipelines: tuple[str, ...] = tuple(PIPELINES)
    kind: str | None = None
    stoppable: bool = True
    seconds: float = 2.5

    @property
    def label(self) -> str:
        """What people call it."""
        return self.title or METHODS[self.name].title


def train(
    method: str,
    counts: Mapping[str, int] | WordCounts,
    vocab_size: int,
    *,
    pipeline: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    minimum_count: int | None = None,
    progress: Progress = None,
    cancelled: Cancelled = None,
    enough: Enough = None,
) -> Segmenter:
    """Train by one of the `TRAINERS` on word counts: a segmenter that cuts as its training did.

    ``pipeline`` prepares the words (`pipelines.prepare`; ``minimum_count`` is its threshold), the
    method's own first choice by default. ``vocab_size`` counts every type, the unknown token and
    all atoms included. ``progress`` is called with a number from 0 to 1; where ``cancelled``
    becomes true, `TrainingStopped` is raised; where ``enough`` does, training ends with the types
    that there are by then, as for a vocabulary of that size. Unigram trains in one native call,
    which tells no progress and cannot be stopped: there ``cancelled`` is asked before and after it
    only, and ``enough`` never. Raises
    `MorphGraphError` for a method, pipeline or parameter that there is not, for a size without room
    for the atoms, and where no word is left.

    >>> segmenter = train("bpe", {"low": 5, "lower": 2, "newest": 6, "widest": 3}, 259)
    >>> list(segmenter.types[256:])
    ['es', 'est', 'lo']
    """
    chosen = trainer_named(method)
    pipeline = pipeline or chosen.pipelines[0]
    if pipeline in PIPELINES and pipeline not in chosen.pipelines:
        raise MorphGraphError(
            f"{chosen.label} cannot follow the pipeline {pipeline}. "
            f"Choose one of {', '.join(chosen.pipelines)}."
        )
    settings = chosen.parameters.of(method, parameters or {})
    watch = _watching(progress, cancelled)
    watch(0.0)
    prepared = prepare(pipeline, counts, kind=chosen.kind, minimum_count=minimum_count)
    run = partial(chosen.run, enough=enough) if chosen.stoppable else chosen.run
    trained = run(prepared, vocab_size, f"{method}-{pipeline}", watch, **dict(settings))
    watch(1.0)
    return trained


def trainer_named(name: str) -> Trainer:
    """One of the `TRAINERS`; `MorphGraphError` if there is none of this name."""
    if name not in TRAINERS:
        listed = ", ".join(TRAINERS)
        raise MorphGraphError(f"There is no method “{name}” of training. Choose one of: {listed}.")
    return TRAINERS[name]


def _watching(progress: Progress, cancelled: Cancelled) -> Callable[[float], None]:
    def watch(share: float) -> None:
        if cancelled is not None and cancelled():
            raise TrainingStopped("The training was stopped. Start it again for a result.")
        if progress is not None:
            progress(share)

    return watch


# ------------------------------------------------------------------------- by merges


def _by_merges(
    learn: Callable[..., TrainedBpe],
    prepared: PreparedCorpus,
    vocab_size: int,
    name: str,
    watch: Callable[[float], None],
    enough: Enough = None,
    **settings: Any,
) -> Segmenter:
    """What one of the trainers of merges learns, with the pipeline as its preprocessing."""
    # Bytes spell everything, characters do not.
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
    return trained.segmenter(from_tokenizer_json(data, f"{name}-{vocab_size}"))


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
    """Train byte-level BPE with the Ġ marker: a ``tokenizer.json`` as data, and how many merges.

    Words are cut first as the file's pre-tokeniser will cut them, by GPT-2's pattern.
    ``vocabulary_size`` counts the special tokens, the 256 bytes and the merged types; fewer come
    out if the words have no more pairs to merge, or where ``enough`` gets true, as for `train`.
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


def _unigram(
    prepared: PreparedCorpus, vocab_size: int, name: str, watch: Callable[[float], None]
) -> Segmenter:
    """Unigram (Kudo 2018), trained by SentencePiece."""
    from morphgraph.segment.unigram import Unigram
    from morphgraph.tokeniser.loading import read_vocabulary

    name = f"{name}-{vocab_size}"
    model = sentencepiece_model(prepared, vocab_size)
    watch(0.99)
    vocabulary = replace(read_vocabulary(model, name), marker=_unigram_marker(prepared), name=name)
    if "▁" not in vocabulary.ids:
        # The token for a space; nothing competes with it, so its score is of no consequence.
        scores = vocabulary.scores or ()
        vocabulary = replace(
            vocabulary, types=(*vocabulary.types, "▁"), scores=(*scores, min(scores))
        )
    return Unigram(_with_pipeline(vocabulary, prepared))


def _unigram_marker(prepared: PreparedCorpus) -> Any:
    return "" if prepared.pipeline in _WITHOUT_SPACES else "▁"


def _wordpiece(
    prepared: PreparedCorpus,
    vocab_size: int,
    name: str,
    watch: Callable[[float], None],
    enough: Enough = None,
) -> Segmenter:
    """WordPiece as Hugging Face's trainer makes it, which merges by counts as BPE does.

    That trainer takes no counts from Python, so the merges are made by `train_bpe`: atoms inside a
    word are other atoms than those that start one, and each is one character meanwhile.
    """
    from morphgraph.segment.wordpiece import WordPiece
    from morphgraph.tokeniser.vocabulary import SubwordVocabulary

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
    return WordPiece(_with_pipeline(vocabulary, prepared), WORDPIECE_UNKNOWN)


def _with_pipeline(vocabulary: SubwordVocabulary, prepared: PreparedCorpus) -> SubwordVocabulary:
    """The vocabulary with the pipeline as its preprocessing."""
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


TRAINERS: dict[str, Trainer] = {
    trainer.name: trainer
    for trainer in (
        Trainer(
            "bpe",
            "Merges the most frequent pair (Sennrich et al. 2016).",
            partial(_by_merges, train_bpe),
        ),
        Trainer(
            "bpe-prime",
            "BPE in which every space is a token of its own (Gow-Smith et al. 2022).",
            partial(_by_merges, train_bpe),
            "BPE′",
            pipelines=_WITHOUT_SPACES,
        ),
        Trainer(
            "picky",
            "BPE that removes types which hardly occur but inside another one "
            "(Chizhov et al. 2024).",
            partial(_by_merges, train_picky),
            parameters=PickyParameters,
            seconds=6.0,
        ),
        Trainer(
            "scaffold",
            "BPE that takes types apart again which only helped to build others "
            "(Lian et al. 2025).",
            partial(_by_merges, train_scaffold),
            seconds=3.0,
        ),
        Trainer(
            "unigram",
            "The most probable of all segmentations (Kudo 2018), trained by SentencePiece.",
            _unigram,
            kind="characters",
            stoppable=False,
            seconds=15.0,
        ),
        Trainer(
            "unigram-prime",
            "Unigram in which every space is a token of its own (Gow-Smith et al. 2022).",
            _unigram,
            "Unigram′",
            pipelines=_WITHOUT_SPACES,
            kind="characters",
            stoppable=False,
            seconds=15.0,
        ),
        Trainer(
            "wordpiece",
            "The longest match from the left, ## inside words, as in BERT (Wu et al. 2016).",
            _wordpiece,
            kind="unmarked",
        ),
    )
}
"""The ways to train by name."""
