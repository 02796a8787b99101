"""The table of the comparison: a Streamlit component that shows tokens as chips and reports clicks.

Rows are plain data; the browser builds the table of text nodes only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from morphgraph.score.comparison import ComparedWord
from web.components import component
from web.components.graph import Click, click_handler


def comparison_table(
    labels: Sequence[str],
    rows: Sequence[tuple[int, ComparedWord]],
    *,
    key: str,
    chosen: tuple[int, int] | None = None,
    height: int = 560,
    on_choose: Callable[[int, int], None] | None = None,
) -> None:
    """Show rows, each with its number, by methods; ``on_choose`` gets the row and column clicked.

    It runs before the script does. ``chosen`` is the cell to outline.
    """

    def handle(clicks: list[Click]) -> None:
        number, _, column = clicks[-1].key.partition(",")
        if on_choose is not None and number.isdecimal() and column.isdecimal():
            on_choose(int(number), int(column))

    pending, ack = click_handler(key, handle)
    component("comparison", "compare")(
        key=key,
        data={
            "labels": list(labels),
            "rows": [_row(number, row) for number, row in rows],
            "chosen": None if chosen is None else f"{chosen[0]},{chosen[1]}",
            "height": height,
            "ack": ack,
        },
        on_pending_change=pending,
    )


def _row(number: int, row: ComparedWord) -> dict[str, Any]:
    return {
        "number": number,
        "text": row.text,
        "gold": list(row.gold) if row.gold is not None else None,
        "cells": [
            {
                "pieces": [[p.text, p.boundary, p.dropped] for p in cell.pieces],
                "tokens": " ".join(cell.tokens),
                "count": len(cell.tokens),
                "exact": bool(cell.exact),
                "known": cell.exact is not None,
            }
            for cell in row.cells
        ],
    }
