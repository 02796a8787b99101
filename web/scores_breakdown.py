"""Scores of some of the words: by what meets at a boundary, affix, formation, length, frequency."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.draw.score_charts import breakdown
from morphgraph.evaluate.breakdown import (
    GROUPINGS,
    GoldBoundaries,
    GroupScore,
    group_scores,
    word_groups,
)
from morphgraph.evaluate.metrics import METRICS
from morphgraph.evaluate.outcome import Outcome
from morphgraph.evaluate.score_table import ScoreTable
from morphgraph.evaluate.tables import percent
from morphgraph.evaluate.yardstick import Scope, Weighting
from web.scores_charts import picture_config
from web.session import Session, remembered

_KINDS, _AFFIXES = "boundaries", "affixes"
_TITLES = {
    _KINDS: "What meets at a boundary",
    _AFFIXES: "Affix",
    **GROUPINGS,
}
_METRICS = ("f1", "precision", "recall", "exact")


@st.fragment
def breakdowns(current: Session, tables: Sequence[ScoreTable], scope: Scope) -> None:
    """One reference at a time, all its tokenisers."""
    st.subheader("Where it goes right and wrong", anchor=False)
    known = [table for table in tables if table.yardstick is not None]
    if not known:
        return
    with remembered(breakdown_by=_KINDS):
        by = st.segmented_control(
            "By",
            list(_TITLES),
            key="breakdown_by",
            required=True,
            format_func=lambda name: _TITLES[name],
        )
    by = by or _KINDS
    metric = "recall"
    left, right, _ = st.columns([2, 3, 5], vertical_alignment="bottom")
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
        number = right.selectbox(
            "On",
            range(len(known)),
            format_func=lambda i: known[i].yardstick.reference.name,  # type: ignore[union-attr]
            key=f"breakdown on {len(known)}",
        )
        table = known[number or 0]
    outcomes = [o for o in table.outcomes if isinstance(o, Outcome) and not o.is_gold]
    if by == "frequency" and outcomes and outcomes[0].yardstick.frequencies is None:
        st.info("Choose word frequencies above.")
        return
    scores = _scores(current, outcomes, by, table.weighting, scope, metric)
    found = dict(zip([outcome.label for outcome in outcomes], scores, strict=True))
    if not any(found.values()):
        st.info("This reference tells nothing of that.")
        return
    key = (by, metric, scope, table.weighting, *map(id, outcomes))
    _show(current, key, by, metric, found)


def _scores(
    current: Session,
    outcomes: Sequence[Outcome],
    by: str,
    weighting: Weighting,
    scope: Scope,
    metric: str,
) -> list[list[GroupScore]]:
    """The scores of each tokeniser in each group, worked out once."""
    if not outcomes:
        return []
    yardstick, ids = outcomes[0].yardstick, tuple(map(id, outcomes))
    make: Callable[[], list[list[GroupScore]]]
    if by in GROUPINGS:
        groups = current.once(("groups", id(yardstick), by), lambda: word_groups(yardstick, by))
        key = ("group scores", ids, by, scope, weighting, metric)
        make = partial(group_scores, outcomes, groups, scope, weighting, [metric])
    else:
        gold: GoldBoundaries = current.once(
            ("gold boundaries", id(yardstick)), lambda: GoldBoundaries(yardstick)
        )
        key = ("boundary scores", ids, by, scope, weighting, metric)
        of = gold.by_kind if by == _KINDS else gold.by_affix
        make = partial(of, outcomes, weighting)
    found: list[list[GroupScore]] = current.once(key, make)
    return found


def _show(
    current: Session,
    key: tuple[Any, ...],
    by: str,
    metric: str,
    found: dict[str, list[GroupScore]],
) -> None:
    first = next(iter(found.values()))
    figure = current.once(("breakdown", *key), lambda: _figure(metric, found))
    st.plotly_chart(figure, key=f"breakdown {by}", config=picture_config("breakdown"))
    what = "boundaries" if by in (_KINDS, _AFFIXES) else "words"
    rows: dict[str, list[Any]] = {
        _TITLES[by].lower(): [score.name for score in first],
        what: [f"{score.size:,}" for score in first],
    }
    for label, scores in found.items():
        rows[label] = [_cell(score, metric) for score in scores]
    columns = [name for name in rows if name != _TITLES[by].lower()]
    with st.expander("As a table, with 95 % intervals"):
        frame = pd.DataFrame(rows)
        st.dataframe(
            frame,
            hide_index=True,
            column_config={
                name: st.column_config.TextColumn(name, alignment="right") for name in columns
            },
        )
        st.download_button(
            "CSV",
            lambda: frame.to_csv(index=False, lineterminator="\n").encode(),
            file_name="breakdown.csv",
            mime="text/csv",
            icon=":material/download:",
            key=f"breakdown csv {by}",
            on_click="ignore",
        )
    if by == _KINDS:
        st.caption(
            "Recall of morph boundaries: behind a prefix, before a suffix, at an interfix or "
            "hyphen, or between the parts of a compound. A wrong split belongs to no kind, so "
            "there is no precision."
        )
    elif by == _AFFIXES:
        st.caption("Recall of the boundaries of the most frequent affixes, as the gold names them.")


def _figure(metric: str, found: dict[str, list[GroupScore]]) -> Any:
    first = next(iter(found.values()))
    estimates = {label: [each.scores[metric] for each in scores] for label, scores in found.items()}
    return breakdown(
        [score.name for score in first],
        [score.size for score in first],
        {label: [each.value for each in row] for label, row in estimates.items()},
        METRICS[metric].title,
        {
            label: [(each.interval.low, each.interval.high) for each in row]
            for label, row in estimates.items()
        },
    )


def _cell(score: GroupScore, metric: str) -> str:
    estimate = score.scores[metric]
    if estimate.value != estimate.value:
        return "n/a"
    low, high = percent(estimate.interval.low, 1), percent(estimate.interval.high, 1)
    return f"{percent(estimate.value, 1)} [{low}, {high}]"
