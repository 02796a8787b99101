"""The interactive merge graph: a Streamlit component around vis-network.

A page mounts ``vis_loader()`` once, and ``merge_graph(...)`` wherever a graph is shown, best in a
fragment so that a click reruns nothing else. Clicks are numbered in the browser and acknowledged
from here, so fast clicks are neither lost nor handled twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import streamlit as st

from morphgraph.draw.colours import BLAME_SCALE, SCENE_COLOURS
from morphgraph.draw.export_html import vis_script
from web.components import component

_CONSTANTS = (
    f"const BLAME_SCALE = {json.dumps({k: list(v) for k, v in BLAME_SCALE.items()})};\n"
    f"const COLOURS = {json.dumps({k: dict(v) for k, v in SCENE_COLOURS.items()})};\n"
)


@dataclass(frozen=True, slots=True)
class Click:
    """A click on a vertex; ``sequence`` rises with each click of a mounted graph.

    A double click arrives as two clicks and one ``"double"``, so a page can ignore either kind.
    """

    sequence: int
    key: str
    kind: Literal["click", "double"]


def vis_loader() -> None:
    """Load the drawing library into the browser tab; mount it once on each page.

    The library comes from the installed pyvis and is sent once per tab, not with every graph.
    """
    _loader()(key="morphgraph-vis-loader")


def merge_graph(
    scene: Mapping[str, Any],
    *,
    key: str,
    view_key: str,
    selected: str | None = None,
    click_mode: Literal["select", "knockout"] = "select",
    height: int = 560,
    whole: bool = False,
    on_event: Callable[[list[Click]], None] | None = None,
) -> None:
    """Draw a scene (``Scene.to_dict()``) and report clicks on its vertices.

    ``view_key`` names what is looked at: zoom, pan and dragged vertices are kept per view key
    across reruns and page switches, and all of the graph is shown when a view key is new.
    ``whole``: at first sight all of it is shown, however small. ``selected`` is the vertex to
    outline; ``click_mode`` changes the pointer only. ``on_event`` runs before the script does,
    with the clicks that were not handled yet, in order.
    """
    pending, ack = click_handler(key, on_event)
    component("merge_graph", "graph", _CONSTANTS)(
        key=key,
        data={
            "scene": dict(scene),
            "view_key": view_key,
            "selected": selected,
            "click_mode": click_mode,
            "height": height,
            "whole": whole,
            "ack": ack,
        },
        height=height,
        on_pending_change=pending,
    )


def click_handler(
    key: str, on_event: Callable[[list[Click]], None] | None
) -> tuple[Callable[[], None], int]:
    """What a component calls when it has clicks, and the number of the last one handled so far.

    ``on_event`` gets those that were not handled yet, in order.
    """
    ack_key = f"{key}:ack"

    def pending() -> None:
        state = st.session_state.get(key)
        clicks, ack = new_clicks(state and state.get("pending"), st.session_state.get(ack_key, 0))
        st.session_state[ack_key] = ack
        if clicks and on_event is not None:
            on_event(clicks)

    return pending, st.session_state.get(ack_key, 0)


def new_clicks(pending: Any, ack: int) -> tuple[list[Click], int]:
    """Return the clicks of a pending list that come after ``ack``, and the new ``ack``.

    What does not look like a click is left out: the list comes from the browser.

    >>> new_clicks([{"sequence": 1, "key": "t5", "kind": "click"},
    ...             {"sequence": 2, "key": "m3", "kind": "click"}], ack=1)
    ([Click(sequence=2, key='m3', kind='click')], 2)
    >>> new_clicks(None, ack=2)
    ([], 2)
    """
    clicks = []
    for entry in pending if isinstance(pending, list) else []:
        if not isinstance(entry, Mapping):
            continue
        sequence, key, kind = (entry.get(name) for name in ("sequence", "key", "kind"))
        # Numbers may arrive as floats: JSON knows no integers.
        if not isinstance(sequence, int | float) or not isinstance(key, str):
            continue
        if sequence > ack and kind in ("click", "double"):
            clicks.append(Click(int(sequence), key, kind))
    clicks.sort(key=lambda click: click.sequence)
    return clicks, max([ack, *(click.sequence for click in clicks)])


@cache
def _loader() -> Callable[..., Any]:
    script = f"""if (!globalThis.vis) {{
{vis_script()}
}}
export default function ({{ parentElement }}) {{
  // Nothing to see: take the empty element out of the flow of the page.
  const element = (parentElement.host ?? parentElement).closest(".stElementContainer");
  if (element) element.style.display = "none";
  dispatchEvent(new Event("vis-ready"));
}}
"""
    return st.components.v2.component("morphgraph.vis_loader", js=script)
