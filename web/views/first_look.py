"""The first look: a word, its segmentation, the merge to blame, and one click that removes it."""

from __future__ import annotations

import streamlit as st

from morphgraph.core.text import counted, in_percent, shortened
from morphgraph.draw.fan import fan_around
from morphgraph.draw.word_lines import Culprit, illustrative_word, lines_of
from morphgraph.graph.view import type_key
from web.components import word_editor
from web.components.fan import fan_graph
from web.edits import knock_out_type, look_at, show_message
from web.state import Session
from web.text import code, gain_colour, plain
from web.widgets import attempt, set_value, value_now

_EXAMPLES = 3


def first_look(current: Session) -> None:
    """Show a text to edit as chips, with its worst merge and the effect of its knockout."""
    study = current.study
    key = f"first look {current.study_number}"
    if value_now(key, None) is None:
        set_value(key, illustrative_word(study, 0))
    text = value_now(key, "")
    asked = current.address.follow("text", text, step=False)
    if asked != text:
        text = asked
        set_value(key, text)
        st.session_state[f"{key} version"] = st.session_state.get(f"{key} version", 0) + 1
    with attempt():
        lines, culprit = lines_of(study, text)
        left, right = st.columns([4, 5], gap="large")
        with left:
            word_editor(
                text,
                lines,
                key=f"editor {current.study_number}",
                version=st.session_state.get(f"{key} version", 0),
                on_text=lambda typed: set_value(key, typed),
            )
            _verdict(culprit, any(word.morphs for line in lines for word in line))
            _buttons(current, key, culprit)
            show_message(current)
        with right:
            _merges_behind(current, culprit)


def _verdict(culprit: Culprit | None, has_gold: bool) -> None:
    if culprit is None:
        st.markdown(
            "No token covers a gold boundary here."
            if has_gold
            else "The reference has no gold for this, so its boundaries are not known."
        )
        return
    joins = counted(int(culprit.joins), "join")
    wrong = f"In {culprit.wrong_joins:,.0f} of its {joins} in the reference it covers one"
    shown = ", ".join(code(shortened(word, 40)) for word in culprit.examples[:_EXAMPLES])
    merge = plain(shortened(culprit.description, 80))
    st.markdown(
        f":red[**{merge}**] is the merge to blame for a red line. "
        f"{wrong}{': ' + shown if shown else ''}{' …' if len(culprit.examples) > _EXAMPLES else ''}"
    )


def _buttons(current: Session, key: str, culprit: Culprit | None) -> None:
    def another() -> None:
        number = st.session_state.get(f"{key} version", 0) + 1
        st.session_state[f"{key} version"] = number
        set_value(key, illustrative_word(current.study, number))

    with st.container(horizontal=True, vertical_alignment="center"):
        if culprit is not None:
            st.button(
                f"Knock out “{plain(shortened(culprit.name, 30))}”",
                key="knock out the culprit",
                type="primary",
                icon=":material/content_cut:",
                on_click=knock_out_type,
                args=(current, culprit.type),
                help="Removes the merge. Undo, on top, brings it back.",
            )
        st.button("Another word", key="another word", on_click=another)
        if culprit is not None and culprit.gain == culprit.gain:
            score = f"F1 would be {in_percent(culprit.f1)} ({100 * culprit.gain:+.2f})"
            st.markdown(f":{gain_colour(culprit.gain)}[**{score}**]")


def _merges_behind(current: Session, culprit: Culprit | None) -> None:
    """Show the culprit's merge; after its knockout, the merges that its parts join."""
    study = current.study
    shown = f"first shown {current.study_number}"
    if culprit is None:
        number = st.session_state.get(shown)
        if number is None or study.graph.is_present(number):
            return
        st.caption("What its parts form now")
    else:
        st.caption("The merge behind it")
        number = st.session_state[shown] = culprit.type
    fan_graph(
        fan_around(study, number, rows=4, up=0 if culprit else 1),
        key="first look graph",
        view_key=f"first {current.study_number} {number}",
        selected=type_key(number),
        height="250px",
        least=0.5,
    )
    st.caption("Boxes are merges, ovals the types they make. Redder: more to blame.")
    if st.button("Open it in the merge graph", key="open culprit", type="tertiary"):
        look_at(current, number)
        st.switch_page("pages/1_Merge_graph.py")
