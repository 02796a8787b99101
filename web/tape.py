"""The tape: F1 over all edits at the foot of a page, a point each, to travel along."""

import math
import operator as op

import streamlit as st

from morphgraph.core.text import in_percent, shortened, signed
from morphgraph.graph.merge_table import Change
from web.aside import scored_words
from web.components import component, in_chart, telling
from web.copies import keep_branch
from web.edits import go_to_edit
from web.state import Session

_KNOWN = "edits on the tape"
_DID = {
    "knockout": "knocked out",
    "cascade": "removed",
    "anneal": "annealed",
    "reify": "reified",
    "repair": "repaired",
    "portable": "left only pairs",
    "renumber": "gave other ids",
}
_KINDS = {"cascade": "knockout", "renumber": "portable"}
"""The shapes and colours of edits that have none of their own."""


def tape(current: Session, *, learning: bool = False) -> None:
    """Show F1 over all edits, by hand and learned; what a new edit would end is kept as a copy.

    ``learning``: the page learns, so that F1 is on the words kept aside already.
    """
    study, graph = current.study, current.study.graph
    changes, done = (*graph.history, *reversed(graph.undone)), len(graph.history)
    # All points on the same words, also while what was learned is undone.
    learning |= any("learned" in change.step for change in changes)
    words = scored_words(current, learning=learning and study.has_blame)
    said_of_copy = _keep_what_ended(current, changes)
    f1 = study.f1_after_edits(words.part)
    learned = [math.nan] * len(f1)
    if words.part is not None:
        learned = study.f1_after_edits(words.part.other)
    points = []
    for number, (now, seen) in enumerate(zip(f1, learned, strict=True)):
        change = changes[number - 1] if number else None
        label = edit_label(current, change) if change else "start"
        told = edit_said(current, change) if change else label
        told += "" if now != now else f" · F1 {in_percent(now)}"
        if change and now == now and f1[number - 1] == f1[number - 1]:
            told += f" ({signed(100 * (now - f1[number - 1]))})"
        scores = {"f1": in_chart(now), "learned": in_chart(seen)}
        kind = _KINDS.get(change.edit, change.edit) if change else "start"
        points.append({"label": label, "kind": kind, "said": told, **scores})
    title = f"F1 over your edits{f', on {words.said}' if words.said else ''}"
    data = {
        "title": " · ".join(filter(None, [title, said_of_copy])),
        "note": "Each edit is a point on this line. Drag to go back and forth; nothing is lost.",
        "points": points,
        "done": done,
    }
    with st.container(key="tape"):
        component("tape", "tape", "shared", "elements", "phases")(
            key="tape line",
            data=data,
            on_chosen_change=telling(
                "tape line", "chosen", int | float, lambda n: go_to_edit(current, int(n))
            ),
        )


def edit_label(current: Session, change: Change) -> str:
    """Name an edit in a few letters: the types that it took, or how many, or what it did."""
    types = [str(one) for one in change.step.get("types", ())]
    if len(types) == 1:
        return shortened(current.study.tokeniser.readable(types[0]), 30)
    return f"{len(types):,} types" if types else _DID.get(change.edit, change.edit)


def edit_said(current: Session, change: Change) -> str:
    """Say what an edit did, and to which types."""
    label = edit_label(current, change)
    return f"{_DID.get(change.edit, change.edit)} {label}" if change.step.get("types") else label


def _keep_what_ended(current: Session, changes: tuple[Change, ...]) -> str:
    """Keep undone edits that went with an edit made in their place as a named copy; say so."""
    number, before, was_done, note = st.session_state.get(_KNOWN, (0, (), 0, ""))
    done = len(current.study.graph.history)
    is_as_before = number == current.study_number and done == was_done
    if is_as_before and len(before) == len(changes) and all(map(op.is_, before, changes)):
        return str(note)
    note = ""
    if number == current.study_number and was_done < len(before):
        pairs = zip(before, changes, strict=False)
        parted = (n for n, (a, b) in enumerate(pairs) if a is not b and a.step != b.step)
        if next(parted, len(changes)) < len(before):
            note = keep_branch(current, before, edit_label(current, before[-1]))
    st.session_state[_KNOWN] = current.study_number, changes, done, note
    return note
