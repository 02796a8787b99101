"""The types behind each figure of a vocabulary, as tables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from morphgraph.score.vocabulary_figures import figure_called
from morphgraph.tokeniser.preprocess import MARKERS

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.score.vocabulary_health import VocabularyHealth

COUNT = "tokens in the corpus"


def list_behind(health: VocabularyHealth, key: str) -> pd.DataFrame:
    """The types behind a figure: most frequent first where there is a corpus, or longest first.

    Columns ``type_id`` (of the row's first type, -1 where there is none), ``type``, and more that
    fit the figure; no rows where the figure has no list or is undefined. `MorphGraphError` for a
    key that is not a figure.
    """
    figure = figure_called(key)
    if key == "duplicates":
        return _pairs(health)
    if key == "single_use_chains":
        return _chains(health)
    if key == "morphs_covered":
        return _morphs(health)
    table = _types(health, _ids(health, key) if figure.has_list else ())
    if key in ("mean_length", "never_used"):  # the counts of the latter are all alike
        return table.sort_values("characters", ascending=False, kind="stable", ignore_index=True)
    return table


def _ids(health: VocabularyHealth, key: str) -> Iterable[int]:
    inventory, gold = health.inventory, health.gold
    if key == "special":
        return inventory.special
    if key == "size":
        return (*inventory.ids, *inventory.special)
    if key == "word_initial":
        return health.word_initial() if inventory.marks_start else ()
    if key in ("partial", "mean_length"):
        bodies = zip(inventory.ids, inventory.bodies, strict=True)
        if key == "partial":
            return [number for number, body in bodies if body is None]
        return [number for number, body in bodies if body]
    if figure_called(key).needs == "reference":
        if gold is None:
            return ()
        strings = {
            "morph_types": gold.morphs,
            "affix_types": gold.affixes or frozenset(),
            "word_types": gold.words,
        }
        return health.among(strings[key])
    if key == "tokens":
        found = health.compression
        return [] if found is None else np.flatnonzero(found.counts).tolist()
    lists = {
        "unreachable": health.unreachable,
        "never_used": health.never_used,
        "scaffolds": health.scaffolds,
    }
    return lists[key] or ()


def _count(health: VocabularyHealth, number: int) -> float:
    found = health.compression
    return math.nan if found is None else float(found.counts[number])


def _types(health: VocabularyHealth, numbers: Iterable[int]) -> pd.DataFrame:
    import pandas as pd

    numbers = list(numbers)
    inventory = health.inventory
    bodies = dict(zip(inventory.ids, inventory.bodies, strict=True))
    shown = [bodies.get(number) for number in numbers]
    columns: dict[str, Any] = {
        "type_id": np.array(numbers, np.int64),
        "type": [inventory.texts[number] for number in numbers],
        "characters": [math.nan if body is None else len(body) for body in shown],
        COUNT: [_count(health, number) for number in numbers],
    }
    if health.compression is None:
        del columns[COUNT]
    if inventory.graph is not None:
        columns["in merges"] = [len(inventory.graph.outgoing(n)) for n in numbers]
    return _by_count(pd.DataFrame(columns))


def _pairs(health: VocabularyHealth) -> pd.DataFrame:
    import pandas as pd

    texts = health.inventory.texts
    pairs = health.duplicates if health.inventory.marker else []
    columns = {
        "type_id": np.array([marked for marked, _ in pairs], np.int64),
        "type": [texts[marked] for marked, _ in pairs],
        "the other": [texts[plain] for _, plain in pairs],
        COUNT: [_count(health, marked) for marked, _ in pairs],
        "of the other": [_count(health, plain) for _, plain in pairs],
    }
    if health.compression is None:
        del columns[COUNT], columns["of the other"]
    return _by_count(pd.DataFrame(columns))


def _chains(health: VocabularyHealth) -> pd.DataFrame:
    import pandas as pd

    chains, texts = health.chains or [], health.inventory.texts
    return pd.DataFrame(
        {
            "type_id": np.array([chain[0] for chain in chains], np.int64),
            "type": [texts[chain[0]] for chain in chains],
            "chain": [" → ".join(texts[number] for number in chain) for chain in chains],
            "types for the next only": [len(chain) - 1 for chain in chains],
            "tokens of the last": [_count(health, chain[-1]) for chain in chains],
        }
    )


def _morphs(health: VocabularyHealth) -> pd.DataFrame:
    import pandas as pd

    inventory = health.inventory
    by_body: dict[str, int] = {}
    for number, body in zip(inventory.ids, inventory.bodies, strict=True):
        if body:
            by_body.setdefault(body, number)
    morphs = health.gold.morphs if health.gold is not None else {}
    ids = [by_body.get(morph, -1) for morph in morphs]
    table = pd.DataFrame(
        {
            "type_id": np.array(ids, np.int64),
            "type": [inventory.texts[number] if number >= 0 else "" for number in ids],
            "morph": list(morphs),
            "is a type": np.array(ids, np.int64) >= 0,
            "words in the reference": list(morphs.values()),
        }
    )
    column = "words in the reference"
    return table.sort_values(column, ascending=False, kind="stable", ignore_index=True)


def _by_count(table: pd.DataFrame) -> pd.DataFrame:
    """Most frequent first; as it is without counts."""
    if COUNT not in table.columns:
        return table
    return table.sort_values(COUNT, ascending=False, kind="stable", ignore_index=True)


def matching(table: pd.DataFrame, text: str) -> pd.DataFrame:
    """The rows of a list in which a text stands in the type or in another of its strings.

    After a space it has to start a string, behind a start-of-word marker.
    """
    wanted = text.strip()
    if not wanted:
        return table
    starts = tuple(mark + wanted for mark in MARKERS) if text.startswith(" ") else ()
    hits = np.zeros(len(table), np.bool_)
    for name in ("type", "the other", "chain", "morph"):
        if name in table.columns:
            found = [v.startswith(starts) if starts else wanted in v for v in table[name]]
            hits |= np.array(found, np.bool_)
    return table[hits].reset_index(drop=True)
