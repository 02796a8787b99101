"""All types: a map of blame and length, filters with counts, and one table."""

from collections.abc import Collection
from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.glossary import GLOSSARY
from morphgraph.core.text import counted, shortened
from morphgraph.draw.all_types import (
    BLAME,
    ID,
    JOINS,
    LISTS,
    PER_MILLION,
    REMARK,
    TO_BLAME,
    USED_BY,
    WRONG,
    AllTypes,
    types_of_study,
)
from morphgraph.draw.overview import Overview
from morphgraph.tables.writing import frame_csv
from web import widgets as ui
from web.components import type_overview
from web.edits import CANVAS, look_at, several_words_note
from web.inputs import offer_frequencies
from web.state import Session
from web.views.undertrained import UNDERTRAINED, model_rows
from web.workbench.beside import beside
from web.workbench.place import ALL_TYPES

_MOST = 1_000
"""Rows that are sent to the browser; the file has all."""
_ROWS = 9
_REGION = "in the region"


def _key(current: Session, name: str) -> str:
    return f"types {name} {current.study_number}"


def list_users(current: Session, number: int) -> None:
    """List the types that use one, instead of the filters that were chosen."""
    ui.set_value(_key(current, "users of"), number)
    ui.set_value(_key(current, "filters"), [_uses(current)])
    ui.set_value(CANVAS, ALL_TYPES)


def _uses(current: Session) -> str:
    number = ui.value_now(_key(current, "users of"), None)
    names = current.study.tokeniser.readable_types
    return "" if number is None else f"uses {shortened(names[number], 40)}"


def all_types(current: Session) -> None:
    """Show the map, the filters and the table; a chosen row is the chosen type."""
    study, names = current.study, current.study.tokeniser.readable_types
    corpus = current.corpus()
    with ui.attempt(), st.spinner("Counting how often each type is used…"):
        types = current.once(("all types",), partial(types_of_study, study, corpus))
    number = current.selected or 0
    lists: dict[str, Collection[int]] = {}
    if study.has_blame:

        def make() -> Overview:
            return Overview.of(study.blame(), names, study.graph.type_ids())

        overview = current.once(("overview",), make)
        region = ui.value_now(_key(current, "region"), None)

        def choose(chosen: tuple[int, int, int, int] | None) -> None:
            kept = [one for one in ui.value_now(_key(current, "filters"), []) if one != _REGION]
            ui.set_value(_key(current, "region"), chosen)
            ui.set_value(_key(current, "filters"), [*kept, _REGION] if chosen else kept)

        name = shortened(names[number], 200)
        type_overview(overview, number, name, region, key="overview", on_choose=choose)
        if region is not None:
            lists[_REGION] = overview.within(*region)
    table = types.among(_filters(current, types, lists))
    _table(current, table, len(types.table))
    several_words_note(current)
    if corpus is None:
        offer_frequencies(current, "How types are used is counted by")
    beside(current, corpus)
    model_rows(current, corpus)


def _filters(
    current: Session, types: AllTypes, lists: dict[str, Collection[int]]
) -> list[Collection[int]]:
    """Show the lists as chips with counts; return those that are chosen."""
    graph, untrained = current.study.graph, st.session_state.get(UNDERTRAINED)
    users = ui.value_now(_key(current, "users of"), None)
    if users is not None:
        merges = graph.outgoing(users) if graph.is_present(users) else ()
        lists[_uses(current)] = {graph.merge(merge).result for merge in merges}
    if untrained:
        shown = types.table["type"]
        lists["under-trained"] = set(shown.index[shown.isin(untrained)])
    lists |= {name: types.lists[name] for name in LISTS if name in types.lists}
    first = [TO_BLAME] if types.lists.get(TO_BLAME) else []
    chosen = ui.choice(
        st.pills,
        "Lists",
        lists,
        key=_key(current, "filters"),
        first=first,
        selection_mode="multi",
        format_func=lambda name: f"{len(lists[name]):,} {name}",
        label_visibility="collapsed",
    )
    return [lists[name] for name in chosen]


def _table(current: Session, table: Any, of: int) -> None:
    rows = table.head(_MOST)
    numbers = rows.index.tolist()
    key = f"all types {current.study_number} {hash(tuple(numbers))}"

    def choose() -> None:
        for row, _ in st.session_state[key].selection.cells:
            if row < len(numbers):
                look_at(current, numbers[row])

    config: dict[str, Any] = {
        "type": ui.TEXT(width=150),
        WRONG: ui.NUMBER(format="localized", help=GLOSSARY["wrong join"].meaning),
        JOINS: ui.NUMBER(format="localized", help=GLOSSARY["join"].meaning),
        BLAME: ui.NUMBER(format="%.0f %%", help=GLOSSARY["blame"].meaning),
        USED_BY: ui.NUMBER(format="localized"),
        PER_MILLION: ui.NUMBER(format="localized", help="Of the tokens of the word frequencies."),
        ID: ui.NUMBER(format="localized"),
        REMARK: ui.TEXT(width="medium"),
    }
    rows = rows.assign(**{PER_MILLION: rows[PER_MILLION].round(1)}) if PER_MILLION in rows else rows
    options: dict[str, Any] = {"key": key, "on_select": choose, "selection_mode": "single-cell"}
    ui.show_table(rows, _ROWS, column_config=config, **options)
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = f"the first {len(rows):,} of " if len(rows) < len(table) else ""
        st.caption(f"{shown}{len(table):,} of {counted(of, 'type')}", width="content")
        st.space("stretch")
        ui.download("CSV", partial(frame_csv, table), "types.csv", type="tertiary")
