"""What results call tokenisers, methods and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from morphgraph.batch.configuration import TokeniserChoice
from morphgraph.batch.methods import BaseMethod


def trained_label(choice: TokeniserChoice, pipeline: str | None, threshold: float) -> str:
    """What results call a trained tokeniser that has no name of its own."""
    from morphgraph.train.methods import METHODS

    return METHODS[str(choice.train)].label + varying(choice, pipeline, threshold)


def varying(choice: TokeniserChoice, pipeline: str | None, threshold: float) -> str:
    """What distinguishes the tokenisers of a grid, beside their size."""
    parts = [f"threshold={threshold:g}"] if choice.threshold else []
    if pipeline is not None and len(choice.pipeline or ()) > 1:
        parts.append(pipeline)
    return f" ({', '.join(parts)})" if parts else ""


def usual_title(choice: TokeniserChoice) -> str:
    """What the tokeniser as it is goes by among methods."""
    from morphgraph.train.methods import METHODS

    return "as it is" if choice.train is None else METHODS[str(choice.train)].label


def listed_parameters(method: BaseMethod, parameters: Mapping[str, Any]) -> str:
    """The parameters that the file gives, as results show them."""
    given = [(name, value) for name, value in parameters.items() if name in method.model_fields_set]
    return ", ".join(f"{name}={_shown(value)}" for name, value in given)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)
