"""Drawings that display themselves in a notebook, and can be saved."""

import html
import os
from dataclasses import dataclass
from pathlib import Path

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.core.text import counted, shortened, visible
from morphgraph.draw.merge_tree import MergeTree
from morphgraph.draw.scene import Scene


@dataclass(frozen=True, repr=False)
class TreePicture:
    """The merge tree of a word; a notebook displays it."""

    tree: MergeTree

    def to_svg(self) -> str:
        """Return the drawing as SVG."""
        from morphgraph.draw.merge_tree_svg import to_svg

        return to_svg(self.tree)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to an SVG file."""
        write_file(_with_suffix(path, ".svg"), self.to_svg().encode())

    def __repr__(self) -> str:
        """One line: the word and its tokens."""
        tokens = " ".join(self.tree.label(root) for root in self.tree.roots)
        return f"<TreePicture {visible(self.tree.word)}: {shortened(tokens, 200)}>"

    def _repr_svg_(self) -> str:
        return self.to_svg()


@dataclass(frozen=True, repr=False)
class GraphPicture:
    """The merge graph around a type; in a notebook it can be moved and zoomed."""

    scene: Scene
    title: str

    def to_html(self) -> str:
        """Return the drawing as a stand-alone page."""
        from morphgraph.draw.export_html import stand_alone_html

        return stand_alone_html(self.scene, self.title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to an HTML file."""
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


def _with_suffix(path: str | os.PathLike[str], suffix: str) -> Path:
    if Path(path).suffix != suffix:
        raise MorphGraphError(f"{path} does not end in {suffix}, which this picture is. Add it.")
    return Path(path)
