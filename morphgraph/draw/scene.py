"""A piece of the merge graph as plain data, the scene around a type, and a page that draws it."""

import html
import importlib.util
import json
import math
import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted, shortened, visible, without_nan
from morphgraph.draw import (
    BLAME_SCALE,
    SCENE_COLOURS,
    Theme,
    blame_colour,
    blended,
    ink_on,
    save_picture,
)
from morphgraph.graph.merge_table import Change, Merge
from morphgraph.graph.view import merge_key, neighbourhood, type_key
from morphgraph.refine.study import Study
from morphgraph.tables.writing import rendered

LONGEST_LABEL = 24
"""Characters of a label that are drawn; longer ones are cut with an ellipsis."""
_LONGEST = 200
"""The longest name, in characters, that is sent to the browser."""
_CHANGED = 1e15
"""Importance of merges that the last edit changed: above all counts."""
_FONT = "system-ui, sans-serif"


def scene_of(
    graph: nx.DiGraph,
    *,
    focus: str | None,
    values: Mapping[str, float],
    changed: Collection[str],
    left_out: int = 0,
) -> nx.DiGraph:
    """Return a piece of the merge graph as it is drawn.

    ``graph``: as from `graph.view.to_networkx`; vertices may have a ``tooltip`` and the flags
    ``atom``, ``ghost`` and ``frontier``. ``values`` maps vertices to blame ratios; those absent are
    undefined. ``changed`` holds the vertices to highlight; keys that the graph lacks are ignored in
    both. ``left_out``: how many vertices there was no room for; kept as an attribute of the graph.

    Each vertex gets ``kind``, ``label``, ``tooltip``, ``value`` (the blame ratio or NaN), ``level``
    (which grows along every edge) and ``flags``: of ``focus``, ``atom``, ``tuple``, ``changed``,
    ``ghost`` (no longer in the vocabulary) and ``frontier`` (has neighbours that are not shown).
    Each edge has a ``label``, how often a repeated part occurs, and a ``tooltip``. All text is
    plain.

    >>> graph = nx.DiGraph()
    >>> graph.add_node("t0", kind="type", label="a")
    >>> graph.add_node("m1", kind="merge", label="7")
    >>> graph.add_edge("t0", "m1", indices=(0, 1))
    >>> graph.add_edge("m1", "t1")
    >>> scene_of(graph, focus="t1", values={"m1": 0.25}, changed=()).edges["t0", "m1"]
    {'label': '×2', 'tooltip': 'a: parts 1 and 2 of 2'}
    """
    levels = {key: n for n, keys in enumerate(nx.topological_generations(graph)) for key in keys}
    for key in graph:
        if not levels[key] and graph.out_degree(key):  # sources stand just before their first merge
            levels[key] = min(levels[merge] for merge in graph.successors(key)) - 1
    part_counts: Counter[str] = Counter()
    for _, merge, indices in graph.edges(data="indices", default=()):
        part_counts[merge] += len(indices)
    scene = nx.DiGraph(left_out=left_out)
    for key in sorted(graph, key=lambda key: (len(key), key)):
        attributes = graph.nodes[key]
        is_merge = attributes.get("kind") == "merge"
        label = str(attributes.get("label", key))
        flags = {name for name in ("atom", "ghost", "frontier") if attributes.get(name)}
        flags |= {"focus"} if key == focus else set()
        flags |= {"tuple"} if is_merge and part_counts[key] >= 3 else set()
        flags |= {"changed"} if key in changed else set()
        tooltip = str(attributes.get("tooltip") or label)
        if len(label) > LONGEST_LABEL and label not in tooltip:
            tooltip = f"{label}\n{tooltip}"
        scene.add_node(
            key,
            kind="merge" if is_merge else "type",
            label=shortened(label, LONGEST_LABEL),
            tooltip=tooltip,
            value=float(values.get(key, math.nan)),
            level=levels[key],
            flags=sorted(flags),
        )
    for source, target, indices in sorted(graph.edges(data="indices", default=())):
        label = tooltip = ""
        if indices:
            *others, last = (str(index + 1) for index in indices)
            places = f"parts {', '.join(others)} and {last}" if others else f"part {last}"
            name = graph.nodes[source].get("label", source)
            label = f"×{len(indices)}" if others else ""
            tooltip = f"{name}: {places} of {part_counts[target]}"
        scene.add_edge(source, target, label=label, tooltip=tooltip)
    return scene


# ----------------------------------------------------------------------------------- around a type


def scene_around(
    study: Study, focus: int, *, up: int = 1, down: int = 2, limit: int = 60
) -> nx.DiGraph:
    """Return the neighbourhood of a type as a scene of at most ``limit`` vertices.

    A removed type is a ghost with all that made and used it. Merges that the last edit changed are
    preferred, then those applied most often.
    """
    graph, blamed = study.graph, study.blame()
    change = graph.history[-1] if graph.history else Change({})
    changed = {entry.merge for entry in change.rewired} | change.added_merges.keys()
    applied = zip(blamed.arrays.merge_ids.tolist(), blamed.applied.tolist(), strict=True)
    importance = {merge: times + _CHANGED * (merge in changed) for merge, times in applied}
    around, left_out = neighbourhood(
        graph,
        focus,
        up=up,
        down=down,
        limit=limit,
        importance=importance,
        names=study.tokeniser.readable_types,
    )
    removal = graph.removal_of(focus) or Change({})
    return scene_of(
        around,
        focus=type_key(focus),
        values=_described(study, around, removal.removed_merges),
        changed={merge_key(merge) for merge in changed if graph.has_merge(merge)},
        left_out=left_out,
    )


def _described(study: Study, around: nx.DiGraph, gone: Mapping[int, Merge]) -> dict[str, float]:
    """Write tooltips into the digraph; return blame ratios. ``gone``: removed merges."""
    graph, blamed, names = study.graph, study.blame(), study.tokeniser.readable_types
    values: dict[str, float] = {}
    for key, attributes in around.nodes(data=True):
        number = int(key[1:])
        is_gone = bool(attributes.get("ghost"))
        if key.startswith("t"):
            attributes["label"] = shortened(attributes["label"], _LONGEST)
            producers = graph.incoming(number)
            if is_gone or not producers:
                special = graph.types[number] in study.tokeniser.special
                kind = "knocked out" if is_gone else "special token" if special else "atom"
                attributes["tooltip"] = f"{attributes['label']}\n{kind}"
                continue
            number = blamed.worst_of(producers)
        merge = gone[number] if is_gone else graph.merge(number)
        *parts, result = (names[number] for number in (*merge.parts, merge.result))
        tooltip = shortened(f"{' + '.join(parts)} → {result}", _LONGEST)
        tooltip += f"\nrank {merge.rank:,}"
        if is_gone:
            tooltip += "\nknocked out"
        elif study.benchmark.texts:
            values[key] = blamed.shown_ratio(number)
            tooltip += f"\n{blamed.described(number)}"
        attributes["tooltip"] = tooltip.rstrip()
    return values


def first_focus(study: Study) -> int:
    """Return a good first type: of those with R ≥ 0.5, the one that closed most boundaries."""
    blamed = study.blame()
    if len(blamed.arrays) == 0:
        return study.graph.type_ids()[0]
    groups = (blamed.candidates(0.5), blamed.order, [0])
    chosen = next(group for group in groups if len(group))
    return int(blamed.arrays.results[max(chosen, key=lambda position: blamed.blamed[position])])


# ------------------------------------------------------------------------------------ as a page


@cache
def vis_script() -> str:
    """Return the vis-network script of pyvis, found without importing that, which is slow."""
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


def stand_alone_html(scene: nx.DiGraph, title: str) -> str:
    """Return a stand-alone page that draws the scene, without any external address.

    The vertices, edges and options are built by pyvis; its page template is not used because it
    always loads styles from another host. In a frame, it posts the key of each vertex that is
    clicked. Labels and tooltips are plain text; a content security policy forbids it to load
    anything at all.
    """
    pictures = {theme: _network(scene, theme) for theme in SCENE_COLOURS}
    data = json.dumps(pictures, ensure_ascii=True, allow_nan=False)
    # Safe inside a script element: it contains no markup.
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    # Escaped slashes mean the same to JavaScript, and leave no address, not even in a comment.
    # "<script" and "</script" occur in its string literals only.
    library = vis_script().replace("://", r":\/\/")
    library = library.replace("<script", r"\x3cscript").replace("</script", r"\x3c/script")
    merges, left_out = _merges_in(scene), scene.graph["left_out"]
    note = f"{counted(len(scene) - merges, 'type')}, {counted(merges, 'merge')}"
    note += f"; left out: {left_out:,}" if left_out else ""
    styles = {"colours": SCENE_COLOURS, "scales": BLAME_SCALE}
    return rendered(
        "graph.html.j2", title=title, library=library, pictures=data, note=note, **styles
    )


def _merges_in(scene: nx.DiGraph) -> int:
    return sum(kind == "merge" for _, kind in scene.nodes(data="kind"))


def _network(scene: nx.DiGraph, theme: Theme) -> dict[str, Any]:
    from pyvis.network import Network  # slow to import

    colours = SCENE_COLOURS[theme]
    network = Network(directed=True)
    network.set_options(rendered("graph_options.json.j2", colours=colours, font=_FONT))
    for key, attributes in scene.nodes(data=True):
        network.add_node(key, **_vertex_style(attributes, theme))
    for source, target, texts in scene.edges(data=True):
        is_changed = any(
            scene.nodes[key]["kind"] == "merge" and "changed" in scene.nodes[key]["flags"]
            for key in (source, target)
        )
        line = colours["changed" if is_changed else "line"]
        shown = {"label": texts["label"], "title": texts["tooltip"]}
        network.add_edge(
            source,
            target,
            width=1.8 if is_changed else 1.1,
            color={"color": line, "hover": colours["text"], "highlight": colours["selected"]},
            **{name: text for name, text in shown.items() if text},
        )
    nodes, edges, _, _, _, options = network.get_network_data()
    return {"nodes": nodes, "edges": edges, "options": json.loads(options)}


def _vertex_style(vertex: Mapping[str, Any], theme: Theme) -> dict[str, Any]:
    colours = SCENE_COLOURS[theme]
    flags, is_merge = vertex["flags"], vertex["kind"] == "merge"
    fill = blame_colour(vertex["value"], theme)
    border, width = blended(fill, colours["text"], 0.3), 1.2
    if "focus" in flags:
        border, width = colours["text"], 3.0
    if "changed" in flags:
        border, width = colours["changed"], 3.0
    if "ghost" in flags:
        fill, border = colours["background"], colours["line"]
    selected = {"background": fill, "border": colours["selected"]}
    style: dict[str, Any] = {
        "label": vertex["label"] or " ",  # pyvis replaces an empty label with the key
        "title": vertex["tooltip"],
        "shape": "box",
        "level": vertex["level"],
        "borderWidth": width,
        "borderWidthSelected": 3,
        "color": {"background": fill, "border": border, "hover": selected, "highlight": selected},
        "font": {"color": ink_on(fill), "size": 11 if is_merge else 15, "face": _FONT},
        "margin": 4 if is_merge else {"top": 6, "bottom": 6, "left": 9, "right": 9},
        "shapeProperties": {
            "borderRadius": 3 if is_merge else 15,
            "borderDashes": [4, 3] if "ghost" in flags else False,
        },
    }
    if "tuple" in flags:  # a second card under the merge: it has more than two parts
        style["shadow"] = {"enabled": True, "color": border, "size": 0, "x": 5, "y": -5}
    return style


@dataclass(frozen=True, repr=False)
class GraphPicture:
    """The merge graph around a type; in a notebook it can be moved and zoomed.

    >>> tokeniser.around("house", up=0)
    <GraphPicture demo:en: house: 2 merges>
    """

    scene: nx.DiGraph
    title: str

    def to_networkx(self) -> nx.DiGraph:
        """Return what it shows: vertices with kind, label, blame (NaN if undefined), flags.

        >>> graph = tokeniser.around("able", up=0).to_networkx()
        >>> sorted(label for _, label in graph.nodes(data="label"))
        ['167', '352', '49', 'a', 'ab', 'able', 'b', 'e', 'l', 'le']
        """
        return self.scene.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return the same as JSON, in networkx's node-link format; ``graph`` says what is left out.

        >>> tokeniser.around("able", up=0).to_dict()["graph"]
        {'left_out': 0}
        """
        return dict(without_nan(nx.node_link_data(self.scene)))

    def to_html(self) -> str:
        """Return the drawing as a stand-alone page.

        >>> tokeniser.around("able").to_html()[:15]
        '<!DOCTYPE html>'
        """
        return stand_alone_html(self.scene, self.title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to an HTML file.

        >>> tokeniser.around("able").save("able.html")
        """
        save_picture(path, ".html", self.to_html())

    def __repr__(self) -> str:
        merges = counted(_merges_in(self.scene), "merge")
        return f"<GraphPicture {visible(self.title)}: {merges}>"

    def _repr_html_(self) -> str:
        # The page is an attribute's text, in a frame that may run its script but access nothing.
        page = html.escape(self.to_html())
        style = "width:100%;height:480px;border:1px solid #8888"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'
