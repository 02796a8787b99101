"""Strings for people, wherever they are shown."""

from collections.abc import Sequence


def shortened(text: str, length: int = 40) -> str:
    """Text cut at a length, with an ellipsis.

    >>> shortened("undesirable", 6)
    'undes…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def visible(text: str) -> str:
    """Text without characters that a terminal would act upon: these become their codes.

    >>> visible("a" + chr(27) + "[31m") == "a" + chr(92) + "x1b[31m"
    True
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == " " else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def apart(labels: Sequence[str]) -> list[str]:
    """Labels that are nobody else's: the same ones are numbered.

    >>> apart(["a", "b", "a"])
    ['a', 'b', 'a #2']
    """
    return [
        f"{label} #{labels[: place + 1].count(label)}" if label in labels[:place] else label
        for place, label in enumerate(labels)
    ]
