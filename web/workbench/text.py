"""The text above the picture, as chips: a click on a token chooses its type and its word."""

from itertools import chain

import streamlit as st

from morphgraph.draw.word_lines import TokenChip, lines_of, without_marks
from web.components import word_text
from web.edits import look_at, word_key
from web.state import Session
from web.widgets import set_value, value_now
from web.workbench.place import TextLines, another_text, show_text


def text_strip(current: Session, text: str, lines: TextLines) -> None:
    """Show the text, its figures, and the way to another one."""
    words = [word.word for word in chain.from_iterable(lines)]
    now = value_now(word_key(current), "")
    shown = next((word for word in words if word == now or without_marks(word) == now), None)

    def choose(word: str, number: int | None) -> None:
        set_value(word_key(current), without_marks(word))
        if number is None:  # of its tokens the one to blame, if any is, or the longest
            found = [line.tokens for line in chain.from_iterable(lines_of(current.study, word)[0])]
            tokens = sorted(chain.from_iterable(found), key=_weight)
            number = tokens[-1].type if tokens else None
        if number is not None and number < len(current.study.graph.types):
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


def _weight(token: TokenChip) -> tuple[bool, int]:
    return token.is_culprit, len("".join(token.segments))
