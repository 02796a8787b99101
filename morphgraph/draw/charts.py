"""Plotly figures of blame and of ReBPE, and the style that all figures share.

Colours of text and paper are left to the place that shows a figure, so that it follows the theme.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from morphgraph.core.errors import require
from morphgraph.core.text import in_percent, shortened

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from morphgraph.refine.rebpe_run import Phase

KEPT, REMOVED, THRESHOLD = "#7f93b2", "#d8263d", "#7d58e8"
"""Merges below and above the threshold, which also differ in lightness, in the crimson of the
graph; and what is chosen, in its violet.
"""
SCORE_COLOURS = {"precision": "#3b7dd8", "recall": "#e08e0b", "F1": "#1d9a6c"}
SERIES_COLOURS = (
    *("#6078f0", "#a89000", "#18a860", "#a83090"),
    *("#7890d8", "#187860", "#786018", "#4848f0"),
)
"""Colours of tokenisers: far from each other for colour-blind readers too, none of them the red of
blame, and each with a contrast of 3:1 and more on white and on the app's dark paper.
"""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "12px,3px", "3px,9px")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "star", "x")
GRID = "rgba(128, 128, 128, 0.3)"
ROOM = {"l": 8, "r": 36, "t": 28, "b": 8}
"""In pixels; at the right is room for the button that saves a picture."""
LOG = {"type": "log", "dtick": 1, "exponentformat": "SI"}


class SeriesLook(NamedTuple):
    """The look of a tokeniser's series; lines and points also differ without colours."""

    colour: str
    dash: str
    symbol: str


def look_of(number: int) -> SeriesLook:
    """Return the look of the tokeniser at an index from 0; colours repeat with other marks."""
    around, place = divmod(number, len(SERIES_COLOURS))
    other = (number + around) % len(_DASHES)
    return SeriesLook(SERIES_COLOURS[place], _DASHES[other], _SYMBOLS[other])


def plotly_text(text: str) -> str:
    """Escape text that plotly would read as tags.

    >>> plotly_text("<b>x</b> & y")
    '&lt;b&gt;x&lt;/b&gt; &amp; y'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short_label(text: str, length: int = 36) -> str:
    """Return a label on one line, shortened and escaped for plotly.

    >>> short_label("<b>demo</b>", 5)
    '&lt;b&gt;d…'
    """
    return plotly_text(shortened(" ".join(text.split()), length))


def figure_of(x: str, y: str, height: int = 320) -> go.Figure:
    """Return an empty figure with titled axes, in the style that all figures share."""
    require("A chart", "plotly")
    import plotly.graph_objects as go

    figure = go.Figure()
    titles = {"xaxis_title_text": x, "yaxis_title_text": y}
    return figure.update_layout(height=height, template=template(), margin=ROOM, **titles)


def template() -> go.layout.Template:
    """Return what all figures share."""
    import plotly.graph_objects as go

    axis = {"automargin": True, "gridcolor": GRID}
    layout = {
        "xaxis": axis,
        "yaxis": axis,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "colorway": SERIES_COLOURS,
        "bargap": 0.06,
    }
    return go.layout.Template(layout=layout)


# ------------------------------------------------------------------------------------------- blame


def blame_histogram(table: pd.DataFrame, threshold: float) -> go.Figure:
    """Draw how many applied merges have which R, in steps of 0.05."""
    edges = np.arange(21) / 20  # as exact as the ratios: linspace would put 0.15 below 0.15
    figure = figure_of("blame: the share of joins on a gold boundary", "merges (log)")
    ratios = table["R"].dropna().to_numpy()
    to_blame = ratios >= threshold
    for name, chosen, colour in (
        ("stay", ~to_blame, KEPT),
        (f"blame ≥ {in_percent(threshold, 0)}", to_blame, REMOVED),
    ):
        figure.add_bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=np.histogram(ratios[chosen], edges)[0],
            width=np.diff(edges) * 0.94,
            name=name,
            marker_color=colour,
            customdata=np.stack([edges[:-1], edges[1:]], axis=1),
            hovertemplate="blame from %{customdata[0]:.0%} to %{customdata[1]:.0%}<br>"
            "merges: %{y:,}<extra></extra>",
        )
    look = {"yaxis": {"type": "log", "dtick": 1}, "xaxis_tickformat": ".0%", "barmode": "stack"}
    figure.update_layout(**look)
    figure.add_vline(x=threshold, line_dash="dot", line_color=THRESHOLD)
    return figure


# ---------------------------------------- ReBPE, after Bauwens & de Lhoneux 2026, Figures 3 and 4


def phase_label(phase: Phase) -> str:
    """Name a phase briefly: ``start``, ``anneal``, ``1 knockout``, ``1 reify``."""
    kind = phase_colour(phase)
    return kind if kind in ("start", "anneal") else f"{phase.iteration} {kind}"


def phase_colour(phase: Phase) -> str:
    """Return the colour key of a phase: its kind, or ``repair`` if it only repaired."""
    only_repaired = phase.kind == "reify" and set(phase.counts) == {"repaired"}
    return "repair" if only_repaired else phase.kind
