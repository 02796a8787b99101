"""Figures: every number is the given one, and no label is markup or a template."""

import math

import pytest

from morphgraph.draw.score_charts import Mark, Panel, breakdown, heat_map, line_panels

NAN = math.nan
HOSTILE = "<a href='javascript:x'>%{x} & </b>\n" + "long" * 50
UNKNOWN = Mark(NAN)
HALF = Mark(0.5)


def error_bars(trace, axis="x"):
    bars = getattr(trace, f"error_{axis}")
    return list(bars.array), list(bars.arrayminus)


def test_breakdown():
    lines = {
        "a": [Mark(0.5, 0.25, 0.75), Mark(0.5, 0.6, 0.7), UNKNOWN],
        "b": [Mark(NAN, 0, 0), Mark(1.0, 0.5, 1.0), Mark(NAN, 0, 0)],
    }
    figure = breakdown(["noun", "verb", "other"], [1234, 5, 0], lines, "F1")
    one, other = figure.data
    assert (list(one.x), list(one.y)) == ([50, 50], pytest.approx([-0.2, 0.8]))
    assert error_bars(one) == (pytest.approx([25, 20]), [25, 0]), "0.5 is outside 0.6 to 0.7"
    assert (list(other.x), list(other.y)) == ([100], pytest.approx([1.2]))
    assert list(other.error_x.arrayminus) == [50]
    assert list(figure.layout.yaxis.ticktext) == ["noun<br>1,234", "verb<br>5", "other<br>0"]


def test_lines():
    marks = [Mark(2, 1, 4), Mark(1), Mark(NAN), Mark(9)]
    figure = line_panels(["a", "b"], [200, 100], [Panel("F1", marks)], "Size")
    one, other = figure.data
    assert (list(one.x), list(one.y)) == ([100, 200], [1, 2])
    assert error_bars(one, "y") == ([0, 2], [0, 1])
    assert (list(other.x), list(other.y)) == ([100, 200], [9, None])
    assert (one.line.color, one.marker.symbol) != (other.line.color, other.marker.symbol)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif not isinstance(value, int | float | None):
        for inner in value:
            yield from strings(inner)


def test_hostile_labels():
    figures = [
        breakdown([HOSTILE], [1], {HOSTILE: [HALF]}, HOSTILE),
        heat_map([HOSTILE], [HOSTILE] * 2, [[1, float("nan")]]),
        line_panels(
            [HOSTILE, "b"], [1], [Panel(HOSTILE, [Mark(1, text=HOSTILE), Mark(2)])], HOSTILE
        ),
    ]
    for figure in figures:
        drawn = figure.to_dict()
        found = [*strings(drawn["data"]), *strings({**drawn["layout"], "template": None})]
        assert [text for text in found if "&lt;a" in text]
        for text in found:
            bare = text.replace("<extra></extra>", "")
            for tag in ("<br>", "<b>", "</b>"):
                bare = bare.replace(tag, "")
            assert "<" not in bare
            assert len(bare) < 200
        for trace in figure.data:
            assert "&lt;" not in (trace.hovertemplate or ""), "a label would be read as a template"
