"""Strings from files, made safe for places where Streamlit renders Markdown."""

import re
from collections.abc import Sequence

from morphgraph.core.text import shortened, side_by_side, visible

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_JOINER = "\u2060"
_BACKTICKS = re.compile("`+")
_CONVERTED = re.compile(
    r"(?<=[-<>~=])(?=[-<>=])|(?<=:)(?=//|streamlit:)|(?<=www)(?=\.)|(?=@)|(?<=mailto)(?=:)", re.I
)
"""Places inside arrows, addresses and the like, which escapes alone do not protect."""


def plain(text: str) -> str:
    """Escape a text for messages: lines are joined, and Markdown has no effect.

    An invisible word joiner keeps Streamlit from turning ``->`` into an arrow and addresses into
    links. For a type, which people may want to copy, use `code`.

    >>> plain("<b> a.json")
    '\\\\<b\\\\> a\\\\.json'
    >>> plain("www.a") == "www\u2060\\\\.a"
    True
    """
    apart = _CONVERTED.sub(_JOINER, " ".join(text.split()))
    return _PUNCTUATION.sub(r"\\\1", apart)


def code(text: str) -> str:
    """Format a text as inline code, verbatim but for line ends and runs of spaces.

    >>> code("a->b"), code("`")
    ('`` a->b ``', '`` ` ``')
    """
    runs = [len(run) for run in _BACKTICKS.findall(text)]
    fence = "`" * (max(runs, default=1) + 1)
    return f"{fence} {' '.join(text.split()) or ' '} {fence}"


def gain_colour(gain: float) -> str:
    """Return Streamlit's name of the colour for a difference.

    >>> gain_colour(0.1), gain_colour(-0.1), gain_colour(float("nan"))
    ('green', 'red', 'gray')
    """
    return "green" if gain > 0 else "red" if gain < 0 else "gray"


def sum_of(names: Sequence[str], parts: Sequence[int]) -> str:
    """Format the parts of a merge (ids of types) for people; long ones are shortened.

    >>> sum_of(["un", "do"], (0, 1))
    'un + do'
    """
    return shortened(side_by_side([shortened(names[part]) for part in parts[:50]], " + "), 200)


def plain_line(text: str, length: int = 1_000) -> str:
    """Escape a text from a file or an error for a message: in one line, shortened, all visible."""
    return plain(shortened(visible(" ".join(text.split())), length))
