"""What every page starts with: configuration, styles, the session and the sidebar."""

from pathlib import Path

import streamlit as st

from morphgraph.core.files import DEMOS
from morphgraph.core.isolated import VISITOR
from morphgraph.core.text import counted, shortened
from web.hosting import is_public
from web.queue import keep_queue_moving, stop_all
from web.reopening import keep_session, known_browser, reopen
from web.sources import demo_name
from web.state import Session, session
from web.storage import days_kept, kept_steps
from web.text import plain
from web.widgets import deferred_error, show_deferred_error

_ASSETS = Path(__file__).resolve().parent.parent / "assets"
_SIDEBAR_WIDTH = 240
_OWN = "own files"
_NOT_DELETED = "data not deleted"

PAGES = {
    "": {"Start": ("app.py", ":material/home:")},
    "Explore": {
        "Merge graph": ("pages/1_Merge_graph.py", ":material/hub:"),
        "Merge tree": ("pages/2_Merge_tree.py", ":material/account_tree:"),
        "Blame": ("pages/3_Blame.py", ":material/gavel:"),
        "Vocabulary": ("pages/10_Vocabulary.py", ":material/menu_book:"),
    },
    "Repair": {
        "ReBPE": ("pages/4_ReBPE.py", ":material/autorenew:"),
        "History and export": ("pages/6_History_and_export.py", ":material/history:"),
    },
    "Compare": {
        "Segmentations": ("pages/9_Segmentations.py", ":material/compare_arrows:"),
        "Scores": ("pages/5_Scores.py", ":material/monitoring:"),
    },
    "Build": {
        "Train": ("pages/8_Train.py", ":material/model_training:"),
        "Batch": ("pages/11_Batch.py", ":material/batch_prediction:"),
    },
}
"""The pages by task: file and icon of each."""


def start(title: str) -> Session:
    """Configure the page and show the sidebar; return the session."""
    st.set_page_config(
        page_title=f"{title} · morphgraph",
        page_icon=_ASSETS / "icon.svg",
        layout="wide",
        initial_sidebar_state=_SIDEBAR_WIDTH,
        menu_items={},
    )
    st.logo(_ASSETS / "logo.svg", icon_image=_ASSETS / "icon.svg")
    st.html(_ASSETS / "style.css")
    if is_public():
        keep_queue_moving()
    current = session(reopen)
    VISITOR.set(current.store.folder.name)
    current.doing = ""  # it is in the page that is left, or begins again below
    current.address.arrive(title)
    _open_requested_demo(current)
    known_browser(current)
    keep_session(current)
    with st.sidebar:
        sidebar(current)
    if current.notice:
        st.toast(plain(current.notice), icon="↩️")
        current.notice = ""
    return current


def _open_requested_demo(current: Session) -> None:
    """Open the demo named in the address if another demo is open; own files stay open."""
    own = current.language
    asked = current.address.follow("demo", own, among=DEMOS if own else ())
    if asked != own:
        current.open_demo(asked)


def sidebar(current: Session) -> None:
    """Show the pages, what is open, and the other demos.

    Apart from the offer to restore edits, nothing here depends on edits.
    """
    for group, pages in PAGES.items():
        if group:
            st.caption(group)
        for label, (page, icon) in pages.items():
            st.page_link(page, label=label, icon=icon)
    st.divider()
    study = current.study
    codes = list(DEMOS) if current.language else [*DEMOS, _OWN]
    chosen = st.selectbox(
        "Demo",
        codes,
        index=codes.index(current.language or _OWN),
        format_func=demo_name,
        key=f"demo {current.study_number}",
        help="A tokeniser of 8,000 types and a gold list. Open your own files on the start page. "
        "Edits are kept when you open something else.",
    )
    if chosen not in (current.language, _OWN):
        current.open_demo(chosen)
        st.rerun()
    st.caption(
        f"**Tokeniser** {plain(shortened(study.tokeniser.name))}  \n"
        f"**Reference** {plain(shortened(study.benchmark.reference.name))}, "
        f"{counted(len(study.benchmark.reference), 'word')}"
    )
    _offer_kept_edits(current)
    if current.unkept:
        st.warning(
            f"What you do is not kept for your next visit, nor for a reload of this page: "
            f"{plain(current.unkept)} Download what you need: History and export has the recipe.",
            icon=":material/warning:",
        )
    if is_public():
        _own_data(current)


def _own_data(current: Session) -> None:
    """Explain what a public app keeps of a visitor, with a button to delete it."""
    st.divider()
    st.caption(
        "A server that you share: what you open comes back in this browser alone, and is deleted "
        f"{counted(days_kept(), 'day')} after your last visit."
    )
    with st.popover("Delete my data", icon=":material/delete:", type="tertiary"):
        st.write("Files, edits, models, texts and runs of this browser are deleted at once.")
        st.button("Delete all", type="primary", on_click=_delete, args=(current,))
    show_deferred_error(_NOT_DELETED)


def _delete(current: Session) -> None:
    """Delete everything kept for this browser, after stopping its runs."""
    with deferred_error(_NOT_DELETED):
        stop_all(current.store.folder / "runs")
        current.store.forget()
        st.session_state.clear()


def _offer_kept_edits(current: Session) -> None:
    """Offer edits of this tokeniser made in another browser, until there are new ones.

    Those of this browser are restored automatically.
    """
    tokeniser = current.study.tokeniser
    if tokeniser.graph.history or tokeniser.graph.undone or tokeniser.checksum in current.recipes:
        return
    for previous in (False, True):
        steps = kept_steps(tokeniser.checksum, previous=previous)
        if not steps:
            continue
        st.button(
            f"Restore {counted(len(steps), 'earlier edit')}" + (" from before" if previous else ""),
            key=f"restore {previous}",
            icon=":material/restore:",
            width="stretch",
            help="They were made to this tokeniser in another browser.",
            on_click=current.restore,
            args=(steps,),
        )


def edit_buttons(current: Session, place: str) -> None:
    """Show undo and redo side by side in a horizontal container."""
    graph = current.study.graph
    for label, edits, action, keys in (
        ("Undo", graph.history, current.undo, "Ctrl+Z"),
        ("Redo", graph.undone, current.redo, "Ctrl+Shift+Z"),
    ):
        name = label.lower()
        st.button(
            label,
            key=f"{name} {place}",
            icon=f":material/{name}:",
            type="tertiary",
            help=f"{label} an edit: {len(edits):,} to {name}",
            shortcut=keys,
            disabled=not edits,
            on_click=action,
        )
