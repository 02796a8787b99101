"""The start page: what is open, how good it is, and other files to open."""

from collections.abc import Mapping

import streamlit as st

from morphgraph.core.text import counted, shortened
from morphgraph.segment.bte import Bte
from morphgraph.tokeniser.loading import lists_merges
from morphgraph.tokeniser.words import Segmenter
from web.bootstrap import PAGES, start
from web.inputs import catalogue_panel, content_of, reference_upload, taken, upload_key
from web.method_picker import add_model
from web.scoreboard import (
    doubtful_reference,
    reference_in_another_language,
    score_metrics,
    skipped_lines,
)
from web.session import Session, Source, uploaded_model
from web.text import plain
from web.widgets import attempt

_FIELD = "tokeniser"
_ADDED = "models opened as tokenisers"
_PLACES = {label: (page, icon) for page, label, icon in PAGES}


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
        "look at or edit. It is now among the methods of Compare and Scores; the open tokeniser "
        "stays open.",
        icon=":material/check_circle:",
    )
    with st.container(horizontal=True):
        for label in ("Compare", "Scores"):
            page, icon = _PLACES[label]
            st.page_link(page, label=label, icon=icon)


current = start("Start")
study = current.study

st.title("Where does this tokeniser cut across morphemes?")
st.write(
    "A BPE tokeniser learns its merges by frequency alone, so tokens often glue half of one "
    "morpheme to half of the next. Find the merges that are to blame, knock them out, and watch "
    "the scores."
)

with st.container(border=True):
    score_metrics(current, "start")
    st.caption(
        f"Tokeniser **{plain(shortened(study.tokeniser.name, 60))}** on reference "
        f"**{plain(shortened(study.benchmark.reference.name, 60))}** "
        f"({counted(len(study.benchmark.reference), 'word')})"
    )
    for warning in study.tokeniser.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    doubtful_reference(current)
    reference_in_another_language(current)
    skipped_lines(current)

CARDS = {
    "Merge graph": (
        "Look at a type, the merges that make it, and what is made from it. Click to remove.",
        "Browse the graph",
    ),
    "Blame": (
        "See which merges close gold boundaries, and knock out all above a threshold.",
        "Find the culprits",
    ),
    "ReBPE": (
        "Anneal, knock out, repair and reify, step by step, until nothing is left to mend.",
        "Run the whole remedy",
    ),
    "Train": (
        "Train BPE, one of its relatives, or Unigram, on words of your own or of a language.",
        "Train your own",
    ),
    "Compare": (
        "Every method of the literature beside the gold, on your own words.",
        "See them side by side",
    ),
    "Scores": (
        "Every score with interval, test and signature, for your own references and your paper.",
        "Read the scores",
    ),
    "Vocabulary": (
        "Types that are never used, unreachable or duplicates, and how well a corpus compresses.",
        "Look over the types",
    ),
    "Batch": (
        "Whole evaluations from one file, in the background: a grid of cells, tables and a report.",
        "Run an evaluation",
    ),
    "Export": (
        "A tokeniser that transformers loads, compared with this app on 10,000 words first.",
        "Export it",
    ),
}
"""What each page is for, and what its link says, by its name."""
with st.container(key="card-grid"):
    for number, (title, (text, label)) in enumerate(CARDS.items()):
        if number % 3 == 0:
            columns = st.columns(3)
        with columns[number % 3].container(border=True, height="stretch"):
            st.subheader(title, anchor=False)
            st.write(text)
            page, icon = _PLACES[title]
            st.page_link(page, label=label, icon=icon)

st.subheader("Open your own files")
left, right = st.columns(2)
with left.container(border=True, height="stretch"):
    tokeniser_upload(current)
with right.container(border=True, height="stretch"):
    reference_upload(current)
    with st.expander("Public references", icon=":material/cloud_download:"):
        catalogue_panel(current)
st.caption("Files stay on this machine.")
