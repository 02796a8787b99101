"""Extend: training goes on with words, or another tokeniser's types come; ids stay as they are."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from morphgraph.core.limits import PUBLIC_TYPES, PUBLIC_WORDS, is_public
from morphgraph.core.text import counted
from morphgraph.graph.merge_table import Change
from morphgraph.refine.extending import preview_append, preview_extend
from web import widgets as ui
from web.repair.ahead import Offer, ahead_of, ask_and_do, offer
from web.state import Session
from web.views.words_from import WORDS_FROM, words_from

_ASKED = "extension looked at"
_SOURCES = {**WORDS_FROM, "tokeniser": "another tokeniser's types"}


class _Source(NamedTuple):
    """What new types come from; ``preview`` finds them and, of counts, says what they shorten."""

    name: str
    preview: Callable[[], tuple[Change, list[str]]]


def show_extend(current: Session) -> None:
    """Choose where types come from, look at what they would do, and add them."""
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = _source(current)
    question = "Which words should become shorter?"
    asked = source is not None and st.session_state.get(_ASKED) == (source.name, current.state())
    if source is None or not asked:
        with top:
            look = None
            if source is not None:
                known = (source.name, current.state())
                look = partial(st.session_state.__setitem__, _ASKED, known)
            ask_and_do(question, "Look for them", "search", look)
            st.markdown(
                "New types come after all that there are, so these keep their ids. What they would "
                "do stands here before they are added."
            )
        return

    def made() -> Offer:
        with st.spinner("Looking for new types…"):
            change, notes = source.preview()
            number = len(change.added_types)
            comes = f"{counted(number, 'type comes', 'types come')}."
            return Offer("Add", number, comes, notes, [change.step], ahead_of(current, change))

    with ui.attempt():
        offer(current, question, "add", current.once(("extension", source.name), made), top)


def _source(current: Session) -> _Source | None:
    options: dict[str, Any] = {"format_func": _SOURCES.__getitem__, "width": 240}
    kind = ui.choice(st.selectbox, "From", _SOURCES, key="extend_from", **options)
    if kind == "tokeniser":
        return _other(current)
    words_of = words_from(kind, "extend")
    most = PUBLIC_TYPES.value if is_public() else 500_000
    options = {"step": 100, "key": "extend_add", "first": 1000, "width": 160}
    add = int(ui.setting(st.number_input, "New types", 1, most, **options))
    if words_of is None:
        return None
    source, study = words_of, current.study

    def preview() -> tuple[Change, list[str]]:
        words: Any = source.read()
        if is_public():
            PUBLIC_WORDS.check(len(words), "The text", fix="Leave out rare words")
        change = preview_extend(study.tokeniser, words, add)
        tokens = f"{study.tokens_per_word(words):.3f} → {study.tokens_per_word(words, change):.3f}"
        return change, [f"{tokens} tokens per word of what they are from"]

    return _Source(f"{source.name} {source.number} {add}", preview)


def _other(current: Session) -> _Source | None:
    """Choose one of the tokenisers that were trained or opened beside the open one."""
    models = {name: model for name, model in current.models.items() if model.editable is not None}
    if not models:
        st.markdown("Train one under Build, or open one under Compare: then it can be chosen here.")
        return None
    name = ui.choice(st.selectbox, "Tokeniser", models, key="extend_other", width=360)
    other = models[name].editable
    assert other is not None
    return _Source(name, lambda: (preview_append(current.study.tokeniser, other), []))
