"""References, frequencies and segmentations from files and downloads."""

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.files import DEMOS, check_size, read_bytes
from morphgraph.core.isolated import VISITOR
from morphgraph.reference import catalogue
from morphgraph.reference.catalogue import (
    LANGUAGES,
    SOURCES,
    cached_path,
    find_source,
    get,
    is_downloaded,
    local_path,
)
from morphgraph.reference.entry import Reference
from morphgraph.reference.predictions import PREDICTION_FORMATS, Predictions, read_predictions
from morphgraph.reference.readers import FORMATS, read_reference
from morphgraph.score.gold_set import GoldSet
from web.hosting import is_public
from web.sources import (
    Source,
    demo_name,
    demo_reference,
    frequencies_of,
    reference_of,
    wordfreq_frequencies,
    wordfreq_languages,
)
from web.state import Session, session
from web.text import plain
from web.views.reference_read import confirm_reference
from web.waiting import Tell, Waiting
from web.widgets import attempt, button, choice, forget_oldest, set_value, unique_name, value_now

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

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
_MOST = 8
"""The limit of references, and of segmentations, beside the open one."""


def content_of(file: "UploadedFile") -> bytes:
    """Return the bytes of an uploaded file; `MorphGraphError` if it is empty or too large."""
    check_size(file.name, file.size)
    return file.getvalue()


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


def clear_and_rerun(field: str) -> None:
    """Empty an upload field whose file was accepted, and rerun the page."""
    clear_upload(field)
    st.rerun()


# ------------------------------------------------------------------------------------- what is open


def reference_upload(current: Session, place: str) -> None:
    """Upload a reference, in a detected or chosen format and encoding, and open it.

    ``place``: where the page confirms it, see `reference_read`.
    """
    with st.container(key="reference-reading"):
        left, right = st.columns(2)
    format_ = left.selectbox(
        "Format",
        [_DETECT, *FORMATS],
        format_func=lambda name: FORMATS.get(name, name),
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
    file = st.file_uploader(
        "Reference",
        key=upload_key("reference"),
        help="A morphologically segmented word list: plain, CELEX, MorphyNet, UniMorph, SIGMORPHON "
        "2022, UniSegments, MorphoLex, LADEC, Morpho Challenge or MorphScore.",
    )
    if file is None:
        return
    with attempt():
        chosen = None if format_ == _DETECT else format_
        named = None if encoding == _AS_MARKED else encoding
        source = Source(file.name, ((file.name, file.getvalue()),), chosen, named)
        current.open_reference(reference_of(source), source)
        clear_upload("reference")
        confirm_reference(current, place)


def frequency_choice(current: Session) -> None:
    """Choose the source of word frequencies: none, wordfreq, or a file."""
    benchmark = current.study.benchmark
    st.caption(f"Frequencies: {plain(benchmark.frequency_source or 'none')}")
    languages = wordfreq_languages()
    active = _active_frequencies(current)
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
            source = Source(f"wordfreq:{chosen}")
            current.use_frequencies(frequencies_of(source), source.name, source)
        st.rerun()
    file = st.file_uploader(
        "Or from a file",
        key=upload_key("frequency"),
        help="One word a line: the word, a tab or a space, and its count.",
    )
    if file is None:
        return
    with attempt():
        source = Source(file.name, ((file.name, content_of(file)),))
        current.use_frequencies(frequencies_of(source), file.name, source)
        clear_and_rerun("frequency")


def offer_frequencies(current: Session, what: str) -> None:
    """If no word counts are open, say what ``what`` needs, and offer the language's list."""
    if current.study.benchmark.frequencies is not None:
        return
    language = current.reference_language
    with st.container(
        horizontal=True, vertical_alignment="center", border=True, key="offer-frequencies"
    ):
        st.markdown(f":material/bar_chart: {what} word counts.", width="content")
        if language:
            source = Source(f"wordfreq:{language}")
            button(
                f"Use wordfreq’s for {demo_name(language)}",
                "download_done",
                lambda: current.use_frequencies(frequencies_of(source), source.name, source),
                primary=True,
                key="use the frequencies of the language",
            )
        with st.popover("Others" if language else "Choose some", width="content"):
            frequency_choice(current)


def _active_frequencies(current: Session) -> str:
    """Return what is in use: a language of wordfreq, a file, or the reference's own counts."""
    if current.sources.get("frequencies") is None:
        return _NO_FREQUENCIES
    return current.frequency_language or _FROM_FILE


# ------------------------------------------------------------------------------------- public ones


_ALL = "all languages"


def catalogue_panel(current: Session, place: str) -> None:
    """Choose a source of the catalogue and open it; nothing is downloaded before a click.

    ``place``: where the page confirms what was opened, see `reference_read`. In public mode nothing
    is downloaded: only sources already on the server are offered.
    """
    offered = _on_this_server() if is_public() else list(SOURCES.values())
    if not offered:
        st.caption("None is on this server. Its administrator can add some.")
        return
    spoken = {code for source in offered for code in source.languages}
    language = st.selectbox(
        "Language",
        [_ALL, *sorted(spoken, key=lambda code: LANGUAGES[code][1])],
        format_func=lambda code: code if code == _ALL else LANGUAGES[code][1],
        key="catalogue language",
    )
    name = st.selectbox(
        "Source",
        [source.name for source in offered if language in (_ALL, *source.languages)],
        format_func=_source_label,
        key="catalogue source",
    )
    if name is None:
        return
    source = find_source(name)
    _facts(source)
    if not source.can_be_fetched:
        _by_hand(source)
    elif is_public() or is_downloaded(source):
        _open_downloaded(current, place, source)
    else:
        _download(source)


def _on_this_server() -> list[catalogue.CatalogueEntry]:
    """Return the sources whose files exist; their checksums are verified on opening."""
    return [source for source in SOURCES.values() if cached_path(source).is_file()]


def _source_label(name: str) -> str:
    source = find_source(name)
    return f"{source.title} · {source.language_names} · {name}"


def _facts(source: catalogue.CatalogueEntry) -> None:
    """Show the licence, size, home page, and citation."""
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
        f"You have to download this one yourself. {plain(source.by_hand)} Then open the file with "
        "the upload field for references.",
        icon=":material/info:",
    )


def _download(source: catalogue.CatalogueEntry) -> None:
    accepted = st.checkbox("I accept the licence", key=f"catalogue licence {source.name}")
    pressed = st.button(
        "Download",
        disabled=not accepted,
        icon=":material/download:",
        key="catalogue download",
        help=f"From {plain(source.url)}. Its SHA-256 is checked before it is used.",
    )
    if not (pressed and accepted):
        return
    bar = st.progress(0.0, "Downloading …")
    done = False
    with attempt():
        get(
            source.name,
            accept_licence=True,
            progress=lambda share: bar.progress(share, f"{share:.0%} downloaded"),
        )
        done = True
    bar.empty()
    if done:
        st.rerun()


def _open_downloaded(current: Session, place: str, source: catalogue.CatalogueEntry) -> None:
    if not st.button(
        "Open as reference",
        type="primary",
        icon=":material/folder_open:",
        key="catalogue open",
        help="It is downloaded. Your tokeniser and its edits stay.",
    ):
        return
    with attempt():
        path, shown = local_path(source.name), f"catalogue:{source.name}"
        kept = Source(shown, ((path.name, read_bytes(path)),), source.format)
        current.open_reference(reference_of(kept), kept)
        confirm_reference(current, place)


# ------------------------------------------------------------------------------------- to score on


_OPEN = "open"
_REFERENCES, _PREDICTIONS = "scores_references", "scores_predictions"
_MORE = "references to score on"
_ADDED, _OFFERED = "scores reference", "references offered"


def choose_references(
    current: Session, files: DeltaGenerator, waiting: Waiting
) -> dict[str, GoldSet]:
    """Return the chosen references with their word weights; at first, the open one.

    ``files``: where to add more; ``waiting``: shows progress while a large one is read.
    """
    opened = current.study.benchmark.reference.name
    more: dict[str, Reference] = st.session_state.setdefault(_MORE, {})
    with files:  # run first, so that what is added can be chosen
        _upload_reference(more, opened, waiting)
    # The next run chooses an added one, as this run may end here.
    added = [f"file {name}" for name in more if name not in st.session_state.get(_OFFERED, ())]
    if added:
        chosen = [*value_now(_REFERENCES, [_OPEN]), *added]
        st.session_state[_REFERENCES] = list(dict.fromkeys(chosen))
    labels = {_OPEN: opened}
    labels |= {f"demo {code}": f"demo:{code}" for code in DEMOS if code != current.language}
    labels |= {f"file {name}": name for name in more}
    chosen = choice(
        st.multiselect,
        "References",
        labels,
        key=_REFERENCES,
        first=[_OPEN],
        format_func=labels.__getitem__,
        help="Scores of different references are never mixed: each has rows of its own.",
    )
    st.session_state[_OFFERED] = list(more)
    return {name: _gold_set(current, name, more) for name in chosen}


def remove_reference(name: str | None) -> None:
    """Remove a reference from those scored on, or (None) cancel the upload being read.

    The first one stays in the list.
    """
    if name is None:
        clear_upload(_ADDED)
        more, offered = st.session_state[_MORE], st.session_state.get(_OFFERED, ())
        for read in [one for one in more if one not in offered]:  # removed meanwhile
            del more[read]
    set_value(_REFERENCES, [other for other in value_now(_REFERENCES, []) if other != name])


def _gold_set(current: Session, name: str, more: dict[str, Reference]) -> GoldSet:
    """Return a reference as a gold set, the same object each time, so that results are cached."""
    kind, _, rest = name.partition(" ")
    if kind == "demo":
        return _demo_gold_set(rest)
    if kind == "file":
        reference = more[rest]
        key = ("gold_set", name, Same(reference))
        return current.once(key, lambda: GoldSet.of(reference), of_files=True)
    benchmark = current.study.benchmark
    known = (benchmark.reference, benchmark.frequencies, benchmark.frequency_source)
    return current.once(("gold_set", _OPEN), lambda: GoldSet.of(*known), of_files=True)


@st.cache_resource
def _demo_gold_set(code: str) -> GoldSet:
    return GoldSet.of(demo_reference(code), wordfreq_frequencies(code), f"wordfreq:{code}")


def _upload_reference(more: dict[str, Reference], opened: str, waiting: Waiting) -> None:
    file = st.file_uploader(
        "One more gold list",
        key=upload_key(_ADDED),
        help="It is added to the list and stays closed: edits and blame stay with the open one.",
    )
    if file is None:
        return
    VISITOR.set(session().store.folder.name)  # which a fragment does not have from its page
    with attempt():
        content = content_of(file)

        def read(tell: Tell) -> None:
            found = read_reference(content, name=file.name)
            tell(1.0)
            name = unique_name(file.name, [*more, opened])
            more[name] = replace(found, name=name)
            forget_oldest(more, _MOST)

        waiting.do(("read", file.file_id), f"Reading {file.name}", read)
        clear_and_rerun(_ADDED)


def choose_predictions(files: DeltaGenerator) -> dict[str, Predictions]:
    """Return the chosen segmentation files by name; ``files``: where to add some."""
    known: dict[str, Predictions] = st.session_state.setdefault("predictions to score", {})
    with files:  # run first, so that what is added can be chosen
        _upload_predictions(known)
    if not known:
        return {}
    chosen = choice(
        st.multiselect,
        "Other programs",
        known,
        key=_PREDICTIONS,
        first=list(known),
        help="Their segmentations are scored as they are: they have no vocabulary, and a word "
        "that a file lacks is not cut.",
    )
    return {name: known[name] for name in chosen}


def _upload_predictions(known: dict[str, Predictions]) -> None:
    st.caption(
        "A word a line, as another program cut it: `word⇥un break able`, `un|break|able`, "
        "`word⇥un @@break @@able` (SIGMORPHON), or what Morfessor saves or prints."
    )
    format_ = st.selectbox(
        "Form",
        [_DETECT, *PREDICTION_FORMATS],
        format_func=lambda name: PREDICTION_FORMATS.get(name, name),
        key="predictions form",
    )
    file = st.file_uploader("Segmentations", key="predictions file")
    if file is None or st.session_state.get("predictions read") == (file.file_id, format_):
        return
    with attempt():
        named = None if format_ == _DETECT else format_
        found = read_predictions(content_of(file), name=file.name, format=named)
        others = [name for name, other in known.items() if other.checksum != found.checksum]
        name = unique_name(file.name.rsplit(".", 1)[0], others)
        known[name] = found
        forget_oldest(known, _MOST)
        st.session_state[_PREDICTIONS] = list(dict.fromkeys([*value_now(_PREDICTIONS, []), name]))
        st.session_state["predictions read"] = (file.file_id, format_)
        st.caption(f"{plain(file.name)}: {len(found):,} words.")
        for skip in found.skipped:
            st.warning(plain(f"{skip.count:,} × {skip.reason}, first on line {skip.first_line:,}."))
