"""The text above the picture, as chips: a click on a token chooses its type and its word."""

from itertools import chain

import streamlit as st

from morphgraph.draw.word_lines import lines_of, without_marks
from web.components import word_text
from web.edits import look_at, word_key
from web.state import Session
from web.widgets import set_value, value_now
from web.workbench.place import TextLines, another_text, show_text, type_to_look_at


def text_strip(current: Session, text: str, lines: TextLines) -> None:
    """Show the text, its figures, and the way to another one."""
    words = [word.word for word in chain.from_iterable(lines)]
    now = value_now(word_key(current), "")
    shown = next((word for word in words if word == now or without_marks(word) == now), None)

    def choose(word: str, number: int | None) -> None:
        set_value(word_key(current), without_marks(word))
        if number is None:
            lines, worst = lines_of(current.study, word)
            number = type_to_look_at(current, list(chain.from_iterable(lines)), worst)
        if number < len(current.study.graph.types):
            look_at(current, number)

    with st.container(key="text-strip"):
        word_text(
            current.study.tokeniser,
            text,
            lines,
            key=f"editor {current.study_number}",
            chosen=None if shown is None else (shown, current.selected),
            on_text=lambda typed: show_text(current, typed),
            on_choose=choose,
            on_another=lambda: show_text(current, another_text(current)),
        )
