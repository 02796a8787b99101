"""Public references: choose one, see its licence, download it, and open it."""

import streamlit as st

from morphgraph.core.reading import read_bytes
from morphgraph.reference import catalogue
from morphgraph.reference.catalogue import LANGUAGES, SOURCES, find_source, sources_of
from morphgraph.reference.downloads import get, is_downloaded, local_path
from web.inputs import attempt
from web.session import Session, Source, uploaded_reference
from web.text import plain

_KEY = "catalogue"
_ALL = "all languages"


def catalogue_panel(current: Session) -> None:
    """Choose a source of the catalogue and open it; nothing is fetched before a click."""
    spoken = {code for source in SOURCES.values() for code in source.languages}
    language = st.selectbox(
        "Language",
        [_ALL, *sorted(spoken, key=lambda code: LANGUAGES[code][1])],
        format_func=lambda code: code if code == _ALL else LANGUAGES[code][1],
        key=f"{_KEY} language",
    )
    name = st.selectbox(
        "Source",
        [source.name for source in sources_of(None if language == _ALL else language)],
        format_func=_label,
        key=f"{_KEY} source",
    )
    if name is None:
        return
    source = find_source(name)
    _facts(source)
    if not source.can_be_fetched:
        _by_hand(source)
    elif is_downloaded(source):
        _open(current, source)
    else:
        _download(source)


def _label(name: str) -> str:
    source = find_source(name)
    return f"{source.title} · {source.language_names} · {name}"


def _facts(source: catalogue.Source) -> None:
    """Licence, size, home page, and how to cite it."""
    entries = "n/a" if source.entries is None else f"{source.entries:,}"
    size = f" · {source.size / 1e6:.1f} MB" if source.can_be_fetched else ""
    st.markdown(
        f"Licence: [{plain(source.licence)}]({source.licence_url}) · entries: {entries}{size} · "
        f"[home page]({source.home})"
    )
    with st.expander("How to cite it"):
        st.code(source.citation, language=None, wrap_lines=True)


def _by_hand(source: catalogue.Source) -> None:
    st.info(
        f"This one has to be fetched by yourself. {plain(source.by_hand)} Then open the file with "
        "the upload field for references.",
        icon=":material/info:",
    )


def _download(source: catalogue.Source) -> None:
    accepted = st.checkbox("I accept the licence", key=f"{_KEY} licence {source.name}")
    pressed = st.button(
        "Download",
        disabled=not accepted,
        icon=":material/download:",
        key=f"{_KEY} download",
        help=f"From {plain(source.url)}. Its SHA-256 is checked before it is used.",
    )
    if not (pressed and accepted):
        return
    bar = st.progress(0.0, "Downloading …")

    def fetch() -> None:
        get(
            source.name,
            accept_licence=True,
            progress=lambda share: bar.progress(share, f"{share:.0%} downloaded"),
        )

    done = attempt(fetch)
    bar.empty()
    if done:
        st.rerun()


def _open(current: Session, source: catalogue.Source) -> None:
    def open_it() -> None:
        path, shown = local_path(source.name), f"catalogue:{source.name}"
        kept = Source(shown, ((path.name, read_bytes(path)),), source.format)
        current.open_reference(uploaded_reference(kept), kept)

    pressed = st.button(
        "Open as reference",
        type="primary",
        icon=":material/folder_open:",
        key=f"{_KEY} open",
        help="It is downloaded. Your tokeniser and its edits stay.",
    )
    if pressed and attempt(open_it):
        st.rerun()
