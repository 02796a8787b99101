"""A recipe: the edits of a session as JSON, to be replayed on the same tokeniser."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import parse_json
from morphgraph.core.text import shortened
from morphgraph.graph.change import Change
from morphgraph.graph.merge_table import EditError
from morphgraph.tokeniser.lineage import (
    LearnedFrom,
    Lineage,
    learned_from_document,
    read_learned_from,
    step_problem,
)
from morphgraph.tokeniser.tokeniser import Tokeniser, base_name

_FORMAT = "morphgraph recipe"
_FIX = "Choose a recipe that morphgraph saved."


def write_recipe(tokeniser: Tokeniser) -> bytes:
    """The edits made to a tokeniser since it was loaded, with its name and checksum, as JSON."""
    steps = tokeniser.graph.recipe()
    return _written(base_name(tokeniser.name), tokeniser.checksum, steps, _learned(tokeniser))


def write_whole_recipe(tokeniser: Tokeniser) -> bytes:
    """All edits since the first tokeniser of a chain, with that one's name and checksum, as JSON.

    It is `write_recipe` for a tokeniser that was not saved by this library before.
    """
    found = lineage_of(tokeniser)
    return _written(found.name, found.checksum, list(found.steps), found.learned_from)


def _learned(tokeniser: Tokeniser) -> tuple[LearnedFrom, ...]:
    """What the edits made now were learned from; nothing if all are undone."""
    return tuple(dict.fromkeys(tokeniser.learned_from)) if tokeniser.graph.history else ()


def lineage_of(tokeniser: Tokeniser) -> Lineage:
    """The first tokeniser of a chain, and all edits since, with those made now.

    Saving renumbers ranks, and later edits name merges by these, so a step that does the same
    stands between what was done before a tokeniser was saved and what was done after.
    """
    steps, before = tokeniser.graph.recipe(), tokeniser.lineage
    if before is None:
        ids = zip(tokeniser.graph.types, tokeniser.vocabulary_ids, strict=False)
        return Lineage(
            base_name(tokeniser.name),
            tokeniser.checksum,
            dict(ids),
            tuple(steps),
            _learned(tokeniser),
        )
    between = ({"edit": "renumber"},) if before.steps and steps else ()
    return replace(
        before,
        steps=(*before.steps, *between, *steps),
        learned_from=tuple(dict.fromkeys([*before.learned_from, *_learned(tokeniser)])),
    )


def _written(
    name: str, checksum: str, steps: list[Any], learned_from: Sequence[LearnedFrom]
) -> bytes:
    document = {
        "format": _FORMAT,
        "version": 1,
        "tokeniser": {"name": name, "checksum": checksum},
        "steps": steps,
        **learned_from_document(learned_from),
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
    check_steps(steps, name)
    return document


def check_steps(steps: Sequence[Any], name: str) -> None:
    """Refuse edits that lack a field, or have one in another form, as a `FileFormatError`."""
    for position, step in enumerate(steps, start=1):
        problem = step_problem(step)
        if problem:
            raise FileFormatError(name, f"field steps, entry {position}", problem, _FIX)


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
    learned = read_learned_from(recipe, name, "field learned_from", _FIX)
    try:
        changes = tokeniser.graph.replay(recipe["steps"])
    except EditError as error:
        made_on = recipe.get("tokeniser")
        made_on = made_on if isinstance(made_on, dict) else {}
        fix = "Undo your own edits first."
        if made_on.get("checksum") != tokeniser.checksum:
            known = made_on.get("name")
            its_own = f"“{known}”" if isinstance(known, str) else "the tokeniser it was made on"
            fix = f"Load {its_own} first."
        raise FileFormatError(name, "", str(error).rstrip("."), fix) from error
    tokeniser.learned_from.extend(learned)
    return changes
