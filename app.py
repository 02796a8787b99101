"""The start page: one word, how it is cut, and the click that mends it; then where to go on."""

from collections.abc import Mapping

import streamlit as st

from morphgraph.core.text import shortened
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.loading import lists_merges
from morphgraph.tokeniser.words import Segmenter
from web.bootstrap import PAGES, start
from web.inputs import catalogue_panel, content_of, reference_upload, taken, upload_key
from web.method_picker import add_model
from web.reopening import keep_session
from web.scoreboard import (
    doubtful_reference,
    reference_in_another_language,
    score_metrics,
    skipped_lines,
)
from web.session import Session, Source, uploaded_model
from web.text import plain
from web.views.first_look import first_look
from web.widgets import attempt

_FIELD = "tokeniser"
_ADDED = "models opened as tokenisers"


def tokeniser_upload(current: Session) -> None:
    """Upload a tokeniser, as one file or two, and open it.

    What has no merges has no merge graph: it becomes a method on Segmentations and Scores.
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
    with attempt():
        contents = {file.name: content_of(file) for file in files}
        other = _other_half(contents)
        if other:
            st.info(f"Add {other} to the same field: the two belong together.")
            return
        found = uploaded_model(contents)
        if type(found) is not Bte:
            _use_as_model(found, files[0].name, files[0].file_id)
            return
        tokeniser = found.tokeniser.fork()
        current.open_tokeniser(tokeniser, Source(tokeniser.name, tuple(contents.items())))
        taken(_FIELD)


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
        f"{plain(model.name)}, which does not segment by merges alone, so it has no merge graph to "
        "look at or edit. It is now among the methods of Segmentations and Scores; the open "
        "tokeniser stays open.",
        icon=":material/check_circle:",
    )
    with st.container(horizontal=True):
        for label, (page, icon) in PAGES["Compare"].items():
            st.page_link(page, label=label, icon=icon)


DOORS = {
    "Explore": (
        "Browse the merge graph, watch a word's tree grow, see which merges are to blame.",
        "Open the merge graph",
    ),
    "Repair": (
        "BPE-knockout and ReBPE, step by step; then export what transformers loads.",
        "Run ReBPE",
    ),
    "Compare": (
        "BPE, dropout, trimmed, Picky, FLOTA and more side by side, with intervals.",
        "Compare methods",
    ),
    "Build": (
        "Train BPE or one of its relatives, and run whole evaluations from one file.",
        "Train your own",
    ),
}
"""What each group of pages is for, and what its first page does."""


@st.fragment
def first_screen(current: Session) -> None:
    """The word and its worst merge; a fragment, so that typing draws nothing else anew."""
    score_metrics(current, "start")
    with st.container(border=True, key="first-look"):
        first_look(current)
    keep_session(current)


current = start("Start")
st.title("Where does this tokeniser cut across morphemes?")
st.write(
    "Type a word, or paste a text. Red lines are morpheme boundaries that a token covers. Remove "
    "the merge that covered one, and watch every word change."
)
for warning in current.study.tokeniser.warnings:
    st.warning(plain(warning), icon=":material/warning:")
doubtful_reference(current)
reference_in_another_language(current)
first_screen(current)

for column, (title, (text, first)) in zip(st.columns(len(DOORS)), DOORS.items(), strict=True):
    with column.container(border=True, height="stretch"):
        st.markdown(f"#### {title}")
        st.caption(text)
        page, icon = next(iter(PAGES[title].values()))
        st.page_link(page, label=first, icon=icon)

st.subheader("Open your own files")
left, right = st.columns(2)
with left.container(border=True, height="stretch"):
    tokeniser_upload(current)
with right.container(border=True, height="stretch"):
    reference_upload(current)
    with st.expander("Public references", icon=":material/cloud_download:"):
        catalogue_panel(current)
skipped_lines(current)
st.caption("Files stay on this machine.")
