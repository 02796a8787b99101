"""Gold as a notebook gives it, and scores by it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from morphgraph.core.errors import MorphGraphError, check_choice, check_list
from morphgraph.core.text import shortened
from morphgraph.corpus.counts import to_word_counts
from morphgraph.reference.entry import Reference
from morphgraph.reference.plain import reference_of_pairs
from morphgraph.reference.readers import read_reference
from morphgraph.refine.learning import Entrant, learn_and_score
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope, Weighting
from morphgraph.score.metrics import USUAL
from morphgraph.score.table import ScoreTable, SegmentationFailure

if TYPE_CHECKING:
    import pandas as pd

Gold: TypeAlias = (
    "GoldSet | Reference | str | os.PathLike[str] | pd.DataFrame | Mapping[str, Sequence[str]] | "
    "Iterable[tuple[str, Sequence[str]]]"
)
"""Whatever `read_gold` reads."""


def read_gold(
    source: Gold | bytes,
    *,
    format: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    frequencies: Mapping[str, float] | str | None = None,
    bare: bool = False,
) -> GoldSet:
    """Read a gold segmentation.

    ``source``: a file, ``demo:en``, ``catalogue:…``, a list of (word, morphs), a dict of words and
    their morphs, or a DataFrame with the columns word and morphs; morphs are a list of strings.
    ``format``, ``encoding`` and ``separator`` (between morphs, as ``+``): of a file; detected from
    its content if not given. ``frequencies``: word → count, a file of counts, or ``wordfreq:en``.
    ``bare``: words are whole texts of their own, without the space before. Errors:
    `MorphGraphError`.

    >>> gold = mg.read_gold("demo:en")
    >>> mg.read_gold([("undo", ["un", "do"]), ("houses", ["house", "s"])])
    <GoldSet pairs: pairs, 2 entries>
    >>> mg.read_gold({"undo": ["un", "do"]})
    <GoldSet pairs: pairs, 1 entry>
    """
    if isinstance(source, GoldSet):
        return source
    if isinstance(source, Reference):
        reference = source
    elif isinstance(source, str | bytes | os.PathLike):
        how = {"format": format, "encoding": encoding, "separator": separator}
        reference = read_reference(source, **how)  # type: ignore[arg-type]
    elif isinstance(source, Iterable):
        reference = reference_of_pairs(_pairs_of(source))
    else:
        raise MorphGraphError(
            f"{shortened(repr(source))} is not a gold segmentation. Give a file, demo:en, "
            "catalogue:NAME, a list of (word, morphs), a dict or a DataFrame."
        )
    if isinstance(frequencies, str):
        counts = dict(to_word_counts(frequencies).items())
        return GoldSet.of(reference, counts, frequencies, bare=bare)
    named = "" if frequencies is None else "given counts"
    return GoldSet.of(reference, frequencies, named, bare=bare)


def _pairs_of(source: Any) -> Iterable[tuple[str, Sequence[str]]]:
    """Return pairs of a word and its morphs, also those of a dict or DataFrame."""
    if isinstance(source, Mapping):
        return source.items()
    columns = getattr(source, "columns", None)
    if columns is None:
        return source  # type: ignore[no-any-return]
    if not {"word", "morphs"}.issubset(columns):
        listed = ", ".join(map(str, columns))
        raise MorphGraphError(
            f"The DataFrame has the columns {shortened(listed)}. Call them word and morphs."
        )
    return zip(source["word"], source["morphs"], strict=True)


def table_of(
    entrants: Sequence[Entrant],
    gold: Gold,
    scope: Scope,
    weighting: Weighting,
    metrics: Sequence[str],
    baseline: int | None = None,
) -> ScoreTable:
    """The scores of each entrant; `MorphGraphError` if none can be scored."""
    check_choice("scope", scope, SCOPES)
    check_choice("weighting", weighting, WEIGHTINGS)
    chosen = check_list(metrics, "scores") or USUAL
    gold_set = read_gold(gold)
    gold_set.weights(weighting)  # fails if there are no frequencies
    if not gold_set.has_gold(scope).any():
        raise MorphGraphError(
            f"{gold_set.reference.name} has no {scope} boundaries. Choose another scope."
        )
    outcomes = learn_and_score(entrants, gold_set)
    failed = [outcome for outcome in outcomes if isinstance(outcome, SegmentationFailure)]
    if len(failed) == len(outcomes):
        raise MorphGraphError(f"{failed[0].label}: {failed[0].message}")
    return ScoreTable(outcomes, scope, weighting, chosen, baseline=baseline)
