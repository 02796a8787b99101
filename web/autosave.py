"""Edits survive a closed or reloaded page: each tokeniser's recipe is kept on this machine.

One file for each tokeniser, named by the checksum that we computed of it, in
``$MORPHGRAPH_STATE`` or ``~/.local/state/morphgraph``. Where that cannot be written, nothing is
kept, and the app works all the same.
"""

import os
from pathlib import Path
from typing import Any

from morphgraph.errors import MorphGraphError
from morphgraph.files import Tokeniser, read_recipe, write_recipe
from morphgraph.files.reading import read_bytes


def folder() -> Path:
    """Where recipes are kept."""
    chosen = os.environ.get("MORPHGRAPH_STATE")
    return Path(chosen) if chosen else Path.home() / ".local" / "state" / "morphgraph"


def keep(tokeniser: Tokeniser) -> None:
    """Write the recipe of a tokeniser that has been edited, if it is not what is kept already."""
    if not (tokeniser.graph.history or tokeniser.graph.undone):
        return
    data = write_recipe(tokeniser)
    path = folder() / f"{tokeniser.checksum}.json"
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # In two steps, so that a crash leaves the old recipe or the new one, never half of one.
        partial = path.with_suffix(".partial")
        partial.write_bytes(data)
        partial.replace(path)
    except OSError:
        return


def kept_steps(checksum: str) -> list[dict[str, Any]]:
    """The edits kept for a tokeniser; none if there are none or they cannot be read."""
    path = folder() / f"{checksum}.json"
    if not path.is_file():
        return []
    try:
        steps: list[dict[str, Any]] = read_recipe(read_bytes(path), str(path))["steps"]
    except MorphGraphError:
        return []
    return steps
