"""Plotly figures of blame, of ReBPE and of vocabularies, and what all figures share.

Colours of text and paper are left to the place that shows a figure, so that it follows the theme.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from morphgraph.core.text import in_percent, shortened
from morphgraph.graph.merge_table import ORIGINS

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from morphgraph.models.undertrained_types import UndertrainedTypes
    from morphgraph.refine.rebpe import Phase
    from morphgraph.score.vocabulary import VocabularyHealth

KEPT, REMOVED = "#7f93b2", "#d9472b"
"""Merges below and above the threshold; they also differ in lightness."""

PRECISION, RECALL, F1 = "#3b7dd8", "#e08e0b", "#1d9a6c"

SERIES_COLOURS = (
    "#6078f0",
    "#a89000",
    "#18a860",
    "#a83090",
    "#7890d8",
    "#187860",
    "#786018",
    "#4848f0",
)
"""Colours of tokenisers: far from each other for colour-blind readers too, none of them the red of
blame, and each with a contrast of 3:1 and more on white and on the app's dark paper.
"""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "12px,3px", "3px,9px")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "star", "x")

CHANGE_COLOURS = {
    "original": KEPT,
    "annealed": "#1d9a6c",
    "removed": REMOVED,
    "split": "#e08e0b",
    "repaired": "#3b7dd8",
    "linked": "#8e6bd1",
    "reused": "#8e6bd1",
    "created": "#49b6c9",
    "reified": "#49b6c9",
}
"""Colours of ReBPE's changes to merges, and of merges by origin."""

GRID = "rgba(128, 128, 128, 0.3)"


class SeriesLook(NamedTuple):
    """The look of a tokeniser's series; lines and points also differ without colours."""

    colour: str
    dash: str
    symbol: str


def look_of(number: int) -> SeriesLook:
    """Return the look of the tokeniser at an index from 0; colours repeat with other marks."""
    shift = number + number // len(SERIES_COLOURS)
    return SeriesLook(
        SERIES_COLOURS[number % len(SERIES_COLOURS)],
        _DASHES[shift % len(_DASHES)],
        _SYMBOLS[shift % len(_SYMBOLS)],
    )


def plotly_text(text: str) -> str:
    """Escape text that plotly would read as tags.

    >>> plotly_text("<b>x</b> & y")
    '&lt;b&gt;x&lt;/b&gt; &amp; y'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short_label(text: str, length: int = 32) -> str:
    """Return a label on one line, shortened and escaped for plotly.

    >>> short_label("<b>demo</b>", 5)
    '&lt;b&gt;d…'
    """
    return plotly_text(shortened(" ".join(text.split()), length))


def whiskers(marks: Sequence[Any], scale: float = 1.0, **style: Any) -> dict[str, Any]:
    """Return error bars from ``value`` to ``low`` and ``high``; none where these are NaN."""

    def length(value: float) -> float:
        return 0.0 if math.isnan(value) else max(0.0, scale * value)

    return {
        "type": "data",
        "symmetric": False,
        "array": [length(mark.high - mark.value) for mark in marks],
        "arrayminus": [length(mark.value - mark.low) for mark in marks],
        "thickness": 1.5,
        "width": 4,
        **style,
    }


def figure_of(x: str, y: str, height: int = 320) -> go.Figure:
    """Return an empty figure with titled axes, in the style that all figures share."""
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


def add_score_lines(figure: go.Figure, places: Sequence[Any], scores: Sequence[Any]) -> None:
    """Draw the ``precision``, ``recall`` and ``f1`` of scores, in %, over ``places`` on x."""
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
                mode="lines+markers",
                hovertemplate="%{y:.2f} %",
            )
        )


# ------------------------------------------------------------------------------------------- blame


def blame_histogram(table: pd.DataFrame, threshold: float) -> go.Figure:
    """Draw how many applied merges have which R, in steps of 0.05.

    ``table`` as from `refine.blame.blame_table`.
    """
    edges = np.arange(21) / 20  # as exact as the ratios: linspace would put 0.15 below 0.15
    figure = figure_of("blame: the share of joins on a gold boundary", "merges (log)")
    ratios = table["R"].dropna().to_numpy()
    _add_bars(figure, edges, "stay", ratios, ratios, threshold)
    figure.update_traces(
        hovertemplate="blame from %{customdata[0]:.0%} to %{customdata[1]:.0%}<br>"
        "merges: %{y:,}<extra></extra>"
    )
    figure.update_layout(yaxis={"type": "log", "dtick": 1}, xaxis_tickformat=".0%")
    figure.add_vline(x=threshold, line_dash="dot", line_color=REMOVED)
    return figure


def worst_merges(table: pd.DataFrame, threshold: float, most: int = 10) -> go.Figure:
    """Draw the merges at or above a threshold that closed most gold boundaries.

    Bars show joins and wrong joins; ``table`` as from `refine.blame.blame_table`.
    """
    import plotly.graph_objects as go

    figure = figure_of("joins", "")
    worst = table[table["R"] >= threshold].nlargest(most, ["B", "R"])[::-1]
    names = [short_label(text, 24) for text in worst["type"]]
    texts = [f"{b:,.0f} of {n:,.0f} wrong" for n, b in zip(worst["N"], worst["B"], strict=True)]
    figure.add_trace(
        go.Bar(
            x=worst["B"],
            y=list(range(len(worst))),
            orientation="h",
            name="wrong",
            marker_color=REMOVED,
            customdata=[plotly_text(text) for text in worst["merge"]],
            hovertemplate="%{customdata}<br>on a gold boundary: %{x:,}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Bar(
            x=worst["N"] - worst["B"],
            y=list(range(len(worst))),
            orientation="h",
            name="right",
            marker_color=KEPT,
            text=texts,
            textposition="outside",
            cliponaxis=False,
            hovertemplate="elsewhere: %{x:,}<extra></extra>",
        )
    )
    room = 1.45 * float(worst["N"].max()) if len(worst) else 1.0
    figure.update_layout(barmode="stack")
    figure.update_xaxes(range=[0, room])
    figure.update_yaxes(tickvals=list(range(len(worst))), ticktext=names)
    return figure


def _add_bars(
    figure: go.Figure,
    edges: npt.NDArray[np.float64],
    stay: str,
    values: npt.NDArray[Any],
    ratios: npt.NDArray[np.float64],
    threshold: float,
) -> None:
    """Add stacked bars of how many values lie between edges: those that ``stay``, and others."""
    import plotly.graph_objects as go

    for name, mask, colour in (
        (stay, ratios < threshold, KEPT),
        (f"blame ≥ {in_percent(threshold, 0)}", ratios >= threshold, REMOVED),
    ):
        figure.add_trace(
            go.Bar(
                x=(edges[:-1] + edges[1:]) / 2,
                y=np.histogram(values[mask], edges)[0],
                width=np.diff(edges) * 0.94,
                name=name,
                marker_color=colour,
                customdata=np.stack([edges[:-1], edges[1:]], axis=1),
            )
        )
    figure.update_layout(barmode="stack")


def blame_scatter(table: pd.DataFrame, threshold: float) -> go.Figure:
    """Draw joins against wrong joins, logarithmic; merges at one place are a larger point.

    ``customdata`` of a point: the merge id of the lowest-ranked merge there, and B. It is lists,
    not an array: plotly packs arrays, and a click event would then lack the first element.
    """
    import plotly.graph_objects as go

    applied = table[table["N"] > 0]
    groups = (
        applied.groupby(["N", "B"], sort=True)
        .agg(merges=("merge_id", "size"), merge_id=("merge_id", "first"), type=("type", "first"))
        .reset_index()
    )
    ratio = groups["B"] / groups["N"]
    figure = figure_of("joins", "wrong joins + 1", height=420)
    for name, chosen, colour in (
        ("stay", groups[ratio < threshold], KEPT),
        (f"blame ≥ {in_percent(threshold, 0)}", groups[ratio >= threshold], REMOVED),
    ):
        names = [
            plotly_text(text) + (f" and {count - 1:,} more" if count > 1 else "")
            for text, count in zip(chosen["type"], chosen["merges"], strict=True)
        ]
        figure.add_trace(
            go.Scatter(
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
                hovertemplate="%{text}<br>joins: %{x:,}, wrong: %{customdata[1]:,}<extra></extra>",
            )
        )
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1)
    return figure


def blame_by_rank(table: pd.DataFrame, threshold: float, bins: int = 100) -> go.Figure:
    """Draw blame over the vocabulary: applied merges by rank, in equal bins."""
    figure = figure_of("position in the list of merges", "merges")
    if len(table):
        edges = np.linspace(0, len(table), min(bins, len(table)) + 1)
        places, ratios = np.arange(len(table)), table["R"].to_numpy()
        _add_bars(figure, edges, "applied, stay", places, ratios, threshold)
        figure.update_traces(hovertemplate="about rank %{x:,.0f}<br>merges: %{y:,}<extra></extra>")
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


def scores_over_phases(phases: Sequence[Phase], position: int | None = None) -> go.Figure:
    """Draw precision, recall and F1 after each phase, and |V| below them.

    ``position``: the number of phases done; a line marks the last of them.
    """
    import plotly.graph_objects as go

    labels = [phase_label(phase) for phase in phases]
    figure = figure_of("", "%", height=440)
    add_score_lines(figure, labels, [phase.score for phase in phases])
    figure.add_trace(
        go.Scatter(
            x=labels,
            y=[phase.vocabulary_size for phase in phases],
            name="|V|",
            yaxis="y2",
            mode="lines+markers",
            line={"color": KEPT, "shape": "hvh", "width": 2},
            hovertemplate="types: %{y:,}",
        )
    )
    figure.update_layout(
        hovermode="x unified",
        xaxis={"type": "category", "tickangle": -40, "anchor": "y2"},
        yaxis={"domain": [0.4, 1.0]},
        yaxis2={
            "domain": [0.0, 0.3],
            "title": {"text": "|V|"},
            "automargin": True,
            "tickformat": ",",
        },
    )
    if position is not None and 0 < position < len(phases):
        figure.add_vline(x=position - 1, line_dash="dot", line_color=KEPT)
    return figure


def changes_over_phases(phases: Sequence[Phase]) -> go.Figure:
    """Draw how many merges each phase changed, by kind."""
    shown = [phase for phase in phases if phase.kind != "start"]
    figure = figure_of("", "merges", height=340)
    figure.update_layout(xaxis={"tickangle": -40}, yaxis={"rangemode": "tozero"})
    for kind in CHANGE_COLOURS:
        numbers = [phase.counts.get(kind, 0) for phase in shown]
        _stack(figure, kind, map(phase_label, shown), numbers, numbers, "%{y:,} " + kind)
    return figure


def removed_by_origin(phases: Sequence[Phase]) -> go.Figure:
    """Draw the origins of the merges that each knockout removed."""
    shown = [phase for phase in phases if phase.kind == "knockout"]
    figure = figure_of("iteration", "merges knocked out (%)", height=340)
    figure.update_layout(yaxis={"range": [0, 100]})
    totals = [max(1, sum(phase.removed_by_origin.values())) for phase in shown]
    for origin in ORIGINS:
        numbers = [phase.removed_by_origin.get(origin, 0) for phase in shown]
        shares = [100 * n / total for n, total in zip(numbers, totals, strict=True)]
        hover = "%{customdata:,} " + origin + " (%{y:.1f} %)"
        _stack(figure, origin, (str(phase.iteration) for phase in shown), shares, numbers, hover)
    return figure


def _stack(
    figure: go.Figure,
    name: str,
    places: Iterable[str],
    heights: Sequence[float],
    numbers: Sequence[int],
    hover: str,
) -> None:
    """Add a bar at each place on top of the earlier ones; none if all numbers are 0."""
    import plotly.graph_objects as go

    if any(numbers):
        figure.add_trace(
            go.Bar(
                x=list(places),
                y=heights,
                customdata=numbers,
                name=name,
                marker_color=CHANGE_COLOURS[name],
                hovertemplate=hover + "<extra></extra>",
            )
        )
    figure.update_layout(barmode="stack", xaxis={"type": "category"})


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


def frequency_rank_lines(tables: Mapping[str, pd.DataFrame]) -> go.Figure:
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


def length_lines(lengths: Mapping[str, Sequence[int] | npt.NDArray[np.int64]]) -> go.Figure:
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
) -> go.Figure:
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


def card_bars(health: VocabularyHealth, key: str) -> list[float]:
    """Return the heights of a few bars on the distribution behind a figure; maybe none.

    Single-use chains by their number of links, tokens of the corpus by their length in characters
    (``fertility``), the logarithm of the use of types by rank (``renyi``), and the types behind
    other figures by their length.
    """
    from morphgraph.score.vocabulary_figures import figure_called

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

    from morphgraph.models.undertrained_types import TYPE_KINDS

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
