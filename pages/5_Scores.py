"""The dashboard of scores: tokenisers by references."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.text import shortened, unique_labels
from morphgraph.reference.predictions import Predictions
from morphgraph.refine.learning import Entrant, learn_and_score
from morphgraph.score.gold_set import GoldSet
from morphgraph.score.metrics import METRICS, USUAL
from morphgraph.score.outcome import Outcome, ideal
from morphgraph.score.table import ScoreTable, SegmentationFailure
from morphgraph.tables.scores import scores_table
from web import choosing, inputs
from web import widgets as ui
from web.bootstrap import score_metrics, start
from web.choosing import PickedMethod
from web.jobs import Waiting
from web.opening import files_field
from web.state import Session, keep_session
from web.views import scores as view
from web.views.languages import languages
from web.views.without_gold import needs_gold

T = TypeVar("T")
_NO_TEST = "no test"
_FEW = 6
"""The number of columns whose intervals fit into the table."""
_STARS = "\\* p < 0.05, \\*\\* p < 0.01, \\*\\*\\* p < 0.001."
_PANELS = (
    "Open a reference",
    "Public references",
    "Score on one more",
    "Word frequencies",
    "Add a model",
    "Add segmentations",
)


@st.fragment
def scores_page(current: Session) -> None:
    """Show scores and charts; a fragment, so that a choice redraws nothing else."""
    score_metrics(current, "scores")
    with st.container(horizontal=True, vertical_alignment="bottom", key="scores-controls"):
        left, right = st.columns(2)
        settings = st.popover("Settings", icon=":material/tune:", key="scores settings")
    waiting = Waiting(st.empty(), choosing.remove_reference)
    shown, progress = st.container(), st.container()
    everything, predictions, chosen = _chosen(current, left, right, settings, waiting)
    picked = [one for one in everything if one.made is not None]
    entrants = _entrants(picked, predictions)
    gold_sets = list(chosen.values())
    if not gold_sets:
        with shown:
            if needs_gold(current, "Scores need"):
                return
    if not entrants:
        choosing.make_next(current, everything, progress)
    if not entrants or not gold_sets:
        shown.info("Choose at least one method and one reference.")
        return
    with settings:
        options = _settings(gold_sets, [one.label for one in entrants])
    tables = []
    for name, opened in chosen.items():
        gold_set = choosing.unseen_words(current, picked, opened)
        tables.append(_table(current, waiting, name, gold_set, entrants, **options))
    waiting.clear()

    def words_cut() -> None:
        outcomes = {
            f"{label} on {view.words_shown(table)}" if len(tables) > 1 else label: outcome
            for table in tables
            for label, outcome in zip(table.labels, table.outcomes, strict=True)
            if isinstance(outcome, Outcome)
        }
        view.error_browser(current, outcomes, options["scope"])

    labels = unique_labels([one.label for one in picked])
    segmenters = zip(labels, (one.made for one in picked), strict=True)
    cutting = {label: one for label, one in segmenters if one is not None}
    given = (current, cutting, options["scope"], options["weighting"])
    tabs: dict[str, Callable[[], None]] = {
        "Overview": partial(_overview, current, tables, gold_sets),
        "Where": partial(view.breakdowns, current, tables, options["scope"]),
        "Words": words_cut,
        "Languages": partial(languages, *given),
    }
    ui.tabs(tabs, key="scores tab", place=shown)
    keep_session(current)
    choosing.make_next(current, everything, progress)


def _chosen(
    current: Session,
    left: DeltaGenerator,
    right: DeltaGenerator,
    settings: DeltaGenerator,
    waiting: Waiting,
) -> tuple[list[PickedMethod], Mapping[str, Predictions], dict[str, GoldSet]]:
    with st.expander("Other references, frequencies and models", icon=":material/upload_file:"):
        reference, public, more, frequencies, models, programs = st.tabs(_PANELS)
    with reference:
        files_field(current, "scores", "Reference")
    with public:
        inputs.catalogue_panel(current)
    with frequencies:
        inputs.frequency_choice(current)
    with models:
        choosing.upload_model()
    with left:
        picked = choosing.choose_methods(current, st.container())
        predictions = choosing.choose_predictions(programs)
    with settings:
        for one in picked:
            choosing.method_fields(one, titled=True)
    with right:
        gold_sets = choosing.choose_references(current, more, waiting)
    return picked, predictions, gold_sets


def _entrants(
    picked: Sequence[PickedMethod], predictions: Mapping[str, Predictions]
) -> list[Entrant]:
    """Return what is scored."""
    labels = unique_labels([*(one.label for one in picked), *predictions])
    entrants: list[tuple[Any, Any]] = [(one.made, one.base) for one in picked]
    entrants += [(each, None) for each in predictions.values()]
    return [Entrant(label, *one) for label, one in zip(labels, entrants, strict=True)]


def _settings(gold_sets: Sequence[GoldSet], labels: Sequence[str]) -> dict[str, Any]:
    """Choose how words are scored, and by what; options that no reference supports are hidden."""
    scope, weighting = choosing.scope_and_weighting("scores", *gold_sets)
    tested = _NO_TEST
    if len(labels) > 1:
        tip = "Paired approximate randomisation over entries, 1,000 trials, two-sided. " + _STARS
        options: dict[str, Any] = {"key": "scores_baseline", "help": tip}
        tested = ui.choice(st.selectbox, "Test differences to", [*labels, _NO_TEST], **options)
    titles = {name: metric.title for name, metric in METRICS.items()}
    options = {"key": "scores_metrics", "first": list(USUAL), "format_func": titles.__getitem__}
    metrics = ui.choice(st.multiselect, "Scores", METRICS, **options)
    baseline = labels.index(tested) if tested in labels else None
    chosen = {"scope": scope, "weighting": weighting, "baseline": baseline}
    return {**chosen, "metrics": metrics or list(USUAL)}


def _table(
    current: Session,
    waiting: Waiting,
    name: str,
    gold_set: GoldSet,
    entrants: Sequence[Entrant],
    scope: Any,
    weighting: Any,
    baseline: int | None,
    metrics: list[str],
) -> ScoreTable:
    """Return the scores on one reference, named as in the list of chosen ones."""

    def once(key: tuple[Hashable, ...], said: str, make: Callable[[], T]) -> T:
        said = f"{said} {shortened(gold_set.reference.name, 50)}"
        return current.once(key, partial(waiting.do, key, said, lambda _: make(), about=name))

    outcomes: list[Outcome | SegmentationFailure] = []
    for one in entrants:
        base = one.base and one.base.numbered
        key = ("outcome", Same(one.made), base, one.label, Same(gold_set))
        make = partial(learn_and_score, [one], gold_set)
        outcomes += once(key, f"{one.label} cuts the words of", make)
    of_gold = ("outcome", "ideal", Same(gold_set))
    outcomes.append(current.once(of_gold, lambda: ideal(gold_set), of_files=True))
    known = next((one.gold_set for one in outcomes if isinstance(one, Outcome)), None)
    if known is not None and weighting not in known.weightings:
        weighting = "types"  # as the table says

    def table() -> ScoreTable:
        shown = ScoreTable(outcomes, scope, weighting, metrics, baseline=baseline)
        _ = shown.estimates, shown.signature  # slow, and cached
        return shown

    made_of = (tuple(map(Same, outcomes)), scope, weighting, tuple(metrics), baseline)
    return once(("scores", *made_of), "Intervals and tests on", table)


def _overview(current: Session, tables: Sequence[ScoreTable], gold_sets: Sequence[GoldSet]) -> None:
    view.pictures(current, tables)
    table = scores_table(tables)
    meanings = {name: metric.meaning for name, metric in METRICS.items()}
    few = table.with_intervals("f1") if len(table.columns) > _FEW else table
    ui.show_report(few, 20, *_lacking(gold_sets), key="scores", meanings=meanings)
    inputs.reference_in_another_language(current)
    tip = "The table above with all intervals, p-values and the signature of every row."
    ui.table_downloads(table, "scores", tip)


def _lacking(gold_sets: Sequence[GoldSet]) -> list[str]:
    """Say what none of the references can be scored by."""
    notes = []
    if not any(gold.has_gold("whole-word").any() for gold in gold_sets):
        notes.append(
            "Whole-word scores need a reference that distinguishes free and bound morphemes."
        )
    if not any("tokens" in gold.weightings for gold in gold_sets):
        notes.append("Scores over tokens need word frequencies: choose some below.")
    return notes


scores_page(start("Scores"))
