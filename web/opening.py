"""What is open, and how to open something else: a demo, or the user's own files."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from morphgraph.core.files import DEMOS
from morphgraph.core.text import counted, shortened
from morphgraph.segment.segmenter import Segmenter
from morphgraph.tokeniser.loading import fitting_name, lists_merges
from web.bootstrap import PAGES
from web.inputs import catalogue_panel, clear_and_rerun, content_of, reference_upload, upload_key
from web.method_picker import add_model
from web.sources import Source, demo_name, uploaded_model
from web.state import Session
from web.text import plain
from web.widgets import attempt

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_FIELD = "tokeniser"
_ADDED = "models opened as tokenisers"
_UPLOADS = "uploads of tokenisers"


def what_is_open(current: Session, place: str) -> None:
    """Show the open tokeniser and reference; a click on one replaces them.

    ``place`` is a name that keeps the widgets of pages apart.
    """
    study = current.study
    gold = study.benchmark.reference
    opened: dict[str, tuple[str, Callable[[Session], None]]] = {
        "tokeniser": (study.tokeniser.name, tokeniser_upload),
        "reference": (gold.name, partial(_open_reference, place=place)),
    }
    for kind, (name, upload) in opened.items():
        # Drawn only when opened, as most never are.
        with st.popover(
            f"{kind} **{plain(shortened(name, 20))}**",
            type="tertiary",
            key=f"open {kind} {place} {current.study_number}",
            on_change="rerun",
            help=f"{name}: open another {kind}",
        ) as opening:
            if not opening.open:
                continue
            if kind == "reference":
                st.caption(counted(len(gold), "word"))
            if place == "start":
                st.caption("Open your own files at the bottom of this page.")
            else:
                upload(current)
            st.caption("Or a demo: a tokeniser of 8,000 types and its gold list.")
            with st.container(horizontal=True):
                for code in DEMOS:
                    if st.button(
                        demo_name(code),
                        key=f"demo {code} as {kind} {place}",
                        disabled=code == current.language,
                    ):
                        current.open_demo(code)
                        st.rerun()


def _open_reference(current: Session, place: str) -> None:
    reference_upload(current, place)
    with st.expander("Public references", icon=":material/cloud_download:"):
        catalogue_panel(current, place)


def tokeniser_upload(current: Session) -> None:
    """Upload a tokeniser, as one file or two, and open it; each upload is judged on its own.

    A file without merges has no merge graph: it becomes a method on Segmentations and Scores.
    """
    uploaded = st.file_uploader(
        "Tokeniser",
        type=["json", "txt", "model"],
        accept_multiple_files=True,
        key=upload_key(_FIELD),
        help="A Hugging Face tokenizer.json, vocab.json and merges.txt together, a SentencePiece "
        "model, a model that Train saved, or a vocabulary with one type a line.",
    )
    if not uploaded:
        return
    files = _last_upload(uploaded)
    with attempt():
        contents = {file.name: content_of(file) for file in files}
        missing = _other_half(contents)
        if missing:
            st.info(missing)
            return
        found = uploaded_model(contents)
        if found.editable is None:
            _use_as_model(found, files[0].name, files[0].file_id)
            return
        tokeniser = found.editable.fork()
        current.open_tokeniser(tokeniser, Source(tokeniser.name, tuple(contents.items())))
        clear_and_rerun(_FIELD)


def _last_upload(files: "Sequence[UploadedFile]") -> "list[UploadedFile]":
    """Return the latest simultaneous uploads, with the half that was waiting for one of them.

    Earlier files remain in the field but are not part of these.
    """
    before: dict[str, int] = st.session_state.get(_UPLOADS, {})
    newest = max(before.values(), default=0) + 1
    numbers = {file.file_id: before.get(file.file_id, newest) for file in files}
    st.session_state[_UPLOADS] = numbers
    last = [file for file in files if numbers[file.file_id] == max(numbers.values())]
    if len(last) == 1:
        waiting = [file for file in files if file.name == fitting_name(last[0].name)]
        last += waiting[-1:]
    return last


def _other_half(contents: Mapping[str, bytes]) -> str:
    """Explain what to do if only a vocab.json, or only merges, were chosen."""
    if len(contents) > 1:
        return ""
    ((name, data),) = contents.items()
    is_half = lists_merges(data) if name.endswith(".txt") else name.endswith("vocab.json")
    if not is_half:
        return ""
    other = fitting_name(name)
    if other:
        return f"Add {plain(other)} to the same field: the two belong together."
    return f"Add vocab.json, and {plain(name)} again as merges.txt: two files whose names fit."


def _use_as_model(model: Segmenter, name: str, file: str) -> None:
    """Add a model that merges alone do not define to the methods, and say where to find it."""
    if st.session_state.get(_ADDED) != file:
        st.session_state[_ADDED] = file
        add_model(name, model, ("compare", "scores"))
    st.success(
        f"{plain(shortened(name, 60))} holds {model.vocabulary_size:,} types for "
        f"{plain(model.name)}, which does not segment by merges alone, so it has no merge graph to "
        "look at or edit. It is now among the methods of Segmentations and Scores; the open "
        "tokeniser stays open.",
        icon=":material/check_circle:",
    )
    with st.container(horizontal=True):
        for label, (page, icon) in PAGES["Compare"].items():
            st.page_link(page, label=label, icon=icon)
