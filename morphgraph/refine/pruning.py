"""Pruning a vocabulary: the types that a corpus needs least go; no other becomes unreachable.

Source: Purason et al. 2025, arXiv 2512.03989. Merges with a removed part or result go as well, and
nothing is rewired: this is no knockout.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt
from tokenizers import Regex
from tokenizers.normalizers import Replace

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.formats.hugging_face import new_ids
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import Change, Parts
from morphgraph.refine import PruningOrder
from morphgraph.segment.trimmed import token_counts, type_uses
from morphgraph.tokeniser.merging import last_merges
from morphgraph.tokeniser.preprocess import CHAR_TO_BYTE
from morphgraph.tokeniser.tokeniser import BpeTokeniser

Uses = npt.NDArray[np.int64]


def preview_prune(
    tokeniser: BpeTokeniser,
    count: int | None = None,
    by: PruningOrder = "leaf-frequency",
    counts: WordCounts | None = None,
    *,
    keep_scripts: Sequence[str] = (),
    drop_scripts: Sequence[str] = (),
) -> Change:
    """Compute the removal of the first ``count`` types of an order, without applying it.

    By script, all types of the order go unless there is a ``count``. Types that nothing could form
    even before go with what they are made of. See `pruning_order`.
    """
    order = pruning_order(
        tokeniser, by, counts, keep_scripts=keep_scripts, drop_scripts=drop_scripts
    )
    if count is None and by != "script":
        raise MorphGraphError("The number of types to prune is missing. Give a count.")
    if count is not None and not 0 <= count <= len(order):
        raise MorphGraphError(
            f"{count:,} types cannot be pruned. Give a number from 0 to {len(order):,}."
        )
    return tokeniser.graph.preview_cascade(order[:count])


def pruning_order(
    tokeniser: BpeTokeniser,
    by: PruningOrder,
    counts: WordCounts | None = None,
    *,
    keep_scripts: Sequence[str] = (),
    drop_scripts: Sequence[str] = (),
) -> list[str]:
    """Return removable types, the first to be pruned first; atoms and added tokens never are.

    "leaf-frequency": again and again the rarest leaf, a type that no other left is made of, as a
    token of ``counts``; its count passes on to its parts. "last": the leaf with the highest id.
    "merge-based": by tokens and uses as a part of applied merges, then the longest. "script": types
    with a character of a script in ``drop_scripts``, or, if some are named, outside
    ``keep_scripts``, Common and Inherited. Ties go to the highest id.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> types, merges = ["a", "b", "c", "ab", "abc", "bc"], ["ab", ("ab", "c"), "bc"]
    >>> tokeniser = tokeniser_of_types("abc", types, merges)
    >>> counts = WordCounts(["abc", "ab", "bc"], [3, 1, 2])
    >>> pruning_order(tokeniser, "leaf-frequency", counts), pruning_order(tokeniser, "last")
    (['bc', 'abc', 'ab'], ['bc', 'abc', 'ab'])
    """
    graph, ids = tokeniser.graph, new_ids(tokeniser)
    if by != "script" and (keep_scripts or drop_scripts):
        raise MorphGraphError(
            f"Pruning by {by} uses no scripts. Leave them out, or prune by script."
        )
    if by == "script":
        numbers = _of_scripts(tokeniser, keep_scripts, drop_scripts)
        order = sorted(numbers, key=lambda n: -ids[n])
    elif by == "last":
        order = _leaves_first(graph, ids, np.zeros(len(graph.types), np.int64))
    elif counts is None:
        raise MorphGraphError(f"Pruning by {by} needs word counts. Give some.")
    elif by == "leaf-frequency":
        order = _leaves_first(graph, ids, token_counts(tokeniser, counts))
    else:
        uses, _ = type_uses(tokeniser, counts)
        order = sorted(ids, key=lambda n: (uses[n], -len(graph.types[n]), -ids[n]))
    return [graph.types[number] for number in order if graph.is_removable(number)]


def _leaves_first(graph: MergeGraph, ids: dict[int, int], uses: Uses) -> list[int]:
    """Return all types that merges make, each after those that it is a part of."""
    split = splits(graph)
    users = Counter(part for parts in split.values() for part in set(parts))
    produced = [number for number in ids if graph.incoming(number)]
    leaves = [(int(uses[n]), -ids[n], n) for n in produced if not users[n]]
    heapify(leaves)
    order = []
    while leaves:
        count, _, type_ = heappop(leaves)
        order.append(type_)
        parts = split.get(type_, ())
        for part in parts:
            uses[part] += count
        for part in set(parts):
            users[part] -= 1
            if not users[part] and graph.incoming(part):
                heappush(leaves, (int(uses[part]), -ids[part], part))
    return order


def splits(graph: MergeGraph) -> dict[int, Parts]:
    """Return the parts of the last merge by which each type's own string is segmented into it.

    Atoms and unreachable types have none.
    """
    return {type_: graph.merge(merge).parts for type_, merge in last_merges(graph).items()}


def _of_scripts(tokeniser: BpeTokeniser, keep: Collection[str], drop: Collection[str]) -> list[int]:
    """Return the types with a character of other scripts than ``keep``, or of ``drop``."""
    if not keep and not drop:
        raise MorphGraphError("Pruning by script needs scripts. Name some to keep or drop.")
    kept = "".join(map(_property, (*keep, "Common", "Inherited")))
    sets = [f"[^{kept}]"] * bool(keep) + [f"[{''.join(map(_property, drop))}]"] * bool(drop)
    erase, types = Replace(Regex("|".join(sets)), ""), tokeniser.types
    texts = ((number, _text(tokeniser, types[number])) for number in tokeniser.graph.type_ids())
    return [number for number, text in texts if erase.normalize_str(text) != text]


def _property(script: str) -> str:
    pattern = rf"\p{{{script}}}"
    try:
        if script.replace("_", "").isalpha():
            Regex(pattern)
            return pattern
    except Exception:  # the library raises nothing more specific
        pass
    raise MorphGraphError(f"“{script}” is not a script. Use Unicode names, such as Latin or Han.")


def _text(tokeniser: BpeTokeniser, type_: str) -> str:
    """Return the text of a type, with � for incomplete bytes."""
    if tokeniser.preprocessor.byte_level and CHAR_TO_BYTE.keys() >= set(type_):
        return bytes(map(CHAR_TO_BYTE.__getitem__, type_)).decode("utf-8", "replace")
    return type_.removesuffix(tokeniser.suffix)
