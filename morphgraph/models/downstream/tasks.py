"""Classification, tagging and translation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from morphgraph.models.downstream.task import (
    COMMON,
    UNCOVERED,
    ClassedParts,
    DownstreamTask,
    LabelledTexts,
    Measured,
    ParallelTexts,
    TaggedSentences,
    TaskMetric,
    TaskRun,
    TrainingSettings,
    read_conllu,
    read_labelled,
    read_parallel,
    read_parts,
)
from morphgraph.models.downstream.token_ids import (
    IdArray,
    TokenIds,
    decoded,
    framed,
    sample_count,
)
from morphgraph.models.downstream.training import (
    IGNORED,
    Examples,
    Key,
    as_inputs,
    fit,
    in_batches,
    make_model,
    padded,
)
from morphgraph.score.uncertainty import Ratio, bootstrap_intervals
from morphgraph.tokeniser.words import Segmentation


def without_spaces(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Drop each run of white space in texts with probability ``share``.

    Source: Hofmann et al. 2022, §4.

    >>> without_spaces(["one two three"], 1.0, seed=1), without_spaces(["one two"], 0.0, seed=1)
    (['onetwothree'], ['one two'])
    """

    def dropped(random: np.random.Generator, run: re.Match[str]) -> str:
        return "" if random.random() < share else run[0]

    return [
        _SPACE.sub(partial(dropped, np.random.default_rng([seed, number])), text)
        for number, text in enumerate(texts)
    ]


_SPACE = re.compile(r"(?<=\S)\s+(?=\S)")
_WORD = re.compile(r"\S+")
DAMAGES = ("swap", "drop", "double")


def noisy(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Damage each word of at least two characters with probability ``share``.

    At one random place two neighbours are swapped, or a character is dropped or doubled. The result
    depends only on the seed and on the text and its index.
    """
    return [_damaged_text(text, share, seed, number) for number, text in enumerate(texts)]


def _damaged_text(text: str, share: float, seed: int, number: int) -> str:
    random = np.random.default_rng([seed, number])

    def word(found: re.Match[str]) -> str:
        chance, place, kind = random.random(3).tolist()
        if len(found[0]) < 2 or chance >= share:
            return found[0]
        damage = DAMAGES[int(kind * len(DAMAGES))]
        places = len(found[0]) - (damage == "swap")
        return damaged(found[0], damage, int(place * places))

    return _WORD.sub(word, text)


def damaged(word: str, damage: str, place: int) -> str:
    """Return a word with one character swapped with the next, dropped or doubled.

    >>> [damaged("word", damage, 1) for damage in DAMAGES]
    ['wrod', 'wrd', 'woord']
    """
    if damage == "swap":
        return f"{word[:place]}{word[place + 1]}{word[place]}{word[place + 2 :]}"
    middle = "" if damage == "drop" else 2 * word[place]
    return f"{word[:place]}{middle}{word[place + 1 :]}"


class ClassificationSettings(TrainingSettings):
    """Files of labelled texts, and the noise to test with."""

    text: str = Field(default="text", description="The column with the text.")
    label: str = Field(default="label", description="The column with its class.")
    noise: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Test a second time, with characters of this share of the words swapped, "
        "dropped or doubled.",
    )
    noise_in: Literal["words", "spaces"] = Field(
        default="words",
        description="What noise damages: words, or the white space between them, which is dropped.",
    )


def _read_classification(settings: ClassificationSettings) -> ClassedParts[LabelledTexts]:
    return read_parts(
        settings, lambda paths: read_labelled(paths, settings.text, settings.label), "label"
    )


@dataclass(frozen=True)
class _Batches:
    """Labelled texts as batches; ``draws``: their ids in each sample of a random method."""

    draws: Sequence[Sequence[IdArray]]
    labels: IdArray
    pad: int

    @property
    def lengths(self) -> IdArray:
        return np.array([len(row) for row in self.draws[0]], np.int64)

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        import torch

        rows = [self.draws[number % len(self.draws)][index] for index, number in keys]
        labels = torch.from_numpy(self.labels[[index for index, _ in keys]])
        return {**as_inputs(rows, self.pad), "labels": labels}


def _run_classification(run: TaskRun) -> list[Measured]:
    data: ClassedParts[LabelledTexts] = run.examples
    settings: ClassificationSettings = run.settings
    number = {name: place for place, name in enumerate(data.classes)}

    def batches(part: LabelledTexts, ids: TokenIds, draws: int = 1) -> _Batches:
        rows = [framed(r, ids, settings.max_tokens) for r in ids.encode(part.texts, draws)]
        labels = np.array([number[label] for label in part.labels], np.int64)
        return _Batches(rows, labels, ids.special["pad"])

    plain = run.ids.plain()
    model = make_model("classification", run, len(data.classes))
    train = batches(data.train, run.ids, sample_count(run.ids, settings.epochs))
    dev = None if data.dev is None else batches(data.dev, plain)
    fitted = fit(model, train, settings, run.seed, run.folder, dev)
    found = _scored(fitted.model, batches(data.test, plain), settings.batch_size, "")
    if settings.noise is not None:
        damage = noisy if settings.noise_in == "words" else without_spaces
        texts = damage(data.test.texts, settings.noise, run.seed)
        damaged = batches(LabelledTexts(tuple(texts), data.test.labels), plain)
        found += _scored(fitted.model, damaged, settings.batch_size, "noisy_")
    lost = Measured(UNCOVERED.key, plain.uncovered(data.test.texts), len(data.test.texts))
    return [*found, *fitted.facts(), lost]


def _scored(model: Any, test: _Batches, size: int, prefix: str) -> list[Measured]:
    predicted = _predicted(model, test, size)
    right = (predicted == test.labels).astype(np.float64)
    ratio = Ratio(right, np.ones(len(right)))
    interval = bootstrap_intervals([ratio])[0]
    return [
        Measured(f"{prefix}accuracy", ratio.value, len(right), interval.low, interval.high),
        Measured(f"{prefix}macro_f1", macro_f1(test.labels, predicted), len(right)),
    ]


def _predicted(model: Any, test: Examples, size: int) -> IdArray:
    import torch

    found = np.zeros(len(test.lengths), np.int64)
    with torch.no_grad():
        for keys in in_batches(test.lengths, size):
            batch = {name: value.to(model.device) for name, value in test.batch(keys).items()}
            batch.pop("labels")
            logits = model(**batch).logits
            found[[index for index, _ in keys]] = logits.argmax(-1).cpu().numpy()
    return found


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


CLASSIFICATION = DownstreamTask(
    "classification",
    "Classification",
    "Texts, or single words, put into classes.",
    ClassificationSettings,
    (
        TaskMetric("accuracy", "Accuracy", "percent", 1),
        TaskMetric("macro_f1", "Macro-F1", "percent", 1),
        TaskMetric("noisy_accuracy", "Accuracy with noise", "percent", 1),
        TaskMetric("noisy_macro_f1", "Macro-F1 with noise", "percent", 1),
        *COMMON,
    ),
    _read_classification,
    _run_classification,
    speed=15_000,
)


_COLUMNS = {"upos": 3, "xpos": 4}


class TaggingSettings(TrainingSettings):
    """CoNLL-U files, and the column of tags to learn."""

    tags: Literal["upos", "xpos"] = Field(
        default="upos", description="The column: universal tags or those of the language."
    )


def _read_tagging(settings: TaggingSettings) -> ClassedParts[TaggedSentences]:
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


def _run_tagging(run: TaskRun) -> list[Measured]:
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
    _read_tagging,
    _run_tagging,
    speed=13_000,
    bytes_in_token=16.0,
)


class TranslationSettings(TrainingSettings):
    """Two files: texts, and their translations line by line."""

    beams: int = Field(
        default=1, ge=1, le=100, description="Beams of the search for a translation; 1 is greedy."
    )


@dataclass(frozen=True)
class _Pairs:
    train: ParallelTexts
    test: ParallelTexts
    dev: ParallelTexts | None


def _read_translation(settings: TranslationSettings) -> _Pairs:
    train, most = read_parallel(settings.train), settings.most
    dev = None if settings.dev is None else read_parallel(settings.dev)
    train = ParallelTexts(train.sources[:most], train.targets[:most])
    return _Pairs(train, read_parallel(settings.test), dev)


@dataclass(frozen=True)
class _Translations:
    """Pairs of texts as batches; the decoder reads its targets shifted by one."""

    sources: Sequence[Sequence[IdArray]]
    targets: Sequence[Sequence[IdArray]]
    ids: TokenIds

    @property
    def lengths(self) -> IdArray:
        pairs = zip(self.sources[0], self.targets[0], strict=True)
        return np.array([len(source) + len(target) for source, target in pairs], np.int64)

    def inputs(self, keys: Sequence[Key]) -> dict[str, Any]:
        """Return the texts to translate."""
        rows = [self.sources[number % len(self.sources)][index] for index, number in keys]
        return as_inputs(rows, self.ids.special["pad"])

    def batch(self, keys: Sequence[Key]) -> dict[str, Any]:
        rows = [self.targets[number % len(self.targets)][index] for index, number in keys]
        return {
            **self.inputs(keys),
            "decoder_input_ids": padded([row[:-1] for row in rows], self.ids.special["pad"]),
            "labels": padded([row[1:] for row in rows], IGNORED),
        }


def _run_translation(run: TaskRun) -> list[Measured]:
    data: _Pairs = run.examples
    settings: TranslationSettings = run.settings

    def pairs(part: ParallelTexts, ids: TokenIds, draws: int = 1) -> _Translations:
        most = settings.max_tokens
        sources = [framed(rows, ids, most) for rows in ids.encode(part.sources, draws)]
        targets = [framed(rows, ids, most) for rows in ids.encode(part.targets, draws)]
        return _Translations(sources, targets, ids)

    plain = run.ids.plain()
    train = pairs(data.train, run.ids, sample_count(run.ids, settings.epochs))
    dev = None if data.dev is None else pairs(data.dev, plain)
    fitted = fit(make_model("translation", run), train, settings, run.seed, run.folder, dev)
    written = _translated(fitted.model, pairs(data.test, plain), settings)
    lost = plain.uncovered([*data.test.sources, *data.test.targets])
    return [
        *translation_scores(written, data.test.targets),
        *fitted.facts(),
        Measured(UNCOVERED.key, lost, 2 * len(data.test.sources)),
    ]


def translation_scores(written: Sequence[str], targets: Sequence[str]) -> list[Measured]:
    """Return chrF and BLEU of translations, from 0 to 100, with sacrebleu's defaults."""
    from sacrebleu.metrics import BLEU, CHRF

    found = []
    for name, metric in (("chrf", CHRF()), ("bleu", BLEU())):
        score = metric.corpus_score(list(written), [list(targets)]).score
        found.append(Measured(name, float(score), len(targets)))
    return found


def _translated(model: Any, test: _Translations, settings: TranslationSettings) -> list[str]:
    import torch

    special, by_id = test.ids.special, test.ids.by_id
    written = [""] * len(test.lengths)
    with torch.no_grad():
        for keys in in_batches(test.lengths, settings.batch_size):
            inputs = {name: value.to(model.device) for name, value in test.inputs(keys).items()}
            width = inputs["input_ids"].shape[1]
            found = model.generate(
                **inputs,
                num_beams=settings.beams,
                do_sample=False,
                max_new_tokens=min(settings.max_tokens - 2, 2 * width + 10),
                decoder_start_token_id=special["bos"],
                eos_token_id=special["eos"],
                pad_token_id=special["pad"],
            )
            for (index, _), row in zip(keys, found.tolist(), strict=True):
                end = row.index(special["eos"], 1) if special["eos"] in row[1:] else len(row)
                pieces = [by_id[number] for number in row[1:end] if number in by_id]
                written[index] = decoded(pieces, test.ids.segmenter)
    return written


TRANSLATION = DownstreamTask(
    "translation",
    "Translation",
    "Texts are translated by an encoder and a decoder that share one vocabulary.",
    TranslationSettings,
    (TaskMetric("chrf", "chrF", "ratio", 1), TaskMetric("bleu", "BLEU", "ratio", 1), *COMMON),
    _read_translation,
    _run_translation,
    speed=6_000,
)
