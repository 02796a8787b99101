"""One word a line, with a hyphen at each boundary: ``un-break-able``."""

from morphgraph.reference.align import SourceRow
from morphgraph.reference.readers import Reader
from morphgraph.reference.source import Unusable


def looks_like_hyphenated(line: str) -> bool:
    """Whether a line is one word with hyphens inside.

    >>> looks_like_hyphenated("un-break-able"), looks_like_hyphenated("un break able")
    (True, False)
    """
    morphs = line.split("-")
    return len(morphs) > 1 and all(morph.isalpha() for morph in morphs)


def hyphenated(number: int, line: str) -> SourceRow:
    """Read a line; the reason why it is not usable is counted."""
    morphs = tuple(line.strip().split("-"))
    if not all(morph.isalpha() for morph in morphs):
        raise Unusable("not letters and hyphens")
    return SourceRow(number, "".join(morphs), morphs)


HYPHENATED = Reader("Hyphenated words", hyphenated, looks_like_hyphenated)
