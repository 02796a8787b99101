"""References and frequencies from files and downloads; an error becomes a message."""

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import check_size, read_bytes
from morphgraph.reference import catalogue
from morphgraph.reference.catalogue import LANGUAGES, SOURCES, find_source, sources_of
from morphgraph.reference.downloads import get, is_downloaded, local_path
from morphgraph.reference.readers import FORMATS
from morphgraph.score.gold_set import COUNTS_IN_REFERENCE
from web.session import (
    Session,
    Source,
    uploaded_reference,
    wordfreq_frequencies,
    wordfreq_languages,
)
from web.text import plain

_DETECT = "detect"
_AS_MARKED = "UTF-8, or as marked"
_ENCODINGS = (
    "windows-1252",
    "windows-1250",
    "windows-1251",
    "windows-1253",
    "windows-1254",
    "windows-1257",
    "iso-8859-1",
    "iso-8859-2",
    "iso-8859-5",
    "iso-8859-7",
    "iso-8859-9",
    "iso-8859-15",
    "koi8-r",
    "koi8-u",
    "mac-roman",
    "utf-16",
    "shift_jis",
    "euc-jp",
    "euc-kr",
    "gb18030",
    "big5",
)
_NO_FREQUENCIES, _FROM_FILE = "none", "a file"
_TAKEN = "uploads taken"


def attempt(action: Callable[[], None]) -> bool:
    """Do something that a file may make impossible; shows the error and returns whether it went."""
    try:
        action()
    except MorphGraphError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return False
    return True


def content_of(file: UploadedFile) -> bytes:
    """The bytes of an uploaded file; an empty or too large one is a `MorphGraphError`."""
    check_size(file.name, file.size)
    return file.getvalue()


def upload_key(field: str) -> str:
    """The key of an upload field, a new one as soon as its file was taken.

    What happens in other fields does not change it: a file that could not be read stays there with
    its error until it is taken out, or replaced.
    """
    return f"{field} upload {st.session_state.get(_TAKEN, {}).get(field, 0)}"


def taken(field: str) -> None:
    """Empty an upload field: its file was taken."""
    counts = st.session_state.setdefault(_TAKEN, {})
    counts[field] = counts.get(field, 0) + 1


def reference_upload(current: Session) -> None:
    """Upload a reference, in a detected or chosen format and encoding, and open it."""
    with st.container(key="reference-reading"):
        left, right = st.columns(2)
    format_ = left.selectbox(
        "Format",
        [_DETECT, *FORMATS],
        format_func=lambda name: "detect" if name == _DETECT else FORMATS[name],
        key="reference format",
        help="Detected from the content. Choose one if the detection is wrong.",
    )
    # The next file starts from UTF-8 again: it could be read in another encoding without an error.
    encoding = right.selectbox(
        "Encoding",
        [_AS_MARKED, *_ENCODINGS],
        key=f"encoding of {upload_key('reference')}",
        help="Never guessed: a wrong letter would be worse than no file.",
    )
    file = st.file_uploader(
        "Reference",
        key=upload_key("reference"),
        help="A morphologically segmented word list: plain, CELEX, MorphyNet, UniMorph, SIGMORPHON "
        "2022, UniSegments, MorphoLex, LADEC, Morpho Challenge or MorphScore.",
    )
    if file is None:
        return

    def open_it(file: UploadedFile = file) -> None:
        chosen = None if format_ == _DETECT else format_
        named = None if encoding == _AS_MARKED else encoding
        source = Source(file.name, ((file.name, file.getvalue()),), chosen, named)
        current.open_reference(uploaded_reference(source), source)

    if attempt(open_it):
        taken("reference")
        st.rerun()


def frequency_choice(current: Session) -> None:
    """Choose where word frequencies come from: nowhere, wordfreq, or a file."""
    benchmark = current.study.benchmark
    st.caption(f"Frequencies: {plain(benchmark.frequency_source or 'none')}")
    languages = wordfreq_languages()
    active = _active_frequencies(current, languages)
    options = [_NO_FREQUENCIES, *([_FROM_FILE] if active == _FROM_FILE else []), *languages]
    chosen = st.selectbox(
        "From wordfreq",
        options,
        index=options.index(active),
        key=f"wordfreq {current.study_number}",
        help="The code of a language. “none” leaves the reference's own counts, if it has any.",
    )
    if chosen != active:
        if chosen == _NO_FREQUENCIES:
            current.use_frequencies(None, "")
        else:
            name = f"wordfreq:{chosen}"
            current.use_frequencies(wordfreq_frequencies(chosen), name, Source(name))
        st.rerun()
    file = st.file_uploader(
        "Or from a file",
        key=upload_key("frequency"),
        help="One word a line: the word, a tab or a space, and its count.",
    )
    if file is None:
        return

    def use_it(file: UploadedFile = file) -> None:
        from morphgraph.corpus.counts import parse_word_counts

        content = content_of(file)
        counts = parse_word_counts(content, file.name)
        source = Source(file.name, ((file.name, content),))
        current.use_frequencies(dict(counts.items()), file.name, source)

    if attempt(use_it):
        taken("frequency")
        st.rerun()


def _active_frequencies(current: Session, languages: Sequence[str]) -> str:
    """What is in use: a language of wordfreq, a file, or none but the reference's own counts."""
    source = current.study.benchmark.frequency_source
    if not source or source == COUNTS_IN_REFERENCE:
        return _NO_FREQUENCIES
    language = source.removeprefix("wordfreq:")
    return language if source != language and language in languages else _FROM_FILE


_CATALOGUE = "catalogue"
_ALL = "all languages"


def catalogue_panel(current: Session) -> None:
    """Choose a source of the catalogue and open it; nothing is fetched before a click."""
    spoken = {code for source in SOURCES.values() for code in source.languages}
    language = st.selectbox(
        "Language",
        [_ALL, *sorted(spoken, key=lambda code: LANGUAGES[code][1])],
        format_func=lambda code: code if code == _ALL else LANGUAGES[code][1],
        key=f"{_CATALOGUE} language",
    )
    name = st.selectbox(
        "Source",
        [source.name for source in sources_of(None if language == _ALL else language)],
        format_func=_label,
        key=f"{_CATALOGUE} source",
    )
    if name is None:
        return
    source = find_source(name)
    _facts(source)
    if not source.can_be_fetched:
        _by_hand(source)
    elif is_downloaded(source):
        _open_downloaded(current, source)
    else:
        _download(source)


def _label(name: str) -> str:
    source = find_source(name)
    return f"{source.title} · {source.language_names} · {name}"


def _facts(source: catalogue.CatalogueEntry) -> None:
    """Licence, size, home page, and how to cite it."""
    entries = "n/a" if source.entries is None else f"{source.entries:,}"
    size = f" · {source.size / 1e6:.1f} MB" if source.can_be_fetched else ""
    st.markdown(
        f"Licence: [{plain(source.licence)}]({source.licence_url}) · entries: {entries}{size} · "
        f"[home page]({source.home})"
    )
    with st.expander("How to cite it"):
        st.code(source.citation, language=None, wrap_lines=True)


def _by_hand(source: catalogue.CatalogueEntry) -> None:
    st.info(
        f"This one has to be fetched by yourself. {plain(source.by_hand)} Then open the file with "
        "the upload field for references.",
        icon=":material/info:",
    )


def _download(source: catalogue.CatalogueEntry) -> None:
    accepted = st.checkbox("I accept the licence", key=f"{_CATALOGUE} licence {source.name}")
    pressed = st.button(
        "Download",
        disabled=not accepted,
        icon=":material/download:",
        key=f"{_CATALOGUE} download",
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


def _open_downloaded(current: Session, source: catalogue.CatalogueEntry) -> None:
    def open_it() -> None:
        path, shown = local_path(source.name), f"catalogue:{source.name}"
        kept = Source(shown, ((path.name, read_bytes(path)),), source.format)
        current.open_reference(uploaded_reference(kept), kept)

    pressed = st.button(
        "Open as reference",
        type="primary",
        icon=":material/folder_open:",
        key=f"{_CATALOGUE} open",
        help="It is downloaded. Your tokeniser and its edits stay.",
    )
    if pressed and attempt(open_it):
        st.rerun()
