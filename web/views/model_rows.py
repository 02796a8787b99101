"""Under-trained types of a model in a folder on this machine."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from morphgraph.core.errors import unquoted
from morphgraph.core.text import counted
from morphgraph.draw.charts import undertrained_page, undertrained_points
from morphgraph.models.undertrained_types import (
    RANKINGS,
    TYPE_KINDS,
    UndertrainedTypes,
    undertrained_types,
)
from morphgraph.score.vocabulary import NamedCounts
from morphgraph.tables.writing import frame_csv
from web.hosting import only_this_machine
from web.state import Session
from web.text import plain
from web.widgets import attempt, downloads, show_table


def model_rows(current: Session, corpus: NamedCounts | None) -> None:
    """Ask for a folder and show its outliers; only if nobody else can reach the app."""
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
        folder = st.text_input(
            "Folder of a model",
            key="model folder",
            placeholder="config.json, weights in safetensors and the tokeniser are in it",
        ).strip()
        if folder:
            with attempt():
                _show(_ranked(_found(current, Path(folder).expanduser(), corpus)))


def _found(current: Session, folder: Path, corpus: NamedCounts | None) -> UndertrainedTypes:
    """Analyse the present content of a folder, once."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    state = tuple((path.name, path.stat().st_mtime_ns) for path in files if path.is_file())

    def make() -> UndertrainedTypes:
        with st.spinner("Examining the model's rows…"), unquoted(folder, asked=True):
            return undertrained_types(folder, corpus)

    return current.once(("undertrained", str(folder), state), make)


def _ranked(found: UndertrainedTypes) -> UndertrainedTypes:
    """Return the same types by the chosen ranking, if there is a choice."""
    if not found.unused:
        return found
    usual = found.ranked_by.removeprefix("input_")
    by = st.selectbox(
        "Ranked by",
        list(RANKINGS),
        index=list(RANKINGS).index(usual),
        format_func=lambda name: RANKINGS[name] + " (Land & Bartolo)" * (name == usual),
        key="model rows ranking",
    )
    return replace(found, ranked_by=f"input_{by}")


def _show(found: UndertrainedTypes) -> None:
    chosen = found.standing_out()
    st.caption(
        plain(
            f"{counted(len(chosen), 'type')}, the 2 % with the lowest "
            f"{found.ranked_by.replace('_', ' ')}. {counted(found.unused, 'row')} taken for "
            f"unused: {found.unused_are}."
        )
    )
    table = chosen.dropna(axis="columns", how="all")
    table = table.assign(kind=table["kind"].map(TYPE_KINDS))
    names = {name: name.replace("_", " ") for name in table.columns}
    digits = {
        label: st.column_config.NumberColumn(format="%.3f")
        for name, label in names.items()
        if name.startswith(("input", "output"))
    }
    show_table(table.rename(columns=names), 420, key="model rows table", column_config=digits)
    st.plotly_chart(undertrained_points(found), key="model rows chart")
    downloads(
        {
            "undertrained.csv": lambda: frame_csv(found.frame),
            "undertrained.html": lambda: undertrained_page(found),
        }
    )
