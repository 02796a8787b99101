"""What the words of each language cost tokenisers: Lorenz curves and Gini coefficients."""

from collections.abc import Mapping
from typing import get_args

import streamlit as st

from morphgraph.draw.charts import lorenz_lines
from morphgraph.score.corpus_measures import CostUnit, LanguageCosts
from web import widgets as ui


def language_parity(costs: Mapping[str, LanguageCosts], key: str) -> None:
    """Show the costs of several tokenisers beside one another, by a unit that can be chosen."""
    st.subheader("Parity of languages", anchor=False)
    how = {"key": f"{key}_unit", "first": "byte", "width": "content"}
    unit: CostUnit = ui.segments("Tokens per", get_args(CostUnit), **how)
    left, right = st.columns([2, 3], gap="large")
    with left:
        for label, found in costs.items():
            st.metric(f"Gini, {ui.plain(label)}", f"{found.gini(unit):.4f}")
        st.caption(
            "The Gini coefficient of what languages cost in tokens, on the words trained on: 0 if "
            "all cost the same. It is twice the area between the curve and the diagonal."
        )
    drawn = lorenz_lines({label: found.costs(unit) for label, found in costs.items()})
    with right:
        ui.chart(drawn, f"{key} lorenz curve")
