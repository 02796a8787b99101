"""Words of sentences that get tags: parts of speech, or named entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from morphgraph.batch.downstream import Measured
from morphgraph.tables.model import Column
from morphgraph.tokeniser.words import Segmentation
from morphgraph_models.downstream.choosing import (
    DEVELOPMENT,
    TRIED,
    DevelopedSettings,
    fitted_on_best,
)
from morphgraph_models.downstream.examples import (
    Examples,
    TaskParts,
    read_conllu,
    read_entities,
    read_parts,
)
from morphgraph_models.downstream.fitting import IGNORED, Batches, Key, padded, predictions
from morphgraph_models.downstream.model_task import COMMON, ModelRun, model_task, share_measured
from morphgraph_models.downstream.scores import span_counts
from morphgraph_models.downstream.token_ids import IdArray, TokenIds, framed


class TaggingSettings(DevelopedSettings):
    """Files of tagged sentences."""

    tags: Literal["universal", "entities"] = Field(
        "universal",
        description="What is learned: the universal tags of CoNLL-U, or the named entities of "
        "CoNLL-2002 and CoNLL-2003, in the last column.",
    )
    encoding: str | None = Field(
        None, description="That of files with entities, such as latin-1; UTF-8 if not given."
    )
    choose_by: Literal["tagging_accuracy", "entity_f1"] | None = Field(
        None,
        description="The metric by which the grid's best is chosen; entity_f1 if there are "
        "entities, else tagging_accuracy.",
    )

    @property
    def decisive(self) -> str:
        default = "entity_f1" if self.tags == "entities" else "tagging_accuracy"
        return self.choose_by or default

    @model_validator(mode="after")
    def _has_entities(self) -> Self:
        if self.tags != "entities" and self.choose_by == "entity_f1":
            raise ValueError("universal tags mark no entities. Choose by tagging_accuracy.")
        return self


def _read(settings: TaggingSettings) -> TaskParts:
    def read(paths: Sequence[str]) -> Examples:
        if settings.tags == "entities":
            return read_entities(paths, settings.encoding)
        return read_conllu(paths)

    return read_parts(settings, read, "tag")


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
    segmentation: Segmentation, sentences: Sequence[Sequence[str]], ids: TokenIds
) -> list[SplitSentence]:
    words = segmentation.words
    starts, ends = words.spans
    offsets = words.character_offsets
    split = []
    for number, sentence in enumerate(sentences):
        first_atom, last_atom = (int(at) for at in words.word_offsets[number : number + 2])
        atoms = np.flatnonzero(segmentation.token_at[first_atom:last_atom] >= 0) + first_atom
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
        split.append(SplitSentence(ids.ids_of(segmentation.token_at[atoms]), firsts))
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

    def measure(model: Any, part: Examples, prefix: str) -> list[Measured]:
        tags, test = part[1], batches(part, run.ids.plain())
        guessed: list[list[str]] = [[] for _ in tags]
        for places, guesses, _ in predictions(model, test, settings.batch_size):
            for place, row in zip(places, guesses, strict=True):
                firsts = test.firsts[0][place]
                # Words without a token, or beyond the cut, have no tag, so they are wrong.
                cut = len(test.draws[0][place]) - 2
                guessed[place] = [
                    data.classes[row[at + 1]] if 0 <= at < cut else "" for at in firsts.tolist()
                ]
        right = [sum(map(str.__eq__, *pair)) for pair in zip(tags, guessed, strict=True)]
        sizes = [len(each) for each in tags]
        told = [share_measured(f"{prefix}tagging_accuracy", np.array(right, np.float64), sizes)]
        if settings.tags == "entities":
            told += _entities_measured(tags, guessed, prefix)
        return told

    fitted, told = fitted_on_best(run, "tagging", batches, measure)
    told += measure(fitted.model, data.test, "")
    return [*told, *fitted.facts(), run.uncovered([" ".join(each) for each in data.test[0]])]


def _entities_measured(
    tags: Sequence[Sequence[str]], guessed: Sequence[Sequence[str]], prefix: str
) -> list[Measured]:
    """Return precision, recall and F1 of the spans of all sentences, with intervals."""
    guessed = [[tag or "O" for tag in each] for each in guessed]
    counts = span_counts(tags, guessed)
    ratios = {
        "precision": (counts.right, counts.predicted),
        "recall": (counts.right, counts.gold),
        "f1": (2 * counts.right, counts.predicted + counts.gold),
    }
    return [
        share_measured(f"{prefix}entity_{name}", *ratio)._replace(entries=int(counts.gold.sum()))
        for name, ratio in ratios.items()
    ]


_PREFIXES = {"": "", DEVELOPMENT: " on development data"}
_TITLES = {
    "tagging_accuracy": "Tagging accuracy",
    "entity_precision": "Precision of entities",
    "entity_recall": "Recall of entities",
    "entity_f1": "F1 of entities",
}

TAGGING = model_task(
    "Tagging",
    "Words of sentences get tags, such as parts of speech.",
    TaggingSettings,
    {
        **{
            f"{prefix}{key}": Column(f"{title}{where}", "percent", 1)
            for key, title in _TITLES.items()
            for prefix, where in _PREFIXES.items()
        },
        **TRIED,
        **COMMON,
    },
    _read,
    _run_tagging,
    speed=13_000,
    bytes_in_token=16.0,
)
