"""Figures of scores: every number is the given one, and no label is markup or a template."""

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest

from morphgraph.draw.charts import SERIES_COLOURS, short_label
from morphgraph.draw.score_charts import (
    MOST_IN_RADAR,
    Difference,
    Dumbbell,
    Mark,
    breakdown,
    difference_forest,
    dumbbells,
    points_text,
    radar,
    share_text,
)

NAN = math.nan
HOSTILE = "<a href='javascript:x'>%{x} & </b>\n" + "long" * 50
UNKNOWN = Mark(NAN)


def named(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.showlegend is not False}


def test_dumbbells() -> None:
    rows = [
        Dumbbell("one", Mark(0.5, 0.25, 0.625), Mark(0.75, 0.5, 0.875), Mark(0.6)),
        Dumbbell("one", UNKNOWN, Mark(0.25, 0.25, 0.5), Mark(0.0)),
        Dumbbell("none", UNKNOWN, UNKNOWN, UNKNOWN),
    ]
    figure = dumbbells(rows)
    traces = named(figure)
    assert list(traces) == ["precision", "recall", "F1"]
    assert list(traces["precision"].x) == [50]
    assert list(traces["precision"].y) == [0]
    assert list(traces["precision"].error_x.array) == [12.5]
    assert list(traces["precision"].error_x.arrayminus) == [25]
    assert list(traces["recall"].x) == [75, 25]
    assert list(traces["recall"].y) == [0, 1]
    assert list(traces["recall"].error_x.array) == [12.5, 25]
    assert list(traces["recall"].error_x.arrayminus) == [25, 0]
    assert list(traces["F1"].x) == [60, 0]
    assert list(traces["F1"].error_x.array) == [0, 0], "no interval, no whisker"
    assert list(traces["F1"].customdata[1]) == ["one", "F1 0.00 %"]
    assert list(traces["recall"].customdata[0]) == ["one", "recall 75.00 % [50.00, 87.50]"]
    assert {trace.marker.symbol for trace in traces.values()} == {
        "circle",
        "circle-open",
        "diamond",
    }
    bar = figure.data[0]
    assert list(bar.x) == [50, 75, None, 0, 25, None]
    assert list(bar.y) == [0, 0, None, 1, 1, None]
    axis = figure.layout.yaxis
    assert list(axis.tickvals) == [0, 1, 2]
    assert list(axis.ticktext) == ["one", "one<br>precision n/a", "none"]
    assert list(axis.range) == [2.5, -0.5], "the first on top"
    assert [(note.text, note.y) for note in figure.layout.annotations] == [("n/a", 2)]


def test_a_value_outside_its_interval() -> None:
    row = Dumbbell("a", Mark(0.5, 0.6, 0.7), Mark(0.5, 0.2, 0.4), UNKNOWN)
    traces = named(dumbbells([row]))
    assert traces["precision"].error_x.arrayminus == (0,)
    assert traces["precision"].error_x.array == pytest.approx((20,))
    assert traces["recall"].error_x.array == (0,)
    assert traces["recall"].error_x.arrayminus == pytest.approx((30,))


def test_nothing_known() -> None:
    figure = dumbbells([Dumbbell("a", UNKNOWN, UNKNOWN, UNKNOWN)])
    assert list(figure.layout.xaxis.range) == [0, 100]
    assert list(difference_forest([Difference("a", UNKNOWN)]).layout.xaxis.range) == [-1, 1]


def test_heights_grow() -> None:
    row = Dumbbell("a", Mark(0.5), Mark(0.5), Mark(0.5))
    heights = [dumbbells([row] * count).layout.height for count in (1, 5, 20)]
    assert heights[0] < heights[1] < heights[2]
    assert heights[2] - heights[1] == 15 * 34

    def height(categories: int, lines: int) -> int:
        values = {str(number): [Mark(0.5)] * categories for number in range(lines)}
        figure = breakdown(["c"] * categories, [1] * categories, values, "F1")
        return int(figure.layout.height)

    assert height(2, 3) < height(4, 3) < height(4, 20)


def test_radar() -> None:
    figure = radar(
        ["a", "b"],
        ["Precision", "Over-segmented", "Exact match"],
        [[0.5, 0.25, 0.75], [1.0, NAN, 0.0]],
        [1, -1, 1],
    )
    one, other = figure.data
    assert list(one.r) == [50, 75, 75, 50], "closed, and less drawn as more where less is better"
    assert list(one.theta) == [0, 120, 240, 0]
    assert list(other.r) == [100, None, 0, 100]
    assert one.text[1] == "a<br>Over-segmented 25.00 %", "the number as it is"
    assert other.text[1] == "b<br>Over-segmented n/a"
    axis = figure.layout.polar.angularaxis
    assert list(axis.tickvals) == [0, 120, 240]
    assert list(axis.ticktext) == ["Precision", "Over-<br>segmented\u00a0↓", "Exact match"]
    assert [note.text for note in figure.layout.annotations] == [
        "↓ less is better: drawn as 100 % − share"
    ]
    assert one.line.color != other.line.color
    assert one.line.dash != other.line.dash


def test_radar_of_too_many() -> None:
    figure = radar([f"t{n}" for n in range(11)], ["x", "y"], [[n / 10, 0.5] for n in range(11)])
    assert [trace.name for trace in figure.data] == [f"t{n}" for n in range(MOST_IN_RADAR)]
    assert [note.text for note in figure.layout.annotations] == ["3 more not drawn"]
    looks = {(trace.line.color, trace.line.dash, trace.marker.symbol) for trace in figure.data}
    assert all(len(set(kind)) == MOST_IN_RADAR for kind in zip(*looks, strict=True))


def test_breakdown() -> None:
    figure = breakdown(
        ["noun", "verb", "other"],
        [1234, 5, 0],
        {
            "a": [Mark(0.5, 0.25, 0.75), Mark(0.25), UNKNOWN],
            "b": [Mark(NAN, 0, 0), Mark(1.0, 0.5, 1.0), Mark(NAN, 0, 0)],
        },
        "F1",
    )
    one, other = figure.data
    assert list(one.x) == [50, 25]
    assert list(one.y) == pytest.approx([-0.2, 0.8])
    assert list(one.error_x.array) == [25, 0]
    assert list(one.error_x.arrayminus) == [25, 0]
    assert list(other.x) == [100]
    assert list(other.y) == pytest.approx([1.2])
    assert list(other.error_x.arrayminus) == [50]
    assert list(one.customdata[0]) == ["a", "noun, 1,234 entries<br>50.00 % [25.00, 75.00]"]
    axis = figure.layout.yaxis
    assert list(axis.ticktext) == ["noun<br>1,234", "verb<br>5", "other<br>0"]
    assert list(axis.range) == [2.5, -0.5]
    assert figure.layout.xaxis.title.text == "F1 %"
    assert [shape.y0 for shape in figure.layout.shapes] == [0.5, 1.5]


def test_many_lines_look_different() -> None:
    figure = breakdown(["c"], [1], {str(number): [Mark(0.5)] for number in range(30)}, "F1")
    looks = {(trace.marker.color, trace.marker.symbol) for trace in figure.data}
    assert len(looks) == 30
    places = [trace.y[0] for trace in figure.data]
    assert places == sorted(set(places))
    assert -0.5 < places[0] < places[-1] < 0.5


def test_difference_forest() -> None:
    figure = difference_forest(
        [
            Difference("better", Mark(0.0125, 0.005, 0.025), "**"),
            Difference("gone", UNKNOWN),
            Difference("alike", Mark(-0.005, -0.03, 0.01)),
        ],
        "BPE",
    )
    (points,) = figure.data
    assert list(points.x) == [1.25, -0.5]
    assert list(points.y) == [0, 2]
    assert list(points.error_x.array) == pytest.approx([1.25, 1.5])
    assert list(points.error_x.arrayminus) == pytest.approx([0.75, 2.5])
    assert list(points.marker.symbol) == ["circle", "circle-open"]
    assert list(points.customdata[0]) == ["better", "+1.25 points [+0.50, +2.50] **"]
    assert list(points.customdata[1]) == ["alike", "−0.50 points [−3.00, +1.00]"]
    assert list(figure.layout.yaxis.ticktext) == ["better **", "gone", "alike"]
    assert [(note.text, note.y) for note in figure.layout.annotations] == [("n/a", 1)]
    assert [shape.x0 for shape in figure.layout.shapes] == [0]
    assert figure.layout.xaxis.title.text == "difference to BPE (points)"


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif not isinstance(value, int | float | None):
        for inner in value:
            yield from strings(inner)


def test_hostile_labels() -> None:
    known = Mark(0.5, 0.25, 0.75)
    figures = [
        dumbbells([Dumbbell(HOSTILE, known, UNKNOWN, known)]),
        radar([HOSTILE], [HOSTILE, "b", "c"], [[0.5, 0.25, NAN]], [-1, 1, 1]),
        breakdown([HOSTILE], [1], {HOSTILE: [Mark(0.5)]}, HOSTILE),
        difference_forest([Difference(HOSTILE, known, "*")], HOSTILE),
    ]
    for figure in figures:
        found = list(strings(figure.to_dict()["data"])) + list(
            strings({**figure.to_dict()["layout"], "template": None})
        )
        labels = [text for text in found if "&lt;a" in text]
        assert labels
        for text in found:
            bare = text.replace("<extra></extra>", "").replace("<br>", "")
            assert "<" not in bare
            assert len(bare) < 200
        for trace in figure.data:
            assert "&lt;" not in (trace.hovertemplate or ""), "a label would be read as a template"


def test_names_and_texts() -> None:
    assert short_label("a\n b\tc") == "a b c"
    assert short_label("x" * 100) == "x" * 31 + "…"
    assert short_label("&" * 40, 2) == "&amp;…", "cut before it is escaped, not inside an escape"
    assert share_text(Mark(0.5, NAN, 0.75)) == "50.00 %"
    assert points_text(UNKNOWN) == "n/a"


def test_nothing_at_all() -> None:
    assert dumbbells([]).layout.height == 178
    assert not radar([], [], []).data
    assert not breakdown([], [], {}, "F1").data
    assert list(difference_forest([]).data[0].x) == []


def luminance(colour: str) -> float:
    channels = [int(pair, 16) / 255 for pair in re.findall("[0-9a-f]{2}", colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("paper", ["#ffffff", "#0e1117"])
def test_colours_are_seen_on_light_and_dark_paper(paper: str) -> None:
    for colour in SERIES_COLOURS:
        low, high = sorted([luminance(colour), luminance(paper)])
        assert (high + 0.05) / (low + 0.05) >= 3, colour
