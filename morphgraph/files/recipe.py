"""A recipe: the edits of a session as JSON, to be replayed on the same tokeniser."""

import json
from collections.abc import Mapping
from typing import Any

from morphgraph.errors import FileFormatError
from morphgraph.files.tokeniser import Tokeniser, base_name
from morphgraph.graph import Change, EditError
from morphgraph.reading import parse_json

_FORMAT = "morphgraph recipe"
_FIX = "Choose a recipe that morphgraph saved."


def write_recipe(tokeniser: Tokeniser) -> bytes:
    """The edits made to a tokeniser, with its name and checksum, as JSON."""
    document = {
        "format": _FORMAT,
        "version": 1,
        "tokeniser": {"name": base_name(tokeniser.name), "checksum": tokeniser.checksum},
        "steps": tokeniser.graph.recipe(),
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def read_recipe(data: bytes, name: str) -> dict[str, Any]:
    """A recipe, checked: ``tokeniser`` and ``steps``; else a `FileFormatError`."""
    document = parse_json(data, name)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise FileFormatError(name, "", "this is not a recipe", _FIX)
    if document.get("version") != 1:
        problem = f"its version is {document.get('version')!r}, not 1"
        raise FileFormatError(name, "field version", problem, "Update morphgraph.")
    steps = document.get("steps")
    if not isinstance(steps, list):
        raise FileFormatError(name, "field steps", "a list is expected here", _FIX)
    for position, step in enumerate(steps, start=1):
        types = step.get("types") if isinstance(step, dict) else None
        if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
            raise FileFormatError(
                name, f"field steps, entry {position}", "an edit with types is expected", _FIX
            )
    return document


def replay(tokeniser: Tokeniser, recipe: Mapping[str, Any], name: str) -> list[Change]:
    """Make a recipe's edits, all or none.

    A recipe made on another tokeniser is replayed if every step fits; if one does not, the
    `FileFormatError` says which, and that the tokeniser is another one.
    """
    try:
        return tokeniser.graph.replay(recipe["steps"])
    except EditError as error:
        made_on = recipe.get("tokeniser")
        made_on = made_on if isinstance(made_on, dict) else {}
        fix = "Undo your own edits first."
        if made_on.get("checksum") != tokeniser.checksum:
            known = made_on.get("name")
            its_own = f"“{known}”" if isinstance(known, str) else "the tokeniser it was made on"
            fix = f"Load {its_own} first."
        raise FileFormatError(name, "", str(error).rstrip("."), fix) from error
