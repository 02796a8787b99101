"""LiteToken: tokens of types that are hardly ever final are taken apart, and merged without them.

The source's thresholds, its neighbours and the order of the second merging could not be read: what
stands here is ours. Source: Sun et al. 2026, arXiv 2602.04706.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from pydantic import Field

from morphgraph.core.files import checksum, document_field
from morphgraph.corpus.counts import WordCounts
from morphgraph.graph.arrays import merge_arrays
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.segment.bte import saved_tokeniser
from morphgraph.segment.method import Method, Parameters
from morphgraph.segment.trimmed import Decomposing, doomed_types
from morphgraph.tokeniser.merging import segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import UNKNOWN, Segmentation, Words
from morphgraph_remedies.finality import finality


class LiteTokenParameters(Parameters):
    """Which types are residues."""

    ratio: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Residues are final tokens in a smaller share of cases than this.",
    )
    occurrences: int = Field(
        default=100,
        ge=1,
        description="Residues occur at least this often, final or merged further.",
    )
    entropy: float = Field(
        default=1.0,
        ge=0,
        description="The entropy of a residue's left or right neighbours is below this, in bits.",
    )


_USUAL = LiteTokenParameters()


def residues(
    tokeniser: BpeTokeniser, counts: WordCounts, settings: LiteTokenParameters = _USUAL
) -> list[str]:
    """Return the residues of merging among types that merges make, by id; no added tokens."""
    found, graph = finality(tokeniser, counts), tokeniser.graph
    seen = found.final + found.merged >= settings.occurrences
    with np.errstate(invalid="ignore"):
        is_one = seen & (found.ratio < settings.ratio) & (found.entropy < settings.entropy)
    numbers = np.flatnonzero(is_one).tolist()
    return [graph.types[n] for n in numbers if graph.is_present(n) and graph.is_removable(n)]


class LiteToken(Decomposing):
    """LiteToken: decomposes residues, then merges again without them, lowest rank first.

    ``residues``: types, see the function of that name, which found them by ``settings``. In a
    pre-token with a residue, it becomes the parts of its merge, and these their own if they are
    residues too; then merges whose result is none are applied to its tokens. The graph's present
    state is used. `MorphGraphError` for a residue that no merge makes. Source: Sun et al. 2026;
    details are ours.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> types, merges = ["a", "b", "c", "ab", "abc", "bc"], ["ab", ("ab", "c"), "bc"]
    >>> lite = LiteToken(tokeniser_of_types("abc", types, merges), ["abc"])
    >>> [lite.types[token] for token in lite.segment(lite.encode(["abc"])).tokens(0)]
    ['ab', 'c']
    >>> lite = LiteToken(tokeniser_of_types("abc", types, merges), ["ab", "abc"])
    >>> [lite.types[token] for token in lite.segment(lite.encode(["abc"])).tokens(0)]
    ['a', 'bc']
    """

    method = "litetoken"
    name = "LiteToken (ours)"

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        residues: Iterable[str],
        settings: LiteTokenParameters = _USUAL,
    ) -> None:
        self.residues, self.settings = frozenset(residues), settings
        super().__init__(tokeniser, doomed_types(tokeniser, self.residues, "residue"))
        self._checksum = checksum("\n".join(sorted(self.residues)).encode())
        arrays = merge_arrays(self.graph)
        # By first part: rank, the other parts, result and position of merges that are still made.
        self._merges: dict[int, list[tuple[int, tuple[int, ...], int, int]]] = defaultdict(list)
        for place, (start, end) in enumerate(
            zip(arrays.part_offsets[:-1].tolist(), arrays.part_offsets[1:].tolist(), strict=True)
        ):
            result = int(arrays.results[place])
            if result not in self.absent:
                first, *others = arrays.parts[start:end].tolist()
                rank = int(arrays.leaders[place]) if len(arrays.leaders) else place
                self._merges[first].append((rank, tuple(others), result, place))

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {**dict(self.settings), "residues": self._checksum}

    def segment(self, words: Words) -> Segmentation:
        whole = segment(self.graph, words)
        found = self.taken_apart(whole)
        if found is whole:
            return whole
        known = np.where((whole.token_at >= 0) & (whole.token_at != UNKNOWN), whole.token_at, 0)
        apart = np.flatnonzero((np.diff(self._offsets)[known] > 0) & (known == whole.token_at))
        offsets = words.piece_offsets
        for piece in np.unique(np.searchsorted(offsets, apart, "right") - 1).tolist():
            start = int(offsets[piece])
            tokens = found.token_at[start : int(offsets[piece + 1])]
            at = np.flatnonzero(tokens != INSIDE_TOKEN)
            for joined, (_, last, token) in self._again(tokens[at].tolist()):
                for inner, merge in joined:
                    found.closed_by[start + at[inner]] = merge
                    found.token_at[start + at[inner]] = INSIDE_TOKEN
                found.token_at[start + at[last]] = token
        return found

    def _again(
        self, tokens: Sequence[int]
    ) -> list[tuple[list[tuple[int, int]], tuple[int, int, int]]]:
        """Merge tokens: of each new one what closed its joins, and first, last part and type."""
        spans = [([], (n, n, token)) for n, token in enumerate(tokens)]  # type: ignore[var-annotated]
        while True:
            best: Any = None
            for at, (_, (_, _, token)) in enumerate(spans):
                for rank, others, result, place in self._merges.get(token, ()):
                    beside = tuple(t for _, (_, _, t) in spans[at + 1 : at + 1 + len(others)])
                    if beside == others and (best is None or rank < best[0]):
                        best = rank, at, at + 1 + len(others), result, place
            if best is None:
                return spans
            _, at, end, result, place = best
            merged = spans[at:end]
            joined = [join for joins, _ in merged for join in joins]
            joined += [(last, place) for _, (_, last, _) in merged[:-1]]
            spans[at:end] = [(joined, (merged[0][1][0], merged[-1][1][1], result))]

    def document(self) -> dict[str, Any]:
        return {**super().document(), "residues": sorted(self.residues)}

    @classmethod
    def by_counts(cls, tokeniser: BpeTokeniser, counts: WordCounts, **settings: Any) -> Self:
        """Find the residues in counted words as segmented by the tokeniser."""
        given = LiteTokenParameters(**settings)
        return cls(tokeniser, residues(tokeniser, counts, given), given)

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        listed = document_field(document, "residues", list)
        given: Any = {name: document.get(name) for name in LiteTokenParameters.model_fields}
        return cls(saved_tokeniser(document), listed, LiteTokenParameters(**given))


LITETOKEN = Method(
    "litetoken",
    "LiteToken (ours)",
    "All merges, then tokens that a corpus shows to be mere residues of merging are taken apart, "
    "and merged again without them.",
    LiteToken,
    "merges",
    LiteTokenParameters,
    build=LiteToken.by_counts,
    counts=True,
    source="Sun et al. 2026",
    standalone="morphgraph_remedies.remerging:Remerging",
)
