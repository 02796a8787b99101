"""Full evaluations: configuration, progress, and results."""

from __future__ import annotations

import streamlit as st

from web.batch.editor import configure_tab
from web.batch.progress import is_over
from web.batch.runs import runs_tab
from web.batch.state import CONFIGURE, RUNS, VIEW, known_runs
from web.bootstrap import start
from web.widgets import remembered


def batch_page() -> None:
    """Show two tabs, of which only the open one is computed."""
    st.title("Batch")
    st.caption(
        "A whole evaluation from one file: languages × tokenisers × methods × references, run in "
        "the background, with a report at the end. Closing this page stops nothing."
    )
    # A visitor who returns during a run sees it at once.
    is_new = VIEW not in st.session_state and f"kept {VIEW}" not in st.session_state
    at_work = is_new and any(not is_over(run) for run in known_runs())
    with remembered(**{VIEW: RUNS if at_work else CONFIGURE}):
        tabs = st.tabs([CONFIGURE, RUNS], key=VIEW, on_change="rerun")
    for tab, show in zip(tabs, (configure_tab, runs_tab), strict=True):
        if tab.open:
            with tab:
                show()


start("Batch")
batch_page()
