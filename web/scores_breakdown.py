"""Scores of some of the words: by what meets at a boundary, affix, formation, length, frequency."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.numbers import count, percent
from morphgraph.draw.score_charts import breakdown
from morphgraph.score.breakdown import BREAKDOWNS, GROUPINGS, Breakdown, GoldBoundaries, break_down
from morphgraph.score.gold_set import GoldSet, Scope
from morphgraph.score.metrics import METRICS
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import Estimate, ScoreTable
from morphgraph.tables.breakdown import breakdown_csv
from web.scores_charts import picture_config
from web.session import Session, remembered

_METRICS = ("f1", "precision", "recall", "exact")
_NOTES = {
    "boundaries": "Recall of morph boundaries: behind a prefix, before a suffix, at an interfix or "
    "hyphen, or between the parts of a compound. A wrong split belongs to no kind, so there is no "
    "precision.",
    "affixes": "Recall of the boundaries of the most frequent affixes, as the gold names them.",
}


def gold_boundaries(current: Session, gold_set: GoldSet) -> GoldBoundaries:
    """The boundaries of a reference and what meets there, computed once."""
    found: GoldBoundaries = current.once(
        ("gold boundaries", id(gold_set)), lambda: GoldBoundaries(gold_set)
    )
    return found


@st.fragment
def breakdowns(current: Session, tables: Sequence[ScoreTable], scope: Scope) -> None:
    """One reference at a time, all its tokenisers."""
    st.subheader("Where it goes right and wrong", anchor=False)
    known = [table for table in tables if table.gold_set is not None]
    if not known:
        return
    with remembered(breakdown_by="boundaries"):
        by = st.segmented_control(
            "By",
            list(BREAKDOWNS),
            key="breakdown_by",
            required=True,
            format_func=lambda name: BREAKDOWNS[name],
        )
    by = by or "boundaries"
    metric = "recall"
    left, right, _ = st.columns([3, 3, 4], vertical_alignment="bottom")
    if by in GROUPINGS:
        with left, remembered(breakdown_metric=_METRICS[0]):
            metric = st.selectbox(
                "Score",
                _METRICS,
                key="breakdown_metric",
                format_func=lambda name: METRICS[name].title,
            )
    table = known[0]
    if len(known) > 1:
        number = (right if by in GROUPINGS else left).selectbox(
            "On",
            range(len(known)),
            format_func=lambda i: known[i].gold_set.reference.name,  # type: ignore[union-attr]
            key=f"breakdown on {len(known)}",
        )
        table = known[number or 0]
    outcomes = [o for o in table.outcomes if isinstance(o, Outcome) and not o.is_gold]
    if by == "frequency" and outcomes and outcomes[0].gold_set.frequencies is None:
        st.info("Choose word frequencies above.")
        return
    key = ("breakdown", by, metric, scope, table.weighting, *map(id, outcomes))
    found = current.once(key, lambda: _made(current, outcomes, by, metric, scope, table))
    if not found[0].groups:
        st.info("This reference tells nothing of that.")
        return
    _show(*found)


def _made(
    current: Session,
    outcomes: Sequence[Outcome],
    by: str,
    metric: str,
    scope: Scope,
    table: ScoreTable,
) -> tuple[Breakdown, Any]:
    """The breakdown and its picture."""
    gold = gold_boundaries(current, outcomes[0].gold_set) if outcomes else None
    found = break_down(outcomes, by, metric, scope, table.weighting, gold)
    if not found.groups:
        return found, None
    estimates = {label: found.estimates(n) for n, label in enumerate(found.labels)}
    figure = breakdown(
        [group.name for group in found.groups],
        [group.size for group in found.groups],
        {label: [each.value for each in row] for label, row in estimates.items()},
        METRICS[found.metric].title,
        {
            label: [(each.interval.low, each.interval.high) for each in row]
            for label, row in estimates.items()
        },
    )
    return found, figure


def _show(found: Breakdown, figure: Any) -> None:
    st.plotly_chart(figure, key=f"breakdown {found.by}", config=picture_config("breakdown"))
    notes = [_NOTES[found.by]] if found.by in _NOTES else []
    if any(group.name == "not told" for group in found.groups):
        notes.append("Not told: the reference does not say.")
    if notes:
        st.caption(" ".join(notes))
    rows: dict[str, list[str]] = {
        "group": [group.name for group in found.groups],
        found.counted: [count(group.size) for group in found.groups],
    }
    for number, label in enumerate(found.labels):
        rows[label] = [_cell(estimate) for estimate in found.estimates(number)]
    with st.expander("As a table, with 95 % intervals"):
        st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            column_config={
                "group": st.column_config.TextColumn(BREAKDOWNS[found.by].lower()),
                **{
                    name: st.column_config.TextColumn(name, alignment="right")
                    for name in list(rows)[1:]
                },
            },
        )
        st.download_button(
            "CSV",
            lambda: breakdown_csv(found),
            file_name="breakdown.csv",
            mime="text/csv",
            icon=":material/download:",
            key=f"breakdown csv {found.by}",
            on_click="ignore",
        )
        st.code(found.signature, language=None, wrap_lines=True)


def _cell(estimate: Estimate) -> str:
    if estimate.value != estimate.value:
        return percent(estimate.value)
    low, high = percent(estimate.interval.low, 1), percent(estimate.interval.high, 1)
    return f"{percent(estimate.value, 1)} [{low}, {high}]"
