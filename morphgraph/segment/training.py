"""Training by any method that supports it: from word counts to a segmenter; BPE's own trainer.

A pipeline becomes Hugging Face components, so that a tokeniser segments as in training. Their
normaliser runs before any splitting, and pre-tokenisers split without changing text; so capitals
are marked first here but last in `morphgraph.corpus.pipelines`, with the same result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import json_bytes
from morphgraph.core.text import clock
from morphgraph.corpus.counts import LanguageCounts, WordCounts
from morphgraph.corpus.pipelines import (
    PIPELINES,
    PreparedCorpus,
    mark_capitals,
    pipeline_named,
    prepare,
    restore_capitals,
)
from morphgraph.corpus.word_array import BATCH_SIZE, WordArray
from morphgraph.formats.hugging_face import (
    from_tokenizer_json,
    tokenizer_document,
)
from morphgraph.formats.pipeline_parts import (
    byte_level,
    metaspace,
    replacing,
    sequence,
    special_token,
    split,
)
from morphgraph.segment.method import METHODS, Method, Training, method_named
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.parts import APOSTROPHES, CAPITAL, CONTRACTIONS, DIGITS, OUTER_MARKS
from morphgraph.tokeniser.preprocess import AddedToken
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.vocabulary import SubwordVocabulary

if TYPE_CHECKING:
    from morphgraph.corpus.texts import Progress

Asked = Callable[[], bool] | None
"""A function that tells whether something, such as a stop, was requested."""
UNKNOWN_TOKEN = "<unk>"


def train(
    method: str,
    counts: Mapping[str, int] | WordCounts | LanguageCounts,
    vocab_size: int,
    *,
    pipeline: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    minimum_count: int | None = None,
    special: Sequence[str] = (),
    progress: Progress = None,
    enough: Asked = None,
) -> Segmenter:
    """Train one of `METHODS` on word counts; return a segmenter that segments as in training.

    ``pipeline`` prepares the words (`pipelines.prepare`; ``minimum_count`` is its threshold), by
    default the method's first choice. ``vocab_size`` counts every type, the unknown token and all
    atoms included. ``special``: tokens of their own, which come first. ``progress`` is called with
    a number from 0 to 1, and ends the training by an exception; once ``enough`` returns true,
    training ends with the types so far. Unigram trains in one native call, without either. Of
    counts of several languages, each language is prepared for itself; most methods then train on
    the sums. Raises `MorphGraphError` for an unknown method, pipeline or parameter, for a size
    without room for the atoms, if no words remain, and where counts of several languages,
    development texts or special tokens do not go with the method.

    >>> segmenter = train("bpe", {"low": 5, "lower": 2, "newest": 6, "widest": 3}, 259)
    >>> list(segmenter.types[256:])
    ['es', 'est', 'lo']
    """
    entry, training = training_of(method)
    pipeline = pipeline or training.pipelines[0]
    if pipeline in PIPELINES and pipeline not in training.pipelines:
        raise MorphGraphError(
            f"{entry.title} cannot follow the pipeline {pipeline}. "
            f"Use one of: {', '.join(training.pipelines)}."
        )
    settings = training.parameters.of(method, parameters or {})
    _check_languages(entry, training, counts)
    more: dict[str, Any] = {"enough": enough} if training.stoppable else {}
    if training.special:
        more["special"] = special
    elif special:
        raise MorphGraphError(f"{entry.title} takes no special tokens. Leave them out.")
    watch = progress or (lambda share: None)
    watch(0.0)
    prepared = prepare(pipeline, counts, kind=training.atoms, minimum_count=minimum_count)
    name = f"{method}-{pipeline}"
    trained: Segmenter = training.run(prepared, vocab_size, name, watch, **more, **dict(settings))
    watch(1.0)
    return trained


def training_of(name: str) -> tuple[Method, Training]:
    """Return a method by name, and its training; `MorphGraphError` if it has none."""
    entry = method_named(name, METHODS.trained)
    return entry, cast("Training", entry.training)


def _check_languages(entry: Method, training: Training, counts: Any) -> None:
    names = counts.names if isinstance(counts, LanguageCounts) else []
    if training.several and len(names) < 2:
        raise MorphGraphError(
            f"{entry.title} balances several languages, but there is only one. Give word counts "
            "of two or more, each with its name: en=FILE de=FILE."
        )
    if names and counts.development and not training.several:
        raise MorphGraphError(f"{entry.title} takes no development texts. Leave them out.")


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


# ------------------------------------------------------------------------- pipelines


def components(prepared: PreparedCorpus) -> dict[str, Any]:
    """Return normaliser, pre-tokeniser and decoder for a ``tokenizer.json``, as data.

    >>> from morphgraph.corpus.pipelines import prepare
    >>> parts = components(prepare("no-spaces", {"word": 1}, kind="unmarked"))
    >>> parts["pre_tokenizer"]
    {'type': 'WhitespaceSplit'}
    """
    chosen, kind = pipeline_named(prepared.pipeline), prepared.kind
    marks = {"bytes": [{**_BYTES, "add_prefix_space": True}], "characters": [_METASPACE]}
    marker = marks.get(kind, []) if chosen.marked else []
    normalizers: list[dict[str, Any]] = []
    pre_tokenizers: list[dict[str, Any]] = [_WORDS, *marker]
    decoders = {"bytes": [_BYTES], "characters": [{**_METASPACE, "split": True}]}.get(kind, [])
    if chosen.name == "plain" and kind == "bytes":
        pre_tokenizers = decoders = [byte_level()]
    elif chosen.name == "knockout":
        pre_tokenizers = [_WORDS, split(r"[^\P{P}-]"), *marker, split("-")]
    elif chosen.name == "rebpe":
        normalizers = [{"type": "NFKC"}, *_capitals(prepared.alphabet)]
        before, after = (OUTER_MARKS, CONTRACTIONS, APOSTROPHES), (DIGITS, "-+")
        pre_tokenizers = [_WORDS, *map(split, before), *marker, *map(split, after)]
        decoders = [*decoders, *_capitals_back(prepared.alphabet)]
    elif chosen.name == "spaces" and kind == "characters":
        normalizers, pre_tokenizers = [replacing(" ", "▁")], [split("▁")]
    elif not chosen.marked:
        pre_tokenizers = [split(r"\s") if chosen.name == "spaces" else _WORDS]
        pre_tokenizers += [_BYTES] if kind == "bytes" else []
    return {
        "normalizer": sequence("normalizer", *normalizers),
        "pre_tokenizer": sequence("pre_tokenizer", *pre_tokenizers),
        "decoder": sequence("decoder", *decoders),
    }


_WORDS: dict[str, Any] = {"type": "WhitespaceSplit"}
_BYTES, _METASPACE = byte_level(regex=False), metaspace("always", split=False)


def _capitals(alphabet: Iterable[str]) -> list[dict[str, Any]]:
    """Insert ⇧ before capitals of the alphabet's letters; other capitals are unknown anyway."""
    capitals = _capitals_of(alphabet)
    return [replacing(CAPITAL, CAPITAL * 2)] + [replacing(c, mark_capitals(c)) for c in capitals]


def _capitals_back(alphabet: Iterable[str]) -> list[dict[str, Any]]:
    capitals = _capitals_of(alphabet)
    return [{"type": "Fuse"}] + [replacing(mark_capitals(c), c) for c in (*capitals, CAPITAL)]


def _capitals_of(alphabet: Iterable[str]) -> list[str]:
    capitals = (restore_capitals(CAPITAL + c) for c in sorted(alphabet) if c != CAPITAL)
    # I is the capital of i and ı; capitals of several characters never occur in a text.
    return list(dict.fromkeys(c for c in capitals if len(c) == 1 and mark_capitals(c) != c))


def with_pipeline(vocabulary: SubwordVocabulary, prepared: PreparedCorpus) -> SubwordVocabulary:
    """Return the vocabulary with the pipeline as its preprocessing.

    Its unknown token is an added one, which `transformers` makes of it in any case.
    """
    document = vocabulary.document()
    unknown = vocabulary.unknown
    added = [] if unknown is None else [special_token(unknown, vocabulary.ids[unknown])]
    parts = {**components(prepared), "added_tokens": added}
    tokens = [AddedToken(token["content"])._asdict() for token in added]
    document["preprocessor"] |= {
        "normalizer": parts["normalizer"],
        "pre_tokenizer": parts["pre_tokenizer"],
        "leading_space": False,
        "byte_fallback": False,
        "sentencepiece": None,
        "added": tokens,
    }
    document["file"] = parts
    return type(vocabulary).from_document(document)


# ------------------------------------------------------------------------- BPE


@dataclass(frozen=True)
class TrainedBpe:
    """The result of merge-based training: atoms by code point, merges in order, and all types.

    ``types``: the alphabet, then the results of merges in order of first occurrence.
    """

    alphabet: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]
    types: tuple[str, ...]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The types that count towards the requested size, by id."""
        return self.types


def train_bpe(counts: Mapping[str, int] | WordCounts, **settings: Any) -> TrainedBpe:
    """Train BPE on word counts, with the merges of Hugging Face's `BpeTrainer`, in order.

    ``settings``: those of `trained_events`. Each step merges the pair with the highest count, ties
    going to the smallest left, then right id, in order of creation with atoms sorted by code point.

    >>> train_bpe({"low": 5, "lower": 2, "newest": 6, "widest": 3}, vocab_size=13).merges
    (('e', 's'), ('es', 't'), ('l', 'o'))
    """
    characters, rows, _ = trained_events(counts, **settings)
    return TrainedBpe(characters, *merged_types(characters, rows))


def merged_types(
    atoms: Sequence[str], rows: npt.NDArray[np.int32]
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return merges (left, right, result) as strings, and all types; each makes a new one."""
    types, merges = list(atoms), []
    for left, right, _ in rows.tolist():
        merges.append((types[left], types[right]))
        types.append(types[left] + types[right])
    return tuple(merges), tuple(types)


def trained_events(
    counts: Mapping[str, int] | WordCounts,
    *,
    vocab_size: int,
    alphabet: Iterable[str] = (),
    reserved: int = 0,
    **options: Any,
) -> tuple[tuple[str, ...], npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Train by merges on word counts; return the atoms, and what `kernels.merge_training` returns.

    The characters of the words are the atoms; ``alphabet`` adds some that need not occur. Training
    ends at ``vocab_size`` types, less the ``reserved`` ones that the caller adds, or when no pair
    has a count of at least ``minimum_count`` and 1. ``options``: that, 0 by default, the kernel's
    ``threshold`` or ``scaffold``, and two functions. ``progress`` is called repeatedly with a
    number from 0 to 1; an exception that it raises ends the training. ``enough`` is called as
    often: once it is true, training ends with the result for the number of types reached.

    Raises `MorphGraphError` for negative counts, for counts so large that 64 bits could overflow,
    for more than 2³¹ characters in all, and where there is nothing to train on.
    """
    from morphgraph.kernels.merge_training import learn_events

    [(words, _)], atoms = packed_texts([counts], alphabet)
    return atoms, *learn_events(words, len(atoms), vocab_size - reserved, **options)


def packed_texts(
    texts: Sequence[Mapping[str, int] | WordCounts], alphabet: Iterable[str]
) -> tuple[list[tuple[npt.NDArray[np.int32], int]], tuple[str, ...]]:
    """Return the words of each text, packed for training kernels, with the number of atoms in them.

    Then the atoms of all texts together; errors as in `trained_events`.
    """
    from morphgraph.kernels.training_tables import append_words, room_for_words

    listed = []
    for counts in texts:
        if not isinstance(counts, WordCounts):
            counts = WordCounts.from_mapping(counts)
        words, numbers = counted_words(counts)
        if isinstance(words, WordArray):
            lengths = words.lengths()
        else:
            lengths = np.fromiter(map(len, words), np.int64, len(words))
        check_total(lengths, numbers)
        listed.append((words, numbers, lengths))
    present = np.zeros(0x110000, np.bool_)
    present[[ord(character) for character in alphabet]] = True
    for words, _, _ in listed:
        for portion in _code_points(words):
            present[portion] = True
    characters = np.flatnonzero(present)
    atom_ids = np.zeros(0x110000, np.int32)
    atom_ids[characters] = np.arange(len(characters))
    all_packed = []
    for words, numbers, lengths in listed:
        packed, at = room_for_words(lengths), 0
        for number, portion in enumerate(_code_points(words)):
            some = slice(number * BATCH_SIZE, (number + 1) * BATCH_SIZE)
            at = append_words(packed, at, atom_ids[portion], lengths[some], numbers[some])
        all_packed.append((packed, int((lengths * numbers).sum())))
    return all_packed, tuple(map(chr, characters.tolist()))


def check_total(lengths: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> None:
    """Refuse words of these lengths and counts if 64 bits could overflow."""
    if float((lengths * numbers.astype(float)).sum()) >= 2.0**62:
        raise MorphGraphError("The counts add up to more than 2⁶². Scale the counts down.")


def counted_words(counts: WordCounts) -> tuple[Sequence[str], npt.NDArray[np.int64]]:
    """Return the words with a count above 0, and their counts; errors as in `trained_events`."""
    words = counts.words
    try:
        numbers = np.asarray(counts.counts, np.int64)
    except OverflowError as error:
        raise MorphGraphError("A count has more than 64 bits. Scale the counts down.") from error
    if (numbers <= 0).any():
        if (numbers < 0).any():
            first = int(np.flatnonzero(numbers < 0)[0])
            raise MorphGraphError(
                f"The word {words[first]!r} has the count {numbers[first]}. Counts start at 1."
            )
        if isinstance(words, WordArray):
            words = words.where(numbers > 0)
        else:
            words = [word for word, number in zip(words, numbers.tolist(), strict=True) if number]
        numbers = numbers[numbers > 0]
    if not len(words):
        raise MorphGraphError("There are no words to train on. Give at least one, with its count.")
    return words, numbers


def _code_points(words: Sequence[str]) -> Iterator[npt.NDArray[np.uint32]]:
    """Yield the characters of the words, for `BATCH_SIZE` words at a time."""
    for start in range(0, len(words), BATCH_SIZE):
        some = words[start : start + BATCH_SIZE]
        if isinstance(some, WordArray):
            yield some.characters()[0]
        else:
            # Lone surrogates are ordinary characters here.
            text = "".join(some).encode("utf-32-le", errors="surrogatepass")
            yield np.frombuffer(text, np.uint32)


AnyTrained = TypeVar("AnyTrained", bound=TrainedBpe)


def train_merge_tokeniser(
    learn: Callable[..., AnyTrained],
    prepared: PreparedCorpus,
    vocab_size: int,
    name: str,
    watch: Callable[[float], None],
    enough: Asked = None,
    special: Sequence[str] = (),
    **settings: Any,
) -> tuple[BpeTokeniser, AnyTrained]:
    """Train merges with ``learn``; return a tokeniser with the pipeline, and the trained model."""
    # Bytes can spell any text, characters cannot.
    unknown = [] if prepared.kind == "bytes" else [UNKNOWN_TOKEN]
    reserved = [*special, *(text for text in unknown if text not in special)]
    for text in special:
        if not text or special.count(text) > 1:
            raise MorphGraphError(
                f"The special token “{text}” is empty or repeated. Give each a name of its own, "
                "such as “<unk>”."
            )
    trained = learn(
        prepared.counts,
        vocab_size=vocab_size,
        alphabet=prepared.alphabet,
        reserved=len(reserved),
        progress=watch,
        enough=enough,
        **settings,
    )
    check_vocabulary_size(vocab_size, len(trained.alphabet) + len(reserved))
    if clashing := set(special).intersection(trained.types):
        raise MorphGraphError(
            f"The special token “{min(clashing)}” is also a trained type. Choose a name that "
            "is not text, such as “<unk>”."
        )
    if enough is not None and enough():
        vocab_size = len(reserved) + len(trained.vocabulary)
    document = tokenizer_document(
        {text: number for number, text in enumerate([*reserved, *trained.types])},
        trained.merges,
        [special_token(text, number) for number, text in enumerate(reserved)],
        components(prepared),
        unk_token=UNKNOWN_TOKEN if unknown else None,
    )
    name = f"{name}-{vocab_size}"
    # Its checksum is that of the file when it is saved.
    return from_tokenizer_json(json_bytes(document, name), name), trained


def check_vocabulary_size(vocab_size: int, atoms: int, what: str = "atoms") -> None:
    if vocab_size < atoms:
        raise MorphGraphError(
            f"A vocabulary of {vocab_size:,} types has no room for the {atoms:,} {what} and "
            f"special tokens. Ask for more than {atoms:,}."
        )
