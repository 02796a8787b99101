"""Methods on the same words: what each makes of them, its scores, and the head of the grid."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import base_name, counted, percent, ratio_text, unique_labels
from morphgraph.refine.learning import Entrant, has_seen, learn_and_score
from morphgraph.score.comparison import Comparison
from morphgraph.score.gold_set import GoldSet, Scope, Weighting
from morphgraph.score.metrics import METRICS
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate, ScoreTable, SegmentationFailure
from morphgraph.segment.method import METHODS
from morphgraph.tables.model import HELD_IN, HELD_IN_NOTE
from morphgraph.tokeniser.words import spelled
from web import choosing
from web import widgets as ui
from web.choosing import PickedMethod
from web.state import Session

T = TypeVar("T")
How = tuple[Scope, Weighting, Sequence[str]]
"""The boundaries, the weights and the further scores that words are scored by."""
SHOWN = ("f1", "precision", "recall", "exact", "fertility")
"""The scores that the grid always has."""
_DEFAULT = "Its own merges, applied in the order in which they were learned."


@dataclass(frozen=True, eq=False)
class MethodScores:
    """Methods on the words that they are scored on; those that failed are left out.

    ``baseline``: the place of the method that others are tested against.
    """

    scored: GoldSet
    picked: Sequence[PickedMethod]
    outcomes: Sequence[Outcome]
    baseline: int
    scope: Scope
    weighting: Weighting
    metrics: Sequence[str]

    @property
    def labels(self) -> list[str]:
        """The name of each method."""
        return [outcome.label for outcome in self.outcomes]

    @cached_property
    def table(self) -> ScoreTable:
        """The scores, with intervals and tests."""
        settings = (self.scope, self.over, [*SHOWN, *self.metrics])
        return ScoreTable(self.outcomes, *settings, baseline=self.baseline)

    @property
    def over(self) -> Weighting:
        """What words count by; once, where they have no frequencies."""
        return self.weighting if self.weighting in self.scored.weightings else "types"

    @property
    def words(self) -> str:
        """The name of the reference, and which of its words these are."""
        name = base_name(self.scored.reference.name)
        return f"{name}, kept aside" if self.scored.drawn else name

    @cached_property
    def comparison(self) -> Comparison:
        """The words themselves."""
        gold = [entry.morphs or None for entry in self.scored]
        texts, labels = self.scored.texts, self.labels
        return Comparison([], texts, gold, labels=labels, outcomes=self.outcomes)

    @cached_property
    def order(self) -> list[int]:
        """The places of the methods, the best first; as chosen without gold."""
        places = list(range(len(self.outcomes)))
        if not self.has_gold:
            return places
        f1 = [self.scores(place, "f1").value for place in places]
        return sorted(places, key=lambda place: -f1[place] if f1[place] == f1[place] else 1.0)

    @property
    def has_gold(self) -> bool:
        """Whether there is something to score against."""
        return self.scored.reference.has_gold

    @property
    def which(self) -> str:
        """The words that figures are over."""
        words = counted(len(self.scored), "word")
        return f"{words} kept aside" if self.scored.drawn else f"all {words}"

    def scores(self, place: int, name: str) -> Estimate:
        """Return a score of a method."""
        return (self.table.estimates[place] or {})[name]


def compare_methods(
    current: Session,
    picked: Sequence[PickedMethod],
    scored: GoldSet,
    wait: Callable[..., Any],
    way: How,
    about: str | None = None,
) -> MethodScores | None:
    """Return the methods that are made on these words; None, and messages, if there are none.

    ``wait``: as `Waiting.do`. ``about``: what Stop leaves out, by default the method that is being
    scored.
    """

    def once(key: tuple[Hashable, ...], message: str, make: partial[T], name: str) -> T:
        do = partial(wait, key, message, lambda _: make(), about=name)
        result: T = current.once(key, do, of_files=True)
        return result

    on = f" of {about}" if about else ""
    ready = [one for one in picked if one.made is not None]
    known: list[tuple[PickedMethod, Outcome]] = []
    for one, label in zip(ready, unique_labels([one.label for one in ready]), strict=True):
        base = one.base and one.base.numbered
        make = partial(learn_and_score, [Entrant(label, one.made, one.base)], scored)
        key: tuple[Hashable, ...] = ("outcome", Same(one.made), base, label, Same(scored))
        [outcome] = once(key, f"{label} cuts the words{on}", make, about or one.name)
        if isinstance(outcome, SegmentationFailure):
            ui.show_error(f"{outcome.label}: {outcome.message}")
        else:
            known.append((one, outcome))
    if not known:
        return None
    methods, outcomes = zip(*known, strict=True)
    place = choosing.baseline_among([one.name for one in methods])
    whole: tuple[Hashable, ...] = ("compared", *map(Same, outcomes), place, *way[:2], *way[2])

    def compared() -> MethodScores:
        scores = MethodScores(scored, methods, outcomes, place, *way)
        if scores.has_gold:
            _ = scores.table.estimates  # slow
        return scores

    return once(whole, "Intervals and tests", partial(compared), about or methods[place].name)


def heads(compared: MethodScores, pending: Sequence[PickedMethod]) -> list[dict[str, Any]]:
    """Return the heads of the columns, the best first, then those that are still made."""
    baseline = compared.picked[compared.baseline].name
    shown = [(compared.picked[place], compared.outcomes[place].label) for place in compared.order]
    return [
        _head(one, label, compared, one.name != baseline)
        for one, label in [*shown, *((one, one.label) for one in pending)]
    ]


def _head(
    one: PickedMethod, label: str, compared: MethodScores, can_be_baseline: bool
) -> dict[str, Any]:
    told = ", ".join(f"{key} = {spelled(value)}" for key, value in one.changed.items())
    if one.made is None:
        told = "learning …" if one.name in METHODS.learning else "training …"
    elif not can_be_baseline and len(compared.picked) > 1:
        told = " · ".join(filter(None, ["baseline", told]))
    elif not told and one.name in METHODS.learning:
        told = "learned from the rest"
    does = METHODS[one.name].does if one.name in METHODS else _DEFAULT
    seen = one.base is not None and has_seen(one.base, compared.scored)
    return {
        "name": one.name,
        "title": one.title if one.name in METHODS and one.name != "bpe" else label,
        "told": told,
        "does": f"{does} {HELD_IN_NOTE}" if seen else does,
        "seen": HELD_IN if seen else "",
        "fields": choosing.fields_of(one),
        "can_be_baseline": can_be_baseline and one.made is not None,
    }


def figures(compared: MethodScores, pending: int) -> list[dict[str, Any]]:
    """Return the rows of figures, with room for the columns that are still made."""
    room = [_cell("…")] * pending
    if not compared.has_gold:
        tokens = [compared.comparison.tokens_per_word[place] for place in compared.order]
        cells = [*map(_cell, map(ratio_text, tokens)), *room]
        help = METRICS["fertility"].meaning
        return [{"label": "tokens per word", "help": help, "cells": cells}]
    table, order = compared.table, compared.order
    names = {name: [compared.scores(place, name) for place in order] for name in table.metrics}

    def row(
        label: str, name: str, texts: Sequence[str], help: str = "", marks: Sequence[str] = ()
    ) -> dict[str, Any]:
        best = [False] * len(order) if help else _best(METRICS[name].better, names[name])
        cells = [*map(_cell, texts, marks or [""] * len(order), best), *room]
        return {"label": label, "help": help or METRICS[name].meaning, "cells": cells}

    def written(name: str, digits: int = 1, unit: str = "") -> list[str]:
        if not METRICS[name].unit:
            return [ratio_text(one.value) for one in names[name]]
        return [f"{percent(one.value, digits)}{unit}" for one in names[name]]

    on = "words kept aside" if compared.scored.drawn else "all words"
    spans = [
        f"{percent(one.interval.low, 1)}–{percent(one.interval.high, 1)}" for one in names["f1"]
    ]
    both = [" · ".join(pair) for pair in zip(written("precision"), written("recall"), strict=True)]
    shares = " ".join(METRICS[name].meaning for name in ("precision", "recall"))
    return [
        row(f"F1, {on}", "f1", written("f1"), marks=list(map(_mark, names["f1"]))),
        row("95 % interval", "f1", spans, "Of F1, by a bootstrap over the words."),
        row("precision · recall", "f1", both, shares),
        row("words exactly right", "exact", written("exact", 0, " %")),
        row("tokens per word", "fertility", written("fertility"), METRICS["fertility"].meaning),
        *(row(_title(name), name, written(name, 2)) for name in compared.metrics),
    ]


def _cell(text: str, mark: str = "", is_best: bool = False) -> dict[str, Any]:
    return {"text": text, "mark": mark, "is_best": is_best}


def _best(better: int, scores: Sequence[Estimate]) -> list[bool]:
    values = [better * one.value for one in scores]
    known = [value for value in values if value == value]
    is_open = better and known and min(known) < max(known)
    return [bool(is_open) and value == max(known) for value in values]


def _title(name: str) -> str:
    return METRICS[name].title + " %" * (METRICS[name].unit == "%")


def _mark(one: Estimate) -> str:
    return "" if one.p != one.p else one.mark or "n.s."


def choose_metrics(place: str) -> list[str]:
    """Choose further scores for the head of the grid."""
    titles = {name: metric.title for name, metric in METRICS.items() if name not in SHOWN}
    name = titles.__getitem__
    options: dict[str, Any] = {"first": [], "format_func": name, "key": place}
    return list(ui.choice(st.multiselect, "More figures", titles, **options))
