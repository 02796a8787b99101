"""Below a table of scores: figures, scores of subsets of words, and FLOTA's own scores."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import count_text, counted, percent
from morphgraph.draw.score_charts import (
    Difference,
    Dumbbell,
    Mark,
    breakdown,
    difference_forest,
    dumbbells,
    radar,
)
from morphgraph.score.flota import FlotaScores, flota_scores
from morphgraph.score.gold_set import GoldSet, Scope
from morphgraph.score.metrics import METRICS
from morphgraph.score.outcome import Outcome
from morphgraph.score.table import (
    BREAKDOWNS,
    GROUPINGS,
    Breakdown,
    Estimate,
    GoldBoundaries,
    ScoreTable,
    SegmentationFailure,
    break_down,
)
from morphgraph.segment.segmenter import standard_segmenter
from morphgraph.tables.model import HELD_IN, text_frame
from morphgraph.tables.scores import breakdown_csv, flota_table
from morphgraph.tables.writing import frame_csv
from morphgraph.tokeniser.loading import vocabulary_of
from web.state import Session
from web.text import plain
from web.widgets import attempt, choice, download, right_aligned, setting, show_table

if TYPE_CHECKING:
    import plotly.graph_objects as go

_DUMBBELLS, _RADAR, _DIFFERENCES = "precision, recall, F1", "radar", "differences"
HELD_OUT = "held out"
_BASIC = ("precision", "recall", "f1")
_NOWHERE = Mark(float("nan"))


def picture_config(name: str) -> dict[str, Any]:
    """Return settings to save figures in the chosen format, at double resolution."""
    kind = st.session_state.get("kept picture_format", "svg")
    return {
        "displaylogo": False,
        "toImageButtonOptions": {"format": kind, "filename": name, "scale": 2},
    }


def words_seen(outcome: Outcome | SegmentationFailure) -> list[str]:
    """Say whether a method learned from the words it is scored on, or these were held out."""
    if not isinstance(outcome, Outcome) or outcome.is_gold:
        return []
    return [HELD_IN] if outcome.held_in else [HELD_OUT] * bool(outcome.gold_set.drawn)


def words_shown(table: ScoreTable) -> str:
    """Name the reference of a table, and which of its words are shown."""
    if table.gold_set is None:
        return ""
    name = table.gold_set.reference.name
    return f"{name}, {HELD_OUT}" if table.gold_set.drawn else name


def picture_format() -> None:
    """Choose the file format of the figures' camera buttons."""
    choice(
        st.segmented_control,
        "Pictures are saved as",
        ["svg", "png"],
        key="picture_format",
        required=True,
        format_func=str.upper,
        help="The camera in the corner of a figure saves it.",
    )


@st.fragment
def pictures(current: Session, tables: Sequence[ScoreTable]) -> None:
    """Show one figure of the scores for each reference."""
    tested = any(table.baseline is not None and len(table.outcomes) > 1 for table in tables)
    kinds = [_DUMBBELLS, _RADAR, *([_DIFFERENCES] if tested else [])]
    with st.container(horizontal=True):
        kind = choice(
            st.segmented_control,
            "Picture",
            kinds,
            key="scores_picture",
            required=True,
            label_visibility="collapsed",
        )
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
        if len(tables) > 1:
            st.caption(f"`{words_shown(table)}`")
        figure = current.once(
            ("picture", Same(table), kind, metric), partial(_figure, table, kind, metric)
        )
        if figure is None:
            st.info("Choose at least three scores in %, for the corners of the radar.")
            continue
        st.plotly_chart(figure, key=f"scores picture {number}", config=picture_config("scores"))


def _figure(table: ScoreTable, kind: str, metric: str) -> "go.Figure | None":
    if kind == _RADAR:
        return _radar(table)
    if kind == _DIFFERENCES and metric in table.metrics and table.baseline is not None:
        return _differences(table, metric, table.baseline)
    rows = []
    for number, label in enumerate(table.labels):
        if table.scope == "morphemic" and number in _gold(table):
            continue  # 100 % of everything
        found = table.of(number, _BASIC)
        seen = words_seen(table.outcomes[number])
        label = f"{label} ({seen[0]})" if seen else label
        rows.append(Dumbbell(label, *(_spread(found.get(name)) for name in _BASIC)))
    return dumbbells(rows)


def _gold(table: ScoreTable) -> set[int]:
    """Return the rows of the gold itself."""
    return {n for n, o in enumerate(table.outcomes) if isinstance(o, Outcome) and o.is_gold}


def _spread(estimate: Estimate | None) -> Mark:
    if estimate is None:
        return _NOWHERE
    return Mark(estimate.value, estimate.interval.low, estimate.interval.high)


def _radar(table: ScoreTable) -> "go.Figure | None":
    shares = [name for name in table.metrics if METRICS[name].unit and METRICS[name].better]
    known = [n for n, found in enumerate(table.estimates) if found is not None]
    known = [n for n in known if n not in _gold(table)]
    if len(shares) < 3 or not known:
        return None
    estimates = [table.of(number, shares) for number in known]
    return radar(
        [table.labels[number] for number in known],
        [METRICS[name].title for name in shares],
        [[found[name].value for name in shares] for found in estimates],
        [METRICS[name].better for name in shares],
    )


def _differences(table: ScoreTable, metric: str, baseline: int) -> "go.Figure":
    intervals = table.differences(metric)
    base = table.of(baseline, [metric]).get(metric)
    start = np.nan if base is None else base.value
    rows = []
    for number, label in enumerate(table.labels):
        found = table.of(number, [metric]).get(metric)
        if number == baseline or number in _gold(table):
            continue
        value = np.nan if found is None else found.value - start
        low, high = intervals[number].low, intervals[number].high
        rows.append(Difference(label, Mark(value, low, high), found.mark if found else ""))
    return difference_forest(rows, table.labels[baseline])


_METRICS = ("f1", "precision", "recall", "exact")
_NOTES = {
    "boundaries": "Recall of morph boundaries: behind a prefix, before a suffix, at an interfix or "
    "hyphen, or between the parts of a compound. A wrong split belongs to no kind, so there is no "
    "precision.",
    "affixes": "Recall of the boundaries of the most frequent affixes, as the gold names them.",
}


def gold_boundaries(current: Session, gold_set: GoldSet) -> GoldBoundaries:
    """Return a reference's boundaries and what meets there, computed once."""
    key = ("gold boundaries", Same(gold_set))
    return current.once(key, lambda: GoldBoundaries(gold_set), of_files=True)


@st.fragment
def breakdowns(current: Session, tables: Sequence[ScoreTable], scope: Scope) -> None:
    """Show breakdowns of all tokenisers on one reference at a time."""
    known = [table for table in tables if table.gold_set is not None]
    if not known:
        return
    by = choice(
        st.segmented_control,
        "By",
        BREAKDOWNS,
        key="breakdown_by",
        required=True,
        format_func=BREAKDOWNS.__getitem__,
    )
    metric = "recall"
    left, right, _ = st.columns([3, 3, 4], vertical_alignment="bottom")
    if by in GROUPINGS:
        metric = choice(
            left.selectbox,
            "Score",
            _METRICS,
            key="breakdown_metric",
            format_func=lambda name: METRICS[name].title,
        )
    number = 0
    if len(known) > 1:
        names = [words_shown(table) for table in known]
        number = (right if by in GROUPINGS else left).selectbox(
            "On", range(len(known)), format_func=names.__getitem__, key=f"breakdown on {len(known)}"
        )
    table = known[number]
    outcomes = [o for o in table.outcomes if isinstance(o, Outcome) and not o.is_gold]
    if by == "frequency" and outcomes and outcomes[0].gold_set.frequencies is None:
        st.info("Choose word frequencies below.")
        return
    gold = gold_boundaries(current, outcomes[0].gold_set) if outcomes else None
    settings = (by, metric, scope, table.weighting)
    key = ("breakdown", *settings, *map(Same, outcomes))
    found, figure = current.once(key, lambda: _with_picture(break_down(outcomes, *settings, gold)))
    if figure is None:
        st.info("This reference does not say.")
        return
    _show_breakdown(found, figure)


def _with_picture(found: Breakdown) -> "tuple[Breakdown, go.Figure | None]":
    if not found.groups:
        return found, None
    figure = breakdown(
        [group.name for group in found.groups],
        [group.size for group in found.groups],
        {label: list(map(_spread, found.estimates(n))) for n, label in enumerate(found.labels)},
        METRICS[found.metric].title,
    )
    return found, figure


def _show_breakdown(found: Breakdown, figure: Any) -> None:
    st.plotly_chart(figure, key=f"breakdown {found.by}", config=picture_config("breakdown"))
    notes = [_NOTES[found.by]] if found.by in _NOTES else []
    if any(group.name == "unknown" for group in found.groups):
        notes.append("Unknown: the reference does not say.")
    if notes:
        st.caption(" ".join(notes))
    rows = {
        "group": [group.name for group in found.groups],
        found.counted: [count_text(group.size) for group in found.groups],
        **{
            label: [_cell(estimate) for estimate in found.estimates(number)]
            for number, label in enumerate(found.labels)
        },
    }
    with st.expander("As a table, with 95 % intervals"):
        first = st.column_config.TextColumn(BREAKDOWNS[found.by].lower())
        show_table(rows, column_config={"group": first, **right_aligned(list(rows)[1:])})
        key = f"breakdown csv {found.by}"
        download("CSV", lambda: breakdown_csv(found), "breakdown.csv", key=key)
        st.code(found.signature, language=None, wrap_lines=True)


def _cell(estimate: Estimate) -> str:
    if estimate.value != estimate.value:
        return percent(estimate.value)
    low, high = percent(estimate.interval.low, 1), percent(estimate.interval.high, 1)
    return f"{percent(estimate.value, 1)} [{low}, {high}]"


@st.fragment
def flota_scores_table(current: Session, gold_sets: Sequence[GoldSet]) -> None:
    """Show, on demand, FLOTA's scores for the open tokeniser's present vocabulary."""
    wanted = setting(
        st.toggle,
        "Coverage, stem recall and full match of FLOTA, FIRST and LONGEST",
        key="scores_flota",
        first=False,
        help="Over words of two morphs that are both in the vocabulary while the word is not "
        "(Hofmann et al. 2022): how many of the morphs are among at most k tokens.",
    )
    if not wanted:
        return
    for gold_set in gold_sets:
        with attempt():
            found = current.once(
                ("flota scores", Same(gold_set)), partial(_scores, current, gold_set)
            )
            _show_flota(found, gold_set)


def _scores(current: Session, gold_set: GoldSet) -> FlotaScores:
    tokeniser = current.study.tokeniser
    standard = standard_segmenter(tokeniser)
    return flota_scores(vocabulary_of(tokeniser), gold_set.reference, standard)


def _show_flota(found: FlotaScores, gold_set: GoldSet) -> None:
    shown = flota_table(found).with_columns(range(3))
    titles = [column.title for column in (*shown.names, *shown.columns)]
    frame = text_frame(shown)[0].set_axis(titles, axis="columns")
    show_table(frame, column_config=right_aligned(titles[1:]))
    first = found.scores[0]
    notes = [
        f"{plain(gold_set.reference.name)}: {counted(first.entries, 'word')} of two morphs that "
        f"are both types while the word is not, {first.entries_with_stem:,} of them with a stem."
    ]
    if not first.entries_with_stem:
        notes.append("Stem recall is n/a: the reference does not say which morph is a stem.")
    st.caption(" ".join(notes))
    st.code(found.signature, language=None, wrap_lines=True)
    download(
        "CSV",
        lambda: frame_csv(frame.assign(signature=found.signature)),
        "flota.csv",
        key=f"flota csv {id(gold_set)}",
    )
