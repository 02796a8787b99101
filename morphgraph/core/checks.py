"""Values that callers give, checked when they arrive: a wrong one never means something else."""

from collections.abc import Iterable, Sequence
from typing import Any

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import shortened


def check_list(
    texts: Iterable[str], what: str, error: type[MorphGraphError] = MorphGraphError
) -> list[str]:
    """Strings as a list; an ``error`` for a single string, or for what holds anything else.

    ``what``: what they are, in the plural.

    >>> check_list(("un", "do"), "types")
    ['un', 'do']
    >>> check_list("undo", "types")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    morphgraph.core.errors.MorphGraphError: “undo” is one string, not a list of types. ...
    """
    if isinstance(texts, str):
        shown = shortened(texts)
        raise error(f'“{shown}” is one string, not a list of {what}. Write ["{shown}"].')
    if not isinstance(texts, Iterable):
        raise error(f"{shortened(repr(texts))} is not a list of {what}. Give a list of strings.")
    listed = list(texts)
    wrong = next((text for text in listed if not isinstance(text, str)), None)
    if wrong is not None:
        raise error(
            f"{shortened(repr(wrong))} in a list of {what} is not a string. Give strings only."
        )
    return listed


def check_share(name: str, value: Any) -> None:
    """`MorphGraphError` unless a value is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MorphGraphError(f"{name}={value!r} is not a share. Give a number from 0 to 1.")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """`MorphGraphError` unless a value is one of some words."""
    if value not in choices:
        raise MorphGraphError(f"{name}={value!r} is not known. Use one of: {', '.join(choices)}.")
