"""What clicks and buttons do to a session: edits, and where to look."""

import streamlit as st

from morphgraph.core.errors import MorphGraphError
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.type_atoms import TypeAtoms
from morphgraph.refine.knockout import KnockoutSettings
from morphgraph.refine.reify import preview_reification
from web.components import Click
from web.session import Session
from web.text import plain
from web.widgets import deferred_error

_MESSAGE = "edit message"


def knock_out_type(current: Session, number: int, *, cascade: bool = False) -> None:
    """Remove a type; what cannot be removed becomes a message."""
    graph = current.study.graph
    if graph.is_present(number):
        with deferred_error(_MESSAGE):
            (graph.cascade if cascade else graph.knockout)([graph.types[number]])


def knock_out_all(current: Session, types: list[str]) -> None:
    """Remove types that are to blame, those that are gone already left aside."""
    graph = current.study.graph
    current.note_learning(KnockoutSettings())
    with deferred_error(_MESSAGE):
        graph.knockout([text for text in types if text in graph])


def knock_out_and_reify(current: Session, types: list[str]) -> None:
    """Remove types, then repair and reify the tuple merges that this made."""
    graph = current.study.graph
    with deferred_error(_MESSAGE):
        removed = graph.knockout(types)
        blacklist = {merge.parts for merge in removed.removed_merges.values()}
        atoms = TypeAtoms(current.study.tokeniser.suffix)
        rewired = {entry.merge for entry in removed.rewired}
        graph.apply(preview_reification(graph, blacklist, atoms=atoms, among=rewired))


def go_to_edit(current: Session, edits: int) -> None:
    """Undo or redo until so many edits are made."""
    graph = current.study.graph
    while len(graph.history) > edits:
        current.undo()
    while len(graph.history) < edits and graph.undone:
        current.redo()


def show_message() -> None:
    """Show, once, why the last edit could not be made."""
    message = st.session_state.pop(_MESSAGE, None)
    if message:
        st.warning(plain(message), icon=":material/info:")


def bring_back(current: Session, number: int) -> None:
    """Make all edits again without the knockout of one type; what depends on it is a message."""
    graph = current.study.graph
    history = graph.history
    place = next((i for i, c in enumerate(history) if number in c.removed_types), None)
    if place is None:
        return
    if place == len(history) - 1 and len(history[place].removed_types) == 1:
        current.undo()
        return
    first, *later = steps = graph.recipe()[place:]
    types = list(first.get("types", ()))
    text = graph.types[number]
    if text not in types:
        st.session_state[_MESSAGE] = f"“{text}” went with another type. Undo that edit instead."
        return
    types.remove(text)
    without = [{**first, "types": types}, *later] if types else later
    with deferred_error(_MESSAGE):
        for _ in steps:
            graph.undo()
        try:
            graph.replay(without)
        except MorphGraphError:
            graph.replay(steps)
            raise


def look_at(current: Session, number: int) -> None:
    """Put a type in the middle of the picture and into the panel."""
    current.focus = current.selected = number
    current.first_row = 0


def handle_clicks(
    current: Session, clicks: list[Click], knocks_out: bool, *, cascade: bool = False
) -> None:
    """Do what clicks ask for, in their order: select, knock out, or look around a type."""
    graph = current.study.graph
    for click in clicks:
        number = _clicked_type(graph, click.key)
        if number is None:
            continue
        if click.kind == "double":
            if not knocks_out:
                look_at(current, number)
            continue
        current.selected = number
        if knocks_out:
            knock_out_type(current, number, cascade=cascade)


def _clicked_type(graph: MergeGraph, key: str) -> int | None:
    """The type of a vertex, or that its merge makes; None if the graph has no such vertex.

    A click can come late, when its merge is gone or another tokeniser is open.
    """
    if not key[1:].isdecimal():
        return None
    number = int(key[1:])
    if key.startswith("t"):
        return number if number < len(graph.types) else None
    if not key.startswith("m"):
        return None
    if number < graph.merge_id_limit and graph.has_merge(number):
        return graph.merge(number).result
    removed = (c.removed_merges[number] for c in graph.history if number in c.removed_merges)
    return next((merge.result for merge in removed), None)
