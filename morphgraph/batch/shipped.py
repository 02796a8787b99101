"""The configurations that ship: those of the papers' tables, and a demo."""

from __future__ import annotations

import os
from pathlib import Path

from morphgraph.core.demos import app_folder
from morphgraph.core.errors import MorphGraphError


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


def configuration_path(source: str | os.PathLike[str]) -> Path:
    """The file that somebody means: a path, or the name of a shipped configuration.

    A file of that path comes first. `MorphGraphError` if there is neither.
    """
    path = Path(source)
    names = list(shipped_configurations())
    if path.is_file() or str(source) not in names:
        if not path.exists() and path.name == str(source) and not path.suffix:
            raise MorphGraphError(
                f"{source}: there is no such file, nor does an evaluation of that name ship. "
                f"Those that ship: {', '.join(names)}."
            )
        return path
    return shipped_folder() / f"{source}.yaml"
