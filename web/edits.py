"""What clicks and buttons do to a session: edits, and changes of what is shown."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import streamlit as st

from morphgraph.core.cache import State
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, from_to, shortened
from morphgraph.graph.arrays import TypeAtoms
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine.knockout import KnockoutSettings
from morphgraph.refine.rebpe import preview_reification
from morphgraph.tokeniser.merging import never_formed
from web.components import Click, hidden_component
from web.state import Session
from web.text import plain
from web.widgets import button, deferred_error

_MESSAGE, _HEARD = "edit message", "edits heard of"


def knock_out_type(current: Session, number: int, *, cascade: bool = False) -> None:
    """Knock out a type; one that cannot be removed leads to a message."""
    graph = current.study.graph
    if graph.is_present(number):
        with deferred_error(_MESSAGE):
            (graph.cascade if cascade else graph.knockout)([graph.types[number]])


def knock_out_all(current: Session, types: list[str]) -> None:
    """Knock out several types, skipping those that are already gone."""
    graph = current.study.graph
    current.note_learning(KnockoutSettings())
    with deferred_error(_MESSAGE):
        graph.knockout([text for text in types if text in graph])


def knock_out_and_reify(current: Session, types: list[str]) -> None:
    """Knock out types, then repair and reify the tuple merges that result."""
    graph = current.study.graph
    with deferred_error(_MESSAGE):
        removed = graph.knockout(types)
        blacklist = {merge.parts for merge in removed.removed_merges.values()}
        atoms = TypeAtoms(current.study.tokeniser.suffix)
        rewired = {entry.merge for entry in removed.rewired}
        graph.apply(preview_reification(graph, blacklist, atoms=atoms, among=rewired))


def never_formed_note(current: Session, show_all: Callable[[], None] | None = None) -> None:
    """Report types that no merge can form after the edits, and offer to remove them.

    ``show_all`` lists them, if the page can.
    """
    study = current.study
    graph = study.graph
    found = current.once(
        ("never formed",),
        lambda: [n for n in never_formed(graph, len(graph.history)) if graph.is_removable(n)],
    )
    if not found:
        return
    first = ", ".join(plain(shortened(study.tokeniser.readable_types[n], 30)) for n in found[:10])
    more = ", …" if len(found) > 10 else "."
    types = counted(len(found), "type is", "types are")
    st.warning(
        f"{types} left that no merge forms any more: {first}{more}", icon=":material/link_off:"
    )
    with st.container(horizontal=True):
        button(
            "Remove it" if len(found) == 1 else "Remove them",
            "delete",
            _remove,
            current,
            [graph.types[n] for n in found],
            key="remove never formed",
            help="One more edit; it changes no segmentation.",
        )
        if show_all is not None:
            button("List them", "list", show_all, key="list never formed")


def _remove(current: Session, types: list[str]) -> None:
    with deferred_error(_MESSAGE):
        current.study.graph.cascade(types)


def go_to_edit(current: Session, edits: int) -> None:
    """Undo or redo until this number of edits is in effect."""
    graph = current.study.graph
    while len(graph.history) > edits:
        current.undo()
    while len(graph.history) < edits and graph.undone:
        current.redo()


def show_message(current: Session) -> None:
    """Show once why the last edit failed, and announce edits to screen readers."""
    _live_region()(key="what edits changed", data={"said": _change_message(current)})
    message = st.session_state.pop(_MESSAGE, None)
    if message:
        st.warning(plain(message), icon=":material/info:")


def outcome(current: Session) -> tuple[float, str]:
    """Return the last edit's gain in F1, and a line that describes it."""
    study = current.study

    def make() -> tuple[float, str]:
        before, after = (
            state.score("morphemic", "types").f1 for state in (study.before_last, study.now)
        )
        better, worse = study.better_and_worse(study.before_last)
        return after - before, f"F1 {from_to(before, after)} · {better:,} better, {worse:,} worse"

    return current.once(("outcome",), make)


@dataclass(frozen=True)
class _Announced:
    """The edits already announced, and how."""

    study: int
    state: State
    edits: int
    f1: float
    said: str = ""


def _change_message(current: Session) -> str:
    """Describe the edits made or undone since the last run; empty if another file was opened."""
    study = current.study
    edits, f1 = len(study.graph.history), study.now.score("morphemic", "types").f1
    before: _Announced | None = st.session_state.get(_HEARD)
    now = _Announced(current.study_number, study.graph.state, edits, f1)
    if before is not None and (before.study, before.state) == (now.study, now.state):
        return before.said
    if before is not None and before.study == now.study:
        what = "made" if edits > before.edits else "undone"
        did = outcome(current)[1] if edits == before.edits + 1 else f"F1 {from_to(before.f1, f1)}"
        number = counted(abs(edits - before.edits), "edit")
        now = replace(now, said=f"{number} {what}, {edits:,} in all: {did}")
    st.session_state[_HEARD] = now
    return now.said


@cache
def _live_region() -> Callable[..., Any]:
    """A live region, announced when its text changes but not when its page is opened."""
    script = """  let region = parentElement.querySelector("[role]");
  if (!region) {
    region = Object.assign(document.createElement("div"), { role: "status" });
    region.dataset.said = data.said;
    parentElement.append(region);
  } else if (region.dataset.said !== data.said) {
    region.dataset.said = region.textContent = data.said;
  }"""
    return hidden_component("speaking", "", script)


def bring_back(current: Session, number: int) -> None:
    """Repeat all edits except the knockout of one type; edits that depend on it give a message."""
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
    """Focus the picture and the panel on a type."""
    current.focus = current.selected = number
    current.first_row = 0


def handle_clicks(
    current: Session, clicks: list[Click], knocks_out: bool, *, cascade: bool = False
) -> None:
    """Perform clicks in order: select, knock out, or focus on a type."""
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
    """Return the type of a vertex or of its merge's result; None if the graph has no such vertex.

    A late click may refer to a merge that is gone, or to another tokeniser.
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
