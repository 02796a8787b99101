"""The text above the picture, as chips: a click on a token chooses its type and its word."""

from collections.abc import Sequence
from itertools import chain

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.draw.word_lines import WordLine, without_marks
from web.components import word_editor
from web.edits import look_at, word_key
from web.state import Session
from web.widgets import button, set_value
from web.workbench.place import Lines, another_text, show_text


def text_strip(current: Session, text: str, lines: Lines) -> None:
    """Show the text, its figures, and the way to another one."""
    words = list(chain.from_iterable(lines))
    version = f"version of text {current.study_number}"

    def choose(number: int) -> None:
        if number >= len(current.study.graph.types):
            return
        look_at(current, number)
        at = [word for word in words if any(token.type == number for token in word.tokens)]
        if at:
            set_value(word_key(current), without_marks(at[0].word))

    def another() -> None:
        st.session_state[version] = st.session_state.get(version, 0) + 1
        show_text(current, another_text(current))

    with st.container(key="text-strip"):
        word_editor(
            text,
            lines,
            key=f"editor {current.study_number}",
            version=st.session_state.get(version, 0),
            chosen=current.selected,
            on_text=lambda typed: show_text(current, typed),
            on_choose=choose,
        )
        with st.container(horizontal=True, vertical_alignment="center", key="text-figures"):
            st.space("stretch")
            st.caption(_figures(words), width="content")
            button("another text", "shuffle", another, type="tertiary", key="another text")


def _figures(words: Sequence[WordLine]) -> str:
    tokens = [token for word in words for token in word.tokens]
    figures = [
        counted(sum(len(word.word.split()) for word in words), "word"),
        counted(len(tokens), "token"),
    ]
    if any(word.morphs for word in words):
        covered = sum(len(token.segments) - 1 for token in tokens)
        figures.append(counted(covered, "boundary covered", "boundaries covered"))
    return " · ".join(figures)
