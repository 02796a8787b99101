"""Gold as a notebook gives it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from morphgraph.api.keywords import taking
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import write_file
from morphgraph.core.system import available_cores
from morphgraph.core.text import base_name, shortened
from morphgraph.corpus.counts import WordCountsLike, to_word_counts
from morphgraph.reference.plain import reference_of_pairs
from morphgraph.reference.readers import read_reference
from morphgraph.score.gold_reading import Reading, ReadingOptions
from morphgraph.score.gold_set import GoldSet, check_gold

if TYPE_CHECKING:
    import pandas as pd

_FIX = "If that is not what the file holds, give its format, or the separator of its morphs."


@taking(Reading)
def read_gold(
    source: str
    | bytes
    | os.PathLike[str]
    | pd.DataFrame
    | Mapping[str, Sequence[str]]
    | Iterable[tuple[str, Sequence[str]]],
    *,
    frequencies: Mapping[str, float] | str | None = None,
    bare: bool = False,
    **reading: Unpack[ReadingOptions],
) -> GoldSet:
    """Read a gold segmentation.

    ``source``: a file, ``demo:en``, ``catalogue:…``, a list of (word, morphs), a dict of words and
    their morphs, or a DataFrame with the columns word and morphs; morphs are a list of strings.
    ``frequencies``: word → count, a file of counts, or ``wordfreq:en``. ``bare``: words are whole
    texts, without the space before. ``reading``: how a file is read, such as its ``format``,
    ``encoding`` or ``separator`` (between morphs, such as ``+``), all detected if not given; and
    which entries count, such as a ``sample``. ``morphgraph score --read help`` explains them. Warns
    if a file may have been misread. Errors: `MorphGraphError`.

    >>> gold = mg.read_gold("demo:en")
    >>> mg.read_gold([("undo", ["un", "do"]), ("houses", ["house", "s"])])
    <GoldSet pairs: pairs, 2 entries>
    >>> mg.read_gold({"undo": ["un", "do"]})
    <GoldSet pairs: pairs, 1 entry>
    """
    settings = Reading(**reading)
    if isinstance(source, str | bytes | os.PathLike):
        reference = settings.read(source)
        if reference.notice:
            warnings.warn(f"{reference.name}: {reference.notice} {_FIX}", stacklevel=2)
    elif isinstance(source, Iterable) and not isinstance(source, GoldSet):
        reference = reference_of_pairs(_pairs_of(source))
    else:
        raise MorphGraphError(
            f"{shortened(repr(source))} is not a gold segmentation. Give a file, demo:en, "
            "catalogue:NAME, a list of (word, morphs), a dict or a DataFrame."
        )
    reference = settings.chosen(reference)
    if isinstance(frequencies, str):
        counts = dict(to_word_counts(frequencies).items())
        return GoldSet.of(reference, counts, frequencies, bare=bare)
    named = "" if frequencies is None else "given counts"
    return GoldSet.of(reference, frequencies, named, bare=bare)


def _pairs_of(source: Any) -> Iterable[tuple[str, Sequence[str]]]:
    """Return pairs of a word and its morphs, also those of a dict or DataFrame."""
    if isinstance(source, Mapping):
        return source.items()
    columns = getattr(source, "columns", None)
    if columns is None:
        return source  # type: ignore[no-any-return]
    if not {"word", "morphs"}.issubset(columns):
        listed = ", ".join(map(str, columns))
        raise MorphGraphError(
            f"The DataFrame lacks the columns word and morphs; it has: {shortened(listed)}. "
            "Rename its columns."
        )
    return zip(source["word"], source["morphs"], strict=True)


def silver(
    counts: WordCountsLike,
    *,
    gold: GoldSet | None = None,
    words: int = 50_000,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
) -> GoldSet:
    """Make a reference for a language without gold: Morfessor finds morphs in word counts.

    ``counts``: word counts, a file of them, or ``wordfreq:tr``; the ``words`` most frequent ones
    are taken. Five runs, with seeds from ``seed``, are made in processes, and four have to agree on
    a boundary. ``gold``: up to 500 of its words show how many boundaries there should be. ``out``:
    a file to save it to, which `read_gold` reads. Results call it silver: it is good for a first
    look, but it is not gold. Source: Virpioja et al. 2013. Errors: `MorphGraphError`.

    >>> counted = {"walked": 9, "walking": 8, "walks": 7, "talked": 6, "talking": 5, "talks": 4}
    >>> mg.silver(counted)
    <GoldSet given counts (silver): plain, 6 entries>
    """
    text, name = silver_text(counts, gold, words, seed)
    if out is not None:
        write_file(Path(out), text)
        name = Path(out).name
    return GoldSet.of(read_reference(text.encode(), name=name))


def silver_text(
    counts: WordCountsLike,
    gold: GoldSet | None = None,
    words: int = 50_000,
    seed: int = 0,
    watch: Callable[[float], None] | None = None,
) -> tuple[str, str]:
    """Return the file that `silver` makes, and the name of the counts.

    ``watch``: called with the share done.
    """
    from morphgraph.reference.silver import silver_reference

    if words < 1:
        raise MorphGraphError(f"{words} words are too few for silver. Give 1 or more.")
    name = base_name(str(counts)) if isinstance(counts, str | os.PathLike) else "given counts"
    word_counts = to_word_counts(counts)
    if not len(word_counts):
        raise MorphGraphError(f"{name}: there are no words. Give at least one, with its count.")
    analyses: dict[str, list[tuple[str, ...]]] = {}
    for entry in () if gold is None else check_gold(gold):
        analyses.setdefault(entry.word, []).append(entry.morphs)
    cores = available_cores()
    return silver_reference(word_counts, name, words, seed, analyses, cores, watch), name
