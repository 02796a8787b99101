"""Classification and tagging."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.batch.downstream import Measured
from morphgraph.tables.model import Column
from morphgraph.tokeniser.words import Segmentation
from morphgraph_models.downstream.examples import (
    Examples,
    TrainingSettings,
    read_conllu,
    read_labelled,
    read_parts,
)
from morphgraph_models.downstream.fitting import (
    IGNORED,
    Batches,
    Key,
    fitted_on,
    padded,
    predictions,
)
from morphgraph_models.downstream.model_task import COMMON, ModelRun, model_task, share_measured
from morphgraph_models.downstream.token_ids import IdArray, TokenIds, framed

# --------------------------------------------------------------------------------------- noise

_SPACE = re.compile(r"(?<=\S)\s+(?=\S)")
_WORD = re.compile(r"\S+")
DAMAGES = ("swap", "drop", "double")


def without_spaces(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Drop each run of white space in texts with probability ``share``.

    Source: Hofmann et al. 2022, §4.

    >>> without_spaces(["one two three"], 1.0, seed=1), without_spaces(["one two"], 0.0, seed=1)
    (['onetwothree'], ['one two'])
    """
    return _changed(texts, _SPACE, seed, lambda run, draw: "" if draw.random() < share else run)


def noisy(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Damage each word of at least two characters with probability ``share``.

    At one random place two neighbours are swapped, or a character is dropped or doubled. The result
    depends only on the seed and on the text and its index.
    """

    def word(found: str, random: np.random.Generator) -> str:
        chance, place, kind = random.random(3).tolist()
        if len(found) < 2 or chance >= share:
            return found
        damage = DAMAGES[int(kind * len(DAMAGES))]
        return damaged(found, damage, int(place * (len(found) - (damage == "swap"))))

    return _changed(texts, _WORD, seed, word)


def _changed(
    texts: Sequence[str],
    pattern: re.Pattern[str],
    seed: int,
    change: Callable[[str, np.random.Generator], str],
) -> list[str]:
    def of(number: int, text: str) -> str:
        random = np.random.default_rng([seed, number])
        return pattern.sub(lambda run: change(run[0], random), text)

    return [of(number, text) for number, text in enumerate(texts)]


def damaged(word: str, damage: str, place: int) -> str:
    """Return a word with one character swapped with the next, dropped or doubled.

    >>> [damaged("word", damage, 1) for damage in DAMAGES]
    ['wrod', 'wrd', 'woord']
    """
    if damage == "swap":
        return f"{word[:place]}{word[place + 1]}{word[place]}{word[place + 2 :]}"
    middle = "" if damage == "drop" else 2 * word[place]
    return f"{word[:place]}{middle}{word[place + 1 :]}"


# ------------------------------------------------------------------------------ classification


class ClassificationSettings(TrainingSettings):
    """Files of labelled texts, and the noise to test with."""

    text: str = Field("text", description="The column with the text.")
    label: str = Field("label", description="The column with its class.")
    noise: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Test a second time, with characters of this share of the words swapped, "
        "dropped or doubled.",
    )
    noise_in: Literal["words", "spaces"] = Field(
        "words",
        description="What noise damages: words, or the white space between them, which is dropped.",
    )


@dataclass(frozen=True)
class _Labelled(Batches):
    """Texts with a label each."""

    labels: IdArray

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        import torch

        labels = torch.from_numpy(self.labels[[index for index, _ in keys]])
        return {**self.inputs(keys), "labels": labels}


def _run_classification(run: ModelRun) -> list[Measured]:
    data, settings = run.examples, run.settings
    number = {name: place for place, name in enumerate(data.classes)}

    def batches(part: Examples, ids: TokenIds, draws: int = 1) -> _Labelled:
        rows = [framed(r, ids, settings.max_tokens) for r in ids.encode(part[0], draws)]
        return _Labelled(rows, ids, np.array([number[label] for label in part[1]], np.int64))

    def scored(texts: Sequence[str], prefix: str) -> list[Measured]:
        test = batches((tuple(texts), labels), run.ids.plain())
        predicted = np.zeros(len(texts), np.int64)
        for places, guesses, _ in predictions(fitted.model, test, settings.batch_size):
            predicted[places] = guesses
        right = (predicted == test.labels).astype(np.float64)
        share = share_measured(f"{prefix}accuracy", right, np.ones(len(right)))
        return [share, Measured(f"{prefix}macro_f1", macro_f1(test.labels, predicted), len(right))]

    fitted = fitted_on(run, "classification", batches)
    texts, labels = data.test
    scores = scored(texts, "")
    if settings.noise is not None:
        damage = noisy if settings.noise_in == "words" else without_spaces
        scores += scored(damage(texts, settings.noise, run.seed), "noisy_")
    return [*scores, *fitted.facts(), run.uncovered(texts)]


def macro_f1(gold: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64]) -> float:
    """Return the mean F1 over the classes that occur in either.

    >>> round(macro_f1(np.array([0, 0, 1]), np.array([0, 1, 1])), 4)
    0.6667
    """
    scores = []
    for label in np.union1d(gold, predicted):
        both = int(((gold == label) & (predicted == label)).sum())
        scores.append(2 * both / int((gold == label).sum() + (predicted == label).sum()))
    return float(np.mean(scores))


CLASSIFICATION = model_task(
    "Classification",
    "Texts, or single words, put into classes.",
    ClassificationSettings,
    {
        "accuracy": Column("Accuracy", "percent", 1),
        "macro_f1": Column("Macro-F1", "percent", 1),
        "noisy_accuracy": Column("Accuracy with noise", "percent", 1),
        "noisy_macro_f1": Column("Macro-F1 with noise", "percent", 1),
        **COMMON,
    },
    lambda given: read_parts(
        given, lambda paths: read_labelled(paths, given.text, given.label), "label"
    ),
    _run_classification,
    speed=15_000,
)


# ------------------------------------------------------------------------------------- tagging


class SplitSentence(NamedTuple):
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
    found = ids.samples([" ".join(words) for words in sentences], draws)
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
class _Tagged(Batches):
    """Tagged sentences; each word is tagged at its first token."""

    firsts: Sequence[Sequence[IdArray]]
    tags: Sequence[IdArray]

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        labels = []
        for (index, number), row in zip(keys, self.rows(keys), strict=True):
            firsts = self.firsts[number % len(self.firsts)][index]
            wanted = np.full(len(row), IGNORED, np.int64)
            there = (firsts >= 0) & (firsts < len(row) - 2)
            wanted[firsts[there] + 1] = self.tags[index][there]
            labels.append(wanted)
        return {**self.inputs(keys), "labels": padded(labels, IGNORED)}


def _run_tagging(run: ModelRun) -> list[Measured]:
    data, settings = run.examples, run.settings
    number = {name: place for place, name in enumerate(data.classes)}

    def batches(part: Examples, ids: TokenIds, draws: int = 1) -> _Tagged:
        split = split_sentences(part[0], ids, draws)
        rows = [framed([one.ids for one in each], ids, settings.max_tokens) for each in split]
        firsts = [[one.firsts for one in each] for each in split]
        tags = [np.array([number[tag] for tag in tags], np.int64) for tags in part[1]]
        return _Tagged(rows, ids, firsts, tags)

    fitted = fitted_on(run, "tagging", batches)
    words, tags = data.test
    right = np.zeros(len(tags))
    test = batches(data.test, run.ids.plain())
    for places, guesses, labels in predictions(fitted.model, test, settings.batch_size):
        # Words without a token, or beyond the cut, are absent here, so they count as wrong.
        right[places] = ((guesses == labels) & (labels != IGNORED)).sum(1)
    share = share_measured("tagging_accuracy", right, [len(each) for each in tags])
    return [share, *fitted.facts(), run.uncovered([" ".join(each) for each in words])]


TAGGING = model_task(
    "Tagging",
    "Words of sentences get tags, such as parts of speech.",
    TrainingSettings,
    {"tagging_accuracy": Column("Tagging accuracy", "percent", 1), **COMMON},
    lambda given: read_parts(given, read_conllu, "tag"),
    _run_tagging,
    speed=13_000,
    bytes_in_token=16.0,
)
