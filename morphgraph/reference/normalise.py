"""Compare letters without case and accents, and find the way back to the surface.

The normal form is NFD → without combining marks → NFKC → lower case (docs/references.md). As it may
be shorter (n + ◌̃ → n) or longer (ﬁ → f + i) than the surface, each cut has to be mapped back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from unicodedata import category, normalize


def _unmarked(text: str) -> str:
    """NFD → without combining marks (general category M) → NFKC; case stays."""
    bare = "".join(c for c in normalize("NFD", text) if category(c)[0] != "M")
    return normalize("NFKC", bare)


def _lower(text: str) -> str:
    """Lower case, one character for one."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower()[0] for c in text)


def _is_jamo(char: str) -> bool:
    return (
        "\u1100" <= char <= "\u11ff" or "\ua960" <= char <= "\ua97f" or "\ud7b0" <= char <= "\ud7ff"
    )


@cache
def _alone(char: str) -> str:
    """The normal form of a character that does not depend on its neighbours, else ''.

    Characters whose form is not one character, jamo (they join to syllables), spacing voice marks
    and Σ (ς at the end of a word) are left to the slow way.
    """
    normal = _lower(_unmarked(char))
    if len(normal) != 1 or char == "Σ" or category(normal)[0] == "M":
        return ""
    if not "가" <= char <= "힣" and any(_is_jamo(c) for c in normalize("NFKD", char)):
        return ""
    return normal


def normalise(text: str) -> str:
    """The normal form in which words and morphemes are compared.

    >>> normalise("Élégance"), normalise("ﬁn"), normalise("Straße")
    ('elegance', 'fin', 'straße')
    """
    if text.isascii():
        return text.lower()
    letters = [_alone(c) for c in text]
    return "".join(letters) if all(letters) else _lower(_unmarked(text))


def normalise_with_cuts(text: str) -> tuple[str, Sequence[int]]:
    """The normal form, and for each position 0…n in it where to cut the surface.

    The cuts ascend from 0 to `len(text)`. A mark stays with the letter on its left. A cut inside
    what was one surface character falls behind it, as skipped characters stay with the left morph.

    >>> normalise_with_cuts("ﬁn")
    ('fin', [0, 1, 1, 2])
    """
    if text.isascii():
        return text.lower(), range(len(text) + 1)
    letters = [_alone(c) for c in text]
    if all(letters):
        return "".join(letters), range(len(text) + 1)

    unmarked = _unmarked(text)
    clusters = _clusters(text)
    if "".join(normal for _, normal in clusters) != unmarked:
        clusters = [(0, unmarked)]
    clusters = [cluster for cluster in clusters if cluster[1]]
    cuts: list[int] = []
    for index, (start, normal) in enumerate(clusters):
        after = clusters[index + 1][0] if index + 1 < len(clusters) else len(text)
        cuts += [start if index else 0] + [after] * (len(normal) - 1)
    return _lower(unmarked), [*cuts, len(text)]


def _clusters(text: str) -> list[tuple[int, str]]:
    """Start and normal form of the shortest pieces that can be normalised one by one."""
    clusters: list[tuple[int, str]] = []
    begin, normal = 0, ""
    for i, char in enumerate(text):
        alone, together = _unmarked(char), _unmarked(text[begin : i + 1])
        if i > begin and together == normal + alone:
            clusters.append((begin, normal))
            begin, normal = i, alone
        else:
            normal = together
    return [*clusters, (begin, normal)] if text else []
