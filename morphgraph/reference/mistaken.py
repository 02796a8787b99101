"""Gold that is given as a tokeniser: what names it."""

from collections.abc import Iterator
from contextlib import contextmanager

from morphgraph.core.errors import GoldGivenError, MorphGraphError, NotTypesError


@contextmanager
def gold_named() -> Iterator[None]:
    """Where a file cannot be read as a tokeniser because it is gold, say so."""
    try:
        yield
    except NotTypesError as error:
        if isinstance(error, GoldGivenError) or not _looks_like_gold(error.data):
            raise
        problem = "this looks like a gold segmentation: words with morphs"
        fix = "Open it as the gold: mg.read_gold, or GOLD on the command line."
        raise GoldGivenError(error.file, "", problem, fix, quotes=False) from error


def _looks_like_gold(data: bytes) -> bool:
    from morphgraph.reference.readers import read_reference  # only for a file that is refused

    lines = data.splitlines(keepends=True)[:200]
    try:
        entries = read_reference(b"".join(lines), name="").entries
    except MorphGraphError:
        return False
    return 2 * len({e.line for e in entries}) >= len(lines) and any(
        len(e.morphs) > 1 for e in entries
    )
