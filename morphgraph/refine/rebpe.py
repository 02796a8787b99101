"""ReBPE: anneal, then alternate knockout and reification until nothing changes.

`rebpe` is the algorithm and yields the phases; `rebpe_run.ReBPERun` applies them to a tokeniser.
The phases have their own files: `anneal`, `knockout` (by `blame`) and `reify`. Source: Bauwens & de
Lhoneux 2026, Algorithm 1.
"""

from collections.abc import Generator
from typing import Literal

from pydantic import Field

from morphgraph.graph.change import Change
from morphgraph.refine.anneal import MINIMUM_GOOD, MINIMUM_RATIO
from morphgraph.refine.knockout import BlameSettings, KnockoutSettings

PhaseKind = Literal["start", "anneal", "knockout", "reify"]
Step = tuple[int, PhaseKind]
"""The next phase: its iteration, 0 before the first one, and its kind."""


class ReBPESettings(BlameSettings):
    """Settings of a run; every part can be switched off.

    With a ``holdout``, annealing does not see held-out entries either, but the alphabet is
    completed for all words, even beyond ``maximum_vocabulary``.
    """

    anneal: bool = Field(default=True, description="First add merges that rarely cross a boundary.")
    reify: bool = Field(default=True, description="false: none of repair, link and expand.")
    repair: bool = Field(
        default=True, description="Give tuple merges that can no longer apply other parts."
    )
    link: bool = Field(default=True, description="Use pair merges inside tuple merges.")
    expand: bool = Field(default=True, description="Create pair merges inside tuple merges.")
    iterations: int = Field(default=10, ge=0, description="At most this many.")
    maximum_vocabulary: int | None = Field(
        default=None, ge=0, description="Annealing adds types up to this number."
    )
    minimum_good: int = Field(
        default=MINIMUM_GOOD,
        ge=1,
        description="Anneal pairs that are inside a morph at least this often.",
    )
    minimum_ratio: float = Field(
        default=MINIMUM_RATIO,
        ge=0,
        le=1,
        description="Anneal pairs that are inside a morph in at least this share.",
    )

    @property
    def reifies(self) -> bool:
        """Whether any part of reification is on."""
        return self.reify and (self.repair or self.link or self.expand)

    def knockout(self) -> KnockoutSettings:
        """Return the settings of each knockout."""
        shared = {name: getattr(self, name) for name in BlameSettings.model_fields}
        return KnockoutSettings(**shared)


def rebpe(settings: ReBPESettings) -> Generator[Step, Change, bool]:
    """Yield each phase of Algorithm 1; receive the change that it made.

    Its return value is whether it converged: the last iteration changed nothing. At the maximum of
    iterations, one more knockout judges the merges reified last. Reification repairs tuple merges,
    then uses pairs in them (links, expands).

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
