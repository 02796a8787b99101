"""The scene around a type as plain data, and its stand-alone page, which fetches nothing."""

import json
import math
import re

import networkx as nx
import pytest
from small import small_reference, small_tokeniser

from morphgraph.draw.scene import scene_around, scene_of, stand_alone_html
from morphgraph.refine.study import Study
from morphgraph.score.boundaries import Benchmark


def test_levels_grow_along_every_edge_and_atoms_stand_before_their_first_merge():
    graph = nx.DiGraph()
    for name in ("t0", "t1", "t2", "t3"):
        graph.add_node(name, kind="type", label=name, tooltip=name, atom=name in ("t0", "t3"))
    for rank in (5, 9):
        graph.add_node(f"m{rank}", kind="merge", label=f"{rank}", rank=rank, tooltip="")
    parts = {"m5": [("t0", (0, 1))], "m9": [("t1", (0,)), ("t0", (1,)), ("t3", (2,))]}
    for merge, result in (("m5", "t1"), ("m9", "t2")):
        graph.add_edges_from((part, merge, {"indices": places}) for part, places in parts[merge])
        graph.add_edge(merge, result)
    given = {"focus": "t1", "values": {"m5": 0.5, "t1": 0.5, "t99": 1.0}, "changed": ["m9", "m99"]}
    scene = scene_of(graph, **given, left_out=17)
    assert scene.graph["left_out"] == 17
    values = dict(scene.nodes(data="value"))
    assert values["m5"] == 0.5 and math.isnan(values["m9"])
    levels = dict(scene.nodes(data="level"))
    assert levels == {"t0": 0, "m5": 1, "t1": 2, "t3": 2, "m9": 3, "t2": 4}
    assert all(levels[source] < levels[target] for source, target in scene.edges)


MERGES = [("a", "b"), ("ab", "c"), ("x", "y"), ("abc", "xy"), ("ab", "x")]


@pytest.fixture
def study():
    tokeniser = small_tokeniser(MERGES, "abcxy")
    return Study(tokeniser, Benchmark.build(tokeniser, small_reference("ab c", "abc xy")))


def look(study, text, **options):
    return scene_around(study, study.graph.ids[text], **options)


def edges(view):
    label = dict(view.nodes(data="label"))
    return {(label[source], label[target]) for source, target in view.edges}


def ghosts(view):
    return {vertex["label"] for _, vertex in view.nodes(data=True) if "ghost" in vertex["flags"]}


def test_a_removed_type_is_drawn_with_the_parts_it_had(study):
    """abc was made of ab and c by the merge of rank 1; abcxy now takes ab, c and xy."""
    assert not ghosts(look(study, "abc"))
    study.graph.knockout(["abc"])
    view = look(study, "abc")
    assert ghosts(view) == {"abc", "1"}
    drawn = edges(view)
    assert {("ab", "1"), ("c", "1"), ("1", "abc")} <= drawn
    assert {("ab", "3"), ("c", "3"), ("xy", "3"), ("3", "abcxy")} <= drawn, "and what it was in"
    assert {("a", "0"), ("b", "0"), ("0", "ab")} <= drawn, "two steps down, as ever"
    assert ("2", "xy") not in drawn
    [merge] = [vertex for _, vertex in view.nodes(data=True) if vertex["label"] == "1"]
    assert merge["tooltip"] == "ab + c → abc\nrank 1\nknocked out"
    assert not ghosts(look(study, "abcxy")), "only where it was looked at"


def test_ghosts_keep_to_the_limit(study):
    study.graph.knockout(["abc"])
    view = look(study, "abc", limit=5)
    assert len(view) <= 5
    assert {("ab", "1"), ("c", "1"), ("1", "abc")} <= edges(view)
    assert view.graph["left_out"] > 0


NASTY = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "&lt;b&gt;<!--"]


@pytest.fixture(scope="module")
def page():
    graph = nx.DiGraph()
    for i, name in enumerate(NASTY):
        graph.add_node(f"t{i}", kind="type", label=name, tooltip=f"href {name}\nsecond line")
    graph.add_node("t9", kind="type", label="", tooltip="", ghost=True)
    graph.add_node("m1", kind="merge", label="1", rank=1, tooltip="merge 1")
    graph.add_edges_from((f"t{i}", "m1", {"indices": (i,)}) for i in range(len(NASTY)))
    graph.add_edge("m1", "t9")
    scene = scene_of(graph, focus="t9", values={"m1": 0.7}, changed=["m1"], left_out=1234)
    return stand_alone_html(scene, "Merges of <Ġ> & co </title><script>")


def test_no_address_outside(page):
    assert re.findall(r"(?i)\b(?:https?|wss?|ftp)://", page) == []
    assert re.findall(r"(?i)\b(?:src|href)\s*=\s*[\"']?//", page) == []
    assert re.findall(r"(?i)<link|@import|<iframe|<img\b", page) == []
    assert "default-src 'none'" in page


def test_labels_cannot_leave_the_script(page):
    assert len(re.findall(r"(?i)<script", page)) == 2
    assert len(re.findall(r"(?i)</script", page)) == 2
    assert "<!--" not in page.split("const pictures = ")[1]
    assert "<title>Merges of &lt;Ġ&gt; &amp; co" in page


def test_what_is_inside_is_the_scene(page):
    line = next(line for line in page.split("\n") if line.startswith("const pictures = "))
    pictures = json.loads(line.removeprefix("const pictures = ").removesuffix(";"))
    assert pictures.keys() == {"light", "dark"}
    for picture in pictures.values():
        nodes = {node["id"]: node for node in picture["nodes"]}
        assert len(nodes) == 5 and len(picture["edges"]) == 4
        assert nodes["t9"]["label"] == " "
        assert nodes["t0"]["title"] == f"href {NASTY[0]}\nsecond line"
        assert picture["options"]["physics"] == {"enabled": False}
        edge = next(edge for edge in picture["edges"] if edge["from"] == "t1")
        assert edge["title"].endswith("part 2 of 3")
    assert "left out: 1,234" in page
