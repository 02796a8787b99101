"""Uploads: tokenisers, references, frequencies; an error becomes a message, never a traceback."""

from collections.abc import Callable

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from morphgraph.errors import MorphGraphError
from morphgraph.reading import check_size
from morphgraph.reference import FORMATS, read_reference
from web.session import Session, uploaded_tokeniser, wordfreq_frequencies, wordfreq_languages
from web.text import plain

_DETECT = "detect"


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


def tokeniser_upload(current: Session) -> None:
    """Upload a tokeniser, as one file or two, and open it."""
    files = st.file_uploader(
        "Tokeniser",
        type=["json", "txt"],
        accept_multiple_files=True,
        key=f"tokeniser upload {current.study_number}",
        help="A Hugging Face tokenizer.json, or vocab.json and merges.txt together (BPE).",
    )
    if not files:
        return
    if len(files) == 1 and files[0].name.lower().endswith(("vocab.json", ".txt")):
        other = "merges.txt" if files[0].name.lower().endswith(".json") else "vocab.json"
        st.info(f"Add {other} to the same field: the two belong together.")
        return

    def open_it() -> None:
        contents = {file.name: content_of(file) for file in files}
        current.open_tokeniser(uploaded_tokeniser(contents))

    if attempt(open_it):
        st.rerun()


def reference_upload(current: Session) -> None:
    """Upload a reference, in a detected or chosen format, and open it."""
    format_ = st.selectbox(
        "Format",
        [_DETECT, *FORMATS],
        format_func=lambda name: "detect" if name == _DETECT else FORMATS[name],
        key="reference format",
        help="Detected from the content. Choose one if the detection is wrong.",
    )
    file = st.file_uploader(
        "Reference",
        key=f"reference upload {current.study_number}",
        help="A morphologically segmented word list: plain, CELEX, MorphyNet, UniMorph, SIGMORPHON "
        "2022, UniSegments, MorphoLex, LADEC or Morpho Challenge.",
    )
    if file is None:
        return

    def open_it(file: UploadedFile = file) -> None:
        chosen = None if format_ == _DETECT else format_
        current.open_reference(read_reference(file.getvalue(), name=file.name, format=chosen))

    if attempt(open_it):
        st.rerun()


def frequency_choice(current: Session) -> None:
    """Choose where word frequencies come from: nowhere, wordfreq, or a file."""
    benchmark = current.study.benchmark
    st.caption(f"Frequencies: {plain(benchmark.frequency_source or 'none')}")
    languages = wordfreq_languages()
    chosen = st.selectbox(
        "From wordfreq",
        [None, *languages],
        format_func=lambda code: "choose a language" if code is None else code,
        key=f"wordfreq {current.study_number}",
    )
    if chosen is not None and benchmark.frequency_source != f"wordfreq:{chosen}":
        current.use_frequencies(wordfreq_frequencies(chosen), f"wordfreq:{chosen}")
        st.rerun()
    file = st.file_uploader(
        "Or from a file",
        key=f"frequency upload {current.study_number}",
        help="One word a line: the word, a tab or a space, and its count.",
    )
    if file is None:
        return

    def use_it(file: UploadedFile = file) -> None:
        from morphgraph.train.counts import parse_word_counts

        counts = parse_word_counts(content_of(file), file.name)
        current.use_frequencies(dict(counts.items()), file.name)

    if attempt(use_it):
        st.rerun()


def skipped_lines(current: Session) -> None:
    """How many lines of the reference were skipped, by reason."""
    skipped = current.study.benchmark.reference.skipped
    if not skipped:
        return
    total = sum(skip.count for skip in skipped)
    with st.expander(f"{total:,} lines of the reference were skipped"):
        st.dataframe(
            {
                "reason": [skip.reason for skip in skipped],
                "lines": [skip.count for skip in skipped],
                "first line": [skip.first_line for skip in skipped],
            },
            hide_index=True,
        )
