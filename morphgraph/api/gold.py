"""Gold segmentations from wherever they come."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import shortened
from morphgraph.corpus.counts import to_word_counts
from morphgraph.reference.entry import Reference
from morphgraph.reference.plain import reference_of_pairs
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_set import GoldSet

Gold = GoldSet | Reference | str | os.PathLike[str] | Iterable[tuple[str, Sequence[str]]]
"""Whatever `read_gold` reads."""


def read_gold(
    source: Gold | bytes,
    *,
    format: str | None = None,
    encoding: str | None = None,
    frequencies: Mapping[str, float] | str | None = None,
    bare: bool = False,
) -> GoldSet:
    """Read a gold segmentation.

    ``source``: a file, ``demo:en``, ``catalogue:…``, or a list of (word, morphs). ``format`` and
    ``encoding``: of a file; detected from its content if not given. ``frequencies``: word → count,
    a file of counts, or ``wordfreq:en``. ``bare``: words are whole texts of their own, without the
    space before. Errors: `MorphGraphError`.

    >>> gold = mg.read_gold("demo:en")
    >>> mg.read_gold([("undo", ["un", "do"]), ("houses", ["house", "s"])])
    <GoldSet pairs: pairs, 2 entries>
    """
    if isinstance(source, GoldSet):
        return source
    if isinstance(source, Reference):
        reference = source
    elif isinstance(source, str | bytes | os.PathLike):
        reference = read_reference(source, format=format, encoding=encoding)
    elif isinstance(source, Iterable):
        reference = reference_of_pairs(source)
    else:
        raise MorphGraphError(
            f"{shortened(repr(source))} is not a gold segmentation. Give a file, demo:en, "
            "catalogue:NAME, or a list of (word, morphs)."
        )
    if isinstance(frequencies, str):
        counts = dict(to_word_counts(frequencies).items())
        return GoldSet.of(reference, counts, frequencies, bare=bare)
    named = "" if frequencies is None else "given counts"
    return GoldSet.of(reference, frequencies, named, bare=bare)
