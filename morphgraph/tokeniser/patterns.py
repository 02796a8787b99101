"""Regular expressions in files: what a search could take at most, known without a search.

Oniguruma, which the `tokenizers` library searches with, tries one way after the other. How many
there are follows from how repetitions and choices stand inside and behind one another, so that a
pattern which could take for ever is refused before it is compiled. What is not understood here is
refused too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import sha256

from morphgraph.core.errors import FileFormatError
from morphgraph.core.limits import (
    PATTERN_CHARACTERS,
    PATTERN_DEPTH,
    PATTERN_REPEATS,
    PATTERN_WAYS,
)
from morphgraph.core.text import shortened

_MOST_GROUPS = 50
"""Groups in one another that are followed."""
_MANY = 1_000
"""A repetition of a fixed number above this counts as one of any number."""
_UNCLEAR = 10
"""What is not understood counts as so many repetitions inside one another."""
_KNOWN = frozenset(
    {
        "35896ca007905c36c60541a8f55ca7dc4f94cc20fdc3755218a7a99fc0cd29ad",
        "cffaf1d8363e990ac6bffc49b69a22044ae04e4be971b991cfe223e47d543f54",
    }
)
"""SHA-256 of patterns that the pipelines of `morphgraph.train` write, which are quick."""
_FIX = "Write it more simply"


class _UnclearError(ValueError):
    """A part of a pattern that is not understood."""


@dataclass(frozen=True)
class Effort:
    """What a pattern, or a part of one, may take.

    ``least``: the fewest characters that it matches. ``fixed``: there is one way to match a text of
    one length. ``depth``: repetitions and choices inside one another; ``repeats``: repetitions that
    follow one another; ``ways``: how many there are apart from these; ``count``: by fixed numbers,
    how often its innermost part is repeated.

    >>> effort_of(" ?[^a-z]+(?=b|cd)x{2}")
    Effort(least=3, fixed=False, depth=1, repeats=1, ways=4, count=2)
    >>> effort_of("(x+x+)+y").depth
    2
    """

    least: int = 0
    fixed: bool = True
    depth: int = 0
    repeats: int = 0
    ways: int = 1
    count: int = 1

    def then(self, other: Effort) -> Effort:
        """Of this and another part behind it."""
        return Effort(
            self.least + other.least,
            self.fixed and other.fixed,
            max(self.depth, other.depth),
            self.repeats + other.repeats,
            min(self.ways * other.ways, 10**9),
            max(self.count, other.count),
        )

    def instead(self, other: Effort) -> Effort:
        """Of a choice between this and another."""
        return Effort(
            min(self.least, other.least),
            False,
            max(self.depth, other.depth),
            max(self.repeats, other.repeats),
            min(self.ways + other.ways, 10**9),
            max(self.count, other.count),
        )

    def times(self, least: int, most: int | None) -> Effort:
        """Of this, repeated from ``least`` to ``most`` times, or any number of times."""
        count = self.count * max(1, least)
        if most is not None and least == most and count <= _MANY:
            ways = min(self.ways**most, 10**9) if self.ways > 1 else 1
            return replace(
                self, least=self.least * most, ways=ways, repeats=self.repeats * most, count=count
            )
        if (least, most) == (0, 1):
            return replace(self, least=0, fixed=False, ways=self.ways + 1)
        depth = 1 + max(self.depth, 0 if self.fixed and self.least else 1)
        return Effort(self.least * least, False, depth, self.repeats + 1, self.ways, self.count)


def checked_pattern(pattern: str, name: str, place: str) -> Effort:
    """What a regular expression may take; `FileFormatError` where that is more than the limits."""
    if sha256(pattern.encode("utf-8", "surrogatepass")).hexdigest() in _KNOWN:
        return Effort()
    PATTERN_CHARACTERS.check(len(pattern), name, place, _FIX)
    shown = f"the regular expression “{shortened(pattern, 60)}”"
    try:
        effort = effort_of(pattern)
    except _UnclearError as error:
        if PATTERN_DEPTH.value >= _UNCLEAR:
            return Effort()
        problem = f"{shown} is not understood ({error}), so it may take for ever"
        fix = f"{_FIX}, or set {PATTERN_DEPTH.variable}={_UNCLEAR}."
        raise FileFormatError(name, place, problem, fix) from error
    for limit, found in (
        (PATTERN_DEPTH, effort.depth),
        (PATTERN_REPEATS, effort.repeats),
        (PATTERN_WAYS, effort.ways),
    ):
        if found > limit.value:
            problem = f"{shown} may take for ever: it has {found:,} {limit.what}"
            raise limit.exceeded(name, place, problem, _FIX)
    return effort


def effort_of(pattern: str) -> Effort:
    """What a pattern of Oniguruma's may take; `ValueError` for what is not understood."""
    reader = _Reader(pattern)
    found = reader.choice(0)
    if reader.at < len(pattern):
        raise _UnclearError("there is a “)” without its “(”")
    return found


_QUANTIFIER = re.compile(r"\*|\+|\?|\{(\d{1,6})\}|\{(\d{0,6}),(\d{0,6})\}")
_FLAGS = re.compile(r"\(\?[im-]*(:|\))")
_NAMED = re.compile(r"\(\?(<[A-Za-z_]\w*>|'[A-Za-z_]\w*')")
_LOOK = ("(?=", "(?!", "(?<=", "(?<!")
_ESCAPES = re.compile(
    r"\\(?:[pP]\{\^?[\w =&-]{1,60}\}|x\{[0-9a-fA-F]{1,8}\}|x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}"
    r"|[^a-zA-Z0-9]|[tnrfvae0wWdDsShHRXNO])",
    re.S,
)
_ANCHORS = re.compile(r"\\[bBAzZGyY]|[\^$]")


class _Reader:
    """Goes through a pattern once."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def _take(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found

    def choice(self, groups: int) -> Effort:
        if groups > _MOST_GROUPS:
            raise _UnclearError(f"more than {_MOST_GROUPS} groups are inside one another")
        found = [self._sequence(groups)]
        while self.pattern.startswith("|", self.at):
            self.at += 1
            found.append(self._sequence(groups))
        return reduce(Effort.instead, found)

    def _sequence(self, groups: int) -> Effort:
        found = Effort()
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            found = found.then(self._repeated(self._part(groups), groups))
        return found

    def _repeated(self, part: Effort, groups: int) -> Effort:
        while sign := self._take(_QUANTIFIER):
            exactly, least, most = sign.groups()
            if exactly is not None:
                part = part.times(int(exactly), int(exactly))
            elif least is None:
                part = part.times(sign[0] == "+", 1 if sign[0] == "?" else None)
                if self.pattern[self.at : self.at + 1] in ("?", "+"):  # lazy or possessive
                    self.at += 1
            elif not least and not most:
                raise _UnclearError("{,} repeats nothing")
            else:
                part = part.times(int(least or 0), int(most) if most else None)
                if self.pattern[self.at : self.at + 1] == "?":  # lazy
                    self.at += 1
                elif not groups and re.match(r"\+(\||$)", self.pattern[self.at :]):
                    self.at += 1  # nothing behind it can fail, so that it is never tried again
        return part

    def _part(self, groups: int) -> Effort:
        sign = self.pattern[self.at]
        if sign == "(":
            return self._group(groups + 1)
        if sign == "[":
            self._characters()
            return Effort(1)
        if self._take(_ANCHORS):
            return Effort()
        if sign == "\\":
            if not self._take(_ESCAPES):
                raise _UnclearError(self.pattern[self.at : self.at + 2])
            return Effort(1)
        self.at += 1
        return Effort(1)

    def _group(self, groups: int) -> Effort:
        look = next((s for s in _LOOK if self.pattern.startswith(s, self.at)), "")
        if look:
            self.at += len(look)
        elif self.pattern.startswith("(?>", self.at):
            self.at += 3
        elif self.pattern.startswith("(?", self.at):
            flags = self._take(_FLAGS) or self._take(_NAMED)
            if flags is None:
                raise _UnclearError(self.pattern[self.at : self.at + 4])
            if flags[0].endswith(")"):
                return self.choice(groups)  # the flags hold for all that follows in the group
        else:
            self.at += 1
        found = self.choice(groups)
        if not self.pattern.startswith(")", self.at):
            raise _UnclearError("a “)” is missing")
        self.at += 1
        return replace(found, least=0) if look else found

    def _characters(self) -> None:
        """Pass over a class of characters, with those inside it."""
        inside = 0
        while True:
            if self._take(re.compile(r"\[\^?")):
                inside += 1
                if self.pattern.startswith("]", self.at):
                    raise _UnclearError("[]")
            elif self.pattern.startswith("]", self.at):
                self.at += 1
                inside -= 1
                if not inside:
                    return
            elif self.pattern.startswith("\\", self.at):
                if not self._take(_ESCAPES) and not self._take(re.compile(r"\\b")):
                    raise _UnclearError(self.pattern[self.at : self.at + 2])
            elif self.at >= len(self.pattern):
                raise _UnclearError("a “]” is missing")
            else:
                self.at += 1
