"""What an edit would be worth before it is made, on the words that are scored."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from morphgraph.graph.merge_table import Change
from morphgraph.score.boundaries import Benchmark, BoundaryTally, cuts_of
from morphgraph.score.gold_set import Scope, Weighting
from morphgraph.score.uncertainty import USUAL_DRAWS, Interval
from morphgraph.tokeniser.merging import MergeSegmentation, segment, segment_after
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import Segmentation


@dataclass(frozen=True)
class Outlook:
    """Words as they are cut now and as they would be cut, and what that is worth.

    ``benchmark``: the words that are scored; ``before`` and ``after``: how they are cut.

    >>> import morphgraph as mg
    >>> from morphgraph.formats.loading import load_tokeniser
    >>> from morphgraph.tokeniser.merging import segment
    >>> tokeniser = load_tokeniser("demo:en")
    >>> benchmark = Benchmark.on(mg.read_gold([("undo", ["un", "do"])]), tokeniser)
    >>> before = segment(tokeniser.graph, benchmark.words)
    >>> _ = tokeniser.graph.knockout(["nd"])
    >>> outlook = Outlook(benchmark, before, segment(tokeniser.graph, benchmark.words))
    >>> outlook.tokens_per_word, (outlook.better, outlook.worse)
    ((2.0, 2.0), (1, 0))
    """

    benchmark: Benchmark
    before: MergeSegmentation
    after: MergeSegmentation
    scope: Scope = "morphemic"
    weighting: Weighting = "types"

    @classmethod
    def of(cls, tokeniser: BpeTokeniser, benchmark: Benchmark, *changes: Change) -> "Outlook":
        """Look at changes, one after the other, before they are made."""
        graph, benchmark = tokeniser.graph, benchmark.encoded_for(tokeniser)
        before = after = segment(graph, benchmark.words)
        for change in changes:
            graph = graph.after(change)
            after = segment_after(graph, after, change)
        return cls(benchmark, before, after)

    @cached_property
    def _tallies(self) -> tuple[BoundaryTally, BoundaryTally]:
        gold = self.benchmark.cuts(self.scope)
        weight = self.benchmark.weight(self.scope, self.weighting)
        one, other = (
            BoundaryTally(cuts_of(each), gold, weight) for each in (self.before, self.after)
        )
        return one, other

    @cached_property
    def f1(self) -> tuple[float, float]:
        """F1 before and after; NaN without gold."""
        one, other = self._tallies
        return one.f1.value, other.f1.value

    @cached_property
    def interval(self) -> Interval:
        """The 95 % interval of the gain in F1, by paired bootstrap over the words."""
        one, other = self._tallies
        return USUAL_DRAWS.intervals([one.f1, other.f1], 0)[1]

    @property
    def tokens_per_word(self) -> tuple[float, float]:
        """Tokens of a word on average, before and after."""
        before, after = (
            each.token_count / max(1, len(self.benchmark.words))
            for each in (self.before, self.after)
        )
        return before, after

    @cached_property
    def gains(self) -> npt.NDArray[np.float64]:
        """How many more gaps of each word would be right; 0 without gold."""
        one, other = self._tallies
        right = ((each.hits - each.wrong) * (each.weight > 0) for each in (other, one))
        return np.subtract(*right)

    @cached_property
    def changed(self) -> npt.NDArray[np.int64]:
        """The numbers of the words that would be cut otherwise, better ones first."""
        changed = self.after.changed_words(self.before)
        return changed[np.argsort(-self.gains[changed], kind="stable")]

    @property
    def better(self) -> int:
        """How many words have more right gaps."""
        return int((self.gains[self.changed] > 0).sum())

    @property
    def worse(self) -> int:
        """How many words have fewer right gaps."""
        return int((self.gains[self.changed] < 0).sum())

    def positions(self, word: int) -> tuple[set[int], set[int], list[int]]:
        """Return the splits of a word before and after, and its gold boundaries."""
        now, then = (_splits(each, word) for each in (self.before, self.after))
        return now, then, self.benchmark.cuts(self.scope).of_word(word)


def _splits(segmentation: Segmentation, word: int) -> set[int]:
    return set(segmentation.splits(word))
