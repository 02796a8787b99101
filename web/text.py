"""Strings from files, made safe for places where Streamlit reads Markdown."""

import re

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Text in which Markdown finds nothing: all ASCII punctuation is escaped, lines are joined.

    >>> plain("<img src=x>")
    '\\\\<img src\\\\=x\\\\>'
    """
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def shortened(text: str, length: int = 40) -> str:
    """Text cut at a length, with an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"


def signed(value: float, digits: int = 2, unit: str = "") -> str:
    """A difference with its sign; n/a if undefined.

    >>> signed(0.5), signed(-1.25), signed(float("nan"))
    ('+0.50', '−1.25', 'n/a')
    """
    if value != value:
        return "n/a"
    return f"{value:+,.{digits}f}{unit}".replace("-", "−")
