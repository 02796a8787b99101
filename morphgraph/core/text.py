"""Display formats of strings and numbers.

>>> percent(0.5), in_percent(0.5), from_to(0.5, 0.625, 1), ratio_text(2 / 3)
('50.00', '50.00\\xa0%', '50.0 → 62.5\\xa0%', '0.67')
>>> count_text(1234567.0), signed(0.5), signed(-1.25)
('1,234,567', '+0.50', '−1.25')
>>> {form(math.nan) for form in (percent, in_percent, ratio_text, count_text, signed)}
{'n/a'}
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

UNDEFINED = "n/a"
SHOWN_MARKER = "␣"
"""The displayed form of any marker of a word's start."""
SILVER = "# silver:"
"""How the first line of a plain reference begins whose morphs a program has found."""


def shortened(text: str, length: int = 40) -> str:
    """Shorten text to a length, with an ellipsis.

    >>> shortened("undesirable", 6)
    'undes…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def base_name(name: str) -> str:
    """Return the last part of a path, which is safe to share.

    >>> base_name("/home/me/gold.tsv"), base_name("demo:en")
    ('gold.tsv', 'demo:en')
    """
    return name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def counted(number: float, one: str, several: str = "") -> str:
    """Return a number with its noun: ``one``, or ``several``, by default with an s.

    >>> counted(1, "word"), counted(1200, "word"), counted(0, "boundary", "boundaries")
    ('1 word', '1,200 words', '0 boundaries')
    >>> counted(1, "word changes", "words change"), counted(float("nan"), "split")
    ('1 word changes', 'n/a splits')
    """
    shown = count_text(number)
    return f"{shown} {one if shown == '1' else several or one + 's'}"


def clock(seconds: float) -> str:
    """Format a time as minutes and seconds, with hours if needed.

    >>> clock(65), clock(3601)
    ('1:05', '1:00:01')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours}:{minutes_left:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def duration(seconds: float) -> str:
    """Format a time span approximately.

    >>> duration(0.254), duration(8), duration(95), duration(7300)
    ('0.25 s', '8 s', '2 min', '2 h 2 min')
    """
    if seconds < 59.5:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def visible(text: str) -> str:
    """Replace characters that a terminal would act upon by their codes.

    >>> visible("a" + chr(27) + "[31m") == "a" + chr(92) + "x1b[31m"
    True
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == " " else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def side_by_side(texts: Sequence[str], sign: str) -> str:
    """Join texts from left to right with a sign, each in its own direction.

    If one is written from the right, all are isolated, after a mark that begins the line.

    >>> side_by_side(["un", "do"], " + ")
    'un + do'
    >>> side_by_side(["\N{ARABIC LETTER KAF}", "a"], " + ").replace("\N{ARABIC LETTER KAF}", "k")
    '\\u200e\\u2068k\\u2069 + \\u2068a\\u2069'
    """
    if any(unicodedata.bidirectional(char) in ("R", "AL") for text in texts for char in text):
        return "\u200e" + sign.join(f"\u2068{text}\u2069" for text in texts)
    return sign.join(texts)


def unique_labels(labels: Sequence[str]) -> list[str]:
    """Make labels unique by numbering repeated ones.

    >>> unique_labels(["a", "b", "a"])
    ['a', 'b', 'a #2']
    """
    return [
        f"{label} #{labels[: place + 1].count(label)}" if label in labels[:place] else label
        for place, label in enumerate(labels)
    ]


def columns_by_room(widths: Sequence[int], keys: int, room: int, gap: int = 2) -> list[list[int]]:
    """Group columns that fit side by side, each group with the ``keys`` first ones.

    >>> columns_by_room([10, 20, 20, 20], 1, 80), columns_by_room([10, 20, 20, 20], 1, 60)
    ([[0, 1, 2, 3]], [[0, 1, 2], [0, 3]])
    """
    start = list(range(min(keys, len(widths))))
    parts = [start.copy()]
    for column in range(len(start), len(widths)):
        columns = [*parts[-1], column]
        fits = sum(widths[n] for n in columns) + gap * (len(columns) - 1) <= room
        if fits or len(parts[-1]) == len(start):
            parts[-1] = columns
        else:
            parts.append([*start, column])
    return parts


def percent(value: float, digits: int = 2) -> str:
    """Format a share as percent, without the sign."""
    return UNDEFINED if math.isnan(value) else f"{100 * value:.{digits}f}"


def in_percent(value: float, digits: int = 2) -> str:
    """Format a share as percent, with a non-breaking space before the sign."""
    shown = percent(value, digits)
    return shown if shown == UNDEFINED else f"{shown}\xa0%"


def from_to(before: float, after: float, digits: int = 2) -> str:
    """Format a change of a share as percent."""
    return f"{percent(before, digits)} → {in_percent(after, digits)}"


def ratio_text(value: float) -> str:
    """Format a ratio."""
    return UNDEFINED if math.isnan(value) else f"{value:.2f}"


def count_text(value: float) -> str:
    """Format a count with separators."""
    return UNDEFINED if math.isnan(value) else f"{value:,.0f}"


def signed(value: float, digits: int = 2, unit: str = "") -> str:
    """Format a difference with its sign; n/a if undefined."""
    return UNDEFINED if value != value else f"{value:+,.{digits}f}{unit}".replace("-", "−")


def without_nan(value: Any) -> Any:
    """Return data with None for NaN.

    >>> without_nan({"f1": float("nan"), "interval": (0.5, float("nan"))})
    {'f1': None, 'interval': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {key: without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(each) for each in value]
    return None if value != value else value
