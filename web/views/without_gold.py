"""What is shown where no reference is open: the ways to go on."""

from typing import Any

import streamlit as st

from web.inputs import language_without_gold
from web.jobs import Waiting, silver_in_turn, until_done
from web.opening import open_reference
from web.sources import Source, demo_name, reference_of, wordfreq_languages
from web.state import Session
from web.widgets import attempt, button, setting

_ASKED = "silver asked for"
SILVER_WORDS = 10_000


def needs_gold(current: Session, what: str) -> None:
    """Say what needs gold, with the ways to go on."""
    with st.container(border=True, key="needs-gold"):
        st.markdown(
            f":material/lock: **{what} a reference**: words with their morphs (*gold*). Choose "
            "a public gold of your language or a file of your own, or make a silver one from word "
            "counts. Without one, an edit shows what changes, not what gets better."
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            options: dict[str, Any] = {"on_change": "rerun", "icon": ":material/public:"}
            with st.popover("Choose a gold list", key="choose gold", **options) as opening:
                if opening.open:
                    open_reference(current, "needed")
            _offer_silver(current)


def _offer_silver(current: Session) -> None:
    """Offer to make a reference by Morfessor, and open it once it is made."""

    def ask() -> None:
        st.session_state[_ASKED] = st.session_state[field]

    field = f"language of silver {current.study_number}"
    with st.popover("Make a silver one", icon=":material/auto_fix_high:", width="content"):
        st.write(
            "Morfessor learns from word counts where morphs end. It makes mistakes, so use "
            "scores on silver for a first look only. They are marked as silver everywhere."
        )
        options: dict[str, Any] = {"first": language_without_gold(current), "key": field}
        options["format_func"] = demo_name
        setting(st.selectbox, "Language of silver", wordfreq_languages(), **options)
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
