"""Figures of evaluations: every number is the given one, and no label is markup or a template."""

import math
from typing import Any

import pytest

from morphgraph.draw.score_charts import MOST_PANELS, Bar, Mark, Panel, bar_panels, line_panels

NAN = math.nan
HOSTILE = "<a href='javascript:x'>%{x} & </b>\n" + "long" * 50


def notes(figure: Any) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_bars() -> None:
    bars = [Bar("BPE", "English", "BPE"), Bar("X", "English", "X"), Bar("BPE", "German", "BPE")]
    panel = Panel("F1", [Mark(50, 40, 65, "fifty"), Mark(NAN, text="failed"), Mark(25)])
    figure = bar_panels(bars, [panel, Panel("Recall", [Mark(1), Mark(2), Mark(3)])])
    one, other = figure.data
    assert list(one.x) == [50, 25]
    assert list(one.y) == [1, 4], "below the headings, and below what is undefined"
    assert list(one.error_x.array) == [15, 0]
    assert list(one.error_x.arrayminus) == [10, 0]
    assert [list(texts) for texts in one.customdata] == [
        ["English · BPE", "F1", "fifty"],
        ["German · BPE", "F1", "25"],
    ]
    assert list(other.x) == [1, 2, 3]
    assert (one.xaxis, other.xaxis) == ("x", "x2")
    colours = list(other.marker.line.color)
    assert colours[0] == colours[2] != colours[1]
    axis = figure.layout.yaxis
    assert list(axis.ticktext) == ["<b>English</b>", "BPE", "X", "<b>German</b>", "BPE"]
    assert list(axis.range) == [4.5, -0.5], "the first on top"
    assert figure.layout.xaxis.rangemode == "tozero"
    assert notes(figure) == ["<b>F1</b>", "<b>Recall</b>", "failed"]
    assert [n.y for n in figure.layout.annotations if n.text == "failed"] == [2]


def test_lines() -> None:
    marks = [Mark(2, 1, 4), Mark(1), Mark(NAN), Mark(9)]
    figure = line_panels(["a", "b"], [200, 100], [Panel("F1", marks)], "Size")
    one, other = figure.data
    assert (list(one.x), list(one.y)) == ([100, 200], [1, 2])
    assert list(one.error_y.array) == [0, 2]
    assert list(one.error_y.arrayminus) == [0, 1]
    assert (list(other.x), list(other.y)) == ([100, 200], [9, None])
    assert [trace.name for trace in figure.data] == ["a", "b"]
    assert figure.layout.xaxis.title.text == "Size"
    assert list(figure.layout.xaxis.ticktext) == ["100", "200"]
    assert figure.layout.xaxis.type is None
    assert (one.line.color, one.marker.symbol) != (other.line.color, other.marker.symbol)


def test_far_places_get_a_logarithmic_axis() -> None:
    panel = Panel("F1", [Mark(1), Mark(2)])
    far = line_panels(["a"], [0.001, 0.5], [panel], "p").layout.xaxis
    assert far.type == "log"
    assert list(far.ticktext) == ["0.001", "0.5"]
    assert line_panels(["a"], [0, 0.5], [panel], "p").layout.xaxis.type is None


@pytest.mark.slow
def test_panels_do_not_overlap() -> None:
    for across in range(1, MOST_PANELS + 1):
        panels = [Panel(str(n), [Mark(n)]) for n in range(across)]
        layout = bar_panels([Bar("a")], panels).layout.to_plotly_json()
        boxes = [
            (layout[f"xaxis{n}"]["domain"], layout[f"yaxis{n}"]["domain"])
            for n in ("", *range(2, across + 1))
        ]
        for number, (x, y) in enumerate(boxes):
            assert 0 <= x[0] < x[1] <= 1 + 1e-9
            assert 0 <= y[0] < y[1] <= 1
            for other_x, other_y in boxes[:number]:
                apart_x = x[0] >= other_x[1] or other_x[0] >= x[1]
                assert apart_x or y[1] <= other_y[0], "what comes later is right or below"


def test_only_so_many_panels() -> None:
    panels = [Panel(str(n), [Mark(n)]) for n in range(MOST_PANELS + 3)]
    assert len(bar_panels([Bar("a")], panels).data) == MOST_PANELS
    assert len(line_panels(["a"], [1], panels, "").data) == MOST_PANELS


def test_hostile_labels() -> None:
    figures = [
        bar_panels([Bar(HOSTILE, HOSTILE, HOSTILE)], [Panel(HOSTILE, [Mark(1, text=HOSTILE)])]),
        line_panels([HOSTILE, "b"], [1], [Panel(HOSTILE, [Mark(1), Mark(2)])], HOSTILE),
    ]
    for figure in figures:
        found = [*notes(figure), *(trace.name or "" for trace in figure.data)]
        found += figure.layout.yaxis.ticktext or ()
        found += [text for trace in figure.data for row in trace.customdata for text in row]
        found.append(figure.layout.xaxis.title.text or "")
        assert sum("&lt;a" in text for text in found) >= 3
        for text in found:
            assert "<" not in text.replace("<b>", "").replace("</b>", "")
            assert len(text) < 150
        for trace in figure.data:
            assert "&lt;" not in trace.hovertemplate, "a label would be read as a template"


def test_nothing_at_all() -> None:
    assert not bar_panels([], []).data
    assert not line_panels([], [], [], "").data
