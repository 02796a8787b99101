"""The start page: what is open, how good it is, and other files to open."""

import streamlit as st

from morphgraph.core.text import counted, shortened
from web.bootstrap import start
from web.catalogue_panel import catalogue_panel
from web.inputs import doubtful_reference, reference_upload, skipped_lines
from web.languages import reference_in_another_language
from web.scoreboard import score_metrics
from web.text import plain
from web.tokeniser_upload import tokeniser_upload

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

CARDS = (
    (
        "Merge graph",
        "Look at a type, the merges that make it, and what is made from it. Click to remove.",
        ("pages/1_Merge_graph.py", "Browse the graph", ":material/hub:"),
    ),
    (
        "Blame",
        "See which merges close gold boundaries, and knock out all above a threshold.",
        ("pages/3_Blame.py", "Find the culprits", ":material/gavel:"),
    ),
    (
        "ReBPE",
        "Anneal, knock out, repair and reify, step by step, until nothing is left to mend.",
        ("pages/4_ReBPE.py", "Run the whole remedy", ":material/autorenew:"),
    ),
    (
        "Train",
        "Train BPE, one of its relatives, or Unigram, on words of your own or of a language.",
        ("pages/8_Train.py", "Train your own", ":material/model_training:"),
    ),
    (
        "Compare",
        "Every method of the literature beside the gold, on your own words.",
        ("pages/9_Compare.py", "See them side by side", ":material/compare_arrows:"),
    ),
    (
        "Scores",
        "Every score with interval, test and signature, for your own references and your paper.",
        ("pages/5_Scores.py", "Read the scores", ":material/monitoring:"),
    ),
    (
        "Vocabulary",
        "Types that are never used, unreachable or duplicates, and how well a corpus compresses.",
        ("pages/10_Vocabulary.py", "Look over the types", ":material/menu_book:"),
    ),
    (
        "Batch",
        "Whole evaluations from one file, in the background: a grid of cells, tables and a report.",
        ("pages/11_Batch.py", "Run an evaluation", ":material/batch_prediction:"),
    ),
    (
        "Export",
        "A tokeniser that transformers loads, compared with this app on 10,000 words first.",
        ("pages/7_Export.py", "Export it", ":material/download:"),
    ),
)
with st.container(key="card-grid"):
    for row in (CARDS[:3], CARDS[3:6], CARDS[6:]):
        for column, (title, text, (page, label, icon)) in zip(st.columns(3), row, strict=True):
            with column.container(border=True, height="stretch"):
                st.subheader(title, anchor=False)
                st.write(text)
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
