"""What the Workbench asks where no reference is open: public gold, silver, or none."""

from typing import Any

import streamlit as st

from morphgraph.core.text import counted
from morphgraph.reference.catalogue import SOURCES
from morphgraph.reference.language import language_code
from web.inputs import language_of_types
from web.opening import open_reference
from web.sources import demo_name
from web.state import Session
from web.views.without_gold import offer_silver
from web.widgets import button


def what_to_compare_with(current: Session) -> None:
    """Offer a public gold, a silver one, or none, until one of them has been chosen."""
    answered = f"goes on without gold {current.study_number}"

    def answer(is_answered: bool) -> None:
        st.session_state[answered] = is_answered

    if st.session_state.get(answered):
        with st.container(horizontal=True, vertical_alignment="center", key="without-gold"):
            st.caption(
                ":material/lock: No reference is open: blame, F1, ReBPE and the curve of "
                "thresholds wait for one. An edit says what changes, not what gets better.",
                width="content",
            )
            button("Choose one", "", answer, False, type="tertiary", key="choose a reference")
        return
    st.subheader("What should it be compared with?", anchor=False)
    public, silver, none = st.columns(3)
    with public.container(border=True, height="stretch"):
        st.markdown("**:material/public: A language’s public gold**")
        st.caption(
            f"{_public_gold(current)} The licence is shown before anything is fetched. Files of "
            "your own are opened here, too."
        )
        options: dict[str, Any] = {"on_change": "rerun", "type": "primary", "key": "choose gold"}
        with st.popover("Choose", **options) as opening:
            if opening.open:
                open_reference(current, "files")
    with silver.container(border=True, height="stretch"):
        st.markdown("**:material/auto_fix_high: Make a silver one**")
        st.caption(
            "A program divides the commonest words into stems and affixes. Good for a first look; "
            "every score is marked *silver*."
        )
        offer_silver(current)
    with none.container(border=True, height="stretch"):
        st.markdown("**:material/arrow_forward: Go on without**")
        st.caption(
            "Look, edit and compare by what changes instead of by what is right. Gold can come "
            "later, and the edits stay."
        )
        button("Go on", "", answer, True, key="go on without")


def _public_gold(current: Session) -> str:
    language = language_of_types(current)
    sources = [s for s in SOURCES.values() if language in map(language_code, s.languages)]
    if not sources:
        return "The catalogue has word lists with morphs in many languages."
    lists = counted(len(sources), "public list", "public lists")
    return f"Looks like **{demo_name(language)}**: {lists} with morphs."
