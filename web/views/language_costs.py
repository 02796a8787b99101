"""What the words of each language cost tokenisers, and the Gini coefficients of these costs."""

from collections.abc import Mapping
from typing import get_args

import pandas as pd
import streamlit as st

from morphgraph.score.corpus_measures import CostUnit, LanguageCosts
from web import widgets as ui

_ROWS = 11


def show_language_costs(costs: Mapping[str, LanguageCosts], key: str) -> None:
    """Show the costs of several tokenisers beside one another, by a unit that can be chosen."""
    st.subheader("Parity of languages", anchor=False)
    options = {"key": f"{key}_unit", "first": "byte", "width": "content"}
    unit: CostUnit = ui.segments("Tokens per", get_args(CostUnit), **options)
    left, right = st.columns([2, 3], gap="large")
    with left:
        for label, found in costs.items():
            st.metric(f"Gini, {ui.plain(label)}", f"{found.gini(unit):.4f}")
        st.caption(
            "The Gini coefficient of what languages cost in tokens, on the words trained on: 0 if "
            "all cost the same."
        )
    frame = pd.DataFrame({label: found.costs(unit) for label, found in costs.items()})
    frame = frame.rename_axis("language").reset_index()
    digits = {label: ui.NUMBER(format="%.4f") for label in costs}
    with right:
        ui.show_table(frame, _ROWS, key=f"{key}_costs", column_config=digits)
