"""What a page shows where no reference is open: three ways to go on."""

import streamlit as st

from web.inputs import language_of_types
from web.sources import COMMON_WORDS, demo_name, wordfreq_languages
from web.state import Session
from web.widgets import button, setting

_GRAPH = "pages/1_Merge_graph.py"


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
            st.page_link("app.py", label="Choose a gold list", icon=":material/public:")
            offer_silver(current)
            st.page_link(_GRAPH, label="Go on without, in the graph", icon=":material/hub:")
    return True


def offer_silver(current: Session) -> None:
    """Say how to make a reference by Morfessor."""
    language = _language(current)
    with st.popover("Make a silver one", icon=":material/auto_fix_high:", width="content"):
        st.write(
            "Morfessor learns from word counts where words divide. It is not always right, so "
            "scores on it are for a first look. Run this, then open `silver.tsv` as reference:"
        )
        command = f"morphgraph reference silver --counts wordfreq:{language} --out silver.tsv"
        st.code(command, language=None, wrap_lines=True)
        st.caption("Other counts: a file with a word, a tab and its count on each line.")


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
