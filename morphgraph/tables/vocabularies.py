"""The result that shows two vocabularies beside each other."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from morphgraph.core.text import counted, percent, without_nan
from morphgraph.score.vocabulary_comparison import PartName, VocabularyComparison
from morphgraph.score.vocabulary_figures import list_behind
from morphgraph.score.vocabulary_health import ALPHA
from morphgraph.tables.figures import signature, whole_numbers
from morphgraph.tables.model import Cell, Column, Form, Row, Table, value_text
from morphgraph.tables.result import Result

if TYPE_CHECKING:
    import pandas as pd

_ROWS: dict[str, tuple[str, Form]] = {
    "types": ("Types", "count"),
    "word_initial": ("Word-initial, %", "percent"),
    "mean_length": ("Mean length, characters", "ratio"),
    "tokens_before": ("Tokens in the corpus by {before}", "count"),
    "tokens_after": ("Tokens in the corpus by {after}", "count"),
    "prefixes": ("Prefixes of the reference", "count"),
    "suffixes": ("Suffixes of the reference", "count"),
    "morphs": ("Morphs of the reference", "count"),
}


@dataclass(frozen=True, repr=False)
class ComparedVocabularies(Result):
    """Two vocabularies beside each other: the types in both, and those in one of them only.

    >>> other = mg.load("demo:de")
    >>> print(repr(mg.compare_vocabularies(tokeniser, other)).partition(" | ")[0])
    1,953 types in both, 6,046 only in demo:en, 6,046 only in demo:de
    """

    comparison: VocabularyComparison

    @property
    def labels(self) -> dict[str, str]:
        """The names of both: ``before`` and ``after``.

        >>> mg.compare_vocabularies(tokeniser, mg.load("demo:de")).labels
        {'before': 'demo:en', 'after': 'demo:de'}
        """
        return {side: getattr(self.comparison, side).label for side in ("before", "after")}

    @property
    def signature(self) -> str:
        """One line with everything that the figures depend on.

        >>> mg.compare_vocabularies(tokeniser, tokeniser).signature.split("|")[0]
        'corpus:none'
        """
        return signature([self.comparison.before, self.comparison.after], ALPHA)

    def types(self, part: PartName) -> pd.DataFrame:
        """Return the types of a part: ``shared_types``, ``dropped_types`` or ``added_types``.

        The most frequent first, or the longest without a corpus.

        >>> found = mg.compare_vocabularies(tokeniser, mg.load("demo:de"), counts="wordfreq:de")
        >>> found.types("added_types")["type"][:3].tolist()
        ['␣das', '␣ist', '␣ich']
        """
        before, after = self.comparison.before, self.comparison.after
        return list_behind(after, part, baseline=before).drop(columns="type_id")

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each part; NaN where undefined.

        >>> found = mg.compare_vocabularies(tokeniser, mg.load("demo:de"))
        >>> found.to_frame()["word_initial"].round(2).tolist()
        [0.57, 0.83, 0.7]
        """
        import pandas as pd

        rows = {name: vars(part) for name, part in self.comparison.parts.items()}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("part")

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as JSON data.

        >>> mg.compare_vocabularies(tokeniser, tokeniser).to_dict()["carried_over"]
        1
        """
        told: dict[str, Any] = {**self.labels, "carried_over": self.comparison.carried_over}
        told |= {name: asdict(part) for name, part in self.comparison.parts.items()}
        return {**whole_numbers(without_nan(told)), "signature": self.signature}

    def table(self) -> Table:
        """Return a column for each part; below the figures, types by script.

        >>> mg.compare_vocabularies(tokeniser, tokeniser).table().notes
        ('Carried over: 100.00 % of the types of demo:en are in demo:en #2.',)
        """
        parts, names = [*self.comparison.parts.values()], self.labels
        by_script = sum((Counter(part.scripts) for part in parts), Counter[str]())
        given: list[tuple[int, str, Form, list[float]]] = [
            (0, title.format(**names), form, [getattr(part, key) for part in parts])
            for key, (title, form) in _ROWS.items()
        ]
        given += [
            (
                1,
                script.capitalize() or "no letter",
                "count",
                [p.scripts.get(script, 0) for p in parts],
            )
            for script, _ in by_script.most_common()
        ]
        rows = [
            Row((title,), tuple(Cell(value_text(form, value)) for value in values), block=block)
            for block, title, form, values in given
            if not all(map(math.isnan, values))
        ]
        titles = ("In both", "Only in {before}", "Only in {after}")
        share, told = (
            percent(self.comparison.carried_over),
            "of the types of {before} are in {after}.",
        )
        return Table(
            "Vocabularies",
            (Column("Figure"),),
            tuple(Column(title.format(**names), "written") for title in titles),
            tuple(rows),
            blocks=("", "Types by the script of their first letter"),
            signatures=(self.signature,),
            notes=(f"Carried over: {share} % {told.format(**names)}",),
            label="vocabularies",
        )

    def __repr__(self) -> str:
        sizes = [part.types for part in self.comparison.parts.values()]
        names = self.labels
        return (
            f"{counted(sizes[0], 'type')} in both, {sizes[1]:,} only in {names['before']}, "
            f"{sizes[2]:,} only in {names['after']} | {self.signature}"
        )
