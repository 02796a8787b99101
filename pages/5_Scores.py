"""The dashboard of scores for a reference."""

import streamlit as st

from morphgraph.evaluate.tables import to_csv, to_latex
from web.bootstrap import start
from web.inputs import frequency_choice, reference_upload, skipped_lines
from web.scoreboard import score_table, worst_words

current = start("Scores")
study = current.study
st.title("Scores")

upload, frequencies = st.columns(2)
with upload.expander("Another reference", icon=":material/upload_file:"):
    reference_upload(current)
with frequencies.expander("Word frequencies, for scores over tokens", icon=":material/bar_chart:"):
    frequency_choice(current)

score_table(study)
skipped_lines(current)

signature = study.benchmark.signature(study.tokeniser)
st.code(signature, language=None, wrap_lines=True)
edited = bool(study.graph.history)
latex = to_latex(study.now.scores, signature, study.start.scores if edited else None)
csv_column, latex_column, _ = st.columns([2, 2, 6])
csv_column.download_button(
    "CSV",
    to_csv(study.now.scores, signature),
    file_name="scores.csv",
    mime="text/csv",
    icon=":material/download:",
    width="stretch",
    on_click="ignore",
)
latex_column.download_button(
    "LaTeX",
    latex,
    file_name="scores.tex",
    mime="application/x-tex",
    icon=":material/download:",
    width="stretch",
    on_click="ignore",
)

worst_words(study)
