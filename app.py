"""The Workbench: a text, its merge trees, its types, one click."""

import streamlit as st

from web import inputs
from web.bar import score_metrics
from web.bootstrap import start
from web.idle import prepare_next_pages
from web.state import Session, keep_session
from web.tape import tape
from web.views.without_gold import needs_gold
from web.widgets import plain
from web.workbench.canvas import canvas, options_now
from web.workbench.panel import panel
from web.workbench.place import now_shown
from web.workbench.text import text_strip


@st.fragment
def workbench(current: Session) -> None:
    """Show the page; a fragment, so that a click redraws nothing else."""
    text, lines = now_shown(current)
    score_metrics(current, "workbench")
    if not current.study.benchmark.reference.has_gold:
        needs_gold(current, "Blame, scores and ReBPE need")
    text_strip(current, text, lines)
    with st.container(key="workbench"):
        left, right = st.columns([19, 6], gap="medium")
    with left:
        canvas(current)
    with right:
        panel(current, cascade=options_now().cascade)
    tape(current)
    keep_session(current)
    prepare_next_pages(current)


session = start("Workbench")
for warning in session.study.tokeniser.notices:
    st.warning(plain(warning), icon=":material/warning:")
inputs.doubtful_reference(session)
inputs.reference_in_another_language(session)
workbench(session)
