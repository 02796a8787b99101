"""The plan of which old rows the row of each new type comes from."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted
from morphgraph.models.model_vocabulary import ModelVocabulary, check_writings
from morphgraph.models.row_making import COPIED, FILLER, MADE, RowSources

_MOST_PADDING = 1024


@dataclass(frozen=True)
class RowPlan:
    """What happens to each type.

    ``kept``: types of both tokenisers; ``made``: each new type with the old tokens of its string;
    ``dropped``: types that are gone. ``moved``: old to new id of each kept type. ``sources``: the
    same by id.
    """

    kept: tuple[str, ...]
    made: Mapping[str, tuple[str, ...]]
    dropped: tuple[str, ...]
    moved: Mapping[int, int]
    sources: RowSources


def plan_rows(
    old: ModelVocabulary,
    new: ModelVocabulary,
    multiple: int = 1,
    same: Mapping[str, str] | None = None,
) -> RowPlan:
    """Plan a row for each id of the new tokeniser, padded to a multiple of ``multiple``.

    A type is kept if the old tokeniser has one for the same string, written in its own way.
    ``same`` maps new types to the old ones that they replace, where the old tokeniser lacks the
    string.
    """
    check_writings(old, new)
    spelled = {type_: old.spelled(new, type_) for type_ in new.ids}
    for type_, before in (same or {}).items():
        if spelled.get(type_) not in old.ids:
            spelled[type_] = before
    fresh = [type_ for type_ in new.ids if spelled[type_] not in old.ids]
    tokens = dict(zip(fresh, old.tokens_of([spelled[type_] for type_ in fresh]), strict=True))
    texts = {number: type_ for type_, number in old.ids.items()}
    rows = math.ceil(new.id_count / multiple) * multiple
    kinds = np.full(rows, FILLER, np.int8)
    listed: list[list[int]] = [[] for _ in range(rows)]
    moved: dict[int, int] = {}
    for type_, number in new.ids.items():
        if type_ in tokens:
            kinds[number], listed[number] = MADE, tokens[type_]
        else:
            row = old.ids[spelled[type_]]
            kinds[number], listed[number] = COPIED, [row]
            moved.setdefault(row, number)
    sources = RowSources(
        kinds,
        np.append(0, np.cumsum([len(each) for each in listed])),
        np.array([number for each in listed for number in each], np.int64),
        np.array(sorted(texts), np.int64),
    )
    return RowPlan(
        tuple(type_ for type_ in new.ids if type_ not in tokens),
        {type_: tuple(texts[number] for number in found) for type_, found in tokens.items()},
        tuple(type_ for type_, number in old.ids.items() if number not in moved),
        moved,
        sources,
    )


def check_rows(
    rows: int, vocabulary: ModelVocabulary, padded: bool, option: str = "--tokenizer"
) -> None:
    """Refuse a tokeniser whose number of ids does not fit the model's rows.

    Surplus rows count as padding if the ids were rounded up to a multiple of 8, 16, … or 1,024, or
    if ``padded`` is set. ``option``: how the caller names another tokeniser, for the message.
    """
    ids = vocabulary.id_count
    step = min(rows & -rows, _MOST_PADDING)
    if rows == ids or (rows > ids and (padded or (step >= 8 and rows - ids < step))):
        return
    others = counted(rows - ids, "row")
    beyond = f" If the other {others} are padding, say so: --padded." if rows > ids else ""
    raise MorphGraphError(
        f"{vocabulary.name}: this tokeniser has {ids:,} ids, but the model has {rows:,} rows, so "
        f"it is not the one that the model was trained with. Name that: {option}.{beyond}"
    )
