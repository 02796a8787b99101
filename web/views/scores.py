"""Views of scores: figures, scores of subsets of words, wrongly cut words, FLOTA's own scores."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import counted
from morphgraph.draw import score_charts as charts
from morphgraph.score.breakdowns import (
    BREAKDOWNS,
    GROUPINGS,
    Breakdown,
    boundary_groups,
    break_down,
)
from morphgraph.score.comparison import ERROR_KINDS, ErrorBrowser
from morphgraph.score.gold_set import Scope
from morphgraph.score.metrics import METRICS
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate, ScoreTable, SegmentationFailure
from morphgraph.tables.model import HELD_IN
from morphgraph.tables.scores import breakdown_table, errors_csv
from morphgraph.tables.writing import to_csv
from web import widgets as ui
from web.edits import open_in_merge_tree
from web.state import Session
from web.views.trees import MARKS

if TYPE_CHECKING:
    import plotly.graph_objects as go

_DUMBBELLS, _DIFFERENCES = "precision, recall, F1", "differences"
HELD_OUT = "kept aside"
_BASIC = ("precision", "recall", "f1")
_ANY = "any affix"


def words_seen(outcome: Outcome | SegmentationFailure) -> list[str]:
    """Say whether a method learned from the words it is scored on, or these were kept aside."""
    if not isinstance(outcome, Outcome) or outcome.is_gold:
        return []
    return [HELD_IN] if outcome.held_in else [HELD_OUT] * bool(outcome.gold_set.drawn)


def words_shown(table: ScoreTable) -> str:
    """Name the reference of a table, and which of its words are shown."""
    if table.gold_set is None:
        return ""
    name = table.gold_set.reference.name
    return f"{name}, {HELD_OUT}" if table.gold_set.drawn else name


@st.fragment
def pictures(current: Session, tables: Sequence[ScoreTable]) -> None:
    """Show one figure of the scores for each reference."""
    tested = any(table.baseline is not None and len(table.outcomes) > 1 for table in tables)
    kinds = [_DUMBBELLS, *([_DIFFERENCES] if tested else [])]
    with st.container(horizontal=True):
        kind = ui.segments("Picture", kinds, key="scores_picture", label_visibility="collapsed")
        metric = "f1"
        if kind == _DIFFERENCES:
            shares = [name for name in tables[0].metrics if METRICS[name].unit]
            metric = st.selectbox(
                "Score",
                shares or ["f1"],
                index=shares.index("f1") if "f1" in shares else 0,
                format_func=lambda name: METRICS[name].title,
                key=f"difference of {' '.join(shares)}",
                label_visibility="collapsed",
                width=250,
            )
    for number, table in enumerate(tables):
        if table.gold_set is None:
            continue
        key = ("picture", Same(table), kind, metric)
        figure = current.once(key, partial(_figure, table, kind, metric))
        if len(tables) > 1:
            st.caption(f"`{words_shown(table)}`")
        ui.chart(figure, f"scores picture {number}")


def _figure(table: ScoreTable, kind: str, metric: str) -> "go.Figure":
    gold = {n for n, o in enumerate(table.outcomes) if isinstance(o, Outcome) and o.is_gold}
    if kind == _DIFFERENCES and metric in table.metrics and table.baseline is not None:
        return _differences(table, metric, table.baseline, gold)
    rows = []
    for number, label in enumerate(table.labels):
        if table.scope == "morphemic" and number in gold:
            continue  # 100 % of everything
        estimates = table.of(number, _BASIC)
        seen = words_seen(table.outcomes[number])
        label = "\n".join([label, *seen])
        precision, recall, f1 = (_spread(estimates.get(name)) for name in _BASIC)
        rows.append((label, precision, recall, f1))
    return charts.dumbbells(rows)


def _spread(estimate: Estimate | None) -> charts.Mark:
    if estimate is None:
        return charts.Mark(float("nan"))
    return charts.Mark(estimate.value, estimate.interval.low, estimate.interval.high)


def _differences(table: ScoreTable, metric: str, baseline: int, gold: set[int]) -> "go.Figure":
    intervals = table.differences(metric)
    base = table.of(baseline, [metric]).get(metric)
    rows = []
    for number, label in enumerate(table.labels):
        if number == baseline or number in gold:
            continue
        estimate = table.of(number, [metric]).get(metric)
        value = np.nan if estimate is None or base is None else estimate.value - base.value
        spread = charts.Mark(value, intervals[number].low, intervals[number].high)
        rows.append((label, spread, estimate.mark if estimate else ""))
    return charts.difference_forest(rows, table.labels[baseline])


_METRICS = ("f1", "precision", "recall", "exact")
_NOTES = {
    "boundaries": "Recall of morph boundaries: behind a prefix, before a suffix, at an interfix or "
    "hyphen, or between the parts of a compound. A wrong split belongs to no kind, so there is no "
    "precision.",
    "affixes": "Recall of the boundaries of the most frequent affixes, as the gold names them.",
}


@st.fragment
def breakdowns(current: Session, tables: Sequence[ScoreTable], scope: Scope) -> None:
    """Show breakdowns of all tokenisers on one reference at a time."""
    known = [table for table in tables if table.gold_set is not None]
    if not known:
        return
    by = ui.segments("By", BREAKDOWNS, key="breakdown_by", format_func=BREAKDOWNS.__getitem__)
    metric, number = "recall", 0
    left, right, _ = st.columns([3, 3, 4], vertical_alignment="bottom")
    if by in GROUPINGS:
        titles = {name: METRICS[name].title for name in _METRICS}
        choose = partial(ui.choice, left.selectbox, "Score", titles)
        metric = choose(key="breakdown_metric", format_func=titles.__getitem__)
    if len(known) > 1:
        names, place = [words_shown(table) for table in known], right if by in GROUPINGS else left
        choose = partial(place.selectbox, "On", range(len(known)))
        number = choose(format_func=names.__getitem__, key=f"breakdown on {len(known)}")
    table = known[number]
    outcomes = [o for o in table.outcomes if isinstance(o, Outcome) and not o.is_gold]
    if by == "frequency" and outcomes and outcomes[0].gold_set.frequencies is None:
        st.info("Choose word frequencies below.")
        return
    settings = (by, metric, scope, table.weighting)

    def make() -> "tuple[Breakdown, go.Figure | None]":
        found = break_down(outcomes, *settings)
        names, sizes = [name for name, _ in found.groups], [size for _, size in found.groups]
        pairs = zip(found.labels, found.rows, strict=True)
        bars = {label: list(map(_spread, row)) for label, row in pairs}
        title = METRICS[found.metric].title
        return found, charts.breakdown(names, sizes, bars, title) if names else None

    found, figure = current.once(("breakdown", *settings, *map(Same, outcomes)), make)
    if figure is None:
        st.info("This reference does not say.")
    else:
        ui.chart(figure, f"breakdown {found.by}")
        _breakdown_table(found)


def _breakdown_table(found: Breakdown) -> None:
    notes = [_NOTES[found.by]] if found.by in _NOTES else []
    if any(name == "unknown" for name, _ in found.groups):
        notes.append("Unknown: the reference does not say.")
    if notes:
        st.caption(" ".join(notes))

    with st.expander("As a table, with 95 % intervals"):
        table = breakdown_table(found)
        ui.show_report(table, key="breakdown")
        ui.downloads({"breakdown.csv": partial(to_csv, table)})


@st.fragment
def error_browser(current: Session, outcomes: Mapping[str, Outcome], scope: Scope) -> None:
    """Search and filter the words of one tokeniser, and inspect one of them."""
    if not outcomes:
        return
    first, second = st.columns([3, 7], vertical_alignment="bottom")
    outcome = outcomes[ui.choice(first.selectbox, "Tokeniser", outcomes, key="errors_of")]
    browser = current.once(("errors", Same(outcome), scope), lambda: ErrorBrowser(outcome, scope))
    counts = browser.counts()
    kinds = ui.choice(
        second.pills,
        "What is wrong",
        ERROR_KINDS,
        key="error_kinds",
        first=list(ERROR_KINDS[:3]),
        selection_mode="multi",
        format_func=lambda kind: f"{kind} {counts[kind]:,}",
        help="Over-segmented: only splits too many. Under-segmented: only splits too few.",
    )
    text, affix = _search(outcome)
    hits = browser.find(kinds, text=text, among=affix)
    numbers = ui.one_page(hits.tolist(), 200, "errors page")
    if not numbers:
        st.info("No word matches.")
        return
    columns = ["word", "gold", "tokens", "marked", "wrong", "missed"]
    if outcome.gold_set.frequencies is not None:
        columns.append("frequency")
    row = ui.chosen_row(
        browser.words(numbers)[columns],
        11,
        key=f"errors table {id(outcome)} {scope} {sorted(kinds)} {text} {numbers[0]} {len(hits)}",
        column_config={
            "wrong": ui.NUMBER("wrong splits"),
            "missed": ui.NUMBER("missed boundaries"),
            "frequency": ui.NUMBER(format="localized"),
        },
    )
    words = counted(len(hits), "word")
    st.caption(
        f"{words}, the most boundary errors first, then the most frequent. "
        f"{MARKS}. Choose a row to see its merge tree."
    )
    everything = partial(errors_csv, browser, hits)
    ui.download(f"All {words} as CSV", everything, "errors.csv")
    if row is not None:
        _one_word(current, outcome, numbers[row])


def _search(outcome: Outcome) -> tuple[str, npt.NDArray[np.bool_] | None]:
    left, right, _ = st.columns([3, 3, 4], vertical_alignment="bottom")
    options: dict[str, Any] = {"placeholder": "part of a word", "max_chars": 50}
    text = ui.setting(
        left.text_input, "Search words", key="error_search", first="", **options
    ).strip()
    affixes = boundary_groups(outcome.gold_set, "affixes")

    def label(name: str) -> str:
        return _ANY if name == _ANY else f"{name}  ({len(affixes[name]):,})"

    offered = [_ANY, *list(affixes)[:1000]]
    choose = partial(ui.choice, right.selectbox, "With the affix", offered)
    chosen = choose(key="error_affix", format_func=label)
    if chosen == _ANY:
        return text, None
    among = np.zeros(len(outcome.gold_set.reference), bool)
    among[outcome.gold_set.cuts("morphemic").words[affixes[chosen]]] = True
    return text, among


def _one_word(current: Session, outcome: Outcome, entry: int) -> None:
    word = outcome.gold_set.texts[entry]
    st.markdown(f"**{ui.code(word)}** → {' '.join(ui.code(t) for t in outcome.token_texts(entry))}")
    if ui.button("Open in Merge tree", "account_tree", key="errors to tree"):
        open_in_merge_tree(current, word)
