"""The types behind each figure of a vocabulary, as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from morphgraph.score.vocabulary_figures import figure_called
from morphgraph.score.vocabulary_health import VocabularyHealth
from morphgraph.tokeniser.preprocess import SHOWN_MARKER, shown_token

if TYPE_CHECKING:
    import pandas as pd

COUNT, COUNT_OF_OTHER = "tokens in the corpus", "of the other"
IN_REFERENCE = "words in the reference"

Listed = tuple[list[int], dict[str, Any]]
"""The id of the first type of each row, -1 where there is none, and the columns beside it."""


def _counts(health: VocabularyHealth, numbers: Iterable[int]) -> list[float]:
    """How often types are tokens of the corpus; NaN without one."""
    found = health.compression
    return [math.nan if found is None else float(found.counts[number]) for number in numbers]


def _types(health: VocabularyHealth, numbers: Sequence[int]) -> Listed:
    inventory = health.inventory
    shown = [inventory.bodies.get(number) for number in numbers]
    columns: dict[str, Any] = {
        "characters": [math.nan if body is None else len(body) for body in shown],
        COUNT: _counts(health, numbers),
    }
    if inventory.graph is not None:
        columns["in merges"] = [len(inventory.graph.outgoing(number)) for number in numbers]
    return list(numbers), columns


def _pairs(health: VocabularyHealth, pairs: Sequence[tuple[int, int]]) -> Listed:
    marked, plain = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return marked, {
        "the other": [health.inventory.texts[number] for number in plain],
        COUNT: _counts(health, marked),
        COUNT_OF_OTHER: _counts(health, plain),
    }


def _chains(health: VocabularyHealth, chains: Sequence[tuple[int, ...]]) -> Listed:
    texts = health.inventory.texts
    return [chain[0] for chain in chains], {
        "chain": [" → ".join(texts[number] for number in chain) for chain in chains],
        "types for the next only": [len(chain) - 1 for chain in chains],
        "tokens of the last": _counts(health, [chain[-1] for chain in chains]),
    }


def _morphs(health: VocabularyHealth, morphs: Sequence[tuple[str, int]]) -> Listed:
    by_body = {body: number for number, body in reversed(health.inventory.bodies.items()) if body}
    ids = [by_body.get(morph, -1) for morph, _ in morphs]
    return ids, {
        "morph": [morph for morph, _ in morphs],
        "is a type": np.array(ids, np.int64) >= 0,
        IN_REFERENCE: [words for _, words in morphs],
    }


_COLUMNS: Mapping[str, Callable[[VocabularyHealth, Sequence[Any]], Listed]] = {
    "duplicates": _pairs,
    "single_use_chains": _chains,
    "morphs_covered": _morphs,
}
_SORTED_BY = {
    "mean_length": "characters",
    "never_used": "characters",  # their counts are all alike
    "morphs_covered": IN_REFERENCE,
}


def list_behind(health: VocabularyHealth, key: str) -> pd.DataFrame:
    """The types behind a figure: most frequent first where there is a corpus, or longest first.

    Columns ``type_id`` (of the row's first type, -1 where there is none), ``type``, and more that
    fit the figure; no rows where the figure has no list or is undefined. `MorphGraphError` for a
    key that is not a figure.
    """
    import pandas as pd

    ids, columns = _COLUMNS.get(key, _types)(health, figure_called(key).list_of(health))
    if health.compression is None:
        columns = {name: c for name, c in columns.items() if name not in (COUNT, COUNT_OF_OTHER)}
    texts = [health.inventory.texts[number] if number >= 0 else "" for number in ids]
    table = pd.DataFrame({"type_id": np.array(ids, np.int64), "type": texts, **columns})
    for column in (COUNT, _SORTED_BY.get(key, COUNT)):
        if column in table.columns:
            table = table.sort_values(column, ascending=False, kind="stable", ignore_index=True)
    return table


def matching(table: pd.DataFrame, text: str) -> pd.DataFrame:
    """The rows of a list in which a text stands in the type or in another of its strings.

    After a space it has to start a string, behind a start-of-word marker.
    """
    wanted = shown_token(text.strip())
    if not wanted:
        return table
    start = SHOWN_MARKER + wanted if text.startswith(" ") else ""
    hits = np.zeros(len(table), np.bool_)
    for name in ("type", "the other", "chain", "morph"):
        if name in table.columns:
            found = [v.startswith(start) if start else wanted in v for v in table[name]]
            hits |= np.array(found, np.bool_)
    return table[hits].reset_index(drop=True)
