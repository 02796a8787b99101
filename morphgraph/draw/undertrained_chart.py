"""The chart of under-trained types: their rows against their frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from morphgraph.core.text import shortened
from morphgraph.draw.charts import GRID, look_of, plotly_text
from morphgraph.models.undertrained_types import TYPE_KINDS, UndertrainedTypes

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

MOST_DRAWN = 4000
"""The largest number of rows of one kind drawn, evenly spread over the ids."""
_NEVER = 0.5
"""The position of types that are no token of the corpus, on an axis without 0."""
_TITLES = {
    "input_norm": "norm of the input row",
    "output_norm": "norm of the output row",
    "input_cosine": "distance from unused rows",
    "input_euclidean": "distance from unused rows",
}


def undertrained_points(found: UndertrainedTypes) -> go.Figure:
    """Draw norms and ranking distances against frequency, or by id without a corpus.

    One chart is below the other, with a colour and sign for each kind; under-trained rows are low
    in both. Types that are no token of the corpus stand at the left, at a half.
    """
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    frame = found.frame
    shown = ["input_norm", "output_norm", found.ranked_by]
    values = [name for name in dict.fromkeys(shown) if name in frame.columns]
    has_counts = bool(frame["count"].notna().any())
    figure = make_subplots(len(values), 1, shared_xaxes=True, vertical_spacing=0.05)
    # The many ordinary types come first, so that they hide no others.
    for look, kind in reversed(list(enumerate(TYPE_KINDS))):
        rows = _drawn(frame[frame["kind"] == kind])
        if not len(rows):
            continue
        names = [plotly_text(shortened(text) or "no type") for text in rows["type"]]
        x = rows["count"].fillna(0).clip(lower=_NEVER) if has_counts else rows["id"]
        for place, value in enumerate(values, start=1):
            points = go.Scatter(
                x=x,
                y=rows[value],
                mode="markers",
                name=TYPE_KINDS[kind],
                legendgroup=kind,
                showlegend=place == 1,
                text=names,
                customdata=rows[["id", "count"]],
                marker={"color": look_of(look).colour, "symbol": look_of(look).symbol, "size": 5}
                | {"opacity": 0.4 if kind == "ordinary" else 1.0},
                hovertemplate="%{text}<br>id %{customdata[0]:,}, tokens: %{customdata[1]:,}"
                "<br>%{y:.4f}",
            )
            figure.add_trace(points, row=place, col=1)
    for place, value in enumerate(values, start=1):
        figure.update_yaxes(title=_TITLES[value], gridcolor=GRID, row=place, col=1)
    figure.update_xaxes(gridcolor=GRID)
    title = "tokens in the corpus (log)" if has_counts else "id"
    figure.update_xaxes(title=title, row=len(values), col=1)
    if has_counts:
        figure.update_xaxes(type="log", dtick=1, exponentformat="SI")
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0}
    figure.update_layout(height=300 * len(values) + 120, legend=legend, margin={"t": 40})
    return figure


def undertrained_page(found: UndertrainedTypes) -> str:
    """Return the chart as a stand-alone page."""
    page: str = undertrained_points(found).to_html(include_plotlyjs=True, full_html=True)
    return page


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    if len(rows) <= MOST_DRAWN:
        return rows
    return rows.iloc[np.unique(np.linspace(0, len(rows) - 1, MOST_DRAWN).astype(np.int64))]
