"""Where a saved tokeniser comes from: the first one of a chain, its ids, and all edits since.

A saved tokeniser carries this in its own file, in a field of the model that the `tokenizers`
library leaves alone, so that it also travels with a file that is copied or uploaded alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from morphgraph.core.errors import FileFormatError

FIELD = "morphgraph"
"""The field of the model in ``tokenizer.json`` that holds a lineage."""

_PLACE = f"field model.{FIELD}"


@dataclass(frozen=True)
class LearnedFrom:
    """A reference that edits were chosen by: its name and checksum, and which of its words these
    did not see (see `GoldSet.hold_out`).
    """

    name: str
    checksum: str
    holdout: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Lineage:
    """The first tokeniser of a chain, and what was done to it before this one was saved.

    ``name`` and ``checksum``: of the first one. ``ids``: its types with their ids, those included
    that were removed since. ``steps``: all edits, as `MergeGraph.replay` makes them.
    ``learned_from``: the references that a method chose edits by.
    """

    name: str
    checksum: str
    ids: Mapping[str, int]
    steps: tuple[Mapping[str, Any], ...]
    learned_from: tuple["LearnedFrom", ...] = ()

    def document(self) -> dict[str, Any]:
        """As JSON, for `read_lineage`."""
        return {
            "first": {"name": self.name, "checksum": self.checksum},
            "ids": dict(self.ids),
            "steps": list(self.steps),
            **learned_from_document(self.learned_from),
        }


def read_lineage(model: Mapping[str, Any], name: str) -> Lineage | None:
    """The lineage in a model's JSON; None if it has none, a `FileFormatError` if it is malformed.

    ``name``: that of the file, for errors.
    """
    found = model.get(FIELD)
    if found is None:
        return None
    fix = "Take the field out: old ids are then those of this file. Or export it again."
    first = found.get("first") if isinstance(found, dict) else None
    if not isinstance(first, dict) or not _are_texts(first.get("name"), first.get("checksum")):
        raise FileFormatError(name, _PLACE, "it does not name the first tokeniser", fix)
    ids = found.get("ids")
    if not isinstance(ids, dict) or any(type(n) is not int or n < 0 for n in ids.values()):
        raise FileFormatError(name, f"{_PLACE}.ids", "types with their ids are expected here", fix)
    if len(set(ids.values())) < len(ids):
        raise FileFormatError(name, f"{_PLACE}.ids", "an id is listed more than once", fix)
    steps = found.get("steps")
    if not isinstance(steps, list):
        raise FileFormatError(name, f"{_PLACE}.steps", "a list is expected here", fix)
    for position, step in enumerate(steps, start=1):
        if problem := step_problem(step):
            raise FileFormatError(name, f"{_PLACE}.steps, entry {position}", problem, fix)
    learned = read_learned_from(found, name, f"{_PLACE}.learned_from", fix)
    return Lineage(first["name"], first["checksum"], ids, tuple(steps), learned)


def learned_from_document(sources: Sequence[LearnedFrom]) -> dict[str, Any]:
    """A field of JSON that says what edits were learned from; empty if they were not learned."""
    return {"learned_from": [asdict(source) for source in sources]} if sources else {}


def read_learned_from(
    found: Mapping[str, Any], name: str, place: str, fix: str
) -> tuple[LearnedFrom, ...]:
    """What `learned_from_document` wrote; a `FileFormatError` if it is malformed."""
    learned = found.get("learned_from", [])
    if not isinstance(learned, list) or not all(map(_is_learned_from, learned)):
        problem = "references with a name, a checksum, a holdout and a seed are expected here"
        raise FileFormatError(name, place, problem, fix)
    return tuple(LearnedFrom(**source) for source in learned)


def _is_learned_from(source: Any) -> bool:
    return (
        isinstance(source, dict)
        and source.keys() == {field.name for field in fields(LearnedFrom)}
        and _are_texts(source["name"], source["checksum"])
        and type(source["holdout"]) in (int, float)
        and type(source["seed"]) is int
    )


def step_problem(step: Any) -> str:
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
    elif edit != "renumber" and (not _are_strings(step.get("types")) or not step["types"]):
        return "an edit with types is expected"
    return ""


def _are_texts(*values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and _are_texts(*value)


def _are_lists(value: Any, length: int) -> bool:
    return isinstance(value, list) and all(
        _are_strings(item) and len(item) == length for item in value
    )
