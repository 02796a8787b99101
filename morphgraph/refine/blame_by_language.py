"""Blame by language: which merges are wrong in one language and right in another."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.errors import MorphGraphError
from morphgraph.refine import LEAST_JOINS
from morphgraph.refine.blame import Blame, blame, blame_columns
from morphgraph.score.boundaries import Benchmark
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.tokeniser.merging import MergeSegmentation
from morphgraph.tokeniser.tokeniser import BpeTokeniser


@dataclass(frozen=True)
class BlameByLanguage:
    """The blame of every merge of one tokeniser in each language, by name.

    ``minimum``: a language with fewer joins of a merge says nothing of it.
    """

    languages: Mapping[str, Blame]
    minimum: float = LEAST_JOINS

    @cached_property
    def ratios(self) -> npt.NDArray[np.float64]:
        """R of each merge (columns) in each language (rows); NaN where it has too few joins."""
        rows = [
            np.where(each.applied >= max(self.minimum, 1e-9), each.ratio, np.nan)
            for each in self.languages.values()
        ]
        return np.array(rows)

    @cached_property
    def spread(self) -> npt.NDArray[np.float64]:
        """The highest R of each merge less its lowest; NaN in fewer than two languages."""
        judged = (~np.isnan(self.ratios)).sum(axis=0) > 1
        spread = np.full(self.ratios.shape[1], np.nan)
        some = self.ratios[:, judged]
        spread[judged] = np.nanmax(some, axis=0) - np.nanmin(some, axis=0)
        return spread

    def order(self, threshold: float = 0.0) -> npt.NDArray[np.int64]:
        """Return the merges judged in two languages or more, the largest spread first.

        Ties go to the merge with more joins, then by rank. ``threshold``: only merges that are to
        blame (R ≥ this) in one language at least.
        """
        joins = np.sum([each.applied for each in self.languages.values()], axis=0)
        order = np.lexsort((np.arange(len(self.spread)), -joins, -self.spread))
        order = order[~np.isnan(self.spread[order])]
        worst = np.nanmax(self.ratios[:, order], axis=0, initial=-1.0)
        chosen: npt.NDArray[np.int64] = order[worst >= threshold]
        return chosen

    def columns(self, tokeniser: BpeTokeniser, positions: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Return what the merges at these positions are, their spread, and languages.

        rank, merge, type, spread, ``worst in`` and ``best in`` (a language), and for each
        language ``… N``, ``… B`` and ``… R``, which is NaN below the minimum of joins.
        """
        names = np.array(list(self.languages), object)
        first = next(iter(self.languages.values()))
        told = blame_columns(tokeniser, first, positions)
        ratios = self.ratios[:, positions]
        columns = {name: told[name] for name in ("rank", "merge", "type")}
        columns["spread"] = self.spread[positions]
        columns["worst in"] = names[np.nan_to_num(ratios, nan=-1.0).argmax(axis=0)]
        columns["best in"] = names[np.nan_to_num(ratios, nan=2.0).argmin(axis=0)]
        for row, (name, found) in enumerate(self.languages.items()):
            columns[f"{name} N"] = found.applied[positions]
            columns[f"{name} B"] = found.blamed[positions]
            columns[f"{name} R"] = ratios[row]
        return columns


def blame_by_language(
    languages: Mapping[str, tuple[Benchmark, MergeSegmentation]],
    *,
    weighting: Weighting = "types",
    scope: Scope = "morphemic",
    tuples_once: bool = False,
    minimum: float = LEAST_JOINS,
) -> BlameByLanguage:
    """Blame every merge of a tokeniser in each language: the words, and their segmentation by it.

    n + d closes the boundary un|do of the first word, and stays inside a morph of the second.

    >>> import morphgraph as mg
    >>> from morphgraph.formats.loading import load_tokeniser
    >>> from morphgraph.tokeniser.merging import segment
    >>> tokeniser = load_tokeniser("demo:en")
    >>> golds = {"one": [("undo", ["un", "do"])], "other": [("undo", ["und", "o"])]}
    >>> made = {n: Benchmark.on(mg.read_gold(g), tokeniser) for n, g in golds.items()}
    >>> pairs = {name: (each, segment(tokeniser.graph, each.words)) for name, each in made.items()}
    >>> found = blame_by_language(pairs, minimum=1)
    >>> made = found.columns(tokeniser, found.order()[:1])
    >>> print(*(made[name] for name in ("merge", "worst in", "one R", "other R")))
    ['n + d'] ['one'] [1.] [0.]
    """
    settings = {"scope": scope, "weighting": weighting, "tuples_once": tuples_once}
    blames = {name: blame(*pair, **settings) for name, pair in languages.items()}  # type: ignore[arg-type]
    if len(blames) < 2:
        raise MorphGraphError("Blame by language compares languages. Name two references or more.")
    return BlameByLanguage(blames, minimum)
