"""Strings for people, wherever they are shown."""


def shortened(text: str, length: int = 40) -> str:
    """Text cut at a length, with an ellipsis.

    >>> shortened("undesirable", 6)
    'undes…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"
