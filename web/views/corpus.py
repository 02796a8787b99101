"""Under-trained types of a model in a folder on this machine."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from morphgraph.core.errors import unquoted
from morphgraph.core.text import counted
from morphgraph.draw.charts import undertrained_page, undertrained_points
from morphgraph.models import undertrained_types as untrained
from morphgraph.score.vocabulary import NamedCounts
from morphgraph.tables.model import frame_table
from morphgraph.tables.writing import frame_csv
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


def model_rows(current: Session, corpus: NamedCounts | None) -> None:
    """Ask for a folder and show its under-trained types; only if nobody else reaches the app."""
    if not only_this_machine():
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

            def make() -> untrained.UndertrainedTypes:
                with st.spinner("Examining the model's rows…"), unquoted(folder, asked=True):
                    return untrained.undertrained(folder, corpus)

            found = current.once(("undertrained", str(folder), state), make)
            _show_untrained(_ranked(found) if found.unused else found)


def _ranked(found: untrained.UndertrainedTypes) -> untrained.UndertrainedTypes:
    usual, names = found.ranked_by.removeprefix("input_"), untrained.RANKINGS
    by = st.selectbox(
        "Ranked by",
        list(names),
        index=list(names).index(usual),
        format_func=lambda name: names[name] + " (Land & Bartolo)" * (name == usual),
        key="model rows ranking",
    )
    return replace(found, ranked_by=f"input_{by}")


def _show_untrained(found: untrained.UndertrainedTypes) -> None:
    chosen = found.standing_out()
    st.caption(
        plain(
            f"{counted(len(chosen), 'type')}, the 2 % with the lowest "
            f"{found.ranked_by.replace('_', ' ')}. {counted(found.unused, 'row')} taken for "
            f"unused: {found.unused_are}."
        )
    )
    table = frame_table(chosen.assign(kind=chosen["kind"].map(untrained.TYPE_KINDS)))
    show_model(table, _ROWS, key="model rows table")
    chart(undertrained_points(found), "model rows chart")
    downloads(
        {
            "undertrained.csv": lambda: frame_csv(found.frame),
            "undertrained.html": lambda: undertrained_page(found),
        }
    )
