"""Build: train a tokeniser, and run whole evaluations."""

import streamlit as st

from web.bootstrap import score_metrics, start
from web.builder.evaluate import evaluate_panel
from web.builder.train import train_panel

current = start("Build")
score_metrics(current, "build")
with st.container(key="build"):
    left, right = st.columns([43, 57], gap="large")
    with left:
        train_panel(current)
    with right:
        evaluate_panel()
