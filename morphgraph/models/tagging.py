"""Tagging the words of sentences, for example with parts of speech: accuracy over words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from morphgraph.models.examples import TaggedSentences, read_conllu
from morphgraph.models.presets import make_model
from morphgraph.models.task import (
    COMMON,
    UNCOVERED,
    ClassedParts,
    DownstreamTask,
    Measured,
    TaskMetric,
    TaskRun,
    TrainingSettings,
    read_parts,
)
from morphgraph.models.token_ids import IdArray, TokenIds, sample_count
from morphgraph.models.training import IGNORED, Key, as_inputs, fit, in_batches, padded
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals
from morphgraph.tokeniser.words import Segmentation

_COLUMNS = {"upos": 3, "xpos": 4}


class TaggingSettings(TrainingSettings):
    """CoNLL-U files, and the column of tags to learn."""

    tags: Literal["upos", "xpos"] = Field(
        default="upos", description="The column: universal tags or those of the language."
    )


def _read(settings: TaggingSettings) -> ClassedParts[TaggedSentences]:
    column = _COLUMNS[settings.tags]
    return read_parts(settings, lambda paths: read_conllu(paths, column), "tag")


@dataclass(frozen=True)
class SplitSentence:
    """The ids of a sentence, and the position of each word's first token; -1 for none."""

    ids: IdArray
    firsts: IdArray


def split_sentences(
    sentences: Sequence[Sequence[str]], ids: TokenIds, draws: int = 1
) -> list[list[SplitSentence]]:
    """Segment sentences as running text, and locate the first token of each word.

    A word is tagged at the first token with a character of it and of no earlier word; a word
    without such a token has no position.
    """
    texts = [" ".join(words) for words in sentences]
    encoded = ids.segmenter.encode(texts, bare=True)
    found = ids.segmenter.samples(encoded, draws if ids.is_random else 1)
    return [_split(each, sentences, ids) for each in found]


def _split(
    found: Segmentation, sentences: Sequence[Sequence[str]], ids: TokenIds
) -> list[SplitSentence]:
    words = found.words
    starts, ends = words.spans
    offsets = words.character_offsets
    split = []
    for number, sentence in enumerate(sentences):
        first_atom, last_atom = (int(at) for at in words.word_offsets[number : number + 2])
        atoms = np.flatnonzero(found.token_at[first_atom:last_atom] >= 0) + first_atom
        begins = np.append(first_atom, atoms[:-1] + 1)[: len(atoms)]
        # The characters that each token spans, including any skipped before it.
        left = starts[begins] - offsets[number]
        right = ends[atoms] - offsets[number]
        lengths = np.array([len(word) for word in sentence], np.int64)
        word_starts = np.append(0, np.cumsum(lengths + 1)[:-1])[: len(lengths)]
        firsts = np.full(len(sentence), -1, np.int64)
        taken = -1
        for place, (start, length) in enumerate(zip(word_starts, lengths, strict=True)):
            inside = np.flatnonzero((right > start) & (left < start + length))
            inside = inside[inside > taken]
            if len(inside):
                firsts[place] = taken = int(inside[0])
        split.append(SplitSentence(ids.ids_of(found.token_at[atoms]), firsts))
    return split


@dataclass(frozen=True)
class _Sentences:
    """Tagged sentences as batches; each word is tagged at its first token."""

    draws: Sequence[Sequence[SplitSentence]]
    tags: Sequence[IdArray]
    ids: TokenIds
    most: int

    @property
    def lengths(self) -> IdArray:
        return np.array([len(self._row(one)) for one in self.draws[0]], np.int64)

    def _row(self, one: SplitSentence) -> IdArray:
        start, end = [self.ids.special["bos"]], [self.ids.special["eos"]]
        return np.concatenate([start, one.ids[: self.most - 2], end]).astype(np.int64)

    def chosen(self, keys: Sequence[Key]) -> list[SplitSentence]:
        """Return the sentences of some keys."""
        return [self.draws[number % len(self.draws)][index] for index, number in keys]

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        sentences = self.chosen(keys)
        rows, labels = [self._row(one) for one in sentences], []
        for (index, _), one, row in zip(keys, sentences, rows, strict=True):
            wanted = np.full(len(row), IGNORED, np.int64)
            there = (one.firsts >= 0) & (one.firsts < len(row) - 2)
            wanted[one.firsts[there] + 1] = self.tags[index][there]
            labels.append(wanted)
        pad = self.ids.special["pad"]
        return {**as_inputs(rows, pad), "labels": padded(labels, IGNORED)}


def _run(run: TaskRun) -> list[Measured]:
    data: ClassedParts[TaggedSentences] = run.examples
    settings: TaggingSettings = run.settings
    number = {name: place for place, name in enumerate(data.classes)}

    def sentences(part: TaggedSentences, ids: TokenIds, draws: int = 1) -> _Sentences:
        tags = [np.array([number[tag] for tag in tags], np.int64) for tags in part.tags]
        return _Sentences(split_sentences(part.words, ids, draws), tags, ids, settings.max_tokens)

    plain = run.ids.plain()
    train = sentences(data.train, run.ids, sample_count(run.ids, settings.epochs))
    dev = None if data.dev is None else sentences(data.dev, plain)
    model = make_model("tagging", run, len(data.classes))
    fitted = fit(model, train, settings, run.seed, run.folder, dev)
    right, words = _right(fitted.model, sentences(data.test, plain), settings.batch_size)
    ratio = Ratio(right, words)
    interval = bootstrap_intervals([ratio])[0]
    texts = [" ".join(words) for words in data.test.words]
    return [
        Measured("tagging_accuracy", ratio.value, int(words.sum()), interval.low, interval.high),
        *fitted.facts(),
        Measured(UNCOVERED.key, plain.uncovered(texts), len(texts)),
    ]


def _right(model: Any, test: _Sentences, size: int) -> tuple[Any, Any]:
    """Return the number of correctly tagged words, and of words, in each sentence."""
    import torch

    right = np.zeros(len(test.tags))
    with torch.no_grad():
        for keys in in_batches(test.lengths, size):
            batch = {name: value.to(model.device) for name, value in test.batch(keys).items()}
            wanted = batch.pop("labels")
            guess = model(**batch).logits.argmax(-1)
            # Words without a token, or beyond the cut, are absent here, so they count as wrong.
            same = ((guess == wanted) & (wanted != IGNORED)).sum(1)
            right[[index for index, _ in keys]] = same.cpu().numpy()
    return right, np.array([len(tags) for tags in test.tags], np.float64)


TAGGING = DownstreamTask(
    "tagging",
    "Tagging",
    "Words of sentences get tags, such as parts of speech.",
    TaggingSettings,
    (TaskMetric("tagging_accuracy", "Tagging accuracy", "percent", 1), *COMMON),
    _read,
    _run,
    speed=13_000,
    bytes_in_token=16.0,
)
