"""Which neighbouring morphemes form one whole word: the sibling rule of docs/references.md."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class MorphemeKind(StrEnum):
    """How a morpheme stands among its siblings."""

    FREE = "free"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    INTERFIX = "interfix"
    HYPHEN = "hyphen"


def processes_of(kinds: Sequence[MorphemeKind | None]) -> tuple[str, ...]:
    """What formed a word whose affixes are derivational: "derivation", "compound", both or neither.

    >>> FREE, SUFFIX = MorphemeKind.FREE, MorphemeKind.SUFFIX
    >>> processes_of([FREE, MorphemeKind.INTERFIX, FREE, SUFFIX])
    ('derivation', 'compound')
    """
    derived = (
        ("derivation",) if MorphemeKind.PREFIX in kinds or MorphemeKind.SUFFIX in kinds else ()
    )
    return (*derived, "compound") if kinds.count(MorphemeKind.FREE) > 1 else derived


def settle(kinds: Sequence[MorphemeKind]) -> list[MorphemeKind]:
    """Let an interfix directly before a suffix count as a suffix, and a hyphen beside an affix too.

    >>> kinds = [MorphemeKind.FREE, MorphemeKind.INTERFIX, MorphemeKind.SUFFIX]
    >>> [kind.value for kind in settle(kinds)]
    ['free', 'suffix', 'suffix']
    """
    settled = list(kinds)
    for i, kind in enumerate(settled):  # un- - American: the hyphen passes the prefix on
        if kind is MorphemeKind.HYPHEN and i and settled[i - 1] is MorphemeKind.PREFIX:
            settled[i] = MorphemeKind.PREFIX
    for i in range(len(settled) - 2, -1, -1):
        if settled[i + 1] is MorphemeKind.SUFFIX and settled[i] in (
            MorphemeKind.INTERFIX,
            MorphemeKind.HYPHEN,
        ):
            settled[i] = MorphemeKind.SUFFIX
    return settled


def joins_left(settled: Sequence[MorphemeKind]) -> list[bool]:
    """For each sibling whether it belongs to the whole word of the one before it.

    A prefix joins what follows, be it an interfix, and a suffix or hyphen what precedes; an
    interfix stands alone otherwise.

    >>> joins_left([MorphemeKind.PREFIX, MorphemeKind.FREE, MorphemeKind.SUFFIX, MorphemeKind.FREE])
    [False, True, True, False]
    """
    return [
        i > 0
        and (
            kind in (MorphemeKind.SUFFIX, MorphemeKind.HYPHEN)
            or settled[i - 1] is MorphemeKind.PREFIX
        )
        for i, kind in enumerate(settled)
    ]


def pieces(kinds: Sequence[MorphemeKind]) -> list[int]:
    """Number the whole word of each morpheme in a flat list, from 0.

    >>> pieces([MorphemeKind.PREFIX, MorphemeKind.FREE, MorphemeKind.INTERFIX, MorphemeKind.FREE])
    [0, 0, 1, 2]
    >>> pieces([MorphemeKind.FREE, MorphemeKind.HYPHEN, MorphemeKind.FREE])
    [0, 0, 1]
    """
    numbers: list[int] = []
    for joins in joins_left(settle(kinds)):
        numbers.append(numbers[-1] + (not joins) if numbers else 0)
    return numbers
