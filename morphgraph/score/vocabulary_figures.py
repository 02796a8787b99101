"""The figures of a vocabulary: what each is called and means, its value, the types behind it."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.reference.entry import MorphemeKind
from morphgraph.score.vocabulary_comparison import PARTS, compared
from morphgraph.score.vocabulary_health import (
    AFFIXES,
    ALPHA,
    Compression,
    ReferenceStrings,
    VocabularyHealth,
)
from morphgraph.tokeniser.preprocess import spans_words

if TYPE_CHECKING:
    import pandas as pd

_EMPTY = "there is nothing to count"
_NEEDED = {"corpus": "no word frequencies are chosen", "reference": "no reference is chosen"}


@dataclass(frozen=True)
class FigureValue:
    """The value of a figure; NaN where undefined, and ``why``. ``of``: what a count is part of."""

    number: float
    of: float = 0
    why: str = ""


def _corpus(health: VocabularyHealth) -> Compression:
    assert health.compression is not None
    return health.compression


def _gold(health: VocabularyHealth) -> ReferenceStrings:
    assert health.gold is not None
    return health.gold


def _among(health: VocabularyHealth, strings: Collection[str] | None) -> list[int] | None:
    """Ids of types that are, without their marker, one of these strings."""
    if strings is None:
        return None
    return [number for number, body in health.inventory.bodies.items() if body in strings]


def _mean(numbers: Collection[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else math.nan


def _of_kind(health: VocabularyHealth, kind: MorphemeKind) -> list[int] | None:
    """Ids of types that are a morph of this kind, one for each; None where no kinds are told."""
    return _each_once(health, _among(health, _gold(health).of_kinds(kind)))


def _each_once(health: VocabularyHealth, ids: Sequence[int] | None) -> list[int] | None:
    """The first id of those that differ in the marker only."""
    spelled, bodies = health.inventory.spelled, health.inventory.bodies
    if ids is None:
        return None
    return [*{bodies[n] or f" {spelled[n]}": n for n in reversed(ids)}.values()]


def _covered(health: VocabularyHealth, *_: object) -> float:
    bodies = set(health.inventory.bodies.values())
    return _mean([morph in bodies for morph in _gold(health).morphs])


_BEHIND: Mapping[str, Callable[[VocabularyHealth], Sequence[Any] | None]] = {
    "size": lambda h: [*h.inventory.spelled, *h.inventory.special],
    "special": lambda h: h.inventory.special,
    "word_initial": lambda h: h.word_initial,
    "mean_length": lambda h: [n for n, body in h.inventory.bodies.items() if body],
    "partial": lambda h: [n for n, body in h.inventory.bodies.items() if body is None],
    "several_words": lambda h: [
        n for n in h.inventory.spelled if spans_words(h.inventory.texts[n])
    ],
    "duplicates": lambda h: h.duplicates,
    "distinct": lambda h: _each_once(h, [*h.inventory.spelled]),
    "unreachable": lambda h: h.unreachable,
    "never_formed": lambda h: h.never_formed,
    "never_used": lambda h: h.never_used,
    "single_use_chains": lambda h: h.chains,
    "tokens": lambda h: np.flatnonzero(_corpus(h).counts).tolist(),
    "morph_types": lambda h: _among(h, _gold(h).morphs),
    "affix_types": lambda h: _among(h, _gold(h).of_kinds(*AFFIXES)),
    "word_types": lambda h: _among(h, _gold(h).words),
    "prefix_types": lambda h: _of_kind(h, MorphemeKind.PREFIX),
    "suffix_types": lambda h: _of_kind(h, MorphemeKind.SUFFIX),
    "morphs_covered": lambda h: [*_gold(h).morphs.items()],
}
"""Ids of the types behind a figure, or pairs or chains of them; None where it is undefined."""


def _of_part(part: str, key: str = "size") -> Callable[..., float]:
    return lambda h, *_: figure_called(key).value_of(compared(_[1], h)[part], ALPHA, h).number


def _carried_over(health: VocabularyHealth, _: float, baseline: VocabularyHealth) -> float:
    shared, dropped = (compared(baseline, health)[part].size for part in PARTS[:2])
    return shared / (shared + dropped) if shared + dropped else math.nan


_VALUES: Mapping[str, Callable[[VocabularyHealth, float, VocabularyHealth], float]] = {
    "size": lambda h, *_: h.size,
    "mean_length": lambda h, *_: _mean([len(body) for body in h.inventory.bodies.values() if body]),
    "tokens": lambda h, *_: _corpus(h).tokens,
    "relative_tokens": lambda h, _, baseline: _corpus(h).relative_to(_corpus(baseline)),
    "renyi": lambda h, alpha, _: _corpus(h).renyi_efficiency(alpha),
    "morphs_covered": _covered,
    "carried_over": _carried_over,
    **{part: _of_part(part) for part in PARTS},
    **{
        f"{key}_{part}": _of_part(f"{part}_types", key)
        for part in ("dropped", "added")
        for key in ("word_initial", "mean_length")
    },
}
"""From a vocabulary, the α of the Rényi efficiency and the baseline."""


@dataclass(frozen=True)
class Figure:
    """A figure; ``undefined``: why else it may be; ``of``: what a count of types is part of."""

    key: str
    label: str
    definition: str
    form: Literal["count", "share", "ratio", "fine ratio"] = "count"
    needs: Literal["", "corpus", "reference", "baseline"] = ""
    of: Literal["", "types", "characters", "tokens"] = ""
    undefined: str = _EMPTY

    @property
    def has_list(self) -> bool:
        """Whether there are types behind it."""
        return self.key in _BEHIND or self.key in PARTS

    def lacks(self, health: VocabularyHealth) -> bool:
        """Whether what it needs is not chosen."""
        known = {"corpus": health.compression, "reference": health.gold}
        return self.needs in known and known[self.needs] is None

    def value_of(
        self, health: VocabularyHealth, alpha: float, baseline: VocabularyHealth
    ) -> FigureValue:
        """Return its value; NaN with the reason where it is undefined.

        By default, how many types are behind it, or what the corpus has by its key.
        """
        if self.lacks(health):
            return FigureValue(math.nan, why=_NEEDED[self.needs])
        of_types = self.of == "types" or (self.form == "share" and self.has_list)
        types = len(health.inventory.spelled) if of_types else 0
        if self.key in _VALUES:
            number = _VALUES[self.key](health, alpha, baseline)
        elif not self.has_list:
            number = getattr(_corpus(health), self.key)
        elif (behind := _BEHIND[self.key](health)) is None:
            is_empty = self.needs == "corpus" and not _corpus(health).tokens
            return FigureValue(math.nan, why=_EMPTY if is_empty else self.undefined)
        else:
            number = len(behind)
            if self.form == "share":
                number = number / types if types else math.nan
        whole = types if self.of == "types" else getattr(_corpus(health), self.of) if self.of else 0
        return FigureValue(float(number), whole, _EMPTY if math.isnan(number) else "")

    def list_of(self, health: VocabularyHealth) -> Sequence[Any]:
        """Return the types behind it; none where there is no list, or it is undefined."""
        return (not self.lacks(health) and self.has_list and _BEHIND[self.key](health)) or ()


_FILE = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
FIGURES = tuple(Figure(key, **told) for key, told in tomllib.loads(_FILE).items())
RELATIVE = {"relative_tokens", *(figure.key for figure in FIGURES if figure.needs == "baseline")}
"""The keys of figures that compare with a baseline."""
_BY_KEY = {figure.key: figure for figure in FIGURES}


def figure_called(key: str) -> Figure:
    """Return a figure by its key; `MorphGraphError` if there is none."""
    if key not in _BY_KEY:
        listed = ", ".join(_BY_KEY)
        raise MorphGraphError(f"“{key[:80]}” is not a figure. Use one of: {listed}.")
    return _BY_KEY[key]


def figures_of(
    health: VocabularyHealth, alpha: float = ALPHA, baseline: VocabularyHealth | None = None
) -> dict[str, FigureValue]:
    """Return all of `FIGURES` by key; an undefined one is NaN and says why.

    ``baseline``: what it is compared with; without one, what needs one is left out, and corpus
    tokens are relative to its own. `MorphGraphError` for an α that is not above 0, or a baseline on
    another corpus.
    """
    chosen = [figure for figure in FIGURES if baseline is not None or figure.needs != "baseline"]
    baseline = baseline or health
    named = {each.corpus_signature for each in (health, baseline) if each.corpus is not None}
    if len(named) > 1:
        raise MorphGraphError(
            "The baseline is measured on another corpus. Give both the same corpus."
        )
    return {figure.key: figure.value_of(health, alpha, baseline) for figure in chosen}


# ------------------------------------------------------------------------------ lists

COUNT, COUNT_OF_OTHER = "tokens in the corpus", "of the other"
IN_REFERENCE = "words in the reference"

Listed = tuple[list[int], dict[str, Any]]
"""The id of the first type of each row, -1 where there is none, and the columns beside it."""
_SORTED_BY = {
    "mean_length": "characters",
    "never_used": "characters",  # their counts are all alike
    "morphs_covered": IN_REFERENCE,
}


def _counts(health: VocabularyHealth, numbers: Iterable[int]) -> list[float]:
    """How often types are tokens of the corpus; NaN without one."""
    if health.compression is None:
        return [math.nan for _ in numbers]
    return [float(health.compression.counts[number]) for number in numbers]


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


_OTHER: Mapping[str, Callable[[VocabularyHealth, Any], Listed]] = {
    "duplicates": _pairs,
    "single_use_chains": _chains,
    "morphs_covered": _morphs,
}


def list_behind(
    health: VocabularyHealth, key: str, *, baseline: VocabularyHealth | None = None
) -> pd.DataFrame:
    """Return the types behind a figure: the most frequent first, or the longest without a corpus.

    Columns ``type_id`` (of the row's first type, -1 where there is none), ``type``, and more that
    fit the figure. ``baseline``: what it is compared with; dropped and shared types have the ids of
    that. `MorphGraphError` for a key that is not a figure.
    """
    import pandas as pd

    if key in PARTS:
        return list_behind(compared(baseline or health, health)[key], "size")
    ids, columns = _OTHER.get(key, _types)(health, figure_called(key).list_of(health))
    if health.compression is None:
        columns = {name: c for name, c in columns.items() if name not in (COUNT, COUNT_OF_OTHER)}
    texts = [health.inventory.texts[number] if number >= 0 else "" for number in ids]
    table = pd.DataFrame({"type_id": np.array(ids, np.int64), "type": texts, **columns})
    for column in (COUNT, _SORTED_BY.get(key, COUNT)):
        if column in table.columns:
            table = table.sort_values(column, ascending=False, kind="stable", ignore_index=True)
    return table
