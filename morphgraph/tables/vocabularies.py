"""The result that shows two vocabularies beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from morphgraph.core.text import base_name, count_text, percent, unique_labels, without_nan
from morphgraph.corpus.pipelines import script_of
from morphgraph.reference.entry import Reference
from morphgraph.score.vocabulary_comparison import PARTS, compared
from morphgraph.score.vocabulary_figures import FigureValue, figure_called, list_behind
from morphgraph.score.vocabulary_health import ALPHA, NamedCounts, VocabularyHealth
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tables.figures import figure_text, signature, whole_numbers
from morphgraph.tables.model import Column, Table, plain_table
from morphgraph.tables.result import Result

if TYPE_CHECKING:
    import pandas as pd

_KEYS = (
    "size",
    "word_initial",
    "mean_length",
    "tokens",
    "prefix_types",
    "suffix_types",
    "morph_types",
)


@dataclass(frozen=True, repr=False)
class ComparedVocabularies(Result):
    """Two vocabularies beside each other: the types in both, and those in one of them only.

    >>> other = mg.load("demo:de")
    >>> print(repr(mg.compare_vocabularies(tokeniser, other)).partition(" | ")[0])
    1,953 types in both, 6,046 only in demo:en, 6,046 only in demo:de
    """

    before: VocabularyHealth
    after: VocabularyHealth

    @property
    def parts(self) -> dict[str, VocabularyHealth]:
        """The types in both, once for each vocabulary, and those in one of them only.

        >>> [*mg.compare_vocabularies(tokeniser, mg.load("demo:de")).parts]
        ['shared_types', 'shared_after', 'dropped_types', 'added_types']
        """
        return compared(self.before, self.after)

    @cached_property
    def _values(self) -> dict[str, list[FigureValue]]:
        each = {key: figure_called(key) for key in _KEYS}
        parts = self.parts.values()
        return {key: [of.value_of(part, ALPHA, part) for part in parts] for key, of in each.items()}

    @property
    def carried_over(self) -> float:
        """The share of the first one's types that the second one has (Gow-Smith et al. 2022, §4).

        >>> round(mg.compare_vocabularies(tokeniser, mg.load("demo:de")).carried_over, 3)
        0.244
        """
        return figure_called("carried_over").value_of(self.after, ALPHA, self.before).number

    @property
    def signature(self) -> str:
        """One line with everything that the figures depend on.

        >>> mg.compare_vocabularies(tokeniser, tokeniser).signature.split("|")[0]
        'corpus:none'
        """
        return signature([self.before, self.after], ALPHA)

    def types(self, part: str) -> pd.DataFrame:
        """Return the types of one of the `parts`: the most frequent, or else the longest, first.

        >>> found = mg.compare_vocabularies(tokeniser, mg.load("demo:de"), counts="wordfreq:de")
        >>> found.types("added_types")["type"][:3].tolist()
        ['␣das', '␣ist', '␣ich']
        """
        return list_behind(self.parts[part], "size").drop(columns="type_id")

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each part; NaN where undefined.

        >>> found = mg.compare_vocabularies(tokeniser, mg.load("demo:de"))
        >>> found.to_frame()["word_initial"].round(2).tolist()
        [0.57, 0.57, 0.83, 0.7]
        """
        import pandas as pd

        columns = {key: [value.number for value in of] for key, of in self._values.items()}
        return pd.DataFrame(columns, index=pd.Index(self.parts, name="part"))

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as JSON data.

        >>> mg.compare_vocabularies(tokeniser, tokeniser).to_dict()["carried_over"]
        1
        """
        told = {"before": self.before.label, "after": self.after.label}
        figures = {**self.to_frame().to_dict("index"), "carried_over": self.carried_over}
        return {**told, **whole_numbers(without_nan(figures)), "signature": self.signature}

    def table(self) -> Table:
        """Return a column for each part; below the figures, types by the script of a letter.

        >>> mg.compare_vocabularies(tokeniser, tokeniser).table().notes[-1]
        'Carried over: 100.00 % of the types of demo:en are in demo:en #2.'
        """
        parts = self.parts.values()
        rows = [
            (figure_called(key).label, *(figure_text(figure_called(key), value) for value in of))
            for key, of in self._values.items()
        ]
        scripts = [Counter(map(_script, filter(None, p.inventory.bodies.values()))) for p in parts]
        rows += [
            (f"Script: {script}", *(count_text(count[script]) for count in scripts))
            for script, _ in sum(scripts, Counter[str]()).most_common()
        ]
        share = f"{percent(self.carried_over)} % of the types of {self.before.label}"
        return plain_table(
            "Vocabularies",
            [Column("Types"), *(Column(part.label, "written") for part in parts)],
            rows,
            signatures=(self.signature,),
            notes=(f"Carried over: {share} are in {self.after.label}.",),
            label="vocabularies",
        )

    def __repr__(self) -> str:
        shared, dropped, added = (f"{self.parts[part].size:,}" for part in PARTS)
        only = f"{dropped} only in {self.before.label}, {added} only in {self.after.label}"
        return f"{shared} types in both, {only} | {self.signature}"


def _script(body: str) -> str:
    return next(filter(None, map(script_of, body)), "no letter").capitalize()


def vocabularies_beside(
    both: Sequence[tuple[str, Segmenter]], corpus: NamedCounts | None, reference: Reference | None
) -> ComparedVocabularies:
    """Compare the vocabularies of two segmenters with their names; the first is the one before."""
    labels = unique_labels([base_name(name) for name, _ in both])
    before, after = (
        VocabularyHealth(segmenter, corpus, reference, label=label)
        for label, (_, segmenter) in zip(labels, both, strict=True)
    )
    return ComparedVocabularies(before, after)
