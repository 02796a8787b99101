"""The merge graph as a fan in SVG, and the words beside it, highlighted together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from morphgraph.draw.fan_layout import Fan
from morphgraph.draw.word_rows import WordRow
from web.components import Click, click_handler, component


def fan_graph(
    fan: Fan,
    *,
    key: str,
    view_key: str,
    selected: str | None = None,
    height: str = "420px",
    least: float = 0.8,
    on_event: Callable[[list[Click]], None] | None = None,
) -> None:
    """Draw a fan and report clicks on its vertices.

    ``selected`` is the vertex to outline; ``on_event`` runs before the script does, with new clicks
    in order. ``view_key`` identifies the subject: pan and zoom by hand are kept for it; otherwise
    all is shown as large as it fits, or at scale ``least`` its centre. ``height``: any CSS length.
    Hovering over a type highlights its words in a `word_rows` on the same page.
    """
    pending, ack = click_handler(key, on_event)
    component("fan_graph", "fan", _panzoom())(
        key=key,
        data={
            "fan": fan.to_dict(),
            "view_key": view_key,
            "selected": selected,
            "height": height,
            "least": least,
            "ack": ack,
        },
        on_pending_change=pending,
    )


@dataclass(frozen=True, slots=True)
class WordGroup:
    """Words under a title, with notes on their number and on those left out.

    ``fresh``: whether an edit changed them, so that they show how; otherwise they show the gold.
    """

    title: str
    count: str
    rows: Sequence[WordRow]
    more: str = ""
    fresh: bool = False


def word_rows(
    groups: Sequence[WordGroup],
    *,
    key: str,
    height: str = "none",
    on_choose: Callable[[int], None] | None = None,
) -> None:
    """Show words; hovering over one highlights its path in a `fan_graph` on the same page.

    ``on_choose`` gets the number of the clicked word, before the script runs. ``height``: a maximum
    CSS length, beyond which words scroll.
    """

    def handle(clicks: list[Click]) -> None:
        if on_choose is not None and clicks[-1].key.isdecimal():
            on_choose(int(clicks[-1].key))

    pending, ack = click_handler(key, handle)
    component("word_rows", "rows", shares=("elements",))(
        key=key,
        data={
            "groups": [
                {**asdict(group), "rows": list(map(asdict, group.rows))} for group in groups
            ],
            "height": height,
            "ack": ack,
        },
        on_pending_change=pending,
    )


@cache
def _panzoom() -> str:
    """Return Panzoom (MIT), which ships with the app, its licence beside it."""
    assets = Path(__file__).resolve().parents[2] / "assets"
    return (assets / "panzoom" / "panzoom.min.js").read_text(encoding="utf-8") + "\n"
