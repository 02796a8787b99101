"""A merge graph as one HTML file that works offline, from a mail or a USB stick."""

from __future__ import annotations

import html
import importlib.util
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted
from morphgraph.draw.scene import BLAME_SCALE, SCENE_COLOURS, Scene, SceneEdge, SceneVertex, Theme

_FONT = "system-ui, sans-serif"


@cache
def vis_script() -> str:
    """Return the vis-network script that the installed pyvis carries, without its source map.

    Found without importing pyvis, which is slow to import.
    """
    spec = importlib.util.find_spec("pyvis")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for script in sorted(Path(folder).glob("lib/vis-*/vis-network.min.js"), reverse=True):
            text = script.read_text(encoding="utf-8")
            # Not splitlines(): the script has string literals with other line separators in them.
            kept = [line for line in text.split("\n") if not line.startswith("//# sourceMapping")]
            return "\n".join(kept) + "\n"
    raise MorphGraphError(
        "The drawing library is missing: the installed pyvis has no lib/vis-*/vis-network.min.js. "
        "Install it: pip install --force-reinstall 'morphgraph[app]'"
    )


def stand_alone_html(scene: Scene, title: str) -> str:
    """Return a page that draws the scene, with everything it needs inside and no address outside.

    The vertices, edges and options are built by pyvis; its page template is not used because it
    always loads styles from another host. Labels and tooltips are plain text whatever is in them.
    The page follows the reader's light or dark setting; a content security policy forbids it to
    load anything at all.
    """
    pictures = {theme: _network(scene, theme) for theme in SCENE_COLOURS}
    # Escaped slashes mean the same to JavaScript, and no address is left even in a comment.
    # "<script" and "</script" occur in its string literals only.
    library = vis_script().replace("://", r":\/\/")
    library = library.replace("<script", r"\x3cscript").replace("</script", r"\x3c/script")
    return _PAGE.format(
        title=html.escape(title),
        library=library,
        pictures=_script_json(pictures),
        note=_note(scene),
        **{
            f"{theme}_{role}": colour
            for theme, colours in SCENE_COLOURS.items()
            for role, colour in colours.items()
        },
        light_scale=", ".join(BLAME_SCALE["light"]),
        dark_scale=", ".join(BLAME_SCALE["dark"]),
    )


def _note(scene: Scene) -> str:
    types = sum(vertex.kind == "type" for vertex in scene.vertices)
    note = f"{counted(types, 'type')}, {counted(len(scene.vertices) - types, 'merge')}"
    return f"{note}; left out: {scene.left_out:,}" if scene.left_out else note


def _script_json(value: Any) -> str:
    """Return JSON that can stand inside a script element: it contains no markup."""
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
        "layout": {"improvedLayout": False},
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
    fill = colours["undefined"] if math.isnan(vertex.value) else _blame_colour(vertex.value, theme)
    border, width = _mix(fill, colours["text"], 0.3), 1.2
    if "focus" in vertex.flags:
        border, width = colours["text"], 3.0
    if "changed" in vertex.flags:
        border, width = colours["changed"], 3.0
    if ghost:
        fill, border = colours["background"], colours["line"]
    both = {"background": fill, "border": border}
    selected = {"background": fill, "border": colours["selected"]}
    style: dict[str, Any] = {
        "label": vertex.label or " ",  # pyvis puts the key where a label is empty
        "title": vertex.tooltip,
        "shape": "box",
        "x": vertex.x,
        "y": vertex.y,
        "borderWidth": width,
        "borderWidthSelected": 3,
        "color": {**both, "hover": selected, "highlight": selected},
        "font": {"color": _ink_on(fill), "size": 11 if is_merge else 15, "face": _FONT},
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


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _mix(first: str, second: str, share: float) -> str:
    """Return the colour that lies between two.

    >>> _mix("#000000", "#ffffff", 0.5)
    '#808080'
    """
    parts = zip(_rgb(first), _rgb(second), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _blame_colour(value: float, theme: Theme) -> str:
    scale = BLAME_SCALE[theme]
    place = min(1.0, max(0.0, value)) * (len(scale) - 1)
    step = min(len(scale) - 2, int(place))
    return _mix(scale[step], scale[step + 1], place - step)


def _ink_on(fill: str) -> str:
    """Return black or white, whichever is read more easily on the fill."""

    def linear(value: int) -> float:
        part = value / 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(value) for value in _rgb(fill))
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    return "#ffffff" if 1.05 / light > light / 0.06 else "#16181d"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root {{
  color-scheme: light dark;
  --background: {light_background}; --text: {light_text}; --line: {light_line};
  --changed: {light_changed}; --scale: {light_scale}; --undefined: {light_undefined};
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --background: {dark_background}; --text: {dark_text}; --line: {dark_line};
    --changed: {dark_changed}; --scale: {dark_scale}; --undefined: {dark_undefined};
  }}
}}
body {{
  margin: 0; height: 100vh; display: flex; flex-direction: column;
  background: var(--background); color: var(--text);
  font: 14px/1.5 system-ui, sans-serif;
}}
header {{
  display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 20px; padding: 12px 20px;
}}
h1 {{ margin: 0; font-size: 18px; }}
header span {{ display: inline-flex; align-items: center; gap: 7px; }}
i {{ display: inline-block; width: 20px; height: 13px; border-radius: 3px;
  box-sizing: border-box; border: 1px solid var(--line); background: var(--undefined); }}
.scale {{ width: 90px; background: linear-gradient(to right, var(--scale)); }}
.changed {{ border: 3px solid var(--changed); }}
.tuple {{ box-shadow: 3px -3px 0 var(--line); }}
.ghost {{ border-style: dashed; background: none; }}
#graph {{ flex: 1; min-height: 0; }}
.vis-tooltip {{
  position: absolute; visibility: hidden; max-width: 320px; padding: 7px 10px;
  border: 1px solid var(--line); border-radius: 8px; background: var(--background);
  color: var(--text); white-space: pre-line; overflow-wrap: anywhere; pointer-events: none;
  z-index: 2;
}}
</style>
</head>
<body>
<header>
<h1>{title}</h1>
<span>{note}</span>
<span>blame 0 <i class="scale"></i> 1</span>
<span><i></i> undefined</span>
<span><i class="changed"></i> changed</span>
<span><i class="tuple"></i> merge of three or more parts</span>
<span><i class="ghost"></i> knocked out</span>
</header>
<div id="graph"></div>
<script>
{library}
</script>
<script>
const pictures = {pictures};
const dark = matchMedia("(prefers-color-scheme: dark)");
const picture = () => pictures[dark.matches ? "dark" : "light"];
const nodes = new vis.DataSet(picture().nodes);
const edges = new vis.DataSet(picture().edges.map((edge, id) => ({{ id, ...edge }})));
const network = new vis.Network(
  document.getElementById("graph"), {{ nodes, edges }}, picture().options
);
network.fit({{ maxZoomLevel: 1.3 }});
dark.addEventListener("change", () => {{
  network.setOptions(picture().options);
  nodes.update(picture().nodes.map(({{ x, y, ...style }}) => ({{
    ...style, ...network.getPosition(style.id)
  }})));
  edges.update(picture().edges.map((edge, id) => ({{ id, ...edge }})));
}});
</script>
</body>
</html>
"""
