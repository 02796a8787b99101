"""The start page: a word, its segmentation, a click that improves it, and the next pages."""

import streamlit as st

from web.bootstrap import PAGES, start
from web.hosting import is_public
from web.inputs import catalogue_panel, reference_upload
from web.opening import tokeniser_upload
from web.reopening import keep_session
from web.scoreboard import (
    doubtful_reference,
    reference_in_another_language,
    score_metrics,
    skipped_lines,
)
from web.state import Session
from web.text import plain
from web.views.first_look import first_look
from web.views.reference_read import reference_read

DOORS = {
    "Explore": (
        "Browse the merge graph, watch a word's tree grow, see which merges are to blame.",
        "Browse the graph",
    ),
    "Repair": (
        "BPE-knockout and ReBPE, step by step; then export what transformers loads.",
        "Run ReBPE",
    ),
    "Compare": (
        "Words as BPE and its remedies cut them, side by side: dropout, trimmed, Picky, FLOTA …",
        "Compare",
    ),
    "Build": (
        "Train BPE or one of its relatives, and run whole evaluations from one file.",
        "Train one",
    ),
}
"""The groups of pages, each with its purpose and what its first page does."""


@st.fragment
def first_screen(current: Session) -> None:
    """Show the word and its worst merge; a fragment, so that typing redraws nothing else."""
    score_metrics(current, "start")
    st.title("Where does this tokeniser cut across morphemes?", anchor=False)
    st.write(
        "A tokeniser glues letters into tokens, one rule (a *merge*) at a time. Here its tokens "
        "stand under the morphs of a linguist (*gold*); a red line is a boundary that a token "
        "covers. Type any word or paste a text, remove the merge to blame, and every word changes."
    )
    with st.container(border=True, key="wide-first-look"):
        first_look(current)
    keep_session(current)


def start_page(current: Session) -> None:
    """Show the first screen, links to other pages, and the upload of own files."""
    for warning in current.study.tokeniser.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    doubtful_reference(current)
    reference_in_another_language(current)
    first_screen(current)

    for column, (title, (text, first)) in zip(st.columns(len(DOORS)), DOORS.items(), strict=True):
        with column.container(border=True, height="stretch"):
            st.markdown(f"#### {title}")
            st.caption(text)
            page, icon = next(iter(PAGES[title].values()))
            st.page_link(page, label=first, icon=icon)

    st.subheader("Open your own files")
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        tokeniser_upload(current)
    with right.container(border=True, height="stretch"):
        reference_upload(current, "files")
        with st.expander("Public references", icon=":material/cloud_download:"):
            catalogue_panel(current, "files")
        reference_read(current, "files")
    skipped_lines(current)
    if not is_public():
        st.caption("Files stay on this machine.")


start_page(start("Start"))
