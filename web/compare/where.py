"""Where errors are: scores by the length, frequency or kind of words, and the words themselves."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.text import counted
from morphgraph.draw import score_charts as charts
from morphgraph.score.breakdowns import BREAKDOWNS, GROUPINGS, Breakdown, break_down
from morphgraph.score.comparison import ERROR_KINDS, ErrorBrowser
from morphgraph.score.metrics import METRICS
from morphgraph.tables.scores import breakdown_table, errors_csv
from web import widgets as ui
from web.compare.figures import Compared
from web.edits import open_in_merge_tree
from web.state import Session
from web.views.trees import MARKS

if TYPE_CHECKING:
    import plotly.graph_objects as go

_METRICS = ("f1", "precision", "recall", "exact")
_BY = ("length", "frequency", "boundaries", "affixes", "formation", "morphs")
_SHORT = {
    "length": "Length",
    "frequency": "Frequency",
    "boundaries": "Kind of boundary",
    "affixes": "Affix",
    "formation": "Formation",
    "morphs": "Morphs",
}
_NOTES = {
    "boundaries": "Recall of morph boundaries: behind a prefix, before a suffix, at an interfix or "
    "hyphen, or between the parts of a compound. A wrong split belongs to no kind, so there is no "
    "precision.",
    "affixes": "Recall of the boundaries of the most frequent affixes, as the gold names them.",
}


def where_view(
    current: Session, compared: Compared, left: DeltaGenerator, table: DeltaGenerator
) -> None:
    """Show scores of groups of words by all methods, and search the words of one of them."""
    with left:
        by = ui.segments(
            "By",
            _BY,
            key="breakdown_by",
            format_func=_SHORT.__getitem__,
            label_visibility="collapsed",
        )
        metric = "recall"
        if by in GROUPINGS:
            metric = ui.choice(
                st.selectbox,
                "Score",
                _METRICS,
                key="breakdown_metric",
                format_func=lambda name: METRICS[name].title,
                label_visibility="collapsed",
                width=150,
            )
    outcomes = [compared.outcomes[place] for place in compared.order]
    if by == "frequency" and compared.scored.frequencies is None:
        st.info("Choose word frequencies under More.")
        return
    settings = (by, metric, compared.scope, compared.weighting)

    def make() -> "tuple[Breakdown, go.Figure | None]":
        found = break_down(outcomes, *settings)
        names, sizes = [name for name, _ in found.groups], [size for _, size in found.groups]
        bars = {
            label: [charts.Mark(one.value, one.interval.low, one.interval.high) for one in row]
            for label, row in zip(found.labels, found.rows, strict=True)
        }
        title = METRICS[found.metric].title
        return found, charts.breakdown(names, sizes, bars, title) if names else None

    key = ("breakdown", *settings, *map(Same, outcomes))
    found, figure = current.once(key, make, of_files=True)
    st.caption(f"{BREAKDOWNS[by]}, over {compared.which}. {_NOTES.get(by, '')}")
    if figure is None:
        st.info("This reference does not say.")
        return
    ui.chart(figure, f"breakdown {found.by}")
    if any(name == "unknown" for name, _ in found.groups):
        st.caption("Unknown: the reference does not say.")
    with st.expander("As a table, with 95 % intervals"):
        ui.show_report(breakdown_table(found), key="breakdown")
    with table:
        tip = "A row for each group of words."
        ui.table_downloads(partial(breakdown_table, found), "breakdown", tip)
    _words_cut(current, compared)


def _words_cut(current: Session, compared: Compared) -> None:
    """Search and filter the words of one method, and open one of them."""
    st.subheader("The words", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = [compared.labels[place] for place in compared.order]
        label = ui.choice(st.selectbox, "Cut by", labels, key="errors_of", width=220)
        outcome = compared.outcomes[compared.labels.index(label)]
        key = ("errors", Same(outcome), compared.scope)
        make = partial(ErrorBrowser, outcome, compared.scope)
        browser = current.once(key, make, of_files=True)
        counts = browser.counts()
        kinds = ui.choice(
            st.pills,
            "What is wrong",
            ERROR_KINDS,
            key="error_kinds",
            first=list(ERROR_KINDS[:3]),
            selection_mode="multi",
            format_func=lambda kind: f"{kind} {counts[kind]:,}",
            help="Over-segmented: only splits too many. Under-segmented: only splits too few.",
        )
        text = ui.setting(
            st.text_input,
            "Search words",
            key="error_search",
            first="",
            placeholder="part of a word",
            max_chars=50,
            width=220,
        ).strip()
    hits = browser.find(kinds, text=text)
    numbers = ui.one_page(hits.tolist(), 200, "errors page")
    if not numbers:
        st.info("No word matches.")
        return
    columns = ["word", "gold", "tokens", "marked", "wrong", "missed"]
    if outcome.gold_set.frequencies is not None:
        columns.append("frequency")
    place = f"{id(outcome)} {compared.scope} {sorted(kinds)} {text} {numbers[0]} {len(hits)}"
    row = ui.chosen_row(
        browser.words(numbers)[columns],
        11,
        key=f"errors table {place}",
        column_config={
            "wrong": ui.NUMBER("wrong splits"),
            "missed": ui.NUMBER("missed boundaries"),
            "frequency": ui.NUMBER(format="localized"),
        },
    )
    words = counted(len(hits), "word")
    st.caption(f"{words}, the most boundary errors first, then the most frequent. {MARKS}")
    ui.download(f"All {words} as CSV", partial(errors_csv, browser, hits), "errors.csv")
    if row is not None:
        word = outcome.gold_set.texts[numbers[row]]
        label = f"Open “{ui.plain(word)}” in the Workbench"
        if ui.button(label, "account_tree", key="errors to tree"):
            open_in_merge_tree(current, word)
