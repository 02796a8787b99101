"""One tokeniser on the references of several languages: a row each, beside one another."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from morphgraph.core.text import base_name, unique_labels
from morphgraph.corpus.pipelines import EAST_ASIAN, EAST_ASIAN_SCRIPTS, script_of, usual_script
from morphgraph.reference.catalogue import LANGUAGES
from morphgraph.reference.entry import Reference
from morphgraph.score.metrics import Tally
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate, ScoreTable
from morphgraph.segment.segmenter import Segmenter

LANGUAGE_METRICS = ("f1", "precision", "recall", "fertility")
"""The scores in a table of languages, unless others are asked for."""
_LETTERS: Mapping[str, Iterable[str]] = {
    "Japanese": EAST_ASIAN_SCRIPTS - {"HANGUL", "BOPOMOFO"},
    EAST_ASIAN.title(): EAST_ASIAN_SCRIPTS,
}
"""What letters of scripts that have several alphabets are called in Unicode."""


@dataclass(frozen=True)
class LanguageRow:
    """A tokeniser on the reference of one language.

    ``table``: its scores there, those of a single tokeniser. ``language`` is the English name that
    the catalogue knows, else the name of the reference; ``script``: that of the catalogue, else of
    most words. ``uncut``: the share of words that are one token, lone markers aside. ``types``: how
    many types have a letter of the script, and ``unused``: how many of these are no token of any
    word here. The last three are NaN where the tokeniser failed, or no vocabulary is known.
    """

    table: ScoreTable
    language: str
    script: str
    uncut: float = math.nan
    unused: float = math.nan
    types: float = math.nan

    @property
    def reference(self) -> str:
        """The name of the reference, without folders; empty where the tokeniser failed."""
        gold_set = self.table.gold_set
        return "" if gold_set is None else base_name(gold_set.reference.name)

    @property
    def entries(self) -> int:
        """How many entries the reference has."""
        return 0 if self.table.gold_set is None else len(self.table.gold_set)

    @property
    def unused_share(self) -> float:
        """The share of the script's types that are unused; NaN if there are none."""
        return self.unused / self.types if self.types else math.nan

    def scores(self, names: Sequence[str]) -> dict[str, Estimate]:
        """Return some scores by name; none if the tokeniser failed."""
        return self.table.of(0, names)

    @property
    def f1(self) -> float:
        """Boundary F1; NaN if the tokeniser failed."""
        found = self.scores(["f1"])
        return found["f1"].value if found else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        own = ("language", "script", "reference", "entries", "uncut", "unused", "types")
        scores = {name: found.value for name, found in self.scores(self.table.metrics).items()}
        about = {name: getattr(self.table, name) for name in ("scope", "weighting", "signature")}
        return {**{name: getattr(self, name) for name in own}, **scores, **about}


def rows_by_language(tables: Sequence[ScoreTable]) -> list[LanguageRow]:
    """Return a row for each table of a single tokeniser, the highest F1 first.

    The types of a script are looked up once for each tokeniser. undoing is undo ing in the first
    reference, and one token in the second.

    >>> import morphgraph as mg
    >>> from morphgraph.score.outcome import outcome_of
    >>> from morphgraph.segment.bte import Bte, tokeniser_of_types
    >>> types = ["u", "n", "d", "o", "i", "g", "un", "do", "undo", "ж"]
    >>> bpe = Bte(tokeniser_of_types("abc", types, ["un", "do", ("un", "do")]))
    >>> golds = [mg.read_gold([("undo", ["un", "do"])]), mg.read_gold([("gi", ["g", "i"])])]
    >>> for row in rows_by_language([ScoreTable([outcome_of(bpe, gold)]) for gold in golds]):
    ...     row.script, row.f1, row.uncut, row.unused, row.types
    ('Latin', 1.0, 0.0, 7, 9)
    ('Latin', 0.0, 1.0, 8, 9)
    """
    of_scripts = cache(_types_by_script)
    rows = [_row(table, of_scripts) for table in tables]
    return sorted(rows, key=lambda row: (math.isnan(row.f1), -row.f1, row.language))


def language_of_reference(reference: Reference) -> tuple[str, str]:
    """Return the language and script of a reference, as `LanguageRow` has them."""
    known = LANGUAGES.get(reference.language)
    if known is None or known.script == "several":
        script = usual_script((entry.word, 1) for entry in reference.entries).title()
        return known.name if known else base_name(reference.name), script
    return known.name, known.script


def names_of(references: Iterable[Reference]) -> list[str]:
    """Return the language of each reference, with its own name where several are of one language.

    >>> from morphgraph.reference.plain import reference_of_words
    >>> names_of([reference_of_words(["a"], "x.tsv"), reference_of_words(["a"], "y.tsv")])
    ['x.tsv', 'y.tsv']
    """
    return _apart([(language_of_reference(each)[0], base_name(each.name)) for each in references])


def labels_of(rows: Sequence[LanguageRow]) -> list[str]:
    """Return the names of rows, as `names_of` has them."""
    return _apart([(row.language, row.reference) for row in rows])


def _apart(named: Sequence[tuple[str, str]]) -> list[str]:
    times = Counter(language for language, _ in named)
    labels = [
        f"{language} · {reference}" if times[language] > 1 and language != reference else language
        for language, reference in named
    ]
    return unique_labels(labels)


def _row(
    table: ScoreTable, of_scripts: Callable[[Segmenter], Mapping[str, set[int]]]
) -> LanguageRow:
    [outcome] = table.outcomes
    if not isinstance(outcome, Outcome):
        return LanguageRow(table, "", "")
    language, script = language_of_reference(outcome.gold_set.reference)
    tally = Tally(outcome, table.scope, table.weighting)
    uncut = tally.share(~tally.is_cut).value
    if outcome.segmenter is None or outcome.segmentation is None:
        return LanguageRow(table, language, script, uncut)
    known = of_scripts(outcome.segmenter)
    names = _LETTERS.get(script, [script.upper()])
    of_script = set[int]().union(*(known.get(name, ()) for name in names))
    unused = len(of_script.difference(np.unique(outcome.segmentation.token_at).tolist()))
    return LanguageRow(table, language, script, uncut, unused, len(of_script))


def _types_by_script(segmenter: Segmenter) -> Mapping[str, set[int]]:
    """Return the ids of types with a letter of each script; special types are left out."""
    found: dict[str, set[int]] = defaultdict(set)
    for number, body in segmenter.inventory().bodies.items():
        for name in set(map(script_of, body or "")):
            found[name].add(number)
    return found
