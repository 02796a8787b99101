"""The scene: what is shown of a graph, as plain data."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx

from morphgraph.draw.colours import BLAME_SCALE, SCENE_COLOURS, blame_colour, ink_on, rgb
from morphgraph.draw.scene import LONGEST_LABEL, Scene, scene_of


def graph_of_everything() -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_node("t0", kind="type", label="a", tooltip="a\natom", atom=True, frontier=True)
    graph.add_node("t1", kind="type", label="aa", tooltip="aa")
    graph.add_node("t2", kind="type", label="aaab", tooltip="aaab", ghost=True)
    graph.add_node("t3", kind="type", label="b", tooltip="b", atom=True)
    graph.add_node("m5", kind="merge", label="5", rank=5, tooltip="merge 5")
    graph.add_node("m9", kind="merge", label="9", rank=9, tooltip="merge 9")
    graph.add_edge("t0", "m5", indices=(0, 1))
    graph.add_edge("m5", "t1")
    graph.add_edge("t1", "m9", indices=(0,))
    graph.add_edge("t0", "m9", indices=(1,))
    graph.add_edge("t3", "m9", indices=(2,))
    graph.add_edge("m9", "t2")
    return graph


def everything(**options: Any) -> Scene:
    given = {"focus": "t1", "values": {"m5": 0.5, "t1": 0.5, "t99": 1.0}, "changed": ["m9", "m99"]}
    return scene_of(graph_of_everything(), **{**given, **options})


def test_flags() -> None:
    flags = {vertex.key: vertex.flags for vertex in everything().vertices}
    assert flags == {
        "t0": {"atom", "frontier"},
        "t1": {"focus"},
        "t2": {"ghost"},
        "t3": {"atom"},
        "m5": set(),
        "m9": {"tuple", "changed"},
    }


def test_a_pair_of_three_equal_parts_is_a_tuple() -> None:
    graph = nx.DiGraph()
    graph.add_node("t0", kind="type", label="a")
    graph.add_node("m1", kind="merge", label="1", rank=1)
    graph.add_edge("t0", "m1", indices=(0, 1, 2))
    scene = scene_of(graph, focus=None, values={}, changed=())
    assert "tuple" in scene.vertices[0].flags
    assert scene.edges[0].label == "×3"
    assert scene.edges[0].tooltip == "a: parts 1, 2 and 3 of 3"


def test_edges_say_which_part_they_are() -> None:
    edges = {(edge.source, edge.target): edge for edge in everything().edges}
    assert edges["t0", "m5"].label == "×2"
    assert edges["t0", "m9"].label == ""
    assert edges["t0", "m9"].tooltip == "a: part 2 of 3"
    assert edges["m5", "t1"].tooltip == ""


def test_undefined_blame_is_nan() -> None:
    scene = everything()
    values = {vertex.key: vertex.value for vertex in scene.vertices}
    assert values["m5"] == 0.5
    assert math.isnan(values["m9"])


def test_levels_grow_along_every_edge_and_atoms_stand_before_their_first_merge() -> None:
    scene = everything(left_out=17)
    assert scene.left_out == 17
    levels = {vertex.key: vertex.level for vertex in scene.vertices}
    assert levels == {"t0": 0, "m5": 1, "t1": 2, "t3": 2, "m9": 3, "t2": 4}
    assert all(levels[edge.source] < levels[edge.target] for edge in scene.edges)


def test_a_long_label_is_cut_and_stands_in_full_in_the_tooltip() -> None:
    name = "Ġ" + "donaudampfschiff" * 3
    graph = nx.DiGraph()
    graph.add_node("t0", kind="type", label=name, tooltip="merge 7")
    graph.add_node("t1", kind="type", label="b")
    vertices = scene_of(graph, focus=None, values={}, changed=()).vertices
    assert len(vertices[0].label) == LONGEST_LABEL
    assert vertices[0].label.startswith("Ġdonau")
    assert vertices[0].label.endswith("…")
    assert vertices[0].tooltip == f"{name}\nmerge 7"
    assert vertices[1].tooltip == "b"


def luminance(colour: str) -> float:
    def linear(value: int) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_blame_scales_are_monotone_and_every_shade_can_be_written_on() -> None:
    for theme, scale in BLAME_SCALE.items():
        background = luminance(SCENE_COLOURS[theme]["background"])
        apart = [abs(luminance(colour) - background) for colour in scale]
        assert apart == sorted(apart)
        for step in range(101):
            fill = blame_colour(step / 100, theme)
            light, dark = sorted([luminance(fill), luminance(ink_on(fill))], reverse=True)
            assert (light + 0.05) / (dark + 0.05) > 4.5, (theme, step)


def test_the_worst_blame_is_a_deep_red_in_both_themes() -> None:
    for scale in BLAME_SCALE.values():
        red, green, blue = rgb(scale[-1])
        assert red > 2 * max(green, blue)
        assert luminance(scale[-1]) < 0.2
