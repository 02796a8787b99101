"""The dashboard of scores: tokenisers by references."""

import streamlit as st

from web.bootstrap import start
from web.scores_page import scores_page

current = start("Scores")
st.title("Scores")
st.caption(
    "Any tokenisers on any references: each score with its interval and a signature that names all "
    "that it depends on, so that others can get the same number."
)
scores_page(current)
