"""The gold and the word frequencies: files, downloads, what was read, and doubts about it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from morphgraph.core.files import check_size, read_bytes
from morphgraph.core.limits import is_public
from morphgraph.core.text import SHOWN_MARKER, counted, shortened
from morphgraph.reference import catalogue
from morphgraph.reference.language import language_of, mismatch
from web.sources import (
    COMMON_WORDS,
    Source,
    demo_name,
    frequencies_of,
    reference_of,
    references_there,
    tokeniser_of,
    wordfreq_languages,
)
from web.state import Session
from web.widgets import attempt, button, plain, setting

ENCODINGS = (
    *(f"windows-{number}" for number in (1252, 1250, 1251, 1253, 1254, 1257)),
    *(f"iso-8859-{number}" for number in (1, 2, 5, 7, 9, 15)),
    *("koi8-r", "koi8-u", "mac-roman", "utf-16", "shift_jis", "euc-jp", "euc-kr"),
    *("gb18030", "big5"),
)
_NONE = "none"
_TAKEN = "uploads taken"
_TYPE = "Type a language, or a name, to find one."


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


def open_file(label: str, field: str, take: Callable[[str, bytes], object], **options: Any) -> None:
    """Show a field for files; ``take`` gets the name and content of each, and the page is rerun.

    A file that ``take`` refuses stays there with its error.
    """
    chosen = st.file_uploader(label, key=upload_key(field), **options)
    files = chosen if isinstance(chosen, list) else [chosen] if chosen else []
    if files:
        with attempt():
            for file in files:
                take(file.name, content_of(file))
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


def catalogue_panel(current: Session) -> None:
    """Choose a source of the catalogue and open it; nothing is downloaded before a click.

    In public mode nothing is downloaded: only sources already on the server are offered, verified
    on opening.
    """
    sources = catalogue.SOURCES.values()
    offered = [s for s in sources if not is_public() or catalogue.cached_path(s).is_file()]
    if not offered:
        st.caption("There are none on this server. Its administrator can add some.")
        return

    def label(name: str) -> str:
        source = catalogue.find_source(name)
        return f"{source.title} · {source.language_names} · {name}"

    names = [source.name for source in offered]
    name = st.selectbox("Source", names, format_func=label, key="catalogue source", help=_TYPE)
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
            "by dropping it here.",
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
                current.open_reference(reference_of(kept), kept)
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
            references_there.clear()
            st.rerun()
        bar.empty()


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
            "scores then mean little. Open a tokeniser and a reference of one language.",
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


def language_without_gold(current: Session) -> str:
    """Return the language whose words stand in for gold, or are made into silver, at first."""
    opened = current.sources.get("reference")
    return (opened and opened.list_of("words")) or language_of_types(current) or "en"


def without_gold(current: Session) -> None:
    """Choose the language whose commonest words show what edits change; continue without gold."""
    st.caption(
        f"No blame and no F1: the {COMMON_WORDS:,} commonest words of a language show what an edit "
        "changes. Edits stay, and gold can come later."
    )
    options: dict[str, Any] = {"key": f"words without gold {current.study_number}"}
    options |= {"first": language_without_gold(current), "format_func": demo_name}
    language = setting(st.selectbox, "Language of the words", wordfreq_languages(), **options)

    def go() -> None:
        current.go_without_gold(language)

    button("Continue without gold", "arrow_forward", go, key="go on without gold")


def frequency_choice(current: Session) -> None:
    """Choose the source of word frequencies: none, wordfreq, or a file."""
    benchmark = current.study.benchmark
    st.caption(f"Frequencies: {plain(benchmark.frequency_source or 'none')}")
    source = current.sources.get("frequencies")
    options, now = [_NONE, *wordfreq_languages()], source.list_of("wordfreq") if source else _NONE
    chosen = st.selectbox(
        "From wordfreq",
        options,
        index=options.index(now) if now else None,
        placeholder="a file",
        key=f"wordfreq {current.study_number}",
        help="The code of a language. “none” leaves the reference's own counts, if it has any.",
    )
    if chosen not in (None, now):
        if chosen == _NONE:
            current.use_frequencies(None, "")
        else:
            _use(current, Source(f"wordfreq:{chosen}"))
        st.rerun()
    st.caption("Counts of your own, one word per line with its count, can be dropped anywhere.")


def _use(current: Session, source: Source) -> None:
    current.use_frequencies(frequencies_of(source), source.name, source)


def offer_frequencies(current: Session, what: str) -> None:
    """Say that ``what`` needs word counts, and offer the list of the language."""
    words = [entry.word for entry in current.study.benchmark.reference.entries]
    language = current.once(("language",), partial(language_of, words), of_files=True)
    row: dict[str, Any] = {"horizontal": True, "vertical_alignment": "center", "border": True}
    with st.container(**row, key="offer-frequencies"):
        st.markdown(f":material/bar_chart: {what} word counts.", width="content")
        if language:
            label, source = f"Use wordfreq’s for {demo_name(language)}", f"wordfreq:{language}"
            more: dict[str, Any] = {"primary": True, "key": "use the frequencies of the language"}
            button(label, "download_done", _use, current, Source(source), **more)
        st.caption("Others are in the bar, in the menu of the reference.", width="content")
