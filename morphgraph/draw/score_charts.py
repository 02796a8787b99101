"""Plotly figures of scores of many tokenisers and of tables of evaluations, from plain data.

Names have numbered places rather than names on the axis, so that equal names stay apart. Undefined
values are NaN and shown as n/a or as a gap. Scores are shares from 0 to 1, shown in %; numbers of
evaluations, where each column of a table is a separate panel, are drawn as given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from morphgraph.core.text import UNDEFINED, percent, shortened
from morphgraph.draw import rgb
from morphgraph.draw.charts import (
    GRID,
    SCORE_COLOURS,
    figure_of,
    look_of,
    plotly_text,
    short_label,
    template,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_PANELS = 12
"""The largest number of panels drawn."""

_LEGEND_LENGTH, _LABEL_LENGTH, _TITLE_LENGTH, _LONGEST = 28, 34, 60, 80
_ROW, _CELL, _FRAME, _LEGEND_ROW = 34, 26, 110, 12
"""Heights in pixels: of a tokeniser, of a cell in a heat map, of the frame, and added for each name
in the legend.
"""
_TITLE, _AXIS, _LINES, _NAMES = 40, 56, 260, 26
"""Heights in pixels: of a panel's title, axis and lines, and of a row of the legend."""
_ACROSS, _PANEL_LENGTH = 3, 44
_MANY_LINES, _MANY_VALUES, _WIDE_RANGE = 8, 9, 16
"""More lines than these have smaller points; more places no ticks; a wider range a log axis."""


class Mark(NamedTuple):
    """A number, the ends of its 95 % interval (NaN: none), and its text if displayed otherwise."""

    value: float
    low: float = math.nan
    high: float = math.nan
    text: str = ""

    @property
    def is_known(self) -> bool:
        """Whether it is defined."""
        return not math.isnan(self.value)


class Panel(NamedTuple):
    """A column: its title, and a number for each line and place."""

    title: str
    marks: Sequence[Mark]


def whiskers(marks: Sequence[Mark], scale: float = 1.0, **style: Any) -> dict[str, Any]:
    """Return error bars from ``value`` to ``low`` and ``high``; none where these are NaN."""

    def length(value: float) -> float:
        return 0.0 if math.isnan(value) else max(0.0, scale * value)

    bars = {"type": "data", "symmetric": False, "thickness": 1.5, "width": 4, **style}
    above = [length(mark.high - mark.value) for mark in marks]
    return bars | {"array": above, "arrayminus": [length(m.value - m.low) for m in marks]}


# ---------------------------------------------------------------------------------------- scores


def _marker(colour: str, symbol: str = "circle", size: int = 11) -> dict[str, Any]:
    outline = {"width": 2 if symbol.endswith("open") else 0}
    return {"color": colour, "symbol": symbol, "size": size, "line": outline}


def _rows_of(x: str, names: Sequence[str], row: int = _ROW) -> go.Figure:
    """Return an empty figure with a line for each name, the first on top, ``row`` pixels each."""
    figure = figure_of(x, "", height=_FRAME + max(2 * _ROW, row * len(names)))
    ticks = {"tickvals": list(range(len(names))), "ticktext": list(names)}
    ends = [max(1, len(names)) - 0.5, -0.5]
    figure.update_layout(
        yaxis={**ticks, "range": ends, "zeroline": False, "showgrid": False},
        xaxis={"zeroline": False, "showgrid": True, "gridcolor": GRID},
    )
    return figure


def _add_marks(
    figure: go.Figure,
    marks: Sequence[Mark],
    labels: Sequence[str],
    texts: Sequence[str],
    shift: float = 0.0,
    **trace: Any,
) -> None:
    """Draw shares ``shift`` below their lines, with whiskers, leaving out undefined ones."""
    shown = [place for place, mark in enumerate(marks) if mark.is_known]
    figure.add_scatter(
        x=[100 * marks[place].value for place in shown],
        y=[place + shift for place in shown],
        error_x=whiskers([marks[place] for place in shown], 100),
        customdata=[[short_label(labels[n], _TITLE_LENGTH), texts[n]] for n in shown],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        mode="markers",
        **trace,
    )


def share_text(mark: Mark, written: Callable[[float], str] = percent, unit: str = " %") -> str:
    """Format a share with its interval, if it has one.

    >>> share_text(Mark(0.5, 0.25, 0.75)), share_text(Mark(math.nan))
    ('50.00 % [25.00, 75.00]', 'n/a')
    """
    if not mark.is_known:
        return UNDEFINED
    has_interval = not math.isnan(mark.low) and not math.isnan(mark.high)
    interval = f" [{written(mark.low)}, {written(mark.high)}]" if has_interval else ""
    return f"{written(mark.value)}{unit}{interval}"


def breakdown(
    categories: Sequence[str],
    entries: Sequence[int],
    lines: Mapping[str, Sequence[Mark]],
    title: str,
) -> go.Figure:
    """Draw a score of tokenisers, by label, in several categories of so many entries."""
    size = 9 if len(lines) <= _MANY_LINES else 7
    counted = list(zip(categories, entries, strict=True))
    ticks = [f"{short_label(name)}<br>{number:,}" for name, number in counted]
    row = max(_ROW + 10, (size + 2) * len(lines) + 12)
    figure = _rows_of(f"{short_label(title, _TITLE_LENGTH)} %", ticks, row)
    figure.update_layout(height=figure.layout.height + _LEGEND_ROW * len(lines), showlegend=True)
    for number, (label, marks) in enumerate(lines.items()):
        look = look_of(number)
        texts = [
            f"{short_label(category, _TITLE_LENGTH)}, {count:,} entries<br>{share_text(mark)}"
            for (category, count), mark in zip(counted, marks, strict=True)
        ]
        _add_marks(
            figure,
            marks,
            [label] * len(marks),
            texts,
            shift=0.8 * ((number + 0.5) / len(lines) - 0.5),
            name=short_label(label, _LEGEND_LENGTH),
            marker=_marker(look.colour, look.symbol, size),
        )
    for place in range(1, len(categories)):
        figure.add_hline(y=place - 0.5, line={"color": GRID, "width": 1})
    return figure


def heat_map(
    labels: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]
) -> go.Figure:
    """Draw shares, the stronger the higher, with a row for each label, the first on top."""
    figure = figure_of("", "", height=_FRAME + _CELL * len(labels))
    red, green, blue = rgb(SCORE_COLOURS["F1"])
    faint, strong = (f"rgba({red}, {green}, {blue}, {alpha})" for alpha in (0.06, 0.55))
    rows, places = range(len(labels)), range(len(columns))
    texts = [[percent(value) for value in row] for row in values]
    short = [[short_label(text, _TITLE_LENGTH) for text in told] for told in (labels, columns)]
    hovers = [
        [[label, *pair] for pair in zip(short[1], told, strict=True)]
        for label, told in zip(short[0], texts, strict=True)
    ]
    figure.add_heatmap(
        x=[*places],
        y=[*rows],
        z=[[None if math.isnan(value) else value for value in row] for row in values],
        colorscale=[[0, faint], [1, strong]],
        showscale=False,
        xgap=3,
        ygap=2,
        customdata=hovers,
        hovertemplate="%{customdata[0]}<br>%{customdata[1]} %{customdata[2]}<extra></extra>",
    )
    # In the colour of text, which heat maps choose as if the paper were white.
    figure.add_scatter(
        x=[*places] * len(labels),
        y=[row for row in rows for _ in places],
        text=[percent(value, 1) for row in values for value in row],
        mode="text",
        hoverinfo="skip",
        showlegend=False,
    )
    axis = {"zeroline": False, "showgrid": False, "fixedrange": True, "automargin": True}
    wrapped = (wrap(shortened(column, _TITLE_LENGTH), 18) for column in columns)
    titles = ["<br>".join(map(plotly_text, lines)) for lines in wrapped]
    figure.update_xaxes(axis, side="top", tickvals=[*places], ticktext=titles)
    names = [short_label(label, _LABEL_LENGTH) for label in labels]
    figure.update_yaxes(axis, autorange="reversed", tickvals=[*rows], ticktext=names)
    return figure


# ----------------------------------------------------------------------------------- evaluations


def line_panels(
    series: Sequence[str], places: Sequence[float], panels: Sequence[Panel], title: str
) -> go.Figure:
    """Draw lines with whiskers over numbers, one panel for each column.

    ``panels``: their marks are those of the first of ``series`` at all ``places``, then those of
    the second, and so on; ``title``: of the x axis, which is logarithmic for places far apart.
    """
    figure = _grid(panels)
    figure.update_xaxes(title={"text": short_label(title, _PANEL_LENGTH), "font": {"size": 12}})
    if min(places, default=0) > 0 and max(places) / min(places) > _WIDE_RANGE:
        figure.update_xaxes(type="log")
    if len(values := sorted(map(float, set(places)))) <= _MANY_VALUES:
        texts = [f"{value:,.0f}" if value.is_integer() else f"{value:g}" for value in values]
        figure.update_xaxes(tickvals=values, ticktext=texts)
    order = sorted(range(len(places)), key=lambda n: places[n])
    for number, panel in enumerate(panels[:MOST_PANELS]):
        for line, label in enumerate(series):
            marks = [panel.marks[line * len(places) + n] for n in order]
            look = look_of(line)
            figure.add_scatter(
                x=[places[n] for n in order],
                y=[mark.value if mark.is_known else None for mark in marks],
                mode="lines+markers",
                name=short_label(label, _LABEL_LENGTH),
                legendgroup=str(line),
                showlegend=number == 0 and len(series) > 1,
                line={"color": look.colour, "width": 2, "dash": look.dash},
                marker={"symbol": look.symbol, "size": 7},
                error_y=whiskers(marks, color=look.colour),
                customdata=[_hover(label, mark, panel.title) for mark in marks],
                hovertemplate="%{customdata[0]}, %{x}<br>%{customdata[1]}<br>"
                "%{customdata[2]}<extra></extra>",
                **_place(number),
            )
    if len(series) > 1:
        more = _NAMES * math.ceil(len(series) / 4)
        figure.update_layout(
            height=figure.layout.height + more,
            legend={"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
            margin={"b": figure.layout.margin.b + more},
            showlegend=True,
        )
    return figure


def _place(number: int) -> dict[str, int]:
    return {"row": number // _ACROSS + 1, "col": number % _ACROSS + 1}


def _grid(panels: Sequence[Panel]) -> go.Figure:
    """Return an empty figure with at most `MOST_PANELS` titled panels, several per row."""
    from plotly.subplots import make_subplots

    shown = panels[:MOST_PANELS]
    across = min(_ACROSS, max(1, len(shown)))
    down = max(1, math.ceil(len(shown) / across))
    total = down * _LINES + (down - 1) * (_TITLE + _AXIS)
    cells: list[dict[str, Any] | None] = [{}] * max(1, len(shown))
    cells += [None] * (across * down - len(cells))
    figure = make_subplots(
        down,
        across,
        specs=[cells[start : start + across] for start in range(0, len(cells), across)],
        subplot_titles=[f"<b>{short_label(panel.title, _PANEL_LENGTH)}</b>" for panel in shown],
        horizontal_spacing=0.07,
        vertical_spacing=min(1.0, (_TITLE + _AXIS) / total),
    )
    margin = {"l": 8, "r": 16, "t": _TITLE + 4, "b": _AXIS + 4}
    size = total + margin["t"] + margin["b"]
    figure.update_layout(height=size, margin=margin, template=template())
    figure.update_xaxes(zeroline=False, showgrid=True)
    figure.update_yaxes(zeroline=False)
    for title, axis in zip(figure.layout.annotations, figure.select_xaxes(), strict=False):
        title.update(x=axis.domain[0], xanchor="left", yshift=4, font={"size": 13})
    return figure


def _hover(label: str, mark: Mark, title: str) -> list[str]:
    texts = (label, title, mark.text or f"{mark.value:g}")
    return [short_label(text, _LONGEST) for text in texts]
