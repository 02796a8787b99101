"""Named copies of the open tokeniser: recipes to keep, switch to, compare and export."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import streamlit as st

from morphgraph.core.cache import State
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, visible
from morphgraph.graph.merge_table import Change
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from web import widgets as ui
from web.edits import go_to_edit
from web.state import Session, Steps, as_json

MOST_COPIES = 12
"""The limit of one tokeniser."""
BEFORE_SWITCHING = "before switching"
"""The name of edits that a switch would have lost."""
_BRANCH = "branch with "
"""How the names begin of edits that an edit made in their place would have lost."""
_LONGEST = 40
_FULL = f"At most {MOST_COPIES} copies are kept. Remove one first."


def copies_of(current: Session) -> dict[str, Steps]:
    """Return the edits of the kept copies of the open tokeniser by name."""
    return current.copies.setdefault(current.study.tokeniser.checksum, {})


def keep_copy(current: Session, name: str) -> None:
    """Keep the present state under a name; without one, the number of edits is its name."""
    name = visible(" ".join(name.split())) or _usual_name(current)
    name = _keep(current, name, as_json(current.study.graph.history))
    current.notice = f"Kept as “{name}”, in the drawer."


def keep_branch(current: Session, changes: Sequence[Change], last: str) -> str:
    """Keep edits that were undone when another was made; return what there is to say of it.

    ``last``: what the last of them is called. The oldest such copy goes if need be.
    """
    copies, steps = copies_of(current), as_json(changes)
    if any(copy[: len(steps)] == steps for copy in copies.values()):
        return ""
    oldest = next((name for name in copies if name.startswith(_BRANCH)), "")
    if len(copies) >= MOST_COPIES and oldest:
        del copies[oldest]
    try:
        name = _keep(current, f"{_BRANCH}{last}", steps)
    except MorphGraphError as error:
        return f"what you had undone is lost: {error}"
    return f"what you had undone is kept as the copy “{name}”"


def _keep(current: Session, name: str, steps: Steps) -> str:
    copies = copies_of(current)
    if len(copies) >= MOST_COPIES:
        raise MorphGraphError(_FULL)
    name = ui.unique_name(name[:_LONGEST], copies)
    copies[name] = steps
    return name


def _usual_name(current: Session) -> str:
    edits = len(current.study.graph.history)
    return counted(edits, "edit") if edits else "as opened"


def copied(current: Session, name: str) -> BpeTokeniser:
    """Return a kept copy as a tokeniser; the same object each time, not to be edited."""
    steps = copies_of(current)[name]

    def make() -> BpeTokeniser:
        tokeniser = current.study.tokeniser.fork()
        tokeniser.graph.replay(steps)
        return tokeniser

    return current.once(("copy", State.of(steps)), make, of_files=True)


def switch_to(current: Session, name: str) -> None:
    """Undo the edits that a kept copy lacks, and make its others.

    Edits that would be lost, for they are in no copy and cannot be redone, are kept as a copy.
    """
    tokeniser, copies = current.study.tokeniser, copies_of(current)
    graph, now, then = tokeniser.graph, as_json(tokeniser.graph.history), copies[name]
    same = (one == other for one, other in zip(now, then, strict=False))
    shared = sum(1 for _ in takewhile(bool, same))
    current.asked = ""
    try:
        if shared < len(then) and not any(c[: len(now)] == now for c in copies.values()):
            keep_copy(current, BEFORE_SWITCHING)
        go_to_edit(current, shared)
        if shared < len(then):
            graph.replay(then[shared:])
    except MorphGraphError as error:
        go_to_edit(current, len(now))
        current.notice = str(error)


def copy_field(current: Session, place: str) -> bool:
    """Show where the present state gets a name; return whether it has just been kept."""
    is_full = len(copies_of(current)) >= MOST_COPIES
    row: dict[str, Any] = {"horizontal": True, "vertical_alignment": "bottom"}
    with st.form(f"copy {place}", clear_on_submit=True, border=False), st.container(**row):
        tip = "A copy is a list of edits, kept for your next visit as they are."
        options: dict[str, Any] = {"placeholder": _usual_name(current), "max_chars": _LONGEST}
        name = st.text_input("Keep the present state as", width=260, help=tip, **options)
        options = {"icon": ":material/bookmark_add:", "help": _FULL if is_full else None}
        is_asked = st.form_submit_button("Keep a copy", disabled=is_full, **options)
        if is_asked:
            keep_copy(current, name)
        return is_asked


def copy_list(current: Session) -> None:
    """Show the kept copies, each with what it is and what can be done with it."""
    copies, now = copies_of(current), as_json(current.study.graph.history)
    for number, (name, steps) in enumerate(copies.items()):
        row: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "gap": "xsmall"}
        with st.container(key=f"copy-row-{number}", **row):
            with ui.attempt():
                told = _described(copied(current, name))
                st.markdown(f"**{ui.plain(name)}**  \n:small[{told}]", width="stretch")
            label, tertiary = "Open" if steps == now else "Switch", {"type": "tertiary"}
            with st.container(horizontal=True, width="content", gap="small"):
                options: dict[str, Any] = {"key": f"swap_horiz copy {number}", **tertiary}
                options["disabled"] = steps == now
                ui.button(label, "swap_horiz", switch_to, current, name, **options)
                options = {"key": f"delete copy {number}", **tertiary}
                ui.button("Remove", "delete", copies.pop, name, **options)


def _described(tokeniser: BpeTokeniser) -> str:
    types, edits = tokeniser.vocabulary_size, len(tokeniser.graph.history)
    return f"{counted(types, 'type')} · {counted(edits, 'edit')}"
