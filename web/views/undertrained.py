"""Under-trained types of a model in a folder on this machine."""

from pathlib import Path
from typing import Any

import streamlit as st

import morphgraph as mg
from morphgraph.core.errors import unquoted
from morphgraph.core.text import counted
from morphgraph.score.vocabulary_health import NamedCounts
from web.guard import only_this_machine
from web.state import Session
from web.widgets import (
    attempt,
    chart,
    downloads,
    plain,
    show_model,
)

_ROWS = 11
UNDERTRAINED = "under-trained types"
"""The key of the names of those of the model that was looked at last."""


def model_rows(current: Session, corpus: NamedCounts | None) -> None:
    """Ask for a folder and show its under-trained types, if their plug-in is installed.

    Only if nobody else reaches the app.
    """
    models: Any = getattr(mg, "models", None)
    if models is None or not only_this_machine():
        return
    with st.expander(
        "A model on this machine: its under-trained types",
        icon=":material/memory:",
        on_change="rerun",
        key="model rows",
    ) as shown:
        if not shown.open:
            return
        example = "config.json, weights in safetensors and the tokeniser are in it"
        name = st.text_input("Folder of a model", key="model folder", placeholder=example).strip()
        if not name:
            return
        with attempt():
            folder = Path(name).expanduser()
            files = sorted(folder.iterdir()) if folder.is_dir() else []
            state = tuple((path.name, path.stat().st_mtime_ns) for path in files if path.is_file())

            def make() -> Any:
                with st.spinner("Examining the model's rows…"), unquoted(folder, asked=True):
                    return models.undertrained(folder, corpus)

            _show_untrained(current.once(("undertrained", str(folder), state), make))


def _show_untrained(found: Any) -> None:
    if found.unused:
        usual, names = found.ranked_by.removeprefix("input_"), found.rankings
        by = st.selectbox(
            "Ranked by",
            list(names),
            index=list(names).index(usual),
            format_func=lambda name: names[name] + " (Land & Bartolo)" * (name == usual),
            key="model rows ranking",
        )
        found = found.ranked(by)
    table = found.table()
    st.session_state[UNDERTRAINED] = frozenset(found.standing_out()["type"])
    st.caption(
        plain(
            f"{counted(len(table.rows), 'type')}, the 2 % with the lowest "
            f"{found.ranked_by.replace('_', ' ')}. {counted(found.unused, 'row')} taken for "
            f"unused: {found.unused_are}."
        )
    )
    show_model(table, _ROWS, key="model rows table")
    chart(found.chart(), "model rows chart")
    downloads(
        {
            "undertrained.csv": found.csv,
            "undertrained.html": found.page,
        }
    )
