"""The tab that holds the results of several runs side by side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import streamlit as st

from morphgraph.batch.cell_rows import column_of
from morphgraph.batch.compare_runs import (
    filtered,
    nothing_shared,
    presence,
    scope_name,
    shown_comparison,
    signatures_in,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, shortened, visible
from morphgraph.tables.writing import frame_csv
from web.batch.checking import free_name
from web.batch.results import kept_results, not_empty, results_from, signatures_of
from web.batch.state import known_runs
from web.inputs import content_of
from web.text import plain_line
from web.widgets import (
    attempt,
    choice,
    download,
    remembered,
    rows_high,
    set_value,
    show_error,
    show_table,
    value_now,
    width_of,
)

if TYPE_CHECKING:
    import pandas as pd

_UPLOADED = "batch uploaded results"
_USUAL = ("precision", "recall", "f1")
_MOST = 6
_WIDEST_NAME = 220
_LEFT_OUT = "batch result left out"
_CHOSEN = "batch_compared"


def compare_tab() -> None:
    """Choose runs, choose scores, and see how far they are apart."""
    uploaded: dict[str, pd.DataFrame] = st.session_state.setdefault(_UPLOADED, {})
    own = {run.name: run for run in known_runs() if run.has_results}
    left, right = st.columns([7, 3], vertical_alignment="bottom")
    with right.popover("Add a file", icon=":material/upload_file:", width="stretch"):
        _upload(uploaded, list(own))
    left_out = st.session_state.pop(_LEFT_OUT, None)
    if left_out is not None:
        most = f"Six at most: remove one, then choose {left_out}."
        st.warning(plain_line(most, 200), icon=":material/warning:")
    names = [*own, *(name for name in uploaded if name not in own)]
    if len(names) < 2:
        left.info(
            "There are fewer than two runs with results. Run an evaluation twice, such as with "
            "another setting, or add the results\\.parquet of somebody else's run."
        )
        return
    chosen = choice(
        left.multiselect,
        "Runs",
        names,
        key=_CHOSEN,
        first=names[:2][::-1],
        max_selections=_MOST,
        format_func=lambda name: shortened(visible(name), 60),
        placeholder="Choose two or more",
        help="The first one is the baseline.",
    )
    if len(chosen) < 2:
        st.info("Choose two runs or more. The first one is the baseline.")
        return
    found: dict[str, pd.DataFrame] = {}
    for name in chosen:
        try:
            found[name] = (
                uploaded[name]
                if name not in own
                else not_empty(kept_results(own[name].folder), "results.parquet")
            )
        except MorphGraphError as error:
            show_error(f"{shortened(name, 80)}: {error}")
    if len(found) > 1:
        with attempt():
            _compared(found)


def _upload(uploaded: dict[str, pd.DataFrame], own: list[str]) -> None:
    file = st.file_uploader(
        "results.parquet",
        type=["parquet"],
        key=f"batch results upload {len(uploaded)}",
        help="Of a run on any machine; it is in the folder of the run.",
    )
    if file is None:
        return
    with attempt():
        results = results_from(content_of(file), file.name)
        name = free_name(shortened(visible(file.name), 60), {*own, *uploaded}, "{} ({})")
        uploaded[name] = results
        known = value_now(_CHOSEN, [])
        if len(known) < _MOST:
            set_value(_CHOSEN, [*known, name])
        else:
            st.session_state[_LEFT_OUT] = name
        st.rerun()


def _compared(found: dict[str, pd.DataFrame]) -> None:
    from morphgraph.batch.compare_runs import compare_runs

    runs = list(found)
    compared = compare_runs(found)
    there = presence(compared, found)
    for sentence in nothing_shared(compared, there):
        st.warning(plain_line(sentence), icon=":material/join_inner:")
    shown, counts = _filters(compared, there.all(axis=1), runs[0])
    if not len(shown):
        st.info("Nothing is left with these choices.")
        return
    frame, titles, same = shown_comparison(shown, runs)
    names = len(titles) - (2 * len(runs) - 1)
    show_table(
        frame,
        rows_high(20),
        key=f"batch comparison {hash((*titles, frame.to_csv()))}",
        column_config={
            str(number): st.column_config.TextColumn(
                shortened(title, 40),
                width=width_of([shortened(title, 40), *frame[str(number)]], _WIDEST_NAME),
                help=plain_line(title, 300) if len(title) > 24 else None,
                pinned=number < names,
                alignment="left" if number < names else "right",
            )
            for number, title in enumerate(titles)
        },
    )
    first = plain_line(runs[0], 60)
    notes = [
        counts,
        f"{counted(len(frame), 'row')}. Δ: difference to {first}, of shares in percentage points; "
        "means over seeds. n/a: undefined, or that run has no such cell.",
    ]
    if same:
        notes.append(f"The same in all rows: {plain_line(', '.join(same), 500)}.")
    st.caption(" ".join(note for note in notes if note))
    signatures_of(signatures_in(shown, found))
    download(
        "CSV",
        lambda: frame_csv(shown),
        "comparison.csv",
        key="batch comparison csv",
        help="The rows above with all digits; shares from 0 to 1.",
    )


def _filters(
    compared: pd.DataFrame, in_all: pd.Series[bool], first: str
) -> tuple[pd.DataFrame, str]:
    """The rows that are asked for, and a sentence on how many of them all runs have.

    By metric, by scope, whether all runs have them, and whether runs differ in them.
    """
    metrics = list(dict.fromkeys(compared["metric"]))
    left, middle, right = st.columns([4, 3, 3], vertical_alignment="bottom")
    wanted = choice(
        left.multiselect,
        "Metrics",
        metrics,
        key="batch_metrics",
        first=first_of(metrics, _USUAL),
        format_func=lambda key: shortened(visible(column_of(key).header), 60),
        placeholder="All of them",
    )
    scopes = list(dict.fromkeys(compared[compared["metric"].isin(wanted or metrics)]["scope"]))
    chosen = choice(
        middle.multiselect,
        "Scopes",
        scopes,
        key=f"batch scopes {scopes}",
        first=[],
        format_func=lambda scope: shortened(visible(scope_name(scope)), 40),
        placeholder="All of them",
    )
    with right, remembered(batch_different=False):
        only = st.toggle("Only differences", key="batch_different", help="Leave out equal rows.")
    asked = {"metrics": wanted or metrics, "scopes": chosen or scopes}
    rows = filtered(compared, first, **asked, only_different=False)
    number, counts = int(in_all[rows.index].sum()), ""
    if 0 < number < len(rows):
        counts = f"{number:,} of {counted(len(rows), 'row')} are in all runs."
        with right, remembered(batch_shared=True):
            if st.toggle(
                "Only rows in all runs",
                key="batch_shared",
                help="Leave out rows that a run does not have.",
            ):
                rows = rows[in_all[rows.index]]
    return filtered(rows, first, **asked, only_different=only), counts


def first_of(options: Iterable[str], wanted: Iterable[str], most: int = 3) -> list[str]:
    """Those of the wanted that there are, else the first few.

    >>> first_of(["types", "recall", "f1"], ["precision", "recall", "f1"])
    ['recall', 'f1']
    """
    known = list(options)
    return [one for one in wanted if one in known] or known[:most]
