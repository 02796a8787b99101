"""The start page: what is open, how good it is, and other files to open."""

import streamlit as st

from morphgraph.text import shortened
from web.bootstrap import start
from web.inputs import reference_upload, skipped_lines, tokeniser_upload
from web.scoreboard import score_metrics
from web.text import plain

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
        f"({len(study.benchmark.reference):,} words)"
    )
    for warning in study.tokeniser.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    skipped_lines(current)

graph, blame, scores = st.columns(3)
with graph.container(border=True, height="stretch"):
    st.subheader("Merge graph")
    st.write("Look at a type, the merges that make it, and what is made from it. Click to remove.")
    st.page_link("pages/1_Merge_graph.py", label="Browse the graph", icon=":material/hub:")
with blame.container(border=True, height="stretch"):
    st.subheader("Blame")
    st.write("See which merges close gold boundaries, and knock out all above a threshold.")
    st.page_link("pages/3_Blame.py", label="Find the culprits", icon=":material/gavel:")
with scores.container(border=True, height="stretch"):
    st.subheader("Scores")
    st.write("Precision, recall and F1 with their counts, for your own reference and your paper.")
    st.page_link("pages/5_Scores.py", label="Read the scores", icon=":material/monitoring:")

st.subheader("Open your own files")
left, right = st.columns(2)
with left.container(border=True, height="stretch"):
    tokeniser_upload(current)
with right.container(border=True, height="stretch"):
    reference_upload(current)
st.caption("Files stay on this machine.")
