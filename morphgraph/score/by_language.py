"""One tokeniser on the references of several languages: a row for each."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from morphgraph.core.text import base_name, unique_labels
from morphgraph.corpus.pipelines import usual_script
from morphgraph.reference.catalogue import LANGUAGES
from morphgraph.reference.entry import Reference
from morphgraph.score.metrics import Tally
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate, ScoreTable

LANGUAGE_METRICS = ("f1", "precision", "recall", "fertility")
"""The scores in a table of languages, unless others are asked for."""


@dataclass(frozen=True)
class LanguageRow:
    """A tokeniser on the reference of one language.

    ``table``: its scores there, those of a single tokeniser. ``language`` is the English name that
    the catalogue knows, else the name of the reference; ``script``: that of the catalogue, else of
    most words. ``uncut``: the share of words that are one token, lone markers aside; NaN where the
    tokeniser failed.
    """

    table: ScoreTable
    language: str
    script: str
    uncut: float = math.nan

    @property
    def reference(self) -> str:
        """The name of the reference, without folders; empty where the tokeniser failed."""
        gold_set = self.table.gold_set
        return "" if gold_set is None else base_name(gold_set.reference.name)

    @property
    def entries(self) -> int:
        """How many entries the reference has."""
        return 0 if self.table.gold_set is None else len(self.table.gold_set)

    def scores(self, names: Sequence[str]) -> dict[str, Estimate]:
        """Return some scores by name; none if the tokeniser failed."""
        return self.table.of(0, names)

    @property
    def f1(self) -> float:
        """Boundary F1; NaN if the tokeniser failed."""
        scores = self.scores(["f1"])
        return scores["f1"].value if scores else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        own = ("language", "script", "reference", "entries", "uncut")
        scores = {name: found.value for name, found in self.scores(self.table.metrics).items()}
        about = {name: getattr(self.table, name) for name in ("scope", "weighting", "signature")}
        return {**{name: getattr(self, name) for name in own}, **scores, **about}


def rows_by_language(tables: Sequence[ScoreTable]) -> list[LanguageRow]:
    """Return a row for each table of a single tokeniser, the highest F1 first.

    undo is un do in the first reference, and gi one token in the second.

    >>> import morphgraph as mg
    >>> from morphgraph.score.outcome import outcome_of
    >>> from morphgraph.segment.bte import Bte, tokeniser_of_types
    >>> bpe = Bte(tokeniser_of_types("abc", [*"undoig", "un", "do", "gi"], ["un", "do", "gi"]))
    >>> golds = [mg.read_gold([("undo", ["un", "do"])]), mg.read_gold([("gi", ["g", "i"])])]
    >>> for row in rows_by_language([ScoreTable([outcome_of(bpe, gold)]) for gold in golds]):
    ...     row.script, row.f1, row.uncut
    ('Latin', 1.0, 0.0)
    ('Latin', 0.0, 1.0)
    """
    return sorted(map(_row, tables), key=lambda row: (math.isnan(row.f1), -row.f1, row.language))


def language_of_reference(reference: Reference) -> tuple[str, str]:
    """Return the language and script of a reference, as `LanguageRow` has them."""
    known = LANGUAGES.get(reference.language)
    if known is None or known.script == "several":
        script = usual_script((entry.word, 1) for entry in reference.entries).title()
        return known.name if known else base_name(reference.name), script
    return known.name, known.script


def labels_of(rows: Sequence[LanguageRow]) -> list[str]:
    """Return the language of each row, with its reference where several are of one language."""
    times = Counter(row.language for row in rows)
    labels = [
        f"{row.language} · {row.reference}"
        if times[row.language] > 1 and row.language != row.reference
        else row.language
        for row in rows
    ]
    return unique_labels(labels)


def _row(table: ScoreTable) -> LanguageRow:
    [outcome] = table.outcomes
    if not isinstance(outcome, Outcome):
        return LanguageRow(table, "", "")
    tally = Tally(outcome, table.scope, table.weighting)
    told = language_of_reference(outcome.gold_set.reference)
    return LanguageRow(table, *told, tally.share(~tally.is_cut).value)
