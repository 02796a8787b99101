"""Plotly figures of the tables of an evaluation, from plain data.

Each column of a table is a separate panel; numbers are drawn as given, and NaN is a gap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from morphgraph.core.errors import MorphGraphError
from morphgraph.draw.charts import GRID, look_of, plotly_text, short_label, whiskers
from morphgraph.draw.colours import rgb

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_PANELS = 12
"""The largest number of panels drawn."""
_ACROSS = 3
_ROW, _TITLE, _AXIS = 24, 40, 34
"""Heights in pixels: of a bar, of a panel's title, and of its axis."""
_LINES_HEIGHT = 260
_LABEL_LENGTH, _HEADING_LENGTH, _TITLE_LENGTH, _HOVER_LENGTH = 34, 40, 44, 80
_MANY_VALUES = 9
_WIDE_RANGE = 16


class Mark(NamedTuple):
    """A number, the ends of its whisker (NaN: none), and its displayed text."""

    value: float
    low: float = math.nan
    high: float = math.nan
    text: str = ""


class Bar(NamedTuple):
    """The names of a bar: its label, the heading above it, and the key of its colour."""

    label: str
    heading: str = ""
    colour_of: str = ""


class Panel(NamedTuple):
    """A column: its title, and a number for each bar, or for each line and place."""

    title: str
    marks: Sequence[Mark]


def bar_panels(bars: Sequence[Bar], panels: Sequence[Panel]) -> go.Figure:
    """Draw horizontal bars with whiskers, side by side for each panel, the first bar on top.

    A heading stands above the first of consecutive bars that share it. `MorphGraphError` unless
    each panel has one mark for each bar.
    """
    import plotly.graph_objects as go

    _check(panels, len(bars))
    places, ticks, height = _places(bars)
    shown = panels[:MOST_PANELS]
    figure = _grid(shown, max(2, height) * _ROW, shares_y=True)
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(
        range=[height - 0.5, -0.5],
        tickvals=[place for place, _ in ticks],
        ticktext=[text for _, text in ticks],
        showgrid=False,
        # Room between labels and bars.
        ticks="outside",
        ticklen=5,
        tickcolor="rgba(0, 0, 0, 0)",
    )
    looks = {name: n for n, name in enumerate(dict.fromkeys(bar.colour_of for bar in bars))}
    colours = [look_of(looks[bar.colour_of]).colour for bar in bars]
    for number, panel in enumerate(shown):
        axis = _axis(number)
        drawn = [n for n, mark in enumerate(panel.marks) if not math.isnan(mark.value)]
        marks = [panel.marks[n] for n in drawn]
        figure.add_trace(
            go.Bar(
                x=[mark.value for mark in marks],
                y=[places[n] for n in drawn],
                orientation="h",
                width=0.72,
                error_x=whiskers(marks, color="rgba(128, 128, 128, 1)"),
                marker={
                    "color": [_faded(colours[n]) for n in drawn],
                    "line": {"color": [colours[n] for n in drawn], "width": 1.5},
                },
                customdata=[_hover(bars[n], panel.marks[n], panel.title) for n in drawn],
                hovertemplate="%{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}"
                "<extra></extra>",
                xaxis=f"x{axis}",
                yaxis=f"y{axis}",
                showlegend=False,
            )
        )
        for n, mark in enumerate(panel.marks):
            if math.isnan(mark.value):
                figure.add_annotation(
                    text=plotly_text(mark.text or "n/a"),
                    x=0,
                    xref=f"x{axis} domain",
                    xanchor="left",
                    y=places[n],
                    yref=f"y{axis}",
                    showarrow=False,
                    font={"size": 11},
                    opacity=0.7,
                )
    return figure


def line_panels(
    series: Sequence[str], places: Sequence[float], panels: Sequence[Panel], title: str
) -> go.Figure:
    """Draw lines with whiskers over numbers, one panel for each column.

    ``panels``: their marks are those of the first of ``series`` at all ``places``, then those of
    the second, and so on; ``title``: of the x axis. Places far apart get a logarithmic axis.
    """
    import plotly.graph_objects as go

    _check(panels, len(series) * len(places))
    shown = panels[:MOST_PANELS]
    figure = _grid(shown, _LINES_HEIGHT, shares_y=False)
    figure.update_xaxes(_x_axis(places, title))
    order = sorted(range(len(places)), key=lambda n: places[n])
    for number, panel in enumerate(shown):
        axis = _axis(number)
        for line, label in enumerate(series):
            marks = [panel.marks[line * len(places) + n] for n in order]
            look = look_of(line)
            figure.add_trace(
                go.Scatter(
                    x=[places[n] for n in order],
                    y=[None if math.isnan(mark.value) else mark.value for mark in marks],
                    mode="lines+markers",
                    name=short_label(label, _LABEL_LENGTH),
                    legendgroup=str(line),
                    showlegend=number == 0 and len(series) > 1,
                    line={"color": look.colour, "width": 2, "dash": look.dash},
                    marker={"symbol": look.symbol, "size": 7},
                    error_y=whiskers(marks, color=look.colour),
                    customdata=[_hover(Bar(label), mark, panel.title) for mark in marks],
                    hovertemplate="%{customdata[0]}, %{x}<br>%{customdata[1]}<br>"
                    "%{customdata[2]}<extra></extra>",
                    xaxis=f"x{axis}",
                    yaxis=f"y{axis}",
                )
            )
    if len(series) > 1:
        figure.update_layout(
            height=figure.layout.height + 26 * math.ceil(len(series) / 4),
            legend={"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
            margin={"b": figure.layout.margin.b + 26 * math.ceil(len(series) / 4)},
            showlegend=True,
        )
    return figure


def _x_axis(places: Sequence[float], title: str) -> dict[str, Any]:
    """Return the axis of line panels, with ticks at its places if they are few."""
    is_wide = min(places, default=0) > 0 and max(places) / min(places) > _WIDE_RANGE
    axis: dict[str, Any] = {
        "title": {"text": short_label(title, _TITLE_LENGTH), "font": {"size": 12}}
    }
    if is_wide:
        axis["type"] = "log"
    if len(set(places)) <= _MANY_VALUES:
        axis["tickvals"] = sorted(map(float, set(places)))
        axis["ticktext"] = [
            f"{place:,.0f}" if place.is_integer() else f"{place:g}" for place in axis["tickvals"]
        ]
    return axis


def _check(panels: Sequence[Panel], wanted: int) -> None:
    for panel in panels:
        if len(panel.marks) != wanted:
            raise MorphGraphError(
                f"The panel “{panel.title[:80]}” has {len(panel.marks)} numbers for {wanted} "
                "places. Give a number, or NaN, for each."
            )


def _places(bars: Sequence[Bar]) -> tuple[list[int], list[tuple[int, str]], int]:
    """Return the place of each bar, the labels with headings, and the number of places.

    >>> _places([Bar("x", "A"), Bar("y", "A"), Bar("x", "B")])[0]
    [1, 2, 4]
    """
    places: list[int] = []
    ticks: list[tuple[int, str]] = []
    at, heading = 0, ""
    for bar in bars:
        if bar.heading and bar.heading != heading:
            ticks.append((at, f"<b>{short_label(bar.heading, _HEADING_LENGTH)}</b>"))
            at += 1
        heading = bar.heading
        places.append(at)
        ticks.append((at, short_label(bar.label, _LABEL_LENGTH)))
        at += 1
    return places, ticks, at


def _axis(number: int) -> str:
    return "" if number == 0 else str(number + 1)


def _grid(panels: Sequence[Panel], height: int, *, shares_y: bool) -> go.Figure:
    """Return an empty figure with titled panels, several per row."""
    from plotly.subplots import make_subplots

    across = min(_ACROSS, max(1, len(panels)))
    down = max(1, math.ceil(len(panels) / across))
    below = _AXIS if shares_y else _AXIS + 22
    total = down * height + (down - 1) * (_TITLE + below)
    cells: list[dict[str, Any] | None] = [{}] * max(1, len(panels))
    cells += [None] * (across * down - len(cells))
    figure = make_subplots(
        down,
        across,
        specs=[cells[start : start + across] for start in range(0, len(cells), across)],
        subplot_titles=[f"<b>{short_label(panel.title, _TITLE_LENGTH)}</b>" for panel in panels],
        horizontal_spacing=0.02 if shares_y else 0.07,
        vertical_spacing=min(1.0, (_TITLE + below) / total),
    )
    margin = {"l": 8, "r": 16, "t": _TITLE + 4, "b": below + 4}
    figure.update_layout(height=total + margin["t"] + margin["b"], margin=margin)
    figure.update_xaxes(zeroline=False, gridcolor=GRID, automargin=True, showgrid=True)
    figure.update_yaxes(zeroline=False, gridcolor=GRID, automargin=True)
    if shares_y:
        figure.update_yaxes(showticklabels=False)
        figure.update_yaxes(showticklabels=True, col=1)
    for number, title in enumerate(figure.layout.annotations):
        left = figure.layout[f"xaxis{_axis(number)}"].domain[0]
        title.update(x=left, xanchor="left", yshift=4, font={"size": 13})
    return figure


def _faded(colour: str) -> str:
    """Return a translucent version of a colour, so that whiskers are visible on it.

    >>> _faded("#6078f0")
    'rgba(96, 120, 240, 0.45)'
    """
    return f"rgba{(*rgb(colour), 0.45)}"


def _hover(bar: Bar, mark: Mark, title: str) -> list[str]:
    label = f"{bar.heading} · {bar.label}" if bar.heading else bar.label
    texts = (label, title, mark.text or f"{mark.value:g}")
    return [short_label(text, _HOVER_LENGTH) for text in texts]
