"""Precision, recall and F1 over thresholds of blame, with a draggable line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from morphgraph.core.text import counted, from_to, in_percent
from morphgraph.refine.knockout import ThresholdPoint, best_point
from web.components import component


def threshold_line(
    points: Sequence[ThresholdPoint],
    threshold: float,
    f1: float,
    *,
    key: str,
    on_choose: Callable[[float], None],
) -> None:
    """Show the effect of each threshold, ``threshold`` chosen; ``f1``: the present score.

    ``on_choose`` gets the threshold at the end of a drag, before the script runs.
    """

    def stopped() -> None:
        number = (st.session_state.get(key) or {}).get("chosen")
        if isinstance(number, int | float) and 0 <= number < len(points):
            on_choose(points[int(number)].threshold)

    best = best_point(points)
    chosen = min(range(len(points)), key=lambda n: abs(points[n].threshold - threshold))
    component("threshold_line", "curve", shares=("elements",))(
        key=key,
        data={
            "points": [_shown(point, f1) for point in points],
            "chosen": chosen,
            "best": None if best is None else points.index(best),
        },
        on_chosen_change=stopped,
    )


def _shown(point: ThresholdPoint, f1: float) -> dict[str, Any]:
    """Return a point as the component takes it: shares in %, None for NaN, and its description."""
    scores = {
        name: None if value != value else 100 * value
        for name, value in asdict(point).items()
        if name in ("precision", "recall", "f1")
    }
    verb = "goes" if point.removed == 1 else "go"
    said = f"blame ≥ {in_percent(point.threshold, 0)}: {counted(point.removed, 'type')} {verb}"
    if point.f1 == point.f1:
        said += f", F1 {from_to(f1, point.f1)}"
    return {
        "threshold": point.threshold,
        "said": said,
        "more": f" · {in_percent(point.dropout_rate)} of all joins are made by their merges",
        **scores,
    }
