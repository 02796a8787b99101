"""What surrounds every page: configuration, styles, the session, the bar."""

from pathlib import Path

import streamlit as st

from morphgraph.core.files import DEMOS
from morphgraph.core.isolated import VISITOR
from morphgraph.core.limits import is_public
from web.bar import show_bar
from web.guard import STYLE, Pages
from web.jobs import keep_queue_moving
from web.opening import drop_zone
from web.sharing import make_shared_edits
from web.state import Session, keep_session, known_browser, session
from web.widgets import plain

_ASSETS = Path(__file__).resolve().parent.parent / "assets"


def start(title: str) -> Session:
    """Configure the page and show the bar; return the session."""
    st.set_page_config(
        page_title=f"{title} · morphgraph",
        page_icon=_ASSETS / "icon.svg",
        layout="wide",
        menu_items={},
    )
    if not Pages.has_style:  # as with streamlit run app.py
        st.html(STYLE)
    if is_public():
        keep_queue_moving()
    current = session()
    VISITOR.set(current.store.folder.name)
    current.doing = ""  # it is in the page that is left, or begins again below
    current.address.arrive(title)
    own = current.language  # a demo in the address replaces another; own files stay open
    asked = current.address.follow("demo", own, among=DEMOS if own else ())
    if asked != own:
        current.open_demo(asked)
    make_shared_edits(current)
    known_browser(current)
    keep_session(current)
    show_bar(current, title)
    drop_zone(current)
    if current.unkept:
        st.warning(
            f"What you do is not kept for your next visit, nor for a reload of this page: "
            f"{plain(current.unkept)} Download what you need: the drawer has the recipe.",
            icon=":material/warning:",
        )
    if current.notice:
        st.toast(plain(current.notice), icon="↩️")
        current.notice = ""
    return current
