"""What clicks and buttons do to a session: edits, and where to look."""

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.graph.type_atoms import TypeAtoms
from morphgraph.refine.reify import preview_reification
from web.session import Session
from web.text import plain

_MESSAGE = "edit message"


def knock_out(current: Session, number: int, *, cascade: bool = False) -> None:
    """Remove a type; what cannot be removed becomes a message."""
    graph = current.study.graph
    if graph.is_present(number):
        _edit(current, [graph.types[number]], cascade)


def knock_out_all(current: Session, types: list[str]) -> None:
    """Remove types, those that are gone already left aside."""
    graph = current.study.graph
    _edit(current, [text for text in types if text in graph], cascade=False)


def knock_out_and_reify(current: Session, types: list[str]) -> None:
    """Remove types, then repair and reify the tuple merges that this made."""
    graph = current.study.graph
    try:
        removed = graph.knockout(types)
        blacklist = {merge.parts for merge in removed.removed_merges.values()}
        atoms = TypeAtoms(current.study.tokeniser.suffix)
        rewired = {entry.merge for entry in removed.rewired}
        graph.apply(preview_reification(graph, blacklist, atoms=atoms, among=rewired))
    except MorphGraphError as error:
        st.session_state[_MESSAGE] = plain(str(error))


def _edit(current: Session, types: list[str], cascade: bool) -> None:
    graph = current.study.graph
    edit = graph.cascade if cascade else graph.knockout
    try:
        edit(types)
    except MorphGraphError as error:
        st.session_state[_MESSAGE] = plain(str(error))


def show_message() -> None:
    """Show, once, why the last edit could not be made."""
    message = st.session_state.pop(_MESSAGE, None)
    if message:
        st.warning(message, icon=":material/info:")


def look_at(current: Session, number: int) -> None:
    """Put a type in the middle of the picture and into the panel."""
    current.focus = current.selected = number
    current.positions, current.shown_merges = {}, frozenset()
