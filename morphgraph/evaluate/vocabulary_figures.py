"""The figures of a vocabulary: names, definitions and texts, and tables of them to take away."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from morphgraph.errors import MorphGraphError
from morphgraph.evaluate.tables import UNDEFINED, count, percent
from morphgraph.evaluate.writing import csv_bytes, harmless, latex, latex_breakable
from morphgraph.evaluate.yardstick import reference_fields, signature_line

if TYPE_CHECKING:
    import pandas as pd

    from morphgraph.evaluate.vocabulary_health import VocabularyHealth

Form = Literal["count", "share", "ratio", "fine ratio"]
Needs = Literal["", "corpus", "reference"]


@dataclass(frozen=True)
class Figure:
    """A figure: its key, what people call it, what it means, and how its value is written.

    ``needs`` is what it is undefined without; ``has_list``: there are types behind it.
    """

    key: str
    label: str
    definition: str
    form: Form
    needs: Needs = ""
    has_list: bool = True


@dataclass(frozen=True)
class Value:
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
        "or bytes that are no whole characters, are left out.",
        "ratio",
    ),
    Figure(
        "partial",
        "Types that are no whole characters",
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
        "away first (Bauwens & de Lhoneux 2025, §3.1). For methods without merges, the string "
        "stands at the start of a word or inside one, as the type's marker says.",
        "count",
    ),
    Figure(
        "never_used",
        "Types never used",
        "Types that are no token anywhere in the corpus. Atoms are types too. The words of "
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
        "Tokens that stand for what is no type, and their share.",
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


def text_of(figure: Figure, value: Value) -> str:
    """A value as people read it.

    >>> text_of(figure_called("never_used"), Value(1234, 8000))
    '1,234 (15.4 %)'
    >>> text_of(figure_called("never_used"), Value(1, 8000))
    '1 (< 0.1 %)'
    >>> text_of(figure_called("renyi"), Value(float("nan")))
    'n/a'
    """
    if math.isnan(value.number):
        return UNDEFINED
    if figure.form == "share":
        return percent(value.number)
    if figure.form == "count":
        if not value.of or not value.number:
            return count(value.number)
        share = value.number / value.of
        shown = "< 0.1" if share < 0.0005 else percent(share, 1)
        return f"{count(value.number)} ({shown} %)"
    return f"{value.number:.{2 if figure.form == 'ratio' else 3}f}"


def label_of(figure: Figure, alpha: float) -> str:
    """What people call a figure; with the α of the Rényi efficiency.

    >>> label_of(figure_called("renyi"), 2.5)
    'Rényi efficiency, α = 2.5'
    """
    return f"{figure.label}, α = {alpha:g}" if figure.key == "renyi" else figure.label


def values_of(healths: Sequence[VocabularyHealth], alpha: float) -> list[dict[str, Value]]:
    """The figures of several vocabularies; the first is the baseline."""
    return [health.values(alpha, healths[0]) for health in healths]


def figure_frame(healths: Sequence[VocabularyHealth], alpha: float) -> pd.DataFrame:
    """Figures as text, one a row, one column for each vocabulary, by number: 0, 1, …"""
    import pandas as pd

    found = values_of(healths, alpha)
    columns: dict[Any, list[str]] = {"figure": [label_of(figure, alpha) for figure in FIGURES]}
    for number, values in enumerate(found):
        columns[number] = [text_of(figure, values[figure.key]) for figure in FIGURES]
    return pd.DataFrame(columns)


def why_undefined(healths: Sequence[VocabularyHealth], alpha: float) -> list[str]:
    """Sentences that say which figures are n/a, and why."""
    reasons: dict[str, list[str]] = {}
    for health, values in zip(healths, values_of(healths, alpha), strict=True):
        missing = {"": False, "corpus": health.corpus is None, "reference": health.gold is None}
        for figure in FIGURES:
            why = values[figure.key].why
            if missing[figure.needs]:
                reasons.setdefault(why, [f"All figures of a {figure.needs}"])
            elif why:
                own = f"{why} ({health.label})" if len(healths) > 1 else why
                reasons.setdefault(own, []).append(figure.label)
    return [f"{', '.join(labels)}: {why}." for why, labels in reasons.items()]


def signature(healths: Sequence[VocabularyHealth], alpha: float) -> str:
    """One line that names all that the figures depend on; the first tokeniser is the baseline.

    α stands there in full, so that no two numbers have one signature.
    """
    from morphgraph import __version__

    reference = healths[0].reference if healths else None
    return signature_line(
        {
            "corpus": healths[0].corpus_signature if healths else "none",
            "alpha": _number(alpha),
            **(reference_fields(reference) if reference is not None else {"reference": "none"}),
            "tokenisers": ", ".join(health.tokeniser_signature for health in healths),
            "version": __version__,
        }
    )


def figures_csv(healths: Sequence[VocabularyHealth], alpha: float) -> bytes:
    """One row for each tokeniser and figure: value, what it is part of, why it is n/a, signature.

    A share is a number from 0 to 1.
    """
    lines: list[list[object]] = [
        ["tokeniser", "figure", "name", "value", "of", "why n/a", "signature"]
    ]
    for health, values in zip(healths, values_of(healths, alpha), strict=True):
        line = signature([health], alpha) if health is healths[0] else None
        line = line or f"{signature([health], alpha)}|baseline:{healths[0].tokeniser_signature}"
        for figure in FIGURES:
            value = values[figure.key]
            undefined = math.isnan(value.number)
            lines.append(
                [
                    harmless(health.label),
                    figure.key,
                    label_of(figure, alpha),
                    UNDEFINED if undefined else _number(value.number),
                    _number(value.of) if value.of and not undefined else "",
                    value.why,
                    harmless(line),
                ]
            )
    return csv_bytes(lines)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def figures_latex(healths: Sequence[VocabularyHealth], alpha: float) -> str:
    """The figures as a LaTeX table (booktabs); signature and `case_warning` are in its caption."""
    from morphgraph.evaluate.vocabulary_health import case_warning

    lines = [
        "% needs booktabs",
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{l{'r' * len(healths)}}}",
        r"\toprule",
        " & ".join(["Figure", *(latex(health.label) for health in healths)]) + r" \\",
        r"\midrule",
    ]
    found = values_of(healths, alpha)
    previous: Needs = ""
    for figure in FIGURES:
        if figure.needs != previous:
            lines.append(r"\midrule")
            previous = figure.needs
        name = latex(label_of(figure, alpha)).replace("α", r"$\alpha$").replace("|V|", "$|V|$")
        cells = [latex(text_of(figure, values[figure.key])) for values in found]
        lines.append(" & ".join([name, *cells]) + r" \\")
    line = " ".join(signature(healths, alpha).split())
    caption = f"Vocabulary figures. {case_warning(healths)}".strip()
    lines += [
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{latex(caption)} Signature: \texttt{{{latex_breakable(line)}}}}}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def values_json(values: Mapping[str, Value]) -> dict[str, Any]:
    """Values as JSON; undefined ones are null, with why."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        undefined = math.isnan(value.number)
        number = value.number
        entry: dict[str, Any] = {
            "value": None if undefined else int(number) if number.is_integer() else number
        }
        if value.of and not undefined:
            entry["of"] = int(value.of) if float(value.of).is_integer() else value.of
        if value.why:
            entry["why"] = value.why
        found[key] = entry
    return found
