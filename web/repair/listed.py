"""A list of types: what their knockout costs, and all of them out in one edit."""

import streamlit as st

from morphgraph.core.glossary import glossed
from morphgraph.core.text import counted
from morphgraph.refine.knockout import listed_types
from web import widgets as ui
from web.aside import scored_words
from web.inputs import content_of
from web.repair.ahead import Offer, ahead_of, ask_and_do, offer
from web.state import Session

_FIELD = "types to knock out"


def show_list(current: Session) -> None:
    """Take a list of types, show what their knockout costs, and knock them out."""
    study, part = current.study, scored_words(current).part
    top = st.container()
    left, right = st.columns([2, 3], gap="medium")
    with left:
        tip = "As they are spelled or shown, or by id."
        text = st.text_area(
            "Types, one per line", key=_FIELD, placeholder="␣und\nable\n#300", height=190, help=tip
        )
        file = st.file_uploader("Or a file of them", type=["txt"], key="file of types")
        tip = glossed("cascade")
        cascade = st.toggle("Also what is made from them", key="listed cascade", help=tip)
        tip = glossed("portable")
        portable = st.toggle("Leave only pair merges", key="listed portable", help=tip)
    data, name = text.encode(), "The list"
    if file is not None and not text.strip():
        data, name = content_of(file), file.name
    question = "Which types should go?"
    if not data.strip():
        with top:
            ask_and_do(question, "Knock them out", "content_cut", None)
            st.markdown("Write them below. You see here what that would change before you do it.")
        return

    def made() -> Offer:
        types = listed_types(data, name, study.tokeniser)
        preview = study.preview(types, cascade=cascade, portable=portable, part=part)
        goes = counted(len(types), "type goes", "types go")
        if preview.also:
            goes += f" and {counted(len(preview.also), 'other')} with them"
        changes = [each for each in (preview.change, preview.portable) if each is not None]
        named, ahead = len(preview.steps[0]["types"]), ahead_of(current, *changes)
        return Offer("Knock out", named, f"{goes}.", preview.cost()[:2], preview.steps, ahead)

    with ui.attempt(), right:
        outcome = current.once(("listed", data, cascade, portable), made)
        offer(current, question, "content_cut", outcome, top, _FIELD)
