"""What clicks and buttons do to a session: edits, and changes of what is shown."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.cache import State
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, from_to
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.refine import KnockoutSettings
from morphgraph.refine.knockout import knock_out
from morphgraph.refine.rebpe import preview_reification
from web.aside import Scored, scored_words, sides
from web.components import Click, component
from web.state import Session
from web.widgets import deferred_error, plain, set_value

CANVAS = "picture of the workbench"
"""The key of the choice of a picture: Word, Type or All types."""
_MESSAGE, _HEARD = "edit message", "edits heard of"


def knock_out_type(current: Session, number: int, *, cascade: bool = False) -> None:
    """Knock out a type; one that cannot be removed leads to a message."""
    graph = current.study.graph
    if graph.is_present(number):
        with deferred_error(_MESSAGE):
            (graph.cascade if cascade else graph.knockout)([graph.types[number]])


def knock_out_all(current: Session, settings: KnockoutSettings) -> None:
    """Knock out all types to blame by the words that are not kept aside."""
    with deferred_error(_MESSAGE):
        knock_out(current.study.tokeniser, sides(current)[0], settings)


def knock_out_and_reify(current: Session, types: list[str], field: str) -> None:
    """Knock out types, then repair and reify the tuple merges that result; empty the ``field``."""
    graph = current.study.graph
    with deferred_error(_MESSAGE):
        removed = graph.knockout(types)
        blacklist = {merge.parts for merge in removed.removed_merges.values()}
        rewired = {entry.merge for entry in removed.rewired}
        graph.apply(preview_reification(graph, blacklist, among=rewired))
        st.session_state[field] = []


def make(current: Session, steps: Sequence[Mapping[str, Any]], field: str = "") -> None:
    """Make edits that were previewed, given as a recipe, and empty the ``field`` they are from."""
    with deferred_error(_MESSAGE):
        current.study.graph.replay(steps)
        if field:
            st.session_state[field] = ""


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
    types, text = list(first.get("types", ())), graph.types[number]
    if text not in types:
        st.session_state[_MESSAGE] = f"“{text}” went with another type. Undo that edit instead."
        return
    types.remove(text)
    with deferred_error(_MESSAGE):
        for _ in steps:
            graph.undo()
        try:
            graph.replay([{**first, "types": types}, *later] if types else later)
        except MorphGraphError:
            graph.replay(steps)
            raise


def go_to_edit(current: Session, edits: int) -> None:
    """Undo or redo until this number of edits is in effect."""
    graph = current.study.graph
    while len(graph.history) > edits:
        current.undo()
    while len(graph.history) < edits and graph.undone:
        current.redo()


def several_words_note(current: Session) -> None:
    """Tell of types that span several words, which scores leave out."""
    if note := current.study.tokeniser.several_words_note:
        st.info(plain(note), icon=":material/join_inner:")


class _Announced(NamedTuple):
    """The edits already announced, and how."""

    study: int
    state: State
    edits: int
    words: Scored
    f1: float
    said: str = ""


def show_message(current: Session) -> None:
    """Show once why the last edit failed, and announce edits to screen readers."""
    announced = {"said": _change_message(current)}
    component("speaking", "speaking", "hidden")(key="what edits changed", data=announced)
    message = st.session_state.pop(_MESSAGE, None)
    if message:
        st.warning(plain(message), icon=":material/info:")


def outcome(current: Session) -> tuple[float, str]:
    """Return the last edit's gain in F1, NaN without gold, and a line that describes it."""
    study = current.study

    def make() -> tuple[float, str]:
        done, on = len(study.graph.history), scored_words(current)
        before, after = (study.score(on.part, edits=n).f1 for n in (max(0, done - 1), done))
        if not study.benchmark.reference.has_gold:
            changed = study.now.segmentation.changed_words(study.before_last.segmentation)
            some, more = "common word changes", "common words change"
            return math.nan, counted(len(changed), some, more)
        better, worse, same = study.better_worse_same(study.before_last, on.part)
        words = f"{better:,} better, {worse:,} worse"
        if same:
            words += f", {same:,} with the same score"
        words += f" of the {on.said}" if on.part else ""
        return after - before, f"F1 {from_to(before, after)} · {words}"

    return current.once(("outcome",), make)


def _change_message(current: Session) -> str:
    study, number = current.study, current.study_number
    edits, words = len(study.graph.history), scored_words(current)
    f1 = study.score(words.part).f1
    before: _Announced | None = st.session_state.get(_HEARD)
    message = ""
    if before is not None and before.study == number:
        if before.state == study.graph.state:
            return before.said
        more, did, first = edits - before.edits, "", before.f1
        if words != before.words:  # the first edit that was learned, or its undoing
            first = study.score(words.part, edits=before.edits).f1 if more > 0 else math.nan
        if f1 == f1 and first == first:
            did = f": F1 {from_to(first, f1)}"
        if more == 1:
            did = f": {outcome(current)[1]}"
        what = "made" if more > 0 else "undone"
        message = f"{counted(abs(more), 'edit')} {what}, {edits:,} in all{did}"
    st.session_state[_HEARD] = _Announced(number, study.graph.state, edits, words, f1, message)
    return message


def look_at(current: Session, number: int) -> None:
    """Focus the picture and the panel on a type."""
    current.focus = current.selected = number


def open_in_graph(current: Session, number: int) -> None:
    """Open a type in the picture of the Workbench; not in a callback."""
    look_at(current, number)
    set_value(CANVAS, "Type")
    st.switch_page("app.py")


def word_key(current: Session) -> str:
    """Return the key of the word that is chosen on the Workbench."""
    return f"word {current.study_number}"


def open_in_merge_tree(current: Session, word: str) -> None:
    """Open a word in the picture of the Workbench; not in a callback."""
    set_value(word_key(current), word)
    set_value(CANVAS, "Word")
    st.switch_page("app.py")


def handle_clicks(current: Session, clicks: list[Click]) -> None:
    """Perform clicks in order: choose a type, or put it into the middle."""
    for click in clicks:
        number = _clicked_type(current.study.graph, click.key)
        if number is not None and click.kind == "double":
            look_at(current, number)
        elif number is not None:
            current.selected = number


def _clicked_type(graph: MergeGraph, key: str) -> int | None:
    """Return the type of a vertex, or of its merge's result; a late click may have none."""
    if not key[1:].isdecimal() or key[0] not in "tm":
        return None
    number = int(key[1:])
    if key[0] == "t":
        return number if number < len(graph.types) else None
    if graph.has_merge(number):
        return graph.merge(number).result
    removed = (c.removed_merges[number] for c in graph.history if number in c.removed_merges)
    return next((merge.result for merge in removed), None)
