"""All types of an open tokeniser in one table, and the lists that can be taken from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from morphgraph.refine.study import Study
from morphgraph.score.vocabulary_health import NamedCounts, VocabularyHealth
from morphgraph.segment.bte import Bte

if TYPE_CHECKING:
    import pandas as pd

WRONG, JOINS, BLAME, USED_BY = "wrong joins", "joins", "blame", "used by merges"
PER_MILLION, ID, REMARK = "tokens per million", "id", "remark"
TO_BLAME, NEVER_USED, A_STEP = "to blame", "never used", "only a step to others"
TWICE, UNREACHABLE, NEVER_FORMED = "twice, with and without ␣", "unreachable", "never formed"
LISTS: Final = (TO_BLAME, NEVER_USED, A_STEP, TWICE, UNREACHABLE, NEVER_FORMED)


@dataclass(frozen=True)
class AllTypes:
    """The types of a state: a row for each, by its number in the graph, the worst first.

    ``lists``: numbers of types by what is to be said of them, of `LISTS`; one that needs what is
    not open (gold, a corpus, a marker) is missing.
    """

    table: pd.DataFrame
    lists: Mapping[str, frozenset[int]]

    def among(self, lists: Sequence[Collection[int]]) -> pd.DataFrame:
        """Return the rows of the types that are in all of some lists."""
        keep = np.ones(len(self.table), np.bool_)
        for some in lists:
            keep &= self.table.index.isin(list(some))
        return self.table[keep]


def types_of_study(study: Study, corpus: NamedCounts | None) -> AllTypes:
    """Return the present types of a study, with how often they are tokens of a corpus."""
    import pandas as pd

    graph, tokeniser = study.graph, study.tokeniser
    gold = study.benchmark.reference if study.has_blame else None
    health = VocabularyHealth(Bte(tokeniser), corpus, gold)
    numbers = np.array(graph.type_ids(), np.int64)
    names = tokeniser.readable_types
    ids = [tokeniser.vocabulary_id(number) for number in numbers.tolist()]
    columns: dict[str, object] = {"type": [names[number] for number in numbers.tolist()]}
    lists: dict[str, frozenset[int]] = {}
    order = np.arange(len(numbers))
    if study.has_blame:
        blamed = study.blame()
        places = blamed.places_of_types[numbers]
        wrong, joins = (
            np.where(places < 0, 0.0, np.append(v, 0.0)[places])
            for v in (blamed.blamed, blamed.applied)
        )
        ratio = np.where(joins > 0, wrong / np.maximum(joins, 1), np.nan)
        columns |= {WRONG: wrong, JOINS: joins, BLAME: 100 * ratio}
        to_blame = set(blamed.arrays.results[blamed.candidates()].tolist())
        lists[TO_BLAME] = frozenset(to_blame & set(numbers.tolist()))
        order = np.lexsort((numbers, -np.nan_to_num(ratio), -wrong))
    columns[USED_BY] = [graph.fan_out(number) for number in numbers.tolist()]
    if health.compression is not None and health.compression.tokens:
        tokens = health.compression.counts[numbers] / health.compression.tokens
        columns[PER_MILLION] = 1e6 * tokens
        if not study.has_blame:
            order = np.argsort(-tokens, kind="stable")
    columns[ID] = pd.array(ids, dtype="Int64")
    remarks = _remarks(health, names, lists)
    columns[REMARK] = [remarks.get(number, "") for number in numbers.tolist()]
    table = pd.DataFrame(columns, index=numbers).iloc[order]
    return AllTypes(table, lists)


def _remarks(
    health: VocabularyHealth, names: Sequence[str], lists: dict[str, frozenset[int]]
) -> dict[int, str]:
    """Return what is to be said of types, and add the lists of those."""
    remarks: dict[int, list[str]] = {}

    def note(name: str, told: Mapping[int, str] | None) -> None:
        if told is None:
            return
        lists[name] = frozenset(told)
        for number, remark in told.items():
            remarks.setdefault(number, []).append(remark)

    def each(numbers: Sequence[int] | None, remark: str) -> dict[int, str] | None:
        return None if numbers is None else dict.fromkeys(numbers, remark)

    chains, pairs = health.chains, health.duplicates
    note(NEVER_USED, each(health.never_used, NEVER_USED))
    steps = ((part, chain[-1]) for chain in chains or () for part in chain[:-1])
    told = {part: f"only a step to {names[end]}" for part, end in steps}
    note(A_STEP, None if chains is None else told)
    both = [(a, b) for pair in pairs or () for a, b in (pair, pair[::-1])]
    note(TWICE, None if pairs is None else {one: f"also {names[other]}" for one, other in both})
    note(UNREACHABLE, each(health.unreachable, UNREACHABLE))
    note(NEVER_FORMED, each(health.never_formed or None, NEVER_FORMED))
    return {number: "; ".join(told) for number, told in remarks.items()}
