"""Plotly figures of scores of many tokenisers and of evaluations, from plain data.

Shares are from 0 to 1 and shown in %; undefined values are NaN and shown as n/a or as a gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import UNDEFINED, percent, shortened, signed
from morphgraph.draw.charts import (
    F1,
    GRID,
    KEPT,
    PRECISION,
    RECALL,
    SERIES_COLOURS,
    figure_of,
    look_of,
    plotly_text,
    short_label,
    whiskers,
)
from morphgraph.draw.colours import rgb

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_IN_RADAR = 8
"""The largest number of tokenisers that can be told apart in a radar chart."""

_LEGEND_LENGTH, _TITLE_LENGTH = 28, 60
_ROW, _FRAME, _LEGEND_ROW = 34, 110, 12
"""Heights in pixels: of a tokeniser, of the frame, and added for each name in the legend."""
_SIDES = 90
"""Width in pixels that titles need beside a radar."""
_MANY = 8
"""Above this number of lines, points are smaller."""


class Spread(NamedTuple):
    """A number and its 95 % interval, each NaN where undefined."""

    value: float
    low: float = math.nan
    high: float = math.nan


class Dumbbell(NamedTuple):
    """The scores of a tokeniser, as shares."""

    label: str
    precision: Spread
    recall: Spread
    f1: Spread


class Difference(NamedTuple):
    """The difference of a tokeniser's score from the baseline's, as a share, with stars."""

    label: str
    difference: Spread
    mark: str = ""


def dumbbells(rows: Sequence[Dumbbell]) -> go.Figure:
    """Draw precision, recall and F1 of each tokeniser on one line, joined by a bar.

    Intervals are whiskers; the first tokeniser is on top.
    """
    import plotly.graph_objects as go

    known = [[s.value for s in row[1:] if not math.isnan(s.value)] for row in rows]
    figure = _rows_of("%", [_lacking(row) for row in rows])
    _note_undefined(figure, map(bool, known))
    bars = [(100 * min(v), 100 * max(v), place) for place, v in enumerate(known) if v]
    figure.add_trace(
        go.Scatter(
            x=[x for low, high, _ in bars for x in (low, high, None)],
            y=[y for _, _, place in bars for y in (place, place, None)],
            mode="lines",
            line={"color": KEPT, "width": 5},
            opacity=0.45,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    labels = [row.label for row in rows]
    for name, spreads, marker in (
        ("precision", [row.precision for row in rows], _marker(PRECISION)),
        ("recall", [row.recall for row in rows], _marker(RECALL, "circle-open")),
        ("F1", [row.f1 for row in rows], _marker(F1, "diamond", 12)),
    ):
        texts = [f"{name} {spread_text(spread)}" for spread in spreads]
        _add_spreads(figure, spreads, labels, texts, name=name, marker=marker)
    if not bars:
        figure.update_xaxes(range=[0, 100])
    return figure


def _lacking(row: Dumbbell) -> str:
    """Return the axis label; below it undefined scores, if others are defined."""
    named = (("precision", row.precision), ("recall", row.recall), ("F1", row.f1))
    lacking = [name for name, spread in named if math.isnan(spread.value)]
    label = short_label(row.label)
    return f"{label}<br>{', '.join(lacking)} {UNDEFINED}" if 0 < len(lacking) < 3 else label


def _marker(colour: str, symbol: str = "circle", size: int = 11) -> dict[str, Any]:
    outline = {"width": 2 if symbol.endswith("open") else 0}
    return {"color": colour, "symbol": symbol, "size": size, "line": outline}


def _rows_of(x: str, names: Sequence[str], row: int = _ROW) -> go.Figure:
    """Return an empty figure with a line for each name, the first on top, ``row`` pixels each."""
    figure = figure_of(x, "", height=_FRAME + max(2 * _ROW, row * len(names)))
    figure.update_layout(
        yaxis={
            "tickvals": list(range(len(names))),
            "ticktext": list(names),
            "range": [max(1, len(names)) - 0.5, -0.5],
            "zeroline": False,
            "showgrid": False,
        },
        xaxis={"zeroline": False, "showgrid": True, "gridcolor": GRID},
    )
    return figure


def _note(figure: go.Figure, text: str, **place: Any) -> None:
    """Write a note at the left of a figure."""
    figure.add_annotation(text=text, x=0, xanchor="left", align="left", showarrow=False, **place)


def _note_undefined(figure: go.Figure, known: Iterable[bool]) -> None:
    """Write n/a on lines without any known value."""
    for place, is_known in enumerate(known):
        if not is_known:
            _note(figure, UNDEFINED, xref="x domain", y=place, yref="y")


def _add_spreads(
    figure: go.Figure,
    spreads: Sequence[Spread],
    labels: Sequence[str],
    texts: Sequence[str],
    shift: float = 0.0,
    **trace: Any,
) -> None:
    """Draw numbers on their lines, with whiskers, leaving out undefined ones.

    ``shift``: how far below its line each stands; ``trace``: more properties.
    """
    import plotly.graph_objects as go

    shown = [place for place, spread in enumerate(spreads) if not math.isnan(spread.value)]
    figure.add_trace(
        go.Scatter(
            x=[100 * spreads[place].value for place in shown],
            y=[place + shift for place in shown],
            error_x=whiskers([spreads[place] for place in shown], 100),
            customdata=[
                [short_label(labels[place], _TITLE_LENGTH), texts[place]] for place in shown
            ],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
            mode="markers",
            **trace,
        )
    )


def spread_text(spread: Spread) -> str:
    """Format a share with its interval, if it has one.

    >>> spread_text(Spread(0.5, 0.25, 0.75)), spread_text(Spread(math.nan))
    ('50.00 % [25.00, 75.00]', 'n/a')
    """
    return _with_interval(spread, percent, " %")


def points_text(spread: Spread) -> str:
    """Format a difference of shares in percentage points, with its interval if any.

    >>> points_text(Spread(0.0125, -0.005, 0.03)), points_text(Spread(-0.5))
    ('+1.25 points [−0.50, +3.00]', '−50.00 points')
    """
    return _with_interval(spread, lambda value: signed(100 * value), " points")


def _with_interval(spread: Spread, written: Callable[[float], str], unit: str) -> str:
    if math.isnan(spread.value):
        return UNDEFINED
    text = written(spread.value) + unit
    if math.isnan(spread.low) or math.isnan(spread.high):
        return text
    return f"{text} [{written(spread.low)}, {written(spread.high)}]"


def radar(
    labels: Sequence[str],
    titles: Sequence[str],
    values: Sequence[Sequence[float]],
    better: Sequence[int] = (),
) -> go.Figure:
    """Draw the scores of tokenisers as closed polygons; further out is better.

    ``values``: for each of ``labels`` a share for each of ``titles``; ``better``: for each title 1,
    or -1 if less is better, which gets an arrow ↓ and is drawn as 1 − share. An undefined score is
    a gap. Only the first `MOST_IN_RADAR` tokenisers are drawn, as a note says.
    """
    import plotly.graph_objects as go

    better = better or (1,) * len(titles)
    _check_lengths([titles, better, *values])
    _check_lengths([labels, values])
    figure = figure_of("", "", height=440 + _LEGEND_ROW * min(len(labels), MOST_IN_RADAR))
    places = [360 * number / max(1, len(titles)) for number in range(len(titles))]
    shown = list(zip(labels, values, strict=True))[:MOST_IN_RADAR]
    for number, (label, row) in enumerate(shown):
        look = look_of(number)
        drawn = [
            None if math.isnan(share) else 100 * (share if sign > 0 else 1 - share)
            for share, sign in zip(row, better, strict=True)
        ]
        texts = [
            f"{short_label(label, _TITLE_LENGTH)}<br>{short_label(title, _TITLE_LENGTH)} "
            f"{spread_text(Spread(share))}"
            for title, share in zip(titles, row, strict=True)
        ]
        figure.add_trace(
            go.Scatterpolar(
                theta=[*places, *places[:1]],
                r=[*drawn, *drawn[:1]],
                text=[*texts, *texts[:1]],
                name=short_label(label, _LEGEND_LENGTH),
                mode="lines+markers",
                connectgaps=False,
                line={"color": look.colour, "dash": look.dash, "width": 2},
                marker={"symbol": look.symbol, "size": 8},
                hovertemplate="%{text}<extra></extra>",
            )
        )
    between = 90 + 180 / max(1, len(titles))  # numbers where there is no title
    axis = {"gridcolor": GRID, "linecolor": GRID}
    figure.update_layout(
        margin={"l": _SIDES, "r": _SIDES, "t": 28, "b": 90},
        showlegend=True,
        polar={
            "domain": {"y": [0, 0.92]},  # otherwise the topmost title would be below the legend
            "bgcolor": "rgba(0, 0, 0, 0)",  # the template's is white on dark paper
            "radialaxis": {"range": [0, 100], "angle": between, "tickangle": between, **axis},
            "angularaxis": {
                "tickvals": places,
                "ticktext": [
                    _wrapped(title) + ("" if sign > 0 else "\u00a0↓")
                    for title, sign in zip(titles, better, strict=True)
                ],
                "rotation": 90,
                "direction": "clockwise",
                **axis,
            },
        },
    )
    notes = ["↓ less is better: drawn as 100 % − share"] if min(better, default=1) < 0 else []
    if len(labels) > MOST_IN_RADAR:
        notes.append(f"{len(labels) - MOST_IN_RADAR:,} more not drawn")
    if notes:
        below = {"y": 0, "yref": "paper", "yanchor": "top", "yshift": -50}  # room for titles
        _note(figure, "<br>".join(notes), xref="paper", xshift=-_SIDES, **below)
    return figure


def _wrapped(title: str) -> str:
    """Break a title into several short lines."""
    text = shortened(" ".join(title.split()), _TITLE_LENGTH)
    return "<br>".join(map(plotly_text, wrap(text, 12)))


def _check_lengths(lists: Sequence[Sequence[Any]]) -> None:
    if len({len(given) for given in lists}) > 1:
        raise MorphGraphError(
            f"A chart needs a number for each name, but their lists have "
            f"{', '.join(str(len(given)) for given in lists)} entries. Give all the same length."
        )


def breakdown(
    categories: Sequence[str],
    entries: Sequence[int],
    lines: Mapping[str, Sequence[Spread]],
    title: str,
) -> go.Figure:
    """Draw a score of tokenisers in several categories of words, the first on top.

    ``entries``: the number of words in each category; ``lines``: for each label, a share for each
    category, NaN for a gap.
    """
    _check_lengths([categories, entries, *lines.values()])
    size = 9 if len(lines) <= _MANY else 7
    ticks = [
        f"{short_label(name)}<br>{number:,}"
        for name, number in zip(categories, entries, strict=True)
    ]
    row = max(_ROW + 10, (size + 2) * len(lines) + 12)
    figure = _rows_of(f"{short_label(title, _TITLE_LENGTH)} %", ticks, row)
    figure.update_layout(height=figure.layout.height + _LEGEND_ROW * len(lines), showlegend=True)
    for number, (label, spreads) in enumerate(lines.items()):
        look = look_of(number)
        texts = [
            f"{short_label(category, _TITLE_LENGTH)}, {count:,} entries<br>{spread_text(spread)}"
            for category, count, spread in zip(categories, entries, spreads, strict=True)
        ]
        _add_spreads(
            figure,
            spreads,
            [label] * len(spreads),
            texts,
            shift=0.8 * ((number + 0.5) / len(lines) - 0.5),
            name=short_label(label, _LEGEND_LENGTH),
            marker=_marker(look.colour, look.symbol, size),
        )
    for place in range(1, len(categories)):
        figure.add_hline(y=place - 0.5, line={"color": GRID, "width": 1})
    return figure


def difference_forest(rows: Sequence[Difference], baseline: str = "the baseline") -> go.Figure:
    """Draw differences to a baseline in percentage points, with intervals and stars.

    Those without stars are hollow.
    """
    figure = _rows_of(
        f"difference to {short_label(baseline)} (points)",
        [f"{short_label(row.label)} {plotly_text(row.mark)}".rstrip() for row in rows],
    )
    figure.add_vline(x=0, line={"color": KEPT, "width": 1.5, "dash": "dot"})
    _add_spreads(
        figure,
        [row.difference for row in rows],
        [row.label for row in rows],
        [f"{points_text(row.difference)} {plotly_text(row.mark)}".rstrip() for row in rows],
        showlegend=False,
    )
    known = [row for row in rows if not math.isnan(row.difference.value)]
    figure.data[-1].marker = {
        **_marker(SERIES_COLOURS[0]),
        "symbol": ["circle" if row.mark else "circle-open" for row in known],
        "line": {"width": 2, "color": SERIES_COLOURS[0]},
    }
    _note_undefined(figure, (not math.isnan(row.difference.value) for row in rows))
    if not known:
        figure.update_xaxes(range=[-1, 1])
    return figure


MOST_PANELS = 12
"""The largest number of panels drawn."""
_ACROSS = 3
_BAR, _TITLE, _AXIS = 24, 40, 34
"""Heights in pixels: of a bar, of a panel's title, and of its axis."""
_LINES_HEIGHT = 260
_LABEL_LENGTH, _HEADING_LENGTH, _PANEL_LENGTH, _HOVER_LENGTH = 34, 40, 44, 80
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
    figure = _grid(shown, max(2, height) * _BAR, shares_y=True)
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
        "title": {"text": short_label(title, _PANEL_LENGTH), "font": {"size": 12}}
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
        subplot_titles=[f"<b>{short_label(panel.title, _PANEL_LENGTH)}</b>" for panel in panels],
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
