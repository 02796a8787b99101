"""The chart of under-trained types."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from morphgraph.core.text import shortened
from morphgraph.draw.charts import LOG, ROOM, look_of, plotly_text, template

_MOST_DRAWN = 4000
"""The largest number of rows of one kind drawn, evenly spread over the ids."""
_ONLY_HERE = "only_here"
"""What is drawn around types that another tokeniser does not have."""
_NEVER = 0.5
"""The position of types that are no token of the corpus, on an axis without 0."""


def undertrained_points(
    frame: pd.DataFrame, ranked_by: str, kinds: Mapping[str, str], against: str = ""
) -> Any:
    """Draw norms and ranking distances against frequency, or by id without a corpus.

    ``kinds``: those of types, with descriptions; ordinary types are the last. Under-trained rows
    are low in all charts; types that are no token stand at the left. Types that the tokeniser
    ``against`` does not have are in a ring (Chizhov et al. 2024, Figures 3 and 5).
    """
    from plotly.subplots import make_subplots

    shown = dict.fromkeys(("input_norm", "output_norm", ranked_by))
    values = [name for name in shown if name in frame.columns]
    has_counts = bool(frame["count"].notna().any())
    figure = make_subplots(len(values), 1, shared_xaxes=True, vertical_spacing=0.05)
    # The many ordinary types come first, so that they hide no others.
    drawn = [(number, kind, frame[frame["kind"] == kind]) for number, kind in enumerate(kinds)]
    if against:
        drawn.insert(0, (len(kinds), _ONLY_HERE, frame[frame["only_here"] == "yes"]))
        kinds = {**kinds, _ONLY_HERE: f"not in {against}"}
    for number, kind, rows in reversed(drawn):
        if len(rows) > _MOST_DRAWN:
            chosen = np.linspace(0, len(rows) - 1, _MOST_DRAWN)
            rows = rows.iloc[np.unique(chosen.astype(np.int64))]
        if not len(rows):
            continue
        look, symbol, size = look_of(number), look_of(number).symbol, 5
        if kind == _ONLY_HERE:
            symbol, size = "circle-open", 10
        opacity = 0.4 if kind == "ordinary" else 1.0
        for place, value in enumerate(values, start=1):
            figure.add_scatter(
                x=rows["count"].fillna(0).clip(lower=_NEVER) if has_counts else rows["id"],
                y=rows[value],
                mode="markers",
                name=kinds[kind],
                legendgroup=kind,
                showlegend=place == 1,
                text=[plotly_text(shortened(text) or "no type") for text in rows["type"]],
                customdata=rows[["id", "count"]],
                marker={
                    "color": look.colour,
                    "symbol": symbol,
                    "size": size,
                    "opacity": opacity,
                },
                hovertemplate="%{text}<br>id %{customdata[0]:,}, tokens: %{customdata[1]:,}"
                "<br>%{y:.4f}",
                row=place,
                col=1,
            )
    for place, value in enumerate(values, start=1):
        role, _, measure = value.partition("_")
        title = f"norm of the {role} row" if measure == "norm" else "distance from unused rows"
        figure.update_yaxes(title=title, row=place, col=1)
    figure.update_xaxes(**(LOG if has_counts else {}))
    title = "tokens in the corpus (log)" if has_counts else "id"
    figure.update_xaxes(title=title, row=len(values), col=1)
    return figure.update_layout(height=300 * len(values) + 120, template=template(), margin=ROOM)
