"""The figures of a vocabulary: names, definitions and texts, and tables of them to take away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    pass

FigureForm = Literal["count", "share", "ratio", "fine ratio"]
FigureNeeds = Literal["", "corpus", "reference"]


@dataclass(frozen=True)
class Figure:
    """A figure: its key, what people call it, what it means, and how its value is written.

    ``needs`` is what it is undefined without; ``has_list``: there are types behind it.
    """

    key: str
    label: str
    definition: str
    form: FigureForm
    needs: FigureNeeds = ""
    has_list: bool = True


@dataclass(frozen=True)
class FigureValue:
    """The value of a figure; NaN where undefined, and ``why``. ``of``: what a count is part of."""

    number: float
    of: float = 0
    why: str = ""


FIGURES = (
    Figure(
        "size",
        "Types, |V|",
        "All types of the vocabulary, special and added ones included.",
        "count",
    ),
    Figure(
        "special",
        "Special and added types",
        "Types such as <s> that no merge makes and no text is searched for piece by piece. They "
        "are left out of all figures below but the Rényi efficiency's |V|.",
        "count",
    ),
    Figure(
        "word_initial",
        "Word-initial types, %",
        "Share of types that stand at the start of a word: with Ġ or ▁ before them, or without ##.",
        "share",
    ),
    Figure(
        "mean_length",
        "Mean length, characters",
        "Mean number of characters of a type, without its marker. Types that are the marker alone, "
        "or bytes that are not whole characters, are left out.",
        "ratio",
    ),
    Figure(
        "partial",
        "Types that are not whole characters",
        "Types with bytes of a character that is not complete.",
        "count",
    ),
    Figure(
        "duplicates",
        "Pairs that differ in the marker only",
        "Pairs of types such as Ġun and un, and their number as a share of all types: how many "
        "types would be saved if the marker were a type of its own (Gow-Smith et al. 2022, Table "
        "4).",
        "count",
    ),
    Figure(
        "unreachable",
        "Unreachable types",
        "Types that segmenting their own string does not give back: other merges take their parts "
        "away first (Bauwens & de Lhoneux 2026, §3.1). For methods without merges, the string "
        "stands at the start of a word or inside one, as the type's marker says.",
        "count",
    ),
    Figure(
        "never_used",
        "Types never used",
        "Types that occur as no token anywhere in the corpus. Atoms are types too. The words of "
        "wordfreq are in lower case and without marks: types with capitals or marks are not used.",
        "count",
        "corpus",
    ),
    Figure(
        "single_use_chains",
        "Single-use chains",
        "Chains a → ab → abc of types that are parts of exactly one merge and never a token of the "
        "corpus: all but the last are there for the next only. The number of longest chains.",
        "count",
        "corpus",
    ),
    Figure(
        "scaffolds",
        "Scaffold candidates",
        "Types that a merge makes, that are part of another merge, and that are a token of the "
        "corpus no more often than the type of the last merge. An after-the-fact reading of Lian "
        "et al. 2025, who decide during training.",
        "count",
        "corpus",
    ),
    Figure("words", "Words in the corpus", "Running words.", "count", "corpus", has_list=False),
    Figure(
        "tokens",
        "Tokens in the corpus",
        "All tokens of the running words, unknown ones and markers that stand alone included.",
        "count",
        "corpus",
    ),
    Figure(
        "fertility",
        "Tokens per word",
        "Tokens ÷ running words (fertility). A method that drops characters gets fewer tokens.",
        "fine ratio",
        "corpus",
        has_list=False,
    ),
    Figure(
        "sequence_length",
        "Tokens per word without markers",
        "The same without tokens that are a start-of-word marker and nothing else (Gow-Smith et "
        "al. 2022, Table 2, “sequence length”).",
        "fine ratio",
        "corpus",
        has_list=False,
    ),
    Figure(
        "characters_per_token",
        "Characters per token",
        "Characters that tokens cover ÷ tokens: without markers, and without dropped characters.",
        "fine ratio",
        "corpus",
        has_list=False,
    ),
    Figure(
        "relative_tokens",
        "Tokens relative to the baseline",
        "Tokens ÷ tokens of the first tokeniser. Below 1: it compresses the corpus more. Not "
        "comparable where characters are dropped.",
        "fine ratio",
        "corpus",
        has_list=False,
    ),
    Figure(
        "dropped",
        "Dropped characters",
        "Characters of the corpus in no token, because the method leaves part of a word out "
        "(FLOTA, FIRST, LONGEST), and their share.",
        "count",
        "corpus",
        has_list=False,
    ),
    Figure(
        "marker_tokens",
        "Markers that stand alone",
        "Tokens that are a start-of-word marker and nothing else, and their share.",
        "count",
        "corpus",
        has_list=False,
    ),
    Figure(
        "unknown",
        "Unknown tokens",
        "Tokens that stand for unknown characters, and their share.",
        "count",
        "corpus",
        has_list=False,
    ),
    Figure(
        "renyi",
        "Rényi efficiency",
        "Rényi entropy of order α of the distribution of tokens over types, ÷ log |V|; Shannon's "
        "for α = 1. 1 if all types are used equally often (Zouhar et al. 2023, α = 2.5).",
        "fine ratio",
        "corpus",
        has_list=False,
    ),
    Figure(
        "morph_types",
        "Types that are a morph, %",
        "Share of types that are, without the marker, a morph of the reference, as spelled there.",
        "share",
        "reference",
    ),
    Figure(
        "affix_types",
        "Types that are an affix, %",
        "Share of types that are, without the marker, a prefix, suffix or interfix there.",
        "share",
        "reference",
    ),
    Figure(
        "word_types",
        "Types that are a whole word, %",
        "Share of types that are, without the marker, a word of the reference.",
        "share",
        "reference",
    ),
    Figure(
        "morphs_covered",
        "Morphs that are types, %",
        "Share of the reference's distinct morphs that are a type, without the marker.",
        "share",
        "reference",
    ),
)
_BY_KEY = {figure.key: figure for figure in FIGURES}


def figure_called(key: str) -> Figure:
    """A figure by its key; `MorphGraphError` if there is none."""
    if key not in _BY_KEY:
        listed = ", ".join(_BY_KEY)
        raise MorphGraphError(f"“{key[:80]}” is not a figure. Use one of: {listed}.")
    return _BY_KEY[key]
