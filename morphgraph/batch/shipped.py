"""The configurations that ship: those of the papers' tables, and a demo."""

from __future__ import annotations

from pathlib import Path

from morphgraph.errors import MorphGraphError
from morphgraph.files.demos import app_folder


def shipped_folder() -> Path:
    """Where the shipped configurations are."""
    return app_folder() / "docs" / "evaluations"


def shipped_configurations() -> dict[str, str]:
    """The text of each shipped configuration by its name, the demo first."""
    try:
        paths = sorted(shipped_folder().glob("*.yaml"), key=lambda p: (p.stem != "demo", p.stem))
        return {path.stem: path.read_text("utf-8") for path in paths}
    except OSError as error:
        raise MorphGraphError(
            "The shipped configurations cannot be read. Install morphgraph again."
        ) from error
