"""Merge trees on a page: a Streamlit component that shows a picture and downloads it.

The picture is drawn in Python, once for each theme; the browser chooses, adds tooltips, and makes
the PNG. Clicks on merges are numbered and acknowledged as those of the merge graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from morphgraph.draw.merge_tree import MergeTree
from morphgraph.draw.merge_tree_svg import to_svg
from web.graph_component import Click, click_handler

HERE = Path(__file__).parent
_HEIGHT = re.compile(r'\bheight="(\d+)"')
_AROUND, _HIGHEST = 54, 760
"""Pixels that buttons, borders and a scroll bar take; and the height above which one scrolls."""


def tree_picture(
    trees: Sequence[MergeTree],
    *,
    key: str,
    file_name: str = "merge-tree",
    on_event: Callable[[list[Click]], None] | None = None,
    reveal: int = 0,
) -> None:
    """Show merge trees, with buttons that download the picture as SVG and PNG.

    ``on_event`` runs before the script does, with the clicks on merges that were not handled yet;
    their keys are those of types in the merge graph. Without it, merges cannot be clicked.
    Whenever ``reveal`` has risen, the page is scrolled until the picture is in sight.
    """
    light, dark = to_svg(trees, "light"), to_svg(trees, "dark")
    found = _HEIGHT.search(light)
    height = min(int(found.group(1)) if found else _HIGHEST, _HIGHEST) + _AROUND
    pending, ack = click_handler(key, on_event)
    _tree()(
        key=key,
        data={
            "light": light,
            "dark": dark,
            "file_name": file_name,
            "height": height,
            "clickable": on_event is not None,
            "reveal": reveal,
            "ack": ack,
        },
        height=height,
        on_pending_change=pending,
    )


@cache
def _tree() -> Callable[..., Any]:
    return st.components.v2.component(
        "morphgraph.merge_tree",
        html=(HERE / "tree.html").read_text(encoding="utf-8"),
        css=(HERE / "tree.css").read_text(encoding="utf-8"),
        js=(HERE / "tree.js").read_text(encoding="utf-8"),
    )
