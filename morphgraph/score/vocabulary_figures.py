"""The figures of a vocabulary: what each is called and means, its value, the types behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import percent
from morphgraph.score.vocabulary import ALPHA, VocabularyHealth
from morphgraph.tokeniser.preprocess import SHOWN_MARKER, shown_token

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.score.vocabulary import Compression, ReferenceStrings

FigureForm = Literal["count", "share", "ratio", "fine ratio"]
FigureNeeds = Literal["", "corpus", "reference"]
Known = TypeVar("Known")

_EMPTY = "there is nothing to count"


@dataclass(frozen=True)
class FigureValue:
    """The value of a figure; NaN where undefined, and ``why``. ``of``: what a count is part of."""

    number: float
    of: float = 0
    why: str = ""


class _Undefined(Exception):
    """Why a figure has no value."""


def _known(found: Known | None, why: str) -> Known:
    if found is None:
        raise _Undefined(why)
    return found


def _corpus(health: VocabularyHealth) -> Compression:
    return _known(health.compression, "no word frequencies are chosen")


def _gold(health: VocabularyHealth) -> ReferenceStrings:
    return _known(health.gold, "no reference is chosen")


def _merged(health: VocabularyHealth, found: Known | None) -> Known:
    graph = health.inventory.graph
    _corpus(health)
    has_merges = graph is not None and graph.merge_count
    return _known(found, _EMPTY if has_merges else "the vocabulary has no merges")


def _ordinary(health: VocabularyHealth) -> float:
    return len(health.inventory.spelled)


def _mean(numbers: Collection[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else math.nan


def _word_initial(health: VocabularyHealth) -> list[int]:
    """Ids of types that stand at the start of a word, where the marker shows it."""
    inventory = health.inventory
    if not inventory.marks_start:
        raise _Undefined("the types do not show where a word starts")
    return [n for n in inventory.spelled if (n in inventory.marked) != (inventory.marker == "##")]


def _among(health: VocabularyHealth, strings: Collection[str]) -> list[int]:
    """Ids of types that are, without their marker, one of these strings."""
    return [number for number, body in health.inventory.bodies.items() if body in strings]


def _affixes(health: VocabularyHealth) -> list[int]:
    why = "the reference does not say which morphs are affixes"
    return _among(health, _known(_gold(health).affixes, why))


def _covered(health: VocabularyHealth, *_: object) -> float:
    bodies = set(health.inventory.bodies.values())
    return _mean([morph in bodies for morph in _gold(health).morphs])


@dataclass(frozen=True)
class Figure:
    """A figure: its key, what people call it, what it means, and how its value is written.

    ``needs`` is what it is undefined without. ``behind``: ids of the types behind it, or pairs or
    chains of them; None if there is no list. ``value``: from a vocabulary, the α of the Rényi
    efficiency and the baseline; by default how many are ``behind``, of a share ÷ all ordinary
    types, or without a list what the corpus has by its key. ``of``: what a count is part of.
    """

    key: str
    label: str
    definition: str
    form: FigureForm = "count"
    behind: Callable[[VocabularyHealth], Sequence[Any]] | None = None
    value: Callable[[VocabularyHealth, float, VocabularyHealth], float] | None = None
    of: Callable[[VocabularyHealth], float] = lambda health: 0
    needs: FigureNeeds = ""

    def value_of(
        self, health: VocabularyHealth, alpha: float, baseline: VocabularyHealth
    ) -> FigureValue:
        """Its value; NaN with the reason where it is undefined."""
        try:
            if self.value is not None:
                number = self.value(health, alpha, baseline)
            elif self.behind is None:
                number = getattr(_corpus(health), self.key)
            else:
                number = len(self.behind(health))
                if self.form == "share":
                    number = number / _ordinary(health) if _ordinary(health) else math.nan
        except _Undefined as why:
            return FigureValue(math.nan, why=str(why))
        return FigureValue(float(number), self.of(health), _EMPTY if math.isnan(number) else "")

    def list_of(self, health: VocabularyHealth) -> Sequence[Any]:
        """What is behind it; nothing where there is no list, or it is undefined."""
        try:
            return () if self.behind is None else self.behind(health)
        except _Undefined:
            return ()


_OF_TYPES = (
    Figure(
        "size",
        "Types, |V|",
        "All types of the vocabulary, special and added ones included.",
        behind=lambda h: [*h.inventory.spelled, *h.inventory.special],
        value=lambda h, *_: h.size,
    ),
    Figure(
        "special",
        "Special and added types",
        "Types such as <s> that no merge makes and no text is searched for piece by piece. They "
        "are left out of all figures below but the Rényi efficiency's |V|.",
        behind=lambda h: h.inventory.special,
    ),
    Figure(
        "word_initial",
        "Word-initial types, %",
        "Share of types that stand at the start of a word: with ␣ before them, or without ##.",
        "share",
        behind=_word_initial,
    ),
    Figure(
        "mean_length",
        "Mean length, characters",
        "Mean number of characters of a type, without its marker. Types that are the marker alone, "
        "or bytes that are not whole characters, are left out.",
        "ratio",
        behind=lambda h: [n for n, body in h.inventory.bodies.items() if body],
        value=lambda h, *_: _mean([len(body) for body in h.inventory.bodies.values() if body]),
    ),
    Figure(
        "partial",
        "Types that are not whole characters",
        "Types with bytes of a character that is not complete.",
        behind=lambda h: [n for n, body in h.inventory.bodies.items() if body is None],
        of=_ordinary,
    ),
    Figure(
        "duplicates",
        "Pairs that differ in the marker only",
        "Pairs of types such as ␣un and un, and their number as a share of all types: how many "
        "types would be saved if the marker were a type of its own (Gow-Smith et al. 2022, Table "
        "4).",
        behind=lambda h: _known(h.duplicates, "the types have no marker"),
        of=_ordinary,
    ),
    Figure(
        "unreachable",
        "Unreachable types",
        "Types that segmenting their own string does not give back: other merges take their parts "
        "away first (Bauwens & de Lhoneux 2026, §3.1). For methods without merges, the string "
        "stands at the start of a word or inside one, as the type's marker says.",
        behind=lambda h: _known(h.unreachable, "there is no way to look up a type's own string"),
        of=_ordinary,
    ),
    Figure(
        "never_formed",
        "Types never formed",
        "Unreachable types of which every merge has a part that is made only after it is needed: "
        "edits leave some where a type has several merges. Removing them changes no segmentation.",
        behind=lambda h: _known(h.never_formed, "the vocabulary has no merges"),
        of=_ordinary,
    ),
)
_OF_CORPUS = (
    Figure(
        "never_used",
        "Types never used",
        "Types that occur as no token anywhere in the corpus. Atoms are types too. The words of "
        "wordfreq are in lower case and without marks: types with capitals or marks are not used.",
        behind=lambda h: _known(h.never_used if _corpus(h) else None, _EMPTY),
        of=_ordinary,
    ),
    Figure(
        "single_use_chains",
        "Single-use chains",
        "Chains a → ab → abc of types that are parts of exactly one merge and never a token of the "
        "corpus: all but the last are there for the next only. The number of longest chains.",
        behind=lambda h: _merged(h, h.chains),
    ),
    Figure(
        "scaffolds",
        "Scaffold candidates",
        "Types that a merge makes, that are part of another merge, and that are a token of the "
        "corpus no more often than the type of the last merge. An after-the-fact reading of Lian "
        "et al. 2025, who decide during training.",
        behind=lambda h: _merged(h, h.scaffolds),
        of=_ordinary,
    ),
    Figure("words", "Words in the corpus", "Running words."),
    Figure(
        "tokens",
        "Tokens in the corpus",
        "All tokens of the running words, unknown ones and markers that stand alone included.",
        behind=lambda h: np.flatnonzero(_corpus(h).counts).tolist(),
        value=lambda h, *_: _corpus(h).tokens,
    ),
    Figure(
        "fertility",
        "Tokens per word",
        "Tokens ÷ running words (fertility). A method that drops characters gets fewer tokens.",
        "fine ratio",
    ),
    Figure(
        "sequence_length",
        "Tokens per word without markers",
        "The same without tokens that are a start-of-word marker and nothing else (Gow-Smith et "
        "al. 2022, Table 2, “sequence length”).",
        "fine ratio",
    ),
    Figure(
        "characters_per_token",
        "Characters per token",
        "Characters that tokens cover ÷ tokens: without markers, and without dropped characters.",
        "fine ratio",
    ),
    Figure(
        "bytes_per_token",
        "Bytes per token",
        "Bytes in UTF-8 that tokens cover ÷ tokens: without markers and dropped characters.",
        "fine ratio",
    ),
    Figure(
        "relative_tokens",
        "Tokens relative to the baseline",
        "Tokens ÷ tokens of the first tokeniser. Below 1: it compresses the corpus more. Not "
        "comparable where characters are dropped.",
        "fine ratio",
        value=lambda h, _, baseline: _corpus(h).relative_to(_corpus(baseline)),
    ),
    Figure(
        "dropped",
        "Dropped characters",
        "Characters of the corpus in no token, because the method leaves part of a word out "
        "(FLOTA, FIRST, LONGEST), and their share.",
        of=lambda h: _corpus(h).characters,
    ),
    Figure(
        "marker_tokens",
        "Markers that stand alone",
        "Tokens that are a start-of-word marker and nothing else, and their share.",
        of=lambda h: _corpus(h).tokens,
    ),
    Figure(
        "unknown",
        "Unknown tokens",
        "Tokens that stand for unknown characters, and their share.",
        of=lambda h: _corpus(h).tokens,
    ),
    Figure(
        "renyi",
        "Rényi efficiency",
        "Rényi entropy of order α of the distribution of tokens over types, ÷ log |V|; Shannon's "
        "for α = 1. 1 if all types are used equally often (Zouhar et al. 2023, α = 2.5).",
        "fine ratio",
        value=lambda h, alpha, _: _corpus(h).renyi_efficiency(alpha),
    ),
)
_OF_REFERENCE = (
    Figure(
        "morph_types",
        "Types that are a morph, %",
        "Share of types that are, without the marker, a morph of the reference, as spelled there.",
        "share",
        behind=lambda h: _among(h, _gold(h).morphs),
    ),
    Figure(
        "affix_types",
        "Types that are an affix, %",
        "Share of types that are, without the marker, a prefix, suffix or interfix there.",
        "share",
        behind=_affixes,
    ),
    Figure(
        "word_types",
        "Types that are a whole word, %",
        "Share of types that are, without the marker, a word of the reference.",
        "share",
        behind=lambda h: _among(h, _gold(h).words),
    ),
    Figure(
        "morphs_covered",
        "Morphs that are types, %",
        "Share of the reference's distinct morphs that are a type, without the marker.",
        "share",
        behind=lambda h: [*_gold(h).morphs.items()],
        value=_covered,
    ),
)
FIGURES = (
    *_OF_TYPES,
    *(replace(figure, needs="corpus") for figure in _OF_CORPUS),
    *(replace(figure, needs="reference") for figure in _OF_REFERENCE),
)
_BY_KEY = {figure.key: figure for figure in FIGURES}
_OF_UNUSED = ("never_used", "single_use_chains", "scaffolds", "renyi")
"""Figures that types which the corpus cannot use make worse."""


def figure_called(key: str) -> Figure:
    """A figure by its key; `MorphGraphError` if there is none."""
    if key not in _BY_KEY:
        listed = ", ".join(_BY_KEY)
        raise MorphGraphError(f"“{key[:80]}” is not a figure. Use one of: {listed}.")
    return _BY_KEY[key]


def figures_of(
    health: VocabularyHealth, alpha: float = ALPHA, baseline: VocabularyHealth | None = None
) -> dict[str, FigureValue]:
    """All of `FIGURES` by key; an undefined one is NaN and says why.

    ``alpha`` is that of the Rényi efficiency, ``baseline`` what corpus tokens are relative to, by
    default this vocabulary itself. `MorphGraphError` for an α that is not above 0, or a baseline on
    another corpus.
    """
    baseline = baseline or health
    named = {each.corpus_signature for each in (health, baseline) if each.corpus is not None}
    if len(named) > 1:
        raise MorphGraphError("The baseline is on another corpus. Give both the same.")
    return {figure.key: figure.value_of(health, alpha, baseline) for figure in FIGURES}


def case_warning(healths: Sequence[VocabularyHealth]) -> str:
    """What to know if a corpus `misses_capitals`, and which figures it touches; empty if none does.

    It names the tokenisers, if there are several.
    """
    found = [
        f"{percent(len(health.with_capitals) / _ordinary(health), 1)} % of the types"
        + (f" of {health.label}" if len(healths) > 1 else "")
        for health in healths
        if health.misses_capitals
    ]
    if not found:
        return ""
    named = ", ".join(f"“{figure_called(key).label}”" for key in _OF_UNUSED)
    return (
        f"The corpus has no capital letters: {', '.join(found)} have some and cannot be used. "
        f"This makes {named} worse, and all tokens are those of lower-case text. "
        "Take word frequencies with capitals to judge them."
    )


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


def list_behind(health: VocabularyHealth, key: str) -> pd.DataFrame:
    """The types behind a figure: most frequent first where there is a corpus, or longest first.

    Columns ``type_id`` (of the row's first type, -1 where there is none), ``type``, and more that
    fit the figure; no rows where the figure has no list or is undefined. `MorphGraphError` for a
    key that is not a figure.
    """
    import pandas as pd

    other: dict[str, Callable[[VocabularyHealth, Any], Listed]]
    other = {"duplicates": _pairs, "single_use_chains": _chains, "morphs_covered": _morphs}
    ids, columns = other.get(key, _types)(health, figure_called(key).list_of(health))
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
            hits |= [v.startswith(start) if start else wanted in v for v in table[name]]
    return table[hits].reset_index(drop=True)
