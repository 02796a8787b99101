"""The gold and the word frequencies: files, downloads, what was read, and doubts about it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.errors import GoldGivenError, MorphGraphError, TokeniserGivenError
from morphgraph.core.files import check_size, read_bytes
from morphgraph.core.limits import is_public
from morphgraph.core.text import SHOWN_MARKER, counted, shortened
from morphgraph.reference import catalogue
from morphgraph.reference.language import language_of, mismatch
from morphgraph.reference.readers import READERS, FormatNotDetectedError
from morphgraph.reference.source import decode_text, split_lines
from morphgraph.tables.references import description_table
from web.sources import (
    Source,
    demo_name,
    frequencies_of,
    reference_of,
    references_there_now,
    tokeniser_of,
    wordfreq_languages,
)
from web.state import Session, session
from web.widgets import attempt, button, plain, show_error, show_model

DETECT = "detect"
_AS_MARKED = "UTF-8, or as marked"
_ENCODINGS = (
    *(f"windows-{number}" for number in (1252, 1250, 1251, 1253, 1254, 1257)),
    *(f"iso-8859-{number}" for number in (1, 2, 5, 7, 9, 15)),
    *("koi8-r", "koi8-u", "mac-roman", "utf-16", "shift_jis", "euc-jp", "euc-kr"),
    *("gb18030", "big5"),
)
_NO_FREQUENCIES, _FROM_FILE = "none", "a file"
_TAKEN, _READ = "uploads taken", "reference that was read"
_ALL = "all languages"


def content_of(file: Any) -> bytes:
    """Return the bytes of an uploaded file; `MorphGraphError` if it is empty or too large."""
    check_size(file.name, file.size)
    return bytes(file.getvalue())


def upload_key(field: str) -> str:
    """Return the key of an upload field, which changes once its file was accepted.

    Other fields do not affect it: a file that could not be read stays there with its error until it
    is removed or replaced.
    """
    return f"{field} upload {st.session_state.get(_TAKEN, {}).get(field, 0)}"


def clear_upload(field: str) -> None:
    """Empty an upload field whose file was accepted, from the next run on."""
    counts = st.session_state.setdefault(_TAKEN, {})
    counts[field] = counts.get(field, 0) + 1


def open_file(label: str, field: str, take: Callable[[str, bytes], object], **how: Any) -> None:
    """Show a field for files; ``take`` gets the name and content of each, and the page is rerun.

    A file that ``take`` refuses stays there with its error.
    """
    chosen = st.file_uploader(label, key=upload_key(field), **how)
    files = chosen if isinstance(chosen, list) else [chosen] if chosen else []
    if files:
        with attempt_opening(field, files):
            for file in files:
                take(file.name, content_of(file))
            clear_upload(field)
            st.rerun()


@contextmanager
def attempt_opening(field: str, files: Sequence[Any]) -> Iterator[None]:
    """Show an error of the ``with`` block; a click opens what is of the other kind as that."""
    try:
        yield
    except MorphGraphError as error:
        is_gold = isinstance(error, GoldGivenError)
        if not isinstance(error, GoldGivenError | TokeniserGivenError):
            show_error(error)
            return
        show_error(f"{error.file}: {error.problem}.")
        kind = "gold" if is_gold else "the tokeniser"
        if button(f"Open it as {kind}", "file_open", primary=True, key=f"{field} as {kind}"):
            with attempt():
                contents = {one.name: content_of(one) for one in files if one.name == error.file}
                if is_gold:
                    _open(session(), "start", Source(error.file, tuple(contents.items())))
                else:
                    open_as_tokeniser(session(), contents)
                clear_upload(field)
                st.rerun()


def open_as_tokeniser(current: Session, contents: Mapping[str, bytes]) -> None:
    """Open a tokeniser of merges; one of another language takes the demo's gold with it."""
    source = Source(next(iter(contents)), tuple(contents.items()))
    tokeniser, of_demo = tokeniser_of(source), current.language
    current.open_tokeniser(tokeniser, replace(source, name=tokeniser.name))
    language = language_of_types(current)
    if of_demo and language != of_demo and language in wordfreq_languages():
        current.go_without_gold(language)  # the demo's gold says nothing about it


def reference_upload(current: Session, place: str) -> None:
    """Open a reference in a detected or chosen format; ``place`` confirms it."""
    with st.container(key="reference-reading"):
        left, right = st.columns(2)
    format_ = left.selectbox(
        "Format",
        [DETECT, *READERS],
        format_func=lambda name: READERS[name].label if name in READERS else name,
        key="reference format",
        help="Detected from the content. Choose one if the detection is wrong.",
    )
    # Reset to UTF-8: another encoding could misread the next file without an error.
    encoding = right.selectbox(
        "Encoding",
        [_AS_MARKED, *_ENCODINGS],
        key=f"encoding of {upload_key('reference')}",
        help="Never guessed: a wrong letter would be worse than no file.",
    )
    exempt = st.text_input(
        "Exempt words",
        key=f"exempt of {upload_key('reference')}",
        help="Blame leaves them out, as lexicalised words; they are scored like any other.",
    )

    def take(name: str, data: bytes) -> None:
        chosen = None if format_ == DETECT else format_
        named = None if encoding == _AS_MARKED else encoding
        source = Source(name, ((name, data),), chosen, named, exempt=tuple(exempt.split()))
        try:
            _open(current, place, source)
        except FormatNotDetectedError:
            sign = _ask_for_separator(name, data, named)
            if not sign:
                raise
            _open(current, place, replace(source, separator=sign))

    tip = (
        "A morphologically segmented word list: plain, CELEX, MorphyNet, UniMorph, SIGMORPHON "
        "2022, UniSegments, DeriNet, MorphoLex, LADEC, Morpho Challenge, Morfessor or MorphScore; "
        "tables also in Parquet."
    )
    open_file("Reference", "reference", take, help=tip)


def _ask_for_separator(name: str, data: bytes, encoding: str | None) -> str:
    """Show the first three lines of a file, and ask what stands between morphs in them."""
    lines = split_lines(decode_text(data, name, encoding))[:3]
    st.caption("If these are words and their morphs, which sign stands between morphs?")
    st.code("\n".join(shortened(line, 100) for _, line in lines), language=None)
    asked = st.text_input("Sign between morphs", key=f"separator of {upload_key('reference')}")
    return asked or ""


def reference_read(current: Session, place: str) -> bool:
    """Confirm a reference opened here until that is closed; return whether it is shown."""
    reference = current.study.benchmark.reference
    if st.session_state.get(_READ) != (place, reference.checksum):
        return False
    with st.container(border=True, key="reference-read"):
        left, right = st.columns([9, 1], wrap=False, vertical_alignment="top")
        name = plain(shortened(reference.name, 60))
        left.markdown(f"**:material/check_circle: {name} is open.**")
        key = ("described", Same(reference))
        table = current.once(key, partial(description_table, reference), of_files=True)
        with left:
            show_model(table, 6, key="reference-read table")
            st.caption(plain(" ".join(f"{note}." for note in table.notes) or "Nothing is skipped."))
        with right:
            button("Close", "", st.session_state.pop, _READ, None, key="close what was read")
    return True


def catalogue_panel(current: Session, place: str) -> None:
    """Choose a source of the catalogue and open it; nothing is downloaded before a click.

    ``place``: where the page confirms what was opened, see `reference_read`. In public mode nothing
    is downloaded: only sources already on the server are offered, verified on opening.
    """
    sources = catalogue.SOURCES.values()
    offered = [s for s in sources if not is_public() or catalogue.cached_path(s).is_file()]
    if not offered:
        st.caption("None is on this server. Its administrator can add some.")
        return
    spoken = {code for source in offered for code in source.languages}

    def label(name: str) -> str:
        source = catalogue.find_source(name)
        return f"{source.title} · {source.language_names} · {name}"

    language = st.selectbox(
        "Language",
        [_ALL, *sorted(spoken, key=lambda code: catalogue.LANGUAGES[code][1])],
        format_func=lambda code: code if code == _ALL else catalogue.LANGUAGES[code][1],
        key="catalogue language",
    )
    names = [source.name for source in offered if language in (_ALL, *source.languages)]
    name = st.selectbox("Source", names, format_func=label, key="catalogue source")
    if name is None:
        return
    source = catalogue.find_source(name)
    entries = "n/a" if source.entries is None else f"{source.entries:,}"
    size = f" · {source.size / 1e6:.1f} MB" if source.size else ""
    st.markdown(
        f"Licence: [{plain(source.licence)}]({source.licence_url}) · entries: {entries}{size} · "
        f"[home page]({source.home})"
    )
    with st.expander("How to cite it"):
        st.code(source.citation, language=None, wrap_lines=True)
    if not source.can_be_fetched:
        st.info(
            f"You have to download this one yourself. {plain(source.by_hand)} Then open the file "
            "with the upload field for references.",
            icon=":material/info:",
        )
    elif is_public() or catalogue.is_downloaded(source):
        tip = "It is downloaded. Your tokeniser and its edits stay."
        options: dict[str, Any] = {"primary": True, "key": "catalogue open", "help": tip}
        if button("Open as reference", "folder_open", **options):
            with attempt():
                path = catalogue.local_path(source.name)
                files = ((path.name, read_bytes(path)),)
                kept = Source(f"catalogue:{source.name}", files, source.format)
                _open(current, place, kept)
                st.rerun()
    else:
        _download(source)


def _download(source: catalogue.CatalogueEntry) -> None:
    accepted = st.checkbox("I accept the licence", key=f"catalogue licence {source.name}")
    tip = f"From {plain(source.url)}. Its checksum is checked before it is used."
    options: dict[str, Any] = {"disabled": not accepted, "key": "catalogue download", "help": tip}
    if button("Download", "download", **options):
        bar = st.progress(0.0, "Downloading …")

        def progress(share: float) -> None:
            bar.progress(share, f"{share:.0%} downloaded")

        with attempt():
            catalogue.get(source.name, accept_licence=True, progress=progress)
            references_there_now.clear()
            st.rerun()
        bar.empty()


def _open(current: Session, place: str, source: Source) -> None:
    current.open_reference(reference_of(source), source)
    st.session_state[_READ] = place, current.study.benchmark.reference.checksum


def doubtful_reference(current: Session) -> None:
    """Warn of a reference with hardly any words, with most lines skipped, or misread."""
    reference = current.study.benchmark.reference
    # A line may hold several analyses; two sheets of a workbook have the same line numbers.
    used = len({(entry.line, entry.word) for entry in reference.entries})
    total = used + sum(skip.count for skip in reference.skipped)
    if total > 2 * used:
        why = "; ".join(f"{skip.count:,} × {skip.reason}" for skip in reference.skipped[:3])
        more = "; …" if len(reference.skipped) > 3 else ""
        message = f"Only {used:,} of {counted(total, 'line')} could be used: {why}{more}."
    elif reference.notice:
        message = reference.notice
    elif len(reference) < 10:
        message = f"The reference has only {counted(len(reference), 'word')}."
    else:
        return
    st.warning(
        f"{plain(message)} If that is not what the file holds, choose its format and encoding.",
        icon=":material/warning:",
    )


def reference_in_another_language(current: Session) -> None:
    """Warn if a reference that names no language is in another than the tokeniser's types."""
    reference = current.study.benchmark.reference
    if reference.language:
        return

    def make() -> tuple[str, str]:
        return mismatch([entry.word for entry in reference.entries], _words_among_types(current))

    name = plain(shortened(reference.name, 60))
    one, two = current.once(("language of the types",), make)
    if two:
        what = f"are {demo_name(one)}" if one else f"are hardly ever {demo_name(two)}"
        st.warning(
            f"The words of {name} {what}, but the types of the tokeniser are {demo_name(two)}: "
            "scores then say little. Open a tokeniser and a reference of one language.",
            icon=":material/translate:",
        )


def _words_among_types(current: Session) -> list[str]:
    types = current.study.tokeniser.readable_types
    initial = [type_ for type_ in types if type_[:1] == SHOWN_MARKER and len(type_) > 1]
    return [type_.strip(SHOWN_MARKER).removesuffix("</w>") for type_ in initial or types]


def language_of_types(current: Session) -> str:
    """Return the code of the language that the types are of; empty if in doubt."""
    make = partial(language_of, _words_among_types(current))
    return current.once(("language of types",), make, of_files=True)


def frequency_choice(current: Session, place: str = "") -> None:
    """Choose the source of word frequencies, in a ``place``: none, wordfreq, or a file."""
    benchmark = current.study.benchmark
    st.caption(f"Frequencies: {plain(benchmark.frequency_source or 'none')}")
    active = current.frequency_language or _FROM_FILE
    if current.sources.get("frequencies") is None:
        active = _NO_FREQUENCIES
    shown = [_FROM_FILE] if active == _FROM_FILE else []
    options = [_NO_FREQUENCIES, *shown, *wordfreq_languages()]
    chosen = st.selectbox(
        "From wordfreq",
        options,
        index=options.index(active),
        key=f"wordfreq {place}{current.study_number}",
        help="The code of a language. “none” leaves the reference's own counts, if it has any.",
    )
    if chosen == _NO_FREQUENCIES != active:
        current.use_frequencies(None, "")
        st.rerun()
    elif chosen != active:
        _use(current, Source(f"wordfreq:{chosen}"))
        st.rerun()
    tip = "One word a line: the word, a tab or a space, and its count."

    def take(name: str, data: bytes) -> None:
        _use(current, Source(name, ((name, data),)))

    open_file("Or from a file", f"{place}frequency", take, help=tip)


def _use(current: Session, source: Source) -> None:
    current.use_frequencies(frequencies_of(source), source.name, source)


def offer_frequencies(current: Session, what: str) -> None:
    """If no word counts are open, say what ``what`` needs, and offer the language's list."""
    if current.study.benchmark.frequencies is not None:
        return
    language = current.reference_language
    row: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "border": True}
    with st.container(**row, key="offer-frequencies"):
        st.markdown(f":material/bar_chart: {what} word counts.", width="content")
        if language:
            label, source = (
                f"Use wordfreq’s for {demo_name(language)}",
                Source(f"wordfreq:{language}"),
            )
            options: dict[str, Any] = {
                "primary": True,
                "key": "use the frequencies of the language",
            }
            button(label, "download_done", _use, current, source, **options)
        with st.popover("Others" if language else "Choose some", width="content"):
            frequency_choice(current)
