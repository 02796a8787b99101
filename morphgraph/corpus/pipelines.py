"""What happens to words before training: pipelines, each a list of small steps over word counts.

A pipeline's pieces are what merges never cross. The same cutting is written a second time as a
normaliser and pre-tokeniser of Hugging Face's library (`morphgraph.train.components`), which goes
into the trained tokeniser's file, so that words are cut in use as they were in training.

Text is counted first (`corpus.text`): every pipeline splits on white space before it does anything
that could look across it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted
from morphgraph.corpus.counts import WordCounts
from morphgraph.corpus.rules import (
    COVERAGE,
    apart_from_punctuation,
    as_they_are,
    at_each_hyphen,
    by_gpt2_pattern,
    covered_characters,
    mark_capitals,
    modern,
    scripts,
    uncut,
    usual_script,
    without_outer_marks,
)
from morphgraph.tokeniser.byte_level import BYTE_TO_CHAR, encode

LONGEST_TRAINING_WORD = 60
START_MARKERS = {"bytes": "Ġ", "characters": "▁", "unmarked": ""}
"""The start-of-word marker of each kind of atoms."""


@dataclass(frozen=True)
class PreparedCorpus:
    """Pieces to train on, with their counts.

    ``alphabet``: atoms that the tokeniser must have even where no piece has them. ``dropped``: how
    many running words were left out, by reason. ``kind``: what atoms are: ``bytes`` in GPT-2's
    characters behind Ġ, ``characters`` behind ▁, or characters ``unmarked``.
    """

    pipeline: str
    kind: str
    counts: WordCounts
    alphabet: tuple[str, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pipeline:
    """A way to prepare words: ``words`` chooses and splits them, ``pieces`` cuts each one.

    ``byte_pieces``: what cuts them instead where atoms are bytes.
    ``minimum_count``: rarer words are dropped. ``kind``: the atoms that the source uses.
    ``marked``: words get a start-of-word marker. ``covered``: rare characters are left out.
    ``selective``: so are long words and those in a foreign script.
    """

    name: str
    description: str
    words: Callable[[Mapping[str, int] | WordCounts], Mapping[str, int]]
    pieces: Callable[[str, str], list[str]]
    minimum_count: int = 1
    kind: str = "bytes"
    marked: bool = True
    covered: bool = False
    selective: bool = False
    byte_pieces: Callable[[str, str], list[str]] | None = None


def prepare(
    pipeline: str,
    counts: Mapping[str, int] | WordCounts,
    *,
    kind: str | None = None,
    minimum_count: int | None = None,
    longest: int = LONGEST_TRAINING_WORD,
    coverage: float = COVERAGE,
) -> PreparedCorpus:
    """Prepare words for training by one of the `PIPELINES`.

    ``kind`` replaces the atoms that the pipeline's source uses, for methods that need others;
    ``minimum_count`` replaces its threshold. Raises `MorphGraphError` where nothing is left.

    >>> prepared = prepare("knockout", {"don't": 3, "co-op": 2}, minimum_count=1)
    >>> dict(prepared.counts.items())
    {'Ġdon': 3, "Ġ'": 3, 'Ġt': 3, 'Ġco': 2, '-': 2, 'op': 2}
    """
    chosen = pipeline_named(pipeline)
    kind = kind or chosen.kind
    if kind not in START_MARKERS:
        raise MorphGraphError(
            f"There are no atoms {kind!r}. Choose one of {', '.join(START_MARKERS)}."
        )
    least = chosen.minimum_count if minimum_count is None else minimum_count
    dropped: Counter[str] = Counter()
    # Rules for words need not leave their own results alone: dogs'. gives dogs', which gives dogs.
    made = isinstance(counts, WordCounts) and counts.pipeline == pipeline
    found = dict(counts.items()) if made else chosen.words(counts)
    words = dict(_kept(found, least, longest, chosen.selective, dropped))
    marker = START_MARKERS[kind] if chosen.marked else ""
    before = " " if kind == "bytes" else marker
    alphabet: frozenset[str] = frozenset()
    if chosen.covered:
        covered = covered_characters(words, coverage)
        alphabet = frozenset(mark_capitals("".join(covered))) | set(marker)
    cut = (chosen.byte_pieces if kind == "bytes" else None) or chosen.pieces
    pieces: Counter[str] = Counter()
    try:
        for word, count in words.items():
            for piece in cut(word, marker and before):
                for part in _covered_parts(piece, alphabet) if chosen.covered else (piece,):
                    pieces[encode(part) if kind == "bytes" else part] += count
    except UnicodeEncodeError as error:
        raise MorphGraphError(
            f"The word {error.object.strip()!r} has a lone surrogate and no UTF-8 form. Remove it."
        ) from error
    if kind == "bytes":
        alphabet = frozenset(BYTE_TO_CHAR)
    elif not chosen.marked and kind == "characters":
        alphabet |= {"▁"}
    if not pieces:
        raise MorphGraphError(
            f"The pipeline {pipeline} leaves no word to train on"
            + "".join(f"; {counted(n, 'word')}: {reason}" for reason, n in dropped.items())
            + ". Give more words, or a smaller least count."
        )
    return PreparedCorpus(
        pipeline,
        kind,
        WordCounts.from_mapping(pieces),
        tuple(sorted(alphabet)),
        dict(dropped),
    )


def _kept(
    words: Mapping[str, int], least: int, longest: int, selective: bool, dropped: Counter[str]
) -> Iterator[tuple[str, int]]:
    """The words that are frequent and short enough and, if asked for, in the usual script."""
    usual = usual_script(words) if selective else None
    for word, count in words.items():
        if count <= 0:
            continue
        if count < least:
            dropped[f"rarer than {least}"] += count
        elif selective and len(word) > longest:
            dropped[f"longer than {longest} characters"] += count
        elif selective and not scripts(word) <= {usual}:
            dropped["letters of a foreign script"] += count
        elif word:
            yield word, count


def _covered_parts(piece: str, alphabet: frozenset[str]) -> list[str]:
    """A piece cut at characters outside the alphabet, which no merge may contain (ours)."""
    kept = "".join(character if character in alphabet else "\0" for character in piece)
    return [part for part in kept.split("\0") if part]


PIPELINES: dict[str, Pipeline] = {
    pipeline.name: pipeline
    for pipeline in (
        Pipeline(
            "plain",
            "Words as they stand, behind a marker, and cut as GPT-2 cuts text if atoms are bytes; "
            "nothing is left out.",
            as_they_are,
            uncut,
            byte_pieces=by_gpt2_pattern,
        ),
        Pipeline(
            "knockout",
            "Marks are words, hyphens are pieces; words rarer than 10, longer than 60 characters "
            "or in a foreign script are left out (Bauwens & Delobelle 2024, §B.1).",
            apart_from_punctuation,
            at_each_hyphen,
            minimum_count=10,
            selective=True,
        ),
        Pipeline(
            "rebpe",
            "NFKC; marks, contractions, digits in threes and hyphens apart; capitals as signs; "
            "words rarer than 5 and rare characters are left out "
            "(Bauwens & de Lhoneux 2026, §B.1).",
            without_outer_marks,
            modern,
            minimum_count=5,
            kind="characters",
            covered=True,
        ),
        Pipeline(
            "spaces",
            "Every space is a token of its own; no other type has one (Gow-Smith et al. 2022).",
            as_they_are,
            uncut,
            marked=False,
        ),
        Pipeline(
            "no-spaces",
            "As spaces, but without the tokens for spaces (Gow-Smith et al. 2022).",
            as_they_are,
            uncut,
            marked=False,
        ),
    )
}
"""The pipelines by name."""


def pipeline_named(name: str) -> Pipeline:
    """One of the `PIPELINES`; `MorphGraphError` if there is none of this name."""
    if name not in PIPELINES:
        raise MorphGraphError(
            f"There is no pipeline {name!r}. Choose one of {', '.join(PIPELINES)}."
        )
    return PIPELINES[name]
