"""Edits of a tokeniser: blame, knockout, annealing, ReBPE, pruning, extending; their settings.

A field of a setting says what it means, its default and its limits: commands and pages ask here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypedDict

from pydantic import Field

from morphgraph.core.text import base_name
from morphgraph.segment.method import Parameters

if TYPE_CHECKING:
    from morphgraph.graph.merge_table import Change
    from morphgraph.score.gold_set import GoldSet

Selection = Literal["blame", "random", "last", "leaves"]
PruningOrder = Literal["leaf-frequency", "merge-based", "last", "script"]


class BlameSettings(Parameters):
    """Settings shared by knockout and ReBPE: how to blame merges, and what to remove."""

    threshold: float = Field(
        default=0.5, ge=0, le=1, description="Merges with R ≥ this are to blame."
    )
    scope: Literal["morphemic", "whole-word"] = Field(
        default="morphemic", description="Blame by boundaries between morphs, or whole words."
    )
    weighting: Literal["types", "tokens"] = Field(
        default="types",
        description="Blame counts each word once, or as often as the corpus has it.",
    )
    tuples_once: bool = Field(
        default=False,
        description="Blame counts a tuple merge once for each application, not for each join.",
    )
    cascade: bool = Field(
        default=False, description="Also remove what is made from a removed type."
    )
    minimum_vocabulary: int = Field(default=0, ge=0, description="Keep at least this many types.")
    portable: bool = Field(
        default=False,
        description="At the end leave only pair merges and keep all ids, so that every library "
        "reads it.",
    )

    @property
    def sees_gold(self) -> bool:
        return True

    def learned(self, change: Change, gold: GoldSet) -> Change:
        """Return a change that says what it was learned from, if it was."""
        return learned_from(change, gold) if self.sees_gold else change


def learned_from(change: Change, gold: GoldSet) -> Change:
    """Return a change that says in its step which gold it was learned from, and which parts."""
    source = {
        "name": base_name(gold.reference.name),
        "checksum": gold.reference.checksum,
        "parts": list(map(list, gold.parts)),
    }
    return replace(change, step={**change.step, "learned": [source]})


class KnockoutSettings(BlameSettings):
    """How to choose and remove types.

    A baseline removes as many types as blame would, or ``count``, or ``percent``.
    """

    select: Selection = Field(
        default="blame",
        description="Which types to remove: those to blame, or as many as a baseline.",
    )
    count: int | None = Field(default=None, ge=0, description="How many types to remove.")
    percent: float | None = Field(
        default=None, ge=0, le=100, description="This percentage of the types that merges produce."
    )
    seed: int = Field(default=0, ge=0, description="Seed of random types.")

    @property
    def is_random(self) -> bool:
        return self.select == "random"

    @property
    def sees_gold(self) -> bool:
        """Whether the method uses gold boundaries: baselines do not."""
        return self.select == "blame"


class ReBPESettings(BlameSettings):
    """Settings of a run; every part can be switched off.

    The alphabet is completed for all words learned from, even beyond ``maximum_vocabulary``.
    """

    anneal: bool = Field(default=True, description="First add merges that rarely cross a boundary.")
    reify: bool = Field(default=True, description="Repair, link and expand after each knockout.")
    repair: bool = Field(
        default=True, description="Give other parts to tuple merges that can no longer apply."
    )
    link: bool = Field(default=True, description="Use pair merges inside tuple merges.")
    expand: bool = Field(default=True, description="Create pair merges inside tuple merges.")
    iterations: int = Field(default=10, ge=0, description="At most this many iterations.")
    maximum_vocabulary: int | None = Field(
        default=None, ge=0, description="Annealing adds types up to this number."
    )
    minimum_good: int = Field(
        default=3, ge=1, description="Anneal pairs that are inside a morph at least this often."
    )
    minimum_ratio: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="Anneal pairs that are inside a morph in at least this share of cases.",
    )

    @property
    def reifies(self) -> bool:
        """Whether any part of reification is on."""
        return self.reify and (self.repair or self.link or self.expand)

    def knockout(self) -> KnockoutSettings:
        """Return the settings of each knockout."""
        shared = {name: getattr(self, name) for name in BlameSettings.model_fields}
        return KnockoutSettings(**shared)


class BlameOptions(TypedDict, total=False):
    """The settings shared by knockout and ReBPE, as keywords; the models say what they mean."""

    threshold: float
    scope: Literal["morphemic", "whole-word"]
    weighting: Literal["types", "tokens"]
    tuples_once: bool
    cascade: bool
    minimum_vocabulary: int
    portable: bool


class KnockoutOptions(BlameOptions, total=False):
    """`KnockoutSettings` as keywords, without the seed."""

    select: Selection
    count: int | None
    percent: float | None


class ReBPEOptions(BlameOptions, total=False):
    """`ReBPESettings` as keywords."""

    anneal: bool
    reify: bool
    repair: bool
    link: bool
    expand: bool
    iterations: int
    maximum_vocabulary: int | None
    minimum_good: int
    minimum_ratio: float
