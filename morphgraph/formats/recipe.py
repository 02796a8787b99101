"""Recipes: the edits of a session as JSON, to be replayed on the same tokeniser.

A saved tokeniser contains its lineage, the first one of a chain and all edits since, in a field of
the model that the `tokenizers` library ignores, so that it is kept when the file is copied or
uploaded alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import json_bytes, parse_json
from morphgraph.core.limits import RECIPE_EDITS
from morphgraph.core.text import base_name, shortened
from morphgraph.graph.merge_table import Change, EditError
from morphgraph.tokeniser.tokeniser import BpeTokeniser, Lineage

LINEAGE_FIELD = "morphgraph"
"""The field of the model in ``tokenizer.json`` that holds a lineage."""

_PLACE = f"field model.{LINEAGE_FIELD}"
_FORMAT = "morphgraph recipe"
_FIX = "Choose a recipe that morphgraph saved."


def write_recipe(tokeniser: BpeTokeniser, *, whole: bool = False) -> bytes:
    """Return the edits of a tokeniser since it was loaded, with name and checksum, as JSON.

    ``whole``: all since the first tokeniser of a chain, with its name and checksum.
    """
    lineage = lineage_of(tokeniser if whole else replace(tokeniser, lineage=None))
    document = {
        "format": _FORMAT,
        "version": 1,
        "tokeniser": {"name": lineage.name, "checksum": lineage.checksum},
        "steps": list(lineage.steps),
    }
    return json_bytes(document, lineage.name)


def lineage_of(tokeniser: BpeTokeniser) -> Lineage:
    """Return the first tokeniser of a chain, and all edits since, including present ones.

    Saving renumbers ranks, and later edits name merges by these, so an equivalent step is inserted
    between the edits before and after saving.
    """
    steps, before = tokeniser.graph.recipe(), tokeniser.lineage
    if before is None:
        ids = dict(zip(tokeniser.graph.types, tokeniser.vocabulary_ids, strict=False))
        before = Lineage(base_name(tokeniser.name), tokeniser.checksum, ids, ())
    between = ({"edit": "renumber"},) if before.steps and steps else ()
    return replace(before, steps=(*before.steps, *between, *steps))


def read_recipe(data: bytes, name: str) -> dict[str, Any]:
    """Read a recipe with fields ``tokeniser`` and ``steps``, or raise `FileFormatError`."""
    document = parse_json(data, name)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise FileFormatError(name, "", "this is not a recipe", _FIX)
    if document.get("version") != 1:
        problem = f"its version is {document.get('version')!r}, not 1"
        raise FileFormatError(name, "field version", problem, "Update morphgraph.")
    check_steps(document.get("steps"), name)
    return document


def check_steps(steps: Any, name: str, place: str = "field steps", fix: str = _FIX) -> None:
    """Raise `FileFormatError` for what is no list of edits with all their fields."""
    if not isinstance(steps, list):
        raise FileFormatError(name, place, "a list is expected here", fix)
    RECIPE_EDITS.check(len(steps), name, place)
    for position, step in enumerate(steps, start=1):
        if not _is_step(step):
            problem = "an edit with types, or with the fields of its kind, is expected"
            raise FileFormatError(name, f"{place}, entry {position}", problem, fix)


def replay(tokeniser: BpeTokeniser, recipe: Mapping[str, Any], name: str) -> list[Change]:
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


def lineage_document(lineage: Lineage) -> dict[str, Any]:
    """Return a lineage as JSON data, for `read_lineage`."""
    return {
        "first": {"name": lineage.name, "checksum": lineage.checksum},
        "ids": dict(lineage.ids),
        "steps": list(lineage.steps),
        **({"removed": list(lineage.removed)} if lineage.removed else {}),
    }


def read_lineage(model: Mapping[str, Any], name: str) -> Lineage | None:
    """Read the lineage in a model's JSON; None if absent, `FileFormatError` if malformed.

    ``name``: that of the file, for errors.
    """
    lineage = model.get(LINEAGE_FIELD)
    if lineage is None:
        return None
    fix = "Remove the field: old ids are then those of this file. Or export it again."
    first = lineage.get("first") if isinstance(lineage, dict) else None
    if not isinstance(first, dict) or not _are_strings([first.get("name"), first.get("checksum")]):
        raise FileFormatError(name, _PLACE, "it does not name the first tokeniser", fix)
    ids = lineage.get("ids")
    if not isinstance(ids, dict) or any(type(n) is not int or n < 0 for n in ids.values()):
        raise FileFormatError(name, f"{_PLACE}.ids", "types with their ids are expected here", fix)
    if len(set(ids.values())) < len(ids):
        raise FileFormatError(name, f"{_PLACE}.ids", "an id is listed more than once", fix)
    check_steps(lineage.get("steps"), name, f"{_PLACE}.steps", fix)
    removed = lineage.get("removed", [])
    if not isinstance(removed, list) or any(type(number) is not int for number in removed):
        raise FileFormatError(name, f"{_PLACE}.removed", "a list of ids is expected here", fix)
    return Lineage(first["name"], first["checksum"], ids, tuple(lineage["steps"]), tuple(removed))


def _is_step(step: Any) -> bool:
    """Return whether a step is an edit with all its fields."""
    match step:
        case {"edit": edit} if not isinstance(edit, str):
            return False
        case {"learned": learned} if not _are(_is_source, learned):
            return False
        case {"edit": "renumber"}:
            return True
        case {"edit": "anneal"}:
            return _are_pairs(step.get("merges")) and _are_strings(step.get("atoms", []))
        case {"edit": "reify"}:
            return _are_pairs(step.get("pairs")) and _are(_is_repair, step.get("repairs"))
        case {"edit": "portable"}:
            room = step.get("room", 0)
            return _are_strings(step.get("drop")) and type(room) is int and room >= 0
        case {"types": [_, *_] as types}:
            return _are_strings(types)
    return False


def _is_source(source: Any) -> bool:
    """Whether it names a gold, and the splits that left what was learned from."""
    match source:
        case {"name": str(), "checksum": str(), "parts": parts, **rest} if not rest:
            return _are(_is_part, parts)
    return False


def _is_part(part: Any) -> bool:
    match part:
        case [("rest" | "kept"), float() as share, int() as seed, ("families" | "words")]:
            return 0 < share < 1 and type(seed) is int
    return False


def _is_repair(repair: Any) -> bool:
    is_ranked = isinstance(repair, dict) and type(repair.get("rank")) is int
    return is_ranked and _are_strings(repair.get("parts"))


def _are(check: Callable[[Any], bool], values: Any) -> bool:
    return isinstance(values, list) and all(map(check, values))


def _are_strings(values: Any) -> bool:
    return _are(lambda value: isinstance(value, str), values)


def _are_pairs(values: Any) -> bool:
    return _are(lambda value: _are_strings(value) and len(value) == 2, values)
