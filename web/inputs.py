"""Uploads: tokenisers, references, frequencies; an error becomes a message, never a traceback."""

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.reading import check_size
from morphgraph.core.text import counted
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
_FEW = 10
"""A reference with fewer words than this is likely to have been read wrongly."""
_REASONS = 3
"""So many reasons for skipped lines stand in a warning."""


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


def skipped_lines(current: Session) -> None:
    """How many lines of the reference were skipped, by reason."""
    skipped = current.study.benchmark.reference.skipped
    if not skipped:
        return
    total = sum(skip.count for skip in skipped)
    with st.expander(
        counted(total, "line of the reference was", "lines of the reference were") + " skipped"
    ):
        st.dataframe(
            {
                "reason": [skip.reason for skip in skipped],
                "lines": [skip.count for skip in skipped],
                "first line": [skip.first_line for skip in skipped],
            },
            hide_index=True,
        )


def doubtful_reference(current: Session) -> None:
    """Warn of a reference that has next to no words, or of which most lines were skipped."""
    reference = current.study.benchmark.reference
    # A line may hold several analyses; two sheets of a workbook have the same line numbers.
    used = len({(entry.line, entry.word) for entry in reference.entries})
    total = used + sum(skip.count for skip in reference.skipped)
    if total > 2 * used:
        why = "; ".join(f"{skip.count:,} × {skip.reason}" for skip in reference.skipped[:_REASONS])
        more = "; …" if len(reference.skipped) > _REASONS else ""
        message = f"Only {used:,} of {counted(total, 'line')} could be used: {why}{more}."
    elif len(reference) < _FEW:
        message = f"The reference has only {counted(len(reference), 'word')}."
    else:
        return
    st.warning(
        f"{plain(message)} If that is not what the file holds, choose its format and encoding.",
        icon=":material/warning:",
    )
