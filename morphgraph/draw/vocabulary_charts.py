"""Plotly figures of a corpus's use of vocabularies, from plain data."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from morphgraph.core.text import shortened
from morphgraph.draw.charts import KEPT, figure_of, look_of, plotly_text
from morphgraph.score.vocabulary_figures import figure_called

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from morphgraph.score.vocabulary_health import VocabularyHealth

MOST_POINTS = 2000
_BARS = 16
"""The largest number of bars in a card."""


def sampled_ranks(types: int, most: int = MOST_POINTS) -> npt.NDArray[np.int64]:
    """Return at most ``most`` of the ranks from 1 to ``types``, evenly spaced on a log axis.

    The first and the last are always among them; all are, if there are few enough.

    >>> sampled_ranks(4), sampled_ranks(1000, 4)
    (array([1, 2, 3, 4]), array([   1,   10,  100, 1000]))
    """
    if types <= most:
        return np.arange(1, types + 1)
    return np.unique(np.rint(np.geomspace(1, types, most)).astype(np.int64))


def frequency_rank_lines(tables: Mapping[str, "pd.DataFrame"]) -> "go.Figure":
    """Draw frequency against rank on logarithmic axes, one line for each tokeniser.

    ``tables``: by label, rows most frequent first with ``type`` and ``count``, all above 0. Of a
    long one, at most `MOST_POINTS` rows are drawn.
    """
    import plotly.graph_objects as go

    figure = figure_of("rank of the type (log)", "tokens in the corpus (log)", height=420)
    for number, (label, table) in enumerate(tables.items()):
        ranks = sampled_ranks(len(table))
        chosen = table.iloc[ranks - 1]
        figure.add_trace(
            go.Scatter(
                x=ranks,
                y=chosen["count"].to_numpy(),
                mode="lines",
                name=plotly_text(shortened(label)),
                text=[plotly_text(shortened(text)) for text in chosen["type"]],
                line=_line(number),
                hovertemplate="%{text}<br>rank %{x:,}, tokens: %{y:,}",
            )
        )
    figure.update_xaxes(type="log", dtick=1, exponentformat="SI")
    figure.update_yaxes(type="log", dtick=1, exponentformat="SI")
    figure.update_layout(showlegend=True)
    return figure


def length_lines(lengths: Mapping[str, Sequence[int] | npt.NDArray[np.int64]]) -> "go.Figure":
    """Draw the share of types, in %, with 0, 1, 2 … characters, one line per tokeniser.

    ``lengths``: by label, the number of types of each length.
    """
    import plotly.graph_objects as go

    figure = figure_of("characters without the marker", "% of the types", height=420)
    for number, (label, counts) in enumerate(lengths.items()):
        found = np.asarray(counts, np.float64)
        figure.add_trace(
            go.Scatter(
                x=np.arange(len(found)),
                y=100 * found / max(1.0, found.sum()),
                mode="lines+markers",
                name=plotly_text(shortened(label)),
                line=_line(number),
                customdata=found,
                hovertemplate="characters: %{x}, types: %{customdata:,}, %{y:.2f} %",
            )
        )
    figure.update_layout(showlegend=True)
    return figure


def lorenz_lines(
    curves: Mapping[str, tuple[Any, Any]], languages: Mapping[str, Sequence[str]]
) -> "go.Figure":
    """Draw Lorenz curves of language costs, one for each tokeniser, and the diagonal.

    ``curves``: by label, cumulative shares of the languages, cheapest first, and of all costs, from
    0 to 1; ``languages``: their names, cheapest first.
    """
    import plotly.graph_objects as go

    figure = figure_of("languages, cheapest first, %", "their share of the tokens, %", height=420)
    figure.add_trace(
        go.Scatter(
            x=[0, 100],
            y=[0, 100],
            mode="lines",
            name="all cost the same",
            line={"color": KEPT, "dash": "dot", "width": 1.5},
            hoverinfo="skip",
        )
    )
    for number, (label, (shares, costs)) in enumerate(curves.items()):
        figure.add_trace(
            go.Scatter(
                x=100 * np.asarray(shares),
                y=100 * np.asarray(costs),
                mode="lines+markers",
                name=plotly_text(shortened(label)),
                line=_line(number),
                customdata=["", *(_and_cheaper(name) for name in languages[label])],
                hovertemplate="%{customdata}%{x:.1f} % of the languages have "
                "%{y:.1f} % of the tokens",
            )
        )
    figure.update_layout(showlegend=True)
    return figure


def _and_cheaper(language: str) -> str:
    return f"{plotly_text(shortened(language))} and cheaper:<br>"


def _line(number: int) -> dict[str, object]:
    look = look_of(number)
    return {"color": look.colour, "dash": look.dash, "width": 2.5}


def card_bars(health: "VocabularyHealth", key: str) -> list[float]:
    """Return the heights of a few bars on the distribution behind a figure; maybe none.

    Single-use chains by their number of links, tokens of the corpus by their length in characters
    (``fertility``), the logarithm of the use of types by rank (``renyi``), and the types behind
    other figures by their length.
    """
    bodies, found = health.inventory.bodies, health.compression
    if key in ("fertility", "renyi"):
        if found is None:
            return []
        if key == "renyi":
            used = -np.sort(-found.counts[found.counts > 0])
            heights = np.log10(used[sampled_ranks(len(used), _BARS) - 1] + 1) if len(used) else used
            return [float(height) for height in heights]
        lengths = {number: len(body) for number, body in bodies.items() if body}
        uses = [found.counts[number] for number in lengths]
        return _heights(list(lengths.values()), uses)
    behind = figure_called(key).list_of(health)
    if key == "single_use_chains":
        return _heights([len(chain) - 1 for chain in behind])
    numbers = [one[0] if isinstance(one, tuple) else one for one in behind]
    return _heights([len(bodies.get(number) or "") for number in numbers])


def _heights(lengths: Sequence[int], weights: Sequence[float] | None = None) -> list[float]:
    """Return the total weight of each length from 1; the longest are combined."""
    if not lengths:
        return []
    heights = np.bincount(np.clip(lengths, 1, _BARS), weights)[1:]
    return [float(height) for height in heights]
