"""Plotly figures of a run of ReBPE, from its phases.

Source: Bauwens & de Lhoneux 2026, Figures 3 and 4.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from morphgraph.draw.charts import add_score_lines, figure_of
from morphgraph.graph.change import ORIGINS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from morphgraph.refine.rebpe_run import Phase

KIND_COLOURS = {
    "annealed": "#1d9a6c",
    "removed": "#d9472b",
    "split": "#e08e0b",
    "repaired": "#3b7dd8",
    "linked": "#8e6bd1",
    "created": "#49b6c9",
}
ORIGIN_COLOURS = {
    "original": "#7f93b2",
    "annealed": "#1d9a6c",
    "split": "#e08e0b",
    "repaired": "#3b7dd8",
    "reified": "#49b6c9",
    "reused": "#8e6bd1",
}
VOCABULARY = "#7f93b2"


def phase_label(phase: "Phase") -> str:
    """A phase in a word or two: ``start``, ``anneal``, ``1 knockout``, ``1 reify``."""
    return phase.kind if phase.kind in ("start", "anneal") else f"{phase.iteration} {phase.kind}"


def scores_over_phases(phases: Sequence["Phase"], position: int | None = None) -> "go.Figure":
    """Precision, recall and F1 after each phase, and |V| below them.

    ``position``: how many phases are done; a line marks the last of them.
    """
    import plotly.graph_objects as go

    labels = [phase_label(phase) for phase in phases]
    figure = figure_of("", "%", height=440)
    add_score_lines(
        figure,
        labels,
        [phase.score for phase in phases],
        mode="lines+markers",
        hovertemplate="%{y:.2f} %",
    )
    figure.add_trace(
        go.Scatter(
            x=labels,
            y=[phase.vocabulary_size for phase in phases],
            name="|V|",
            yaxis="y2",
            mode="lines+markers",
            line={"color": VOCABULARY, "shape": "hvh", "width": 2},
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
        figure.add_vline(x=position - 1, line_dash="dot", line_color=VOCABULARY)
    return figure


def changes_over_phases(phases: Sequence["Phase"]) -> "go.Figure":
    """How many merges each phase changed, by kind."""
    import plotly.graph_objects as go

    shown = [phase for phase in phases if phase.kind != "start"]
    figure = figure_of("", "merges", height=340)
    for kind, colour in KIND_COLOURS.items():
        numbers = [phase.counts.get(kind, 0) for phase in shown]
        if any(numbers):
            figure.add_trace(
                go.Bar(
                    x=[phase_label(phase) for phase in shown],
                    y=numbers,
                    name=kind,
                    marker_color=colour,
                    hovertemplate="%{y:,} " + kind + "<extra></extra>",
                )
            )
    figure.update_layout(
        barmode="stack", xaxis={"type": "category", "tickangle": -40}, yaxis={"rangemode": "tozero"}
    )
    return figure


def removed_by_origin(phases: Sequence["Phase"]) -> "go.Figure":
    """Of the merges that each knockout removed, what they had been."""
    import plotly.graph_objects as go

    shown = [phase for phase in phases if phase.kind == "knockout"]
    figure = figure_of("iteration", "merges knocked out (%)", height=340)
    totals = [max(1, sum(phase.removed_by_origin.values())) for phase in shown]
    for origin in ORIGINS:
        numbers = [phase.removed_by_origin.get(origin, 0) for phase in shown]
        if any(numbers):
            figure.add_trace(
                go.Bar(
                    x=[str(phase.iteration) for phase in shown],
                    y=[100 * n / total for n, total in zip(numbers, totals, strict=True)],
                    customdata=numbers,
                    name=origin,
                    marker_color=ORIGIN_COLOURS[origin],
                    hovertemplate="%{customdata:,} " + origin + " (%{y:.1f} %)<extra></extra>",
                )
            )
    figure.update_layout(barmode="stack", xaxis={"type": "category"}, yaxis={"range": [0, 100]})
    return figure
