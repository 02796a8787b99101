"""Build: train a tokeniser, and run whole evaluations."""

import streamlit as st

from web.bar import score_metrics
from web.bootstrap import start
from web.builder.evaluate import evaluate_panel
from web.builder.train import train_panel

current = start("Build")
score_metrics(current, "build")
with st.container(key="build"):
    left, right = st.columns([43, 57], gap="large")
    with right:  # first, as the other one waits for what is trained
        evaluate_panel()
    with left:
        train_panel(current)
