"""The stand-alone page: nothing from outside, and no label becomes markup."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import networkx as nx
import pytest

from morphgraph.draw.scene import Scene, scene_of, stand_alone_html, vis_script

NASTY = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "&lt;b&gt;<!--"]


def nasty_scene() -> Scene:
    graph: nx.DiGraph = nx.DiGraph()
    for i, name in enumerate(NASTY):
        graph.add_node(f"t{i}", kind="type", label=name, tooltip=f"href {name}\nsecond line")
    graph.add_node("t9", kind="type", label="", tooltip="", ghost=True)
    graph.add_node("m1", kind="merge", label="1", rank=1, tooltip="merge 1")
    graph.add_edges_from((f"t{i}", "m1", {"indices": (i,)}) for i in range(len(NASTY)))
    graph.add_edge("m1", "t9")
    return scene_of(graph, focus="t9", values={"m1": 0.7}, changed=["m1"], left_out=1234)


@pytest.fixture(scope="module")
def page() -> str:
    return stand_alone_html(nasty_scene(), "Merges of <Ġ> & co </title><script>")


def test_no_address_outside(page: str) -> None:
    assert re.findall(r"(?i)\b(?:https?|wss?|ftp)://", page) == []
    assert re.findall(r"(?i)\b(?:src|href)\s*=\s*[\"']?//", page) == []
    assert re.findall(r"(?i)<link|@import|<iframe|<img\b", page) == []
    assert "default-src 'none'" in page


def test_labels_cannot_leave_the_script(page: str) -> None:
    assert len(re.findall(r"(?i)<script", page)) == 2
    assert len(re.findall(r"(?i)</script", page)) == 2
    assert "<!--" not in page.split("const pictures = ")[1]
    assert "<title>Merges of &lt;Ġ&gt; &amp; co" in page


def test_what_is_inside_is_the_scene(page: str) -> None:
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


def test_the_library_is_whole_and_has_no_source_map() -> None:
    script = vis_script()
    assert "sourceMapping" not in script
    assert len(script) > 400_000
    assert "@license" in script
    assert len(script.splitlines()) > script.count("\n")  # other separators, inside strings


def test_importing_the_module_does_not_import_pyvis() -> None:
    code = (
        "import sys, morphgraph.draw.scene as export; export.vis_script(); "
        "print('pyvis' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
