"""Plotly figures of blame and scores, from plain data.

Colours of text and paper are left to the place that shows a figure, so that it follows the theme.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from morphgraph.refine.threshold_curve import ThresholdPoint

KEPT, REMOVED = "#7f93b2", "#d9472b"
"""Merges below and above the threshold: they differ in lightness too."""

PRECISION, RECALL, F1 = "#3b7dd8", "#e08e0b", "#1d9a6c"


def plotly_text(text: str) -> str:
    """Text in which plotly finds no tags of its own.

    >>> plotly_text("<b>x</b> & y")
    '&lt;b&gt;x&lt;/b&gt; &amp; y'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def figure_of(x: str, y: str, height: int = 320) -> "go.Figure":
    """An empty figure with titled axes, in the look that all figures share."""
    import plotly.graph_objects as go

    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        xaxis={"title": {"text": x}, "automargin": True},
        yaxis={"title": {"text": y}, "automargin": True},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        bargap=0.06,
    )
    return figure


def add_score_lines(
    figure: "go.Figure", places: Sequence[Any], scores: Sequence[Any], **trace: Any
) -> None:
    """Draw the ``precision``, ``recall`` and ``f1`` of scores, in %, over places on the x axis.

    ``trace``: more properties for all three lines.
    """
    import plotly.graph_objects as go

    for name, colour, dash in (
        ("precision", PRECISION, "dash"),
        ("recall", RECALL, "dot"),
        ("f1", F1, "solid"),
    ):
        figure.add_trace(
            go.Scatter(
                x=places,
                y=[100 * getattr(score, name) for score in scores],
                name="F1" if name == "f1" else name,
                line={"color": colour, "dash": dash, "width": 3 if name == "f1" else 2},
                **trace,
            )
        )


def blame_histogram(table: "pd.DataFrame", threshold: float) -> "go.Figure":
    """How many merges have which R, in steps of 0.05; merges that were never applied are left out.

    ``table`` as from `refine.blame.blame_table`.
    """
    import plotly.graph_objects as go

    ratios = table["R"].dropna().to_numpy()
    edges = np.arange(21) / 20  # as exact as the ratios: linspace puts 0.15 below 0.15
    figure = figure_of("R, the share of joins on a gold boundary", "merges (log)")
    for name, chosen, colour in (
        ("stay", ratios[ratios < threshold], KEPT),
        (f"R ≥ {threshold:.2f}", ratios[ratios >= threshold], REMOVED),
    ):
        counts, _ = np.histogram(chosen, edges)
        figure.add_trace(
            go.Bar(
                x=(edges[:-1] + edges[1:]) / 2,
                y=counts,
                width=0.046,
                name=name,
                marker_color=colour,
                customdata=np.stack([edges[:-1], edges[1:]], axis=1),
                hovertemplate="R from %{customdata[0]:.2f} to %{customdata[1]:.2f}<br>"
                "merges: %{y:,}<extra></extra>",
            )
        )
    figure.update_layout(barmode="stack", yaxis={"type": "log", "dtick": 1})
    figure.add_vline(x=threshold, line_dash="dot", line_color=REMOVED)
    return figure


def blame_scatter(table: "pd.DataFrame", threshold: float) -> "go.Figure":
    """N against B on logarithmic axes; merges at the same place are one larger point.

    ``customdata`` of a point: the merge id of the lowest-ranked merge there, and B. Lists, not an
    array: plotly packs arrays, and what a click sends back then has no first element.
    """
    import plotly.graph_objects as go

    applied = table[table["N"] > 0]
    groups = (
        applied.groupby(["N", "B"], sort=True)
        .agg(merges=("merge_id", "size"), merge_id=("merge_id", "first"), type=("type", "first"))
        .reset_index()
    )
    ratio = groups["B"] / groups["N"]
    figure = figure_of("N, joins closed", "B + 1, of these on a gold boundary", height=420)
    for name, chosen, colour in (
        ("stay", groups[ratio < threshold], KEPT),
        (f"R ≥ {threshold:.2f}", groups[ratio >= threshold], REMOVED),
    ):
        names = [
            plotly_text(text) + (f" and {count - 1:,} more" if count > 1 else "")
            for text, count in zip(chosen["type"], chosen["merges"], strict=True)
        ]
        figure.add_trace(
            go.Scattergl(
                x=chosen["N"],
                y=chosen["B"] + 1,
                mode="markers",
                name=name,
                text=names,
                customdata=chosen[["merge_id", "B"]].to_numpy().tolist(),
                marker={
                    "color": colour,
                    "size": np.clip(5 + 3 * np.log2(chosen["merges"]), 5, 22),
                    "opacity": 0.7,
                },
                hovertemplate="%{text}<br>N %{x:,}, B %{customdata[1]:,}<extra></extra>",
            )
        )
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1)
    return figure


def blame_by_rank(table: "pd.DataFrame", threshold: float, bins: int = 100) -> "go.Figure":
    """Where in the vocabulary the blame lies: applied merges by rank, in equal bins."""
    import plotly.graph_objects as go

    figure = figure_of("position in the list of merges", "merges")
    if len(table) == 0:
        return figure
    edges = np.linspace(0, len(table), min(bins, len(table)) + 1)
    places = np.arange(len(table))
    ratio = table["R"].to_numpy()
    for name, mask, colour in (
        ("applied, stay", ratio < threshold, KEPT),
        (f"R ≥ {threshold:.2f}", ratio >= threshold, REMOVED),
    ):
        counts, _ = np.histogram(places[mask], edges)
        figure.add_trace(
            go.Bar(
                x=(edges[:-1] + edges[1:]) / 2,
                y=counts,
                width=np.diff(edges) * 0.94,
                name=name,
                marker_color=colour,
                hovertemplate="about rank %{x:,.0f}<br>merges: %{y:,}<extra></extra>",
            )
        )
    figure.update_layout(barmode="stack")
    return figure


def threshold_curves(points: Sequence["ThresholdPoint"], threshold: float) -> "go.Figure":
    """Precision, recall and F1 over thresholds, with the chosen threshold as a line."""
    figure = figure_of("threshold", "%", height=360)
    add_score_lines(
        figure,
        [point.threshold for point in points],
        points,
        mode="lines",
        customdata=[point.removed for point in points],
        hovertemplate="θ = %{x:.2f}: %{y:.2f} %<br>types removed: %{customdata:,}",
    )
    figure.update_layout(hovermode="x unified")
    figure.add_vline(x=threshold, line_dash="dot", line_color=REMOVED)
    return figure
