"""What a page shows where no reference is open: three ways to go on."""

from typing import Any

import streamlit as st

from web.inputs import language_of_types
from web.jobs import Waiting, silver_in_turn, until_done
from web.sources import COMMON_WORDS, Source, demo_name, reference_of, wordfreq_languages
from web.state import Session
from web.widgets import attempt, button, setting

_ASKED = "silver asked for"
SILVER_WORDS = 10_000


def needs_gold(current: Session, what: str) -> bool:
    """Say that a page needs gold, with the ways to go on, if there is none."""
    if current.study.benchmark.reference.has_gold:
        return False
    with st.container(border=True, key="needs-gold"):
        st.markdown(
            f":material/lock: **{what} a reference**: words with their morphs (*gold*). Take a "
            "public gold of your language, make a silver one from word counts, or go on without."
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.page_link("app.py", label="Choose a gold list, or none", icon=":material/public:")
            offer_silver(current)
    return True


def offer_silver(current: Session) -> None:
    """Offer to make a reference by Morfessor, and open it once it is made."""
    languages = wordfreq_languages()

    def ask() -> None:
        st.session_state[_ASKED] = st.session_state[field]

    field = f"language of silver {current.study_number}"
    with st.popover("Make a silver one", icon=":material/auto_fix_high:", width="content"):
        st.write(
            "Morfessor learns from word counts where words divide. It is not always right, so "
            "scores on it are for a first look; they are called silver everywhere."
        )
        options: dict[str, Any] = {"first": _language(current), "format_func": demo_name}
        setting(st.selectbox, "Language of silver", languages, key=field, **options)
        button("Make it", "auto_fix_high", ask, key="make silver", primary=True)
        st.caption(
            f"Of its {SILVER_WORDS:,} commonest words, in about half a minute. For other counts: "
            "`morphgraph reference silver`."
        )
    language = st.session_state.get(_ASKED)
    if language is None:
        return
    with st.container(key="silver is made"):
        waiting = Waiting(st.empty(), lambda _: st.session_state.pop(_ASKED, None))
    visitor = current.store.folder.name
    with attempt():
        with until_done(_ASKED):
            data = waiting.do(
                ("silver", language),
                "Five runs of Morfessor",
                lambda tell: silver_in_turn(visitor, language, SILVER_WORDS, tell),
            )
        source = Source(f"{demo_name(language)}.tsv", ((f"{demo_name(language)}.tsv", data),))
        current.open_reference(reference_of(source), source)
        st.rerun()


def without_gold(current: Session) -> None:
    """Choose the language whose commonest words show what edits change, and go on without gold."""
    languages = wordfreq_languages()
    st.caption(
        f"No blame and no F1: the {COMMON_WORDS:,} commonest words of a language show what an edit "
        "changes. Edits stay, and gold can come later."
    )
    language = setting(
        st.selectbox,
        "Language of the words",
        languages,
        key=f"words without gold {current.study_number}",
        first=_language(current),
        format_func=demo_name,
    )

    def go() -> None:
        current.go_without_gold(language)

    button("Go on without gold", "arrow_forward", go, key="go on without gold")


def _language(current: Session) -> str:
    opened = current.sources.get("reference")
    return (opened and opened.list_of("words")) or language_of_types(current) or "en"
