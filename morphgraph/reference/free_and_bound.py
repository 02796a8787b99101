"""The division of morphemes into whole words: the sibling rule of docs/references.md."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class MorphemeKind(StrEnum):
    """The role of a morpheme among its siblings."""

    FREE = "free"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    INTERFIX = "interfix"
    HYPHEN = "hyphen"


def processes_of(kinds: Sequence[MorphemeKind | None]) -> tuple[str, ...]:
    """Return what formed a word of derivational affixes: "derivation", "compound" or both.

    >>> FREE, SUFFIX = MorphemeKind.FREE, MorphemeKind.SUFFIX
    >>> processes_of([FREE, MorphemeKind.INTERFIX, FREE, SUFFIX])
    ('derivation', 'compound')
    """
    derived = (
        ("derivation",) if MorphemeKind.PREFIX in kinds or MorphemeKind.SUFFIX in kinds else ()
    )
    return (*derived, "compound") if kinds.count(MorphemeKind.FREE) > 1 else derived


def resolve_kinds(kinds: Sequence[MorphemeKind]) -> list[MorphemeKind]:
    """Count an interfix directly before a suffix as a suffix, and a hyphen beside an affix too.

    >>> kinds = [MorphemeKind.FREE, MorphemeKind.INTERFIX, MorphemeKind.SUFFIX]
    >>> [kind.value for kind in resolve_kinds(kinds)]
    ['free', 'suffix', 'suffix']
    """
    resolved = list(kinds)
    for i, kind in enumerate(resolved):  # un- - American: the hyphen passes the prefix on
        if kind is MorphemeKind.HYPHEN and i and resolved[i - 1] is MorphemeKind.PREFIX:
            resolved[i] = MorphemeKind.PREFIX
    for i in range(len(resolved) - 2, -1, -1):
        if resolved[i + 1] is MorphemeKind.SUFFIX and resolved[i] in (
            MorphemeKind.INTERFIX,
            MorphemeKind.HYPHEN,
        ):
            resolved[i] = MorphemeKind.SUFFIX
    return resolved


def joins_left(resolved: Sequence[MorphemeKind]) -> list[bool]:
    """Return whether each sibling belongs to the whole word of the one before it.

    A prefix joins what follows, be it an interfix, and a suffix or hyphen what precedes; an
    interfix stands alone otherwise.

    >>> joins_left([MorphemeKind.PREFIX, MorphemeKind.FREE, MorphemeKind.SUFFIX, MorphemeKind.FREE])
    [False, True, True, False]
    """
    return [
        i > 0
        and (
            kind in (MorphemeKind.SUFFIX, MorphemeKind.HYPHEN)
            or resolved[i - 1] is MorphemeKind.PREFIX
        )
        for i, kind in enumerate(resolved)
    ]


def pieces(kinds: Sequence[MorphemeKind]) -> list[int]:
    """Return the index of the whole word of each morpheme in a flat list, from 0.

    >>> pieces([MorphemeKind.PREFIX, MorphemeKind.FREE, MorphemeKind.INTERFIX, MorphemeKind.FREE])
    [0, 0, 1, 2]
    >>> pieces([MorphemeKind.FREE, MorphemeKind.HYPHEN, MorphemeKind.FREE])
    [0, 0, 1]
    """
    numbers: list[int] = []
    for joins in joins_left(resolve_kinds(kinds)):
        numbers.append(numbers[-1] + (not joins) if numbers else 0)
    return numbers
