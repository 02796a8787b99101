"""ReBPE: anneal, then knock out and reify in turn until nothing changes.

`rebpe` is the algorithm and says what comes next; `rebpe_run.ReBPERun` does it to a tokeniser. The
phases are in files of their own: `anneal`, `knockout` (by `blame`) and `reify`. Source: Bauwens &
de Lhoneux 2026, Algorithm 1.
"""

from collections.abc import Generator
from dataclasses import dataclass, fields
from typing import Literal

from morphgraph.core.checks import check_share, check_whole
from morphgraph.graph.change import Change
from morphgraph.refine.anneal import MINIMUM_GOOD, MINIMUM_RATIO
from morphgraph.refine.knockout import BlameSettings, KnockoutSettings

PhaseKind = Literal["start", "anneal", "knockout", "reify"]
Step = tuple[int, PhaseKind]
"""What is to be done next: the iteration, 0 before the first one, and the kind of phase."""


@dataclass(frozen=True, kw_only=True)
class ReBPESettings(BlameSettings):
    """What a run does; every part can be switched off.

    ``anneal``: first add merges that hardly ever cross a boundary (``minimum_good``,
    ``minimum_ratio``), up to ``maximum_vocabulary`` types. ``repair``, ``link``, ``expand``: the
    parts of reification. ``iterations``: at most this many. With a ``holdout``, annealing does not
    see those entries either, but the alphabet is completed for all words, even beyond
    ``maximum_vocabulary``.
    """

    anneal: bool = True
    repair: bool = True
    link: bool = True
    expand: bool = True
    iterations: int = 10
    maximum_vocabulary: int | None = None
    minimum_good: int = MINIMUM_GOOD
    minimum_ratio: float = MINIMUM_RATIO

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("minimum_ratio", self.minimum_ratio)
        check_whole("iterations", self.iterations)
        check_whole("minimum_good", self.minimum_good, least=1)
        if self.maximum_vocabulary is not None:
            check_whole("maximum_vocabulary", self.maximum_vocabulary)

    @property
    def reifies(self) -> bool:
        """Whether any part of reification is on."""
        return self.repair or self.link or self.expand

    def knockout(self) -> KnockoutSettings:
        """How each knockout chooses its types."""
        shared = {field.name: getattr(self, field.name) for field in fields(BlameSettings)}
        return KnockoutSettings(**shared)


def rebpe(settings: ReBPESettings) -> Generator[Step, Change, bool]:
    """Algorithm 1: yields each phase to be done, and is sent what that changed.

    Its value is whether it converged: the last iteration changed nothing. If the maximum of
    iterations ends it, one more knockout judges the merges that were reified last. Reification
    repairs tuple merges, then puts pairs in them to use (links, expands).

    >>> nothing, something = Change({}), Change({}, removed_types=(7,))
    >>> steps = rebpe(ReBPESettings(iterations=2))
    >>> next(steps), steps.send(something)
    ((0, 'anneal'), (1, 'knockout'))
    >>> steps.send(something), steps.send(nothing), steps.send(nothing)
    ((1, 'reify'), (2, 'knockout'), (2, 'reify'))
    >>> steps.send(nothing)
    Traceback (most recent call last):
    StopIteration: True
    """
    if settings.anneal:
        yield 0, "anneal"
    reified = Change({})
    for iteration in range(1, settings.iterations + 1):
        removed = yield iteration, "knockout"
        if settings.reifies:
            reified = yield iteration, "reify"
        if removed.is_empty and reified.is_empty:
            return True
    if not reified.is_empty:
        yield settings.iterations + 1, "knockout"
    return False
