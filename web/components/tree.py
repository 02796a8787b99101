"""Merge trees on a page: a Streamlit component that shows a picture and downloads it.

The picture is drawn in Python, for each theme, for a wide page and for a narrow one; the browser
chooses, adds tooltips, and makes the PNG. Clicks on merges are numbered and acknowledged as those
of the merge graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from morphgraph.draw.colours import Theme
from morphgraph.draw.merge_tree import MergeTree
from morphgraph.draw.merge_tree_svg import to_svg
from web.components import component
from web.components.graph import Click, click_handler

_WIDTHS = (1032, 686)
"""Widths that a picture keeps to where it can: on a wide page and on a narrow one."""


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
    pending, ack = click_handler(key, on_event)
    component("merge_tree", "tree")(
        key=key,
        data={
            "light": _drawn(trees, "light"),
            "dark": _drawn(trees, "dark"),
            "file_name": file_name,
            "clickable": on_event is not None,
            "reveal": reveal,
            "ack": ack,
        },
        on_pending_change=pending,
    )


def _drawn(trees: Sequence[MergeTree], theme: Theme) -> list[str]:
    """The picture for each width, widest first; one, where all are the same."""
    return list(dict.fromkeys(to_svg(trees, theme, widest) for widest in _WIDTHS))
