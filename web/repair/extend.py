"""Extend: training goes on with words; ids stay as they are."""

from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.limits import PUBLIC_TYPES, PUBLIC_WORDS, is_public
from morphgraph.core.text import counted
from morphgraph.refine.extending import preview_extend
from web import widgets as ui
from web.repair.ahead import Offer, ahead_of, ask_and_do, offer
from web.state import Session
from web.views.words_from import words_from

_ASKED = "extension looked at"


def show_extend(current: Session) -> None:
    """Choose where types come from, look at what they would do, and add them."""
    study, top = current.study, st.container()
    most = PUBLIC_TYPES.value if is_public() else 500_000
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words_of = words_from("extend")
        options: dict[str, Any] = {"step": 100, "key": "extend_add", "first": 1000, "width": 160}
        add = int(ui.setting(st.number_input, "New types", 1, most, **options))
    question = "Which words should become shorter?"
    known = words_of and (words_of.name, words_of.number, add, current.state())
    if words_of is None or st.session_state.get(_ASKED) != known:
        with top:
            look = partial(st.session_state.__setitem__, _ASKED, known) if known else None
            ask_and_do(question, "Look for them", "search", look)
            st.markdown(
                "New types come after the existing ones, which keep their ids. You see here what "
                "they would change before you add them."
            )
        return

    def made() -> Offer:
        with st.spinner("Looking for new types…"):
            words: Any = words_of.read()
            if is_public():
                PUBLIC_WORDS.check(len(words), "The text", fix="Leave out rare words")
            change = preview_extend(study.tokeniser, words, add)
            tokens = (study.tokens_per_word(words), study.tokens_per_word(words, change))
            note = (
                f"{tokens[0]:.3f} → {tokens[1]:.3f} tokens per word of the text that they are from"
            )
            number = len(change.added_types)
            comes = f"{counted(number, 'type comes', 'types come')}."
            return Offer("Add", number, comes, [note], [change.step], ahead_of(current, change))

    with ui.attempt():
        offer(current, question, "add", current.once(("extension", known), made), top)
