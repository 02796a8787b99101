"""Language models and their tokenisers: transplanting, training, under-trained types."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from morphgraph.models.rows import RowInit
    from morphgraph.models.transplanting import Transplant
    from morphgraph.models.undertrained_types import UndertrainedTypes


class Exportable(Protocol):
    """A tokeniser that can be written as a folder that ``AutoTokenizer`` loads."""

    def export(self, folder: str, /) -> object:
        """Write the folder."""
        ...


def transplant(
    model: str | os.PathLike[str],
    tokenizer: Exportable | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    old_tokenizer: str | os.PathLike[str] | None = None,
    init: RowInit = "mean",
    seed: int = 0,
    pad_to_multiple_of: int = 1,
    padded: bool = False,
) -> Transplant:
    """Carry a model over to another tokeniser: rows of types that both have are copied bit by bit.

    ``model``: a folder of `transformers` with weights in safetensors; ``tokenizer``: a folder that
    ``AutoTokenizer`` loads, or a tokeniser, which is exported first; ``out``: a new folder for
    both; without it, nothing is written. The result has what was ``kept``, ``made`` and
    ``dropped``, type by type.
    ``old_tokenizer``: the one that the model was trained with, if it is not in its folder.
    ``init``: the row of a new type is the ``mean`` of the rows of the old tokens of its string,
    ``zeros``, or ``normal``, drawn by ``seed`` with each column's mean and standard deviation.
    ``padded``: rows beyond the old tokeniser's ids are padding, however many. Errors:
    `MorphGraphError`.

    >>> mg.models.transplant("no model", tokeniser)
    Traceback (most recent call last):
        ...
    morphgraph.core.errors.FileFormatError: no model: there is no such folder. Check the path.
    """
    from morphgraph.models.transplanting import TransplantSettings, transplant_model

    with TemporaryDirectory(prefix="morphgraph-") as folder:
        if not isinstance(tokenizer, str | os.PathLike):
            tokenizer.export(folder)
            tokenizer = folder
        return transplant_model(
            str(model),
            str(tokenizer),
            out=None if out is None else Path(out),
            settings=TransplantSettings(init, seed, pad_to_multiple_of, padded),
            old_tokeniser=None if old_tokenizer is None else str(old_tokenizer),
        )


def undertrained(
    model: str | os.PathLike[str],
    frequencies: str | None = None,
    *,
    tokenizer: str | os.PathLike[str] | None = None,
    padded: bool = False,
    by: str | None = None,
) -> UndertrainedTypes:
    """Look for types that a model has hardly learned: norms, and distances from unused rows.

    ``model``: a folder of `transformers` with weights in safetensors. ``frequencies``: a file of
    word counts, or ``wordfreq:en``, whose words are segmented to count types. ``tokenizer``: the
    model's, if it is not in its folder. ``padded``: rows beyond its ids are padding, however many.
    ``by``: rank types by ``norm``, ``cosine`` or ``euclidean``; by default as Land & Bartolo's
    program does, by the cosine distance where one matrix is input and output, else by the norm.
    Errors: `MorphGraphError`.

    >>> mg.models.undertrained("no model")
    Traceback (most recent call last):
        ...
    morphgraph.core.errors.FileFormatError: no model: there is no such folder. Check the path.
    """
    from morphgraph.corpus.counts import to_word_counts
    from morphgraph.models.undertrained_types import undertrained_types
    from morphgraph.score.vocabulary import NamedCounts

    corpus = None if frequencies is None else NamedCounts(to_word_counts(frequencies), frequencies)
    own = None if tokenizer is None else str(tokenizer)
    return undertrained_types(str(model), corpus, tokeniser=own, padded=padded, by=by)
