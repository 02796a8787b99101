"""Values of settings, checked when these are made: a wrong one never means something else."""

from collections.abc import Sequence
from typing import Any, Protocol

from morphgraph.core.errors import MorphGraphError
from morphgraph.score.gold_set import SCOPES, WEIGHTINGS


class BlameSettings(Protocol):
    """What a knockout and ReBPE have in common: how merges are blamed and for what."""

    @property
    def threshold(self) -> float: ...
    @property
    def scope(self) -> str: ...
    @property
    def weighting(self) -> str: ...
    @property
    def holdout(self) -> float: ...
    @property
    def seed(self) -> int: ...


def check_blame_settings(settings: BlameSettings) -> None:
    """`MorphGraphError` for a value that blame or a holdout cannot have."""
    check_share("threshold", settings.threshold)
    check_choice("scope", settings.scope, SCOPES)
    check_choice("weighting", settings.weighting, WEIGHTINGS)
    check_share("holdout", settings.holdout)
    if settings.holdout == 1:
        raise MorphGraphError("A holdout of 1 leaves no words to learn from. Give less than 1.")
    check_whole("seed", settings.seed)


def check_share(name: str, value: Any) -> None:
    """`MorphGraphError` if a value is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MorphGraphError(f"{name}={value!r} is no share. Give a number from 0 to 1.")


def check_whole(name: str, value: Any, least: int = 0) -> None:
    """`MorphGraphError` if a value is no whole number, or is too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise MorphGraphError(f"{name}={value!r} is no whole number of {least} or more. Give one.")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """`MorphGraphError` if a value is none of some words."""
    if value not in choices:
        raise MorphGraphError(f"{name}={value!r} is not known. Use one of: {', '.join(choices)}.")
