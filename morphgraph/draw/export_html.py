"""A merge graph as one stand-alone HTML file that works offline."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted
from morphgraph.draw.colours import BLAME_SCALE, SCENE_COLOURS, Theme, blame_colour, blended, ink_on
from morphgraph.draw.scene import Scene, SceneEdge, SceneVertex
from morphgraph.tables.writing import rendered

_FONT = "system-ui, sans-serif"


@cache
def vis_script() -> str:
    """Return the vis-network script that the installed pyvis carries, without its source map.

    It is located without importing pyvis, which is slow.
    """
    spec = importlib.util.find_spec("pyvis")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for script in sorted(Path(folder).glob("lib/vis-*/vis-network.min.js"), reverse=True):
            text = script.read_text(encoding="utf-8")
            # Not splitlines(): the script's string literals have other line separators in them.
            kept = [line for line in text.split("\n") if not line.startswith("//# sourceMapping")]
            return "\n".join(kept) + "\n"
    raise MorphGraphError(
        "The drawing library is missing: the installed pyvis has no lib/vis-*/vis-network.min.js. "
        "Install it: pip install --force-reinstall 'morphgraph[app]'"
    )


def stand_alone_html(scene: Scene, title: str) -> str:
    """Return a stand-alone page that draws the scene, without any external address.

    The vertices, edges and options are built by pyvis; its page template is not used because it
    always loads styles from another host. vis-network lays it out, by levels. In a frame, the page
    posts the key of each vertex that is clicked. Labels and tooltips are always plain text. The
    page follows the reader's light or dark setting; a content security policy forbids it to load
    anything at all.
    """
    pictures = {theme: _network(scene, theme) for theme in SCENE_COLOURS}
    # Escaped slashes mean the same to JavaScript, and leave no address, not even in a comment.
    # "<script" and "</script" occur in its string literals only.
    library = vis_script().replace("://", r":\/\/")
    library = library.replace("<script", r"\x3cscript").replace("</script", r"\x3c/script")
    return rendered(
        "graph.html.j2",
        title=title,
        library=library,
        pictures=_script_json(pictures),
        note=_note(scene),
        colours=SCENE_COLOURS,
        scales=BLAME_SCALE,
    )


def _note(scene: Scene) -> str:
    types = sum(vertex.kind == "type" for vertex in scene.vertices)
    note = f"{counted(types, 'type')}, {counted(len(scene.vertices) - types, 'merge')}"
    return f"{note}; left out: {scene.left_out:,}" if scene.left_out else note


def _script_json(value: Any) -> str:
    """Return JSON that is safe inside a script element: it contains no markup."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _network(scene: Scene, theme: Theme) -> dict[str, Any]:
    from pyvis.network import Network  # slow to import

    network = Network(directed=True)
    network.set_options(json.dumps(_options(theme)))
    for vertex in scene.vertices:
        network.add_node(vertex.key, **_vertex_style(vertex, theme))
    merges = {vertex.key: vertex for vertex in scene.vertices if vertex.kind == "merge"}
    for edge in scene.edges:
        network.add_edge(edge.source, edge.target, **_edge_style(edge, merges, theme))
    nodes, edges, _, _, _, options = network.get_network_data()
    return {"nodes": nodes, "edges": edges, "options": json.loads(options)}


def _options(theme: Theme) -> dict[str, Any]:
    colours = SCENE_COLOURS[theme]
    return {
        "physics": {"enabled": False},
        "layout": {
            "hierarchical": {
                "enabled": True,
                "direction": "LR",
                "sortMethod": "directed",
                "levelSeparation": 150,
                "nodeSpacing": 44,
            }
        },
        "interaction": {"hover": True, "tooltipDelay": 150, "zoomSpeed": 0.6},
        "nodes": {"shape": "box", "labelHighlightBold": False},
        "edges": {
            "arrowStrikethrough": False,
            "hoverWidth": 0.6,
            "selectionWidth": 0.6,
            "arrows": {"to": {"enabled": True, "scaleFactor": 0.42}},
            "font": {
                "color": colours["text"],
                "face": _FONT,
                "size": 12,
                "strokeColor": colours["background"],
                "strokeWidth": 4,
            },
            "smooth": {
                "enabled": True,
                "type": "cubicBezier",
                "forceDirection": "horizontal",
                "roundness": 0.45,
            },
        },
    }


def _vertex_style(vertex: SceneVertex, theme: Theme) -> dict[str, Any]:
    colours = SCENE_COLOURS[theme]
    is_merge = vertex.kind == "merge"
    ghost = "ghost" in vertex.flags
    fill = blame_colour(vertex.value, theme)
    border, width = blended(fill, colours["text"], 0.3), 1.2
    if "focus" in vertex.flags:
        border, width = colours["text"], 3.0
    if "changed" in vertex.flags:
        border, width = colours["changed"], 3.0
    if ghost:
        fill, border = colours["background"], colours["line"]
    both = {"background": fill, "border": border}
    selected = {"background": fill, "border": colours["selected"]}
    style: dict[str, Any] = {
        "label": vertex.label or " ",  # pyvis replaces an empty label with the key
        "title": vertex.tooltip,
        "shape": "box",
        "level": vertex.level,
        "borderWidth": width,
        "borderWidthSelected": 3,
        "color": {**both, "hover": selected, "highlight": selected},
        "font": {"color": ink_on(fill), "size": 11 if is_merge else 15, "face": _FONT},
        "margin": 4 if is_merge else {"top": 6, "bottom": 6, "left": 9, "right": 9},
        "shapeProperties": {
            "borderRadius": 3 if is_merge else 15,
            "borderDashes": [4, 3] if ghost else False,
        },
    }
    if "tuple" in vertex.flags:  # a second card under the merge: it has more than two parts
        style["shadow"] = {"enabled": True, "color": border, "size": 0, "x": 5, "y": -5}
    return style


def _edge_style(edge: SceneEdge, merges: dict[str, SceneVertex], theme: Theme) -> dict[str, Any]:
    colours = SCENE_COLOURS[theme]
    merge = merges.get(edge.source) or merges.get(edge.target)
    changed = merge is not None and "changed" in merge.flags
    colour = colours["changed"] if changed else colours["line"]
    style: dict[str, Any] = {
        "width": 1.8 if changed else 1.1,
        "color": {"color": colour, "hover": colours["text"], "highlight": colours["selected"]},
    }
    if edge.label:
        style["label"] = edge.label
    if edge.tooltip:
        style["title"] = edge.tooltip
    return style
