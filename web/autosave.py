"""Edits survive a closed or reloaded page: each tokeniser's recipe is kept on this machine.

One file for each tokeniser, named by the checksum that we computed of it, in
``$MORPHGRAPH_STATE`` or ``~/.local/state/morphgraph``. Where that cannot be written, nothing is
kept, and the app works all the same.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import read_bytes
from morphgraph.tokeniser.recipe import read_recipe, write_recipe
from morphgraph.tokeniser.tokeniser import Tokeniser

_written: dict[Path, str] = {}
"""What this process wrote last, so that drawing a page again writes nothing again."""


def folder() -> Path:
    """Where recipes are kept."""
    chosen = os.environ.get("MORPHGRAPH_STATE")
    return Path(chosen) if chosen else Path.home() / ".local" / "state" / "morphgraph"


def keep_recipe(tokeniser: Tokeniser) -> None:
    """Write the recipe of a tokeniser that has been edited, if it is not what is kept already.

    A recipe that does not go on from the kept one, nor back from it, came from another visit: the
    kept one is then set aside as the previous one.
    """
    if not (tokeniser.graph.history or tokeniser.graph.undone):
        return
    path = _path(tokeniser.checksum)
    state = tokeniser.graph.recipe_checksum()
    if _written.get(path) == state and path.is_file():
        return
    data = write_recipe(tokeniser)
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        old, new = kept_steps(tokeniser.checksum), tokeniser.graph.recipe()
        shared = min(len(old), len(new))
        if old[:shared] != new[:shared]:
            path.replace(_path(tokeniser.checksum, previous=True))
        # In two steps, so that a crash leaves the old recipe or the new one, never half of one.
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as partial:
            partial.write(data)
        Path(partial.name).replace(path)
        _written[path] = state
    except OSError:
        return


def _path(checksum: str, *, previous: bool = False) -> Path:
    return folder() / f"{checksum}{'.previous' if previous else ''}.json"


def kept_steps(checksum: str, *, previous: bool = False) -> list[dict[str, Any]]:
    """The edits kept for a tokeniser, or those set aside before; none if they cannot be read."""
    path = _path(checksum, previous=previous)
    if not path.is_file():
        return []
    try:
        steps: list[dict[str, Any]] = read_recipe(read_bytes(path), str(path))["steps"]
    except MorphGraphError:
        return []
    return steps
