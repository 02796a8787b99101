"""Drawings that display themselves in a notebook, and can be saved."""

import html
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.core.text import counted, shortened, visible
from morphgraph.draw.merge_tree import MergeTree
from morphgraph.draw.scene import Scene

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


@dataclass(frozen=True, repr=False)
class TreePicture:
    """The merge tree of a word; a notebook displays it.

    >>> tokeniser.tree("houses")
    <TreePicture houses: ␣houses>
    """

    tree: MergeTree

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON: atoms, merges in the order of application, gold boundaries.

        A vertex is the number of an atom, from 0, or of a merge after the last atom. Undefined
        blame is null.

        >>> found = tokeniser.tree("undesirable").to_dict()
        >>> found["merges"][0]["label"], len(found["leaves"])
        ('nd', 12)
        """
        found: dict[str, Any] = _without_nan(asdict(self.tree))
        return found

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each merge that was applied, in order: its rank, parts, type and blame.

        ``first`` and ``last`` are the outermost atoms below it, ``closes`` is how many gold
        boundaries it closed in this word.

        >>> list(tokeniser.tree("undesirable").to_frame()["merge"])[:2]
        ['n + d → nd', 'e + s → es']
        """
        import pandas as pd

        rows = [
            (m.rank, m.description, m.label, m.ratio, m.first, m.last, m.closes)
            for m in self.tree.merges
        ]
        return pd.DataFrame(rows, columns=["rank", "merge", "type", "R", "first", "last", "closes"])

    def to_svg(self) -> str:
        """Return the drawing as SVG.

        >>> tokeniser.tree("undesirable").to_svg()[:4]
        '<svg'
        """
        from morphgraph.draw.merge_tree_svg import to_svg

        return to_svg(self.tree)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to an SVG file.

        >>> tokeniser.tree("undesirable").save("tree.svg")
        """
        write_file(_with_suffix(path, ".svg"), self.to_svg().encode())

    def __repr__(self) -> str:
        """One line: the word and its tokens."""
        tokens = " ".join(self.tree.label(root) for root in self.tree.roots)
        return f"<TreePicture {visible(self.tree.word)}: {shortened(tokens, 200)}>"

    def _repr_svg_(self) -> str:
        return self.to_svg()


@dataclass(frozen=True, repr=False)
class GraphPicture:
    """The merge graph around a type; in a notebook it can be moved and zoomed.

    >>> tokeniser.around("house", up=0)
    <GraphPicture demo:en: house: 2 merges>
    """

    scene: Scene
    title: str

    def to_networkx(self) -> "nx.DiGraph":
        """Return what it shows: vertices with kind, label, blame (NaN if undefined), flags.

        >>> graph = tokeniser.around("able", up=0).to_networkx()
        >>> sorted(label for _, label in graph.nodes(data="label"))
        ['167', '352', '49', 'a', 'ab', 'able', 'b', 'e', 'l', 'le']
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from((vertex.key, vertex._asdict()) for vertex in self.scene.vertices)
        graph.add_edges_from(
            (edge.source, edge.target, {"label": edge.label, "tooltip": edge.tooltip})
            for edge in self.scene.edges
        )
        return graph

    def to_dict(self) -> dict[str, Any]:
        """Return the same as JSON: vertices, edges, and how many vertices were left out.

        >>> tokeniser.around("able", up=0).to_dict()["left_out"]
        0
        """
        vertices = [
            vertex._asdict() | {"flags": sorted(vertex.flags)} for vertex in self.scene.vertices
        ]
        edges = [edge._asdict() for edge in self.scene.edges]
        found = {"vertices": vertices, "edges": edges, "left_out": self.scene.left_out}
        return dict(_without_nan(found))

    def to_html(self) -> str:
        """Return the drawing as a stand-alone page.

        >>> tokeniser.around("able").to_html()[:15]
        '<!DOCTYPE html>'
        """
        from morphgraph.draw.export_html import stand_alone_html

        return stand_alone_html(self.scene, self.title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to an HTML file.

        >>> tokeniser.around("able").save("able.html")
        """
        write_file(_with_suffix(path, ".html"), self.to_html().encode())

    def __repr__(self) -> str:
        """One line."""
        merges = sum(vertex.kind == "merge" for vertex in self.scene.vertices)
        return f"<GraphPicture {visible(self.title)}: {counted(merges, 'merge')}>"

    def _repr_html_(self) -> str:
        # The page is an attribute's text, in a frame that may run its script but access nothing.
        page = html.escape(self.to_html())
        style = "width:100%;height:480px;border:1px solid #8888"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def _without_nan(value: Any) -> Any:
    """Return nested data with None for NaN, as JSON has it."""
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _with_suffix(path: str | os.PathLike[str], suffix: str) -> Path:
    if Path(path).suffix != suffix:
        raise MorphGraphError(f"{path} does not end in {suffix}, which this picture is. Add it.")
    return Path(path)
