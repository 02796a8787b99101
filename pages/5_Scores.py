"""The dashboard of scores: tokenisers by references."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.text import UNDEFINED, count_text, shortened, unique_labels
from morphgraph.refine.learning import Entrant, held_out_of, learn_and_score
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS, GoldSet, Scope, Weighting
from morphgraph.score.metrics import METRICS, USUAL
from morphgraph.score.outcome import Outcome, ideal
from morphgraph.score.table import ScoreTable, SegmentationFailure
from morphgraph.tables.model import HELD_IN, HELD_IN_NOTE
from morphgraph.tables.scores import score_text, scores_csv, scores_latex, scores_markdown
from web.bootstrap import start
from web.inputs import (
    catalogue_panel,
    choose_predictions,
    choose_references,
    frequency_choice,
    reference_upload,
    remove_reference,
)
from web.method_picker import choose_methods, method_fields, upload_model
from web.reopening import keep_session
from web.scoreboard import (
    doubtful_reference,
    partial_gold,
    reference_in_another_language,
    score_table,
    skipped_lines,
)
from web.state import Session
from web.text import plain
from web.views.errors import error_browser
from web.views.reference_read import reference_read
from web.views.scores import (
    HELD_OUT,
    breakdowns,
    flota_scores_table,
    picture_format,
    pictures,
    words_seen,
    words_shown,
)
from web.waiting import Waiting
from web.widgets import choice, downloads, setting, show_error, show_table, table_height

T = TypeVar("T")
_NO_TEST = "no test"
_WEIGHTED = {"types": "once", "tokens": "by frequency"}


@st.fragment
def scores_page(current: Session) -> None:
    """Show scores and charts; a fragment, so that a choice redraws nothing else."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="scores-controls"):
        left, right = st.columns(2)
        settings = st.popover("Settings", icon=":material/tune:", key="scores settings")
    waiting = Waiting(st.empty(), remove_reference)
    shown = st.container()
    entrants, chosen = _chosen(current, left, right, settings, waiting)
    gold_sets = list(chosen.values())
    if not entrants or not gold_sets:
        shown.info("Choose at least one method and one reference.")
        return
    with settings:
        scope, weighting, with_ideal, baseline, metrics = _settings(
            gold_sets, [one.label for one in entrants]
        )
        picture_format()
    works = [
        _Work(current, waiting, name, gold_set)
        for name, each in chosen.items()
        for gold_set in _with_held_out(current, each)
    ]
    outcomes = [_outcomes(work, entrants, with_ideal) for work in works]
    tables = [
        _table(work, found, scope, weighting, metrics, baseline)
        for work, found in zip(works, outcomes, strict=True)
    ]
    waiting.clear()
    with shown:
        overview, where, words = st.tabs(
            ["Overview", "Where", "Words"], on_change="rerun", key="scores tab"
        )
    if overview.open:
        with overview:
            _overview(current, tables, gold_sets)
    elif where.open:
        with where:
            breakdowns(current, tables, scope)
    elif words.open:
        with words:
            error_browser(current, _named(tables), scope)
    keep_session(current)


def _chosen(
    current: Session,
    left: DeltaGenerator,
    right: DeltaGenerator,
    settings: DeltaGenerator,
    waiting: Waiting,
) -> tuple[list[Entrant], dict[str, GoldSet]]:
    """Return what is scored, and on what; the panel below adds more of both."""
    with st.expander("Other references, frequencies and models", icon=":material/upload_file:"):
        if reference_read(current, "scores"):
            doubtful_reference(current)
        reference, public, more, frequencies, models, programs = st.tabs(
            [
                "Open a reference",
                "Public references",
                "Score on one more",
                "Word frequencies",
                "Add a model",
                "Add segmentations",
            ]
        )
    with reference:
        reference_upload(current, "scores")
    with public:
        catalogue_panel(current, "scores")
    with frequencies:
        frequency_choice(current)
    with models:
        upload_model("scores")
    with left:
        picked = choose_methods(current, "scores", st.container())
        predictions = choose_predictions(programs)
    with settings:
        for one in picked:
            method_fields(one, "scores", titled=True)
    with right:
        gold_sets = choose_references(current, more, waiting)
    labels = unique_labels([*(one.label for one in picked), *predictions])
    made = [(one.made, one.base) for one in picked if one.made is not None]
    entrants = [
        Entrant(label, each, base)
        for label, (each, base) in zip(labels[: len(made)], made, strict=True)
    ]
    known = zip(labels[len(made) :], predictions.values(), strict=True)
    return [*entrants, *(Entrant(label, each) for label, each in known)], gold_sets


def _with_held_out(current: Session, gold_set: GoldSet) -> list[GoldSet]:
    """Return a reference, followed by its words that the open tokeniser has not seen."""
    found = [gold_set]
    for share, seed in held_out_of(current.study.tokeniser, gold_set):
        key = ("held out", Same(gold_set), share, seed)
        make = partial(gold_set.hold_out, share, seed)
        found.append(current.once(key, make, of_files=True))
    return found


@dataclass(frozen=True)
class _Work:
    """The computations on one reference, named as in the list of chosen ones."""

    current: Session
    waiting: Waiting
    name: str
    gold_set: GoldSet

    def once(self, key: tuple[Hashable, ...], said: str, make: Callable[[], T]) -> T:
        """Return the result of ``make``, computed once, with progress and a Stop button."""
        said = f"{said} {shortened(self.gold_set.reference.name, 50)}"

        def wait() -> T:
            return self.waiting.do(key, said, lambda _: make(), about=self.name)

        return self.current.once(key, wait)


def _overview(current: Session, tables: Sequence[ScoreTable], gold_sets: Sequence[GoldSet]) -> None:
    """Show the picture of the scores, their table, and rarely needed details."""
    pictures(current, tables)
    _show(tables)
    reference_in_another_language(current)
    notes = {each.reference.name: each.reference.partial_note for each in gold_sets}
    for name, note in notes.items():
        partial_gold(note and f"{name}: {note}")
    downloads(
        {
            "scores.csv": partial(scores_csv, tables),
            "scores.tex": partial(scores_latex, tables),
            "scores.md": partial(scores_markdown, tables),
        },
        "The table above with p-values and the signature of every row.",
    )
    with st.expander("FLOTA's scores"):
        flota_scores_table(current, gold_sets)
    with st.expander("The open tokeniser, with the counts behind its scores"):
        score_table(current.study)
    skipped_lines(current)


def _named(tables: Sequence[ScoreTable]) -> dict[str, Outcome]:
    """Return the successful outcomes by name, with their set of words if there are several."""
    return {
        f"{label} on {words_shown(table)}" if len(tables) > 1 else label: outcome
        for table in tables
        for label, outcome in zip(table.labels, table.outcomes, strict=True)
        if isinstance(outcome, Outcome)
    }


def _settings(
    gold_sets: Sequence[GoldSet], labels: Sequence[str]
) -> tuple[Scope, Weighting, bool, int | None, list[str]]:
    """Choose scope, weighting, a row of gold, the baseline of tests, and the scores.

    Options that no reference supports are hidden.
    """
    scopes = [s for s in SCOPES if any(y.has_gold(s).any() for y in gold_sets)]
    weightings = [w for w in WEIGHTINGS if any(w in y.weightings for y in gold_sets)]
    scope = _one_of("scores_scope", "Gold boundaries", scopes)
    weighting = _one_of("scores_weighting", "Each word counts", weightings)
    tested = _NO_TEST
    if len(labels) > 1:
        tested = choice(
            st.selectbox,
            "Test differences to",
            [*labels, _NO_TEST],
            key="scores_baseline",
            help="Paired approximate randomisation over entries, 1,000 trials, two-sided. "
            "\\* p < 0.05, \\*\\* p < 0.01, \\*\\*\\* p < 0.001.",
        )
    metrics = choice(
        st.multiselect,
        "Scores",
        METRICS,
        key="scores_metrics",
        first=list(USUAL),
        format_func=lambda name: METRICS[name].title,
    )
    with_ideal = setting(
        st.toggle,
        "Gold as a row",
        key="scores_ideal",
        first=True,
        help="The ceiling, “Ideal”: a tokeniser whose tokens are the morphs. Its "
        "whole-word precision is below 100 %, since it splits affixes off too.",
    )
    baseline = labels.index(tested) if tested in labels else None
    return scope, weighting, with_ideal, baseline, metrics or list(USUAL)


def _one_of(key: str, label: str, offered: Sequence[T]) -> T:
    """Return the chosen scope or weighting, without a choice if there is only one."""
    if len(offered) == 1:
        return offered[0]
    chosen: T = choice(
        st.segmented_control,
        label,
        offered,
        key=key,
        required=True,
        format_func=lambda name: _WEIGHTED.get(name, name),
    )
    return chosen


def _weighting(asked: Weighting, gold_set: GoldSet) -> Weighting:
    """Return the chosen weighting if the reference has frequencies; the table names it."""
    return asked if asked in gold_set.weightings else "types"


def _outcomes(
    work: _Work, entrants: Sequence[Entrant], with_ideal: bool
) -> list[Outcome | SegmentationFailure]:
    """Return how each method segments the words of a reference, computed once."""
    gold_set = work.gold_set
    found: list[Outcome | SegmentationFailure] = []
    for one in entrants:
        base = one.base and one.base.numbered
        key = ("outcome", Same(one.made), base, one.label, Same(gold_set))
        make = partial(learn_and_score, [one], gold_set)
        found += work.once(key, f"{one.label} cuts the words of", make)
    if with_ideal:
        of_gold = ("outcome", "ideal", Same(gold_set))
        found.append(work.current.once(of_gold, lambda: ideal(gold_set), of_files=True))
    return found


def _table(
    work: _Work,
    outcomes: list[Outcome | SegmentationFailure],
    scope: Scope,
    weighting: Weighting,
    metrics: list[str],
    baseline: int | None,
) -> ScoreTable:
    """Return the scores of these outcomes, with their intervals and tests."""
    known = next((one.gold_set for one in outcomes if isinstance(one, Outcome)), None)
    used = weighting if known is None else _weighting(weighting, known)
    key = ("scores", tuple(map(Same, outcomes)), scope, used, tuple(metrics), baseline)

    def make() -> ScoreTable:
        table = ScoreTable(outcomes, scope, used, metrics, baseline=baseline)
        _ = table.estimates, table.signature  # slow, and cached
        return table

    return work.once(key, "Intervals and tests on", make)


def _show(tables: Sequence[ScoreTable]) -> None:
    """Show the scores of all references in one table, and the signature of each."""
    for table in tables:
        for outcome in table.outcomes:
            if isinstance(outcome, SegmentationFailure):
                show_error(f"{outcome.label}: {outcome.message}")
    for note in dict.fromkeys(note for table in tables for note in table.notes):
        st.warning(plain(note))
    frame = _frame(tables)
    show_table(
        frame,
        table_height(20),
        column_config=_columns(tables[0].metrics),
        # Widths are measured on first drawing, so another table needs another key.
        key=f"scores table {'|'.join(tables[0].metrics)} {hash(frame.to_csv())}",
    )
    several = len(tables) > 1
    st.caption(
        "In brackets: 95 % bootstrap interval over entries. Stars: different from the tokeniser "
        "tested against, \\* p < 0.05, \\*\\* p < 0.01, \\*\\*\\* p < 0.001."
        + (" Each reference has a signature of its own." if several else "")
        + _undefined(tables)
        + _held_in_note(tables)
    )
    with st.expander("Signatures, one for each reference" if several else "Signature"):
        for line in [table.signature for table in tables if table.signature]:
            st.code(line, language=None, wrap_lines=True)


def _held_in_note(tables: Sequence[ScoreTable]) -> str:
    if not any(map(words_seen, [one for table in tables for one in table.outcomes])):
        return ""
    if any(table.gold_set and table.gold_set.drawn for table in tables):
        return f" {HELD_IN_NOTE} Its rows on held-out words can be."
    return f" {HELD_IN_NOTE} Hold words out in the settings of ReBPE, and they stand here too."


def _undefined(tables: Sequence[ScoreTable]) -> str:
    missing = []
    if not any(t.gold_set and t.gold_set.has_gold("whole-word").any() for t in tables):
        missing.append(
            " Whole-word scores need a reference that distinguishes free and bound morphemes."
        )
    if not any(t.gold_set and "tokens" in t.gold_set.weightings for t in tables):
        missing.append(" Scores over tokens need word frequencies: choose some below.")
    return "".join(missing)


def _frame(tables: Sequence[ScoreTable]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    told = any(map(words_seen, [one for table in tables for one in table.outcomes]))
    for table in tables:
        for outcome, found in zip(table.outcomes, table.estimates, strict=True):
            row: dict[str, Any] = {}
            if len(tables) > 1 and table.gold_set is not None:
                row["reference"] = shortened(words_shown(table), 50)
                row["each word"] = _WEIGHTED[table.weighting]
            row["tokeniser"] = outcome.label
            if told:
                row["words"] = words_seen(outcome)
            size = outcome.vocabulary_size if isinstance(outcome, Outcome) else None
            row["types"] = UNDEFINED if size is None else count_text(size)
            for name in table.metrics:
                row[name] = "failed" if found is None else _cell(name, found[name])
            rows.append(row)
    return pd.DataFrame(rows)


def _cell(name: str, estimate: Any) -> str:
    text, unit = score_text(name, estimate.value), METRICS[name].unit
    if estimate.value != estimate.value:
        return text
    low, high = (
        100 * end if unit else end for end in (estimate.interval.low, estimate.interval.high)
    )
    digits = 1 if unit else 2
    spread = f" [{low:.{digits}f}, {high:.{digits}f}]" if high > low else ""
    return f"{text}{estimate.mark}{spread}"


def _columns(metrics: Sequence[str]) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "types": st.column_config.TextColumn("|V|", alignment="right"),
        "tokeniser": st.column_config.TextColumn("tokeniser", pinned=True, width="medium"),
        "words": st.column_config.MultiselectColumn(
            "words", options=[HELD_IN, HELD_OUT], color=["orange", "green"], help=HELD_IN_NOTE
        ),
    }
    for name in metrics:
        metric = METRICS[name]
        columns[name] = st.column_config.TextColumn(
            f"{metric.title} %" if metric.unit else metric.title,
            help=metric.meaning,
            width=165 if metric.unit else 150,
            alignment="right",
        )
    return columns


def whole_page(current: Session) -> None:
    """Show the header of the page, then the scores."""
    st.title("Scores")
    scores_page(current)


whole_page(start("Scores"))
