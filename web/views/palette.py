"""One field that leads to any page, type, word or action: Ctrl+K."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.text import shortened
from web import widgets as ui
from web.components import component
from web.copies import copy_field
from web.edits import open_in_graph, open_in_merge_tree
from web.state import Session

_MOST, _TYPES = 100, 3_000


def offer_palette(current: Session, pages: Mapping[str, str], here: str) -> None:
    """Show the button that opens the field; ``pages``: the file of each by its name."""
    options: dict[str, Any] = {"key": "go to", "type": "tertiary", "shortcut": "Ctrl+K"}
    ui.button("Find anything", "search", ui.open_dialog, here, "palette", **options)
    if ui.dialog_now(here, "palette") is not None:  # also where something else draws the page anew
        _palette(current, pages)


@st.dialog("Find anything", on_dismiss=ui.close_dialog)
def _palette(current: Session, pages: Mapping[str, str]) -> None:
    study = current.study
    names, graph = study.tokeniser.readable_types, study.graph
    places: dict[str, Callable[[], object]] = {
        name: partial(st.switch_page, page) for name, page in pages.items()
    }
    if graph.history:
        places["Undo"] = partial(_then_redraw, current.undo)
    if graph.undone:
        places["Redo"] = partial(_then_redraw, current.redo)
    blamed = study.blame()
    worst = blamed.arrays.results[blamed.order[:_MOST]].tolist()
    first = filter(graph.is_present, range(min(_TYPES, len(graph.types))))
    for number in (*worst, *first):
        places.setdefault(f"{names[number]} · type", partial(open_in_graph, current, number))
    for word in study.benchmark.texts[:_MOST]:
        places.setdefault(f"{word} · word", partial(open_in_merge_tree, current, word))
    chosen = st.selectbox(
        "A page, an action, a type, or any word",
        ["Keep a copy", *places],
        index=None,
        accept_new_options=True,
        placeholder="Type a name; Enter goes there",
        format_func=shortened,
        key="palette",
    )
    component("focus", "focus", "hidden")(key="focus of the palette")
    if chosen is None:
        return
    if chosen == "Keep a copy":
        if copy_field(current, "palette"):
            _then_redraw(ui.close_dialog)
        return
    ui.close_dialog()
    if chosen in places:
        places[chosen]()
        return
    types = study.tokeniser.search(chosen)
    if types and names[types[0]].strip("␣") == chosen.strip("␣"):
        open_in_graph(current, types[0])
    elif chosen.split():
        open_in_merge_tree(current, chosen.split()[0])
    else:
        st.caption(f"Nothing is called {ui.code(shortened(chosen))}.")


def _then_redraw(action: Callable[[], object]) -> None:
    action()
    st.rerun()
