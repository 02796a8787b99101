"""A recipe: the edits of a session as JSON, to be replayed on the same tokeniser."""

import json
from collections.abc import Mapping
from typing import Any

from morphgraph.errors import FileFormatError
from morphgraph.files.tokeniser import Tokeniser, base_name
from morphgraph.graph import Change, EditError
from morphgraph.reading import parse_json
from morphgraph.text import shortened

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
        problem = _problem(step)
        if problem:
            raise FileFormatError(name, f"field steps, entry {position}", problem, _FIX)
    return document


def _problem(step: Any) -> str:
    """What is wrong with the form of a step; nothing if it has the fields that its edit needs."""
    if not isinstance(step, dict):
        return "an edit with types is expected"
    edit = step.get("edit")
    if edit == "anneal":
        if not _are_lists(step.get("merges"), 2) or not _are_strings(step.get("atoms", [])):
            return "an annealing needs merges, a list of pairs of types, and atoms at most"
    elif edit == "reify":
        repairs = step.get("repairs")
        if not _are_lists(step.get("pairs"), 2) or not isinstance(repairs, list):
            return "a reification needs pairs, a list of pairs of types, and a list of repairs"
        for repair in repairs:
            rank = repair.get("rank") if isinstance(repair, dict) else None
            if type(rank) is not int or not _are_strings(repair.get("parts")):
                return "a repair needs the rank of a merge and its new parts"
    elif not _are_strings(step.get("types")) or not step["types"]:
        return "an edit with types is expected"
    return ""


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_lists(value: Any, length: int) -> bool:
    return isinstance(value, list) and all(
        _are_strings(item) and len(item) == length for item in value
    )


def replay(tokeniser: Tokeniser, recipe: Mapping[str, Any], name: str) -> list[Change]:
    """Make a recipe's edits, all or none.

    A recipe made on another tokeniser is replayed if every step fits; if one does not, the
    `FileFormatError` says which, and that the tokeniser is another one.
    """
    for position, step in enumerate(recipe["steps"], start=1):
        wrong = next((a for a in step.get("atoms", ()) if not tokeniser.is_atom_text(a)), None)
        if wrong is not None:
            problem = f"“{shortened(wrong)}” cannot be an atom: it is more than one character"
            raise FileFormatError(name, f"field steps, entry {position}", problem, _FIX)
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
