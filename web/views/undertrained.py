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
from web.widgets import attempt, plain

UNDERTRAINED = "under-trained types"
"""The key of the names of those of the model that was looked at last."""


def model_rows(current: Session, corpus: NamedCounts | None) -> None:
    """Ask for a folder and show its under-trained types, if their plug-in is installed.

    Only if nobody else reaches the app.
    """
    models: Any = getattr(mg, "models", None)
    if models is None or not only_this_machine():
        return
    label = "A model on this machine: its under-trained types"
    options: dict[str, Any] = {"icon": ":material/memory:", "on_change": "rerun"}
    with st.expander(label, key="model rows", **options) as shown:
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

            result = current.once(("undertrained", str(folder), state), make)
            types = frozenset(result.standing_out()["type"])
            if st.session_state.get(UNDERTRAINED) != types:
                st.session_state[UNDERTRAINED] = types
                st.rerun()  # the list above is drawn before
            lowest, unused = result.ranked_by.replace("_", " "), counted(result.unused, "row")
            st.caption(
                f"The list *under-trained* above: {counted(len(types), 'type')}, the 2 % with the "
                f"lowest {plain(lowest)}. {unused} taken for unused. For norms, other rankings and "
                "a picture: `morphgraph undertrained`."
            )
