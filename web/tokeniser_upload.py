"""The upload field for tokenisers: whatever is in the file opens as what it is."""

from collections.abc import Mapping

import streamlit as st

from morphgraph.core.text import shortened
from morphgraph.segment.bte import Bte
from morphgraph.segment.models import lists_merges
from morphgraph.tokeniser.segmentation import Segmenter
from web.inputs import attempt, content_of, taken, upload_key
from web.method_picker import add_model
from web.session import Session, Source, uploaded_model
from web.text import plain

_FIELD = "tokeniser"
_ADDED = "models opened as tokenisers"
_PAGES = (
    ("pages/9_Compare.py", "Compare", ":material/compare_arrows:"),
    ("pages/5_Scores.py", "Scores", ":material/monitoring:"),
)


def tokeniser_upload(current: Session) -> None:
    """Upload a tokeniser, as one file or two, and open it.

    What has no merges has no merge graph: it becomes one of the methods on Compare and Scores.
    """
    files = st.file_uploader(
        "Tokeniser",
        type=["json", "txt", "model"],
        accept_multiple_files=True,
        key=upload_key(_FIELD),
        help="A Hugging Face tokenizer.json, vocab.json and merges.txt together, a SentencePiece "
        "model, a model that Train saved, or a vocabulary with one type a line.",
    )
    if not files:
        return
    contents: dict[str, bytes] = {}
    if not attempt(lambda: contents.update({file.name: content_of(file) for file in files})):
        return
    other = _other_half(contents)
    if other:
        st.info(f"Add {other} to the same field: the two belong together.")
        return
    found: list[Segmenter] = []
    if not attempt(lambda: found.append(uploaded_model(contents))):
        return
    if type(found[0]) is not Bte:
        _use_as_model(found[0], files[0].name, files[0].file_id)
        return
    tokeniser = found[0].tokeniser.fork()
    source = Source(tokeniser.name, tuple(contents.items()))
    if attempt(lambda: current.open_tokeniser(tokeniser, source)):
        taken(_FIELD)
        st.rerun()


def _other_half(contents: Mapping[str, bytes]) -> str:
    """The file that is missing where only a vocab.json, or only merges, were chosen."""
    if len(contents) > 1:
        return ""
    ((name, data),) = contents.items()
    if name.lower().endswith("vocab.json"):
        return "merges.txt"
    return "vocab.json" if name.lower().endswith(".txt") and lists_merges(data) else ""


def _use_as_model(model: Segmenter, name: str, file: str) -> None:
    """Put a model that merges alone do not make among the methods, and say where to find it."""
    if st.session_state.get(_ADDED) != file:
        st.session_state[_ADDED] = file
        add_model(name, model, ("compare", "scores"))
    st.success(
        f"{plain(shortened(name, 60))} holds {model.vocabulary_size:,} types for "
        f"{plain(model.name)}, which does not cut by merges alone: there is no merge graph to look "
        "at or to edit. It is now among the methods of Compare and Scores; the open tokeniser "
        "stays open.",
        icon=":material/check_circle:",
    )
    with st.container(horizontal=True):
        for page, label, icon in _PAGES:
            st.page_link(page, label=label, icon=icon)
