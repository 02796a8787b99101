"""BPE-dropout: random segmentations by the same merges."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.threads import usual_threads
from morphgraph.graph.arrays import merge_arrays
from morphgraph.segment.bte import Bte, check_document, field, model_document, tokeniser_of
from morphgraph.tokeniser.merging import MergeSegmentation, segment
from morphgraph.tokeniser.words import Words

if TYPE_CHECKING:
    from morphgraph.tokeniser.tokeniser import Tokeniser

USUAL_P = 0.1
"""The dropout where nobody says."""

_ATOMS_PER_THREAD = 50_000
"""Fewer atoms than this are not worth a second thread."""


class Dropout(Bte):
    """BPE-dropout: at each step, each applicable occurrence of a merge is left out at random.

    An occurrence is left out with probability ``p``, drawn again at each step; of those that are
    left, the lowest rank is applied, leftmost; a word is done when none is left. With ``queue`` it
    is drawn as the ``tokenizers`` library does: an occurrence that was left out comes back as soon
    as another one, even one that is out of date, leaves a queue, so fewer are lost. Merges with the
    same parts count as one. The result for a word depends on ``seed``, the number of the sample and
    the word's place in the list only. p = 0 is BPE, p = 1 gives atoms. `MorphGraphError` if ``p``
    is not from 0 to 1, or ``seed`` not from 0 to 2⁶⁴ − 1. Source: Provilkov et al. 2020.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("ab", ["a", "b", "ab"], ["ab"])
    >>> half = Dropout(tokeniser, p=0.5, seed=1)
    >>> words = half.encode(["ab"])
    >>> [len(sample.tokens(0)) for sample in half.samples(words, 8)]
    [1, 1, 2, 1, 2, 1, 2, 2]
    """

    def __init__(
        self, tokeniser: Tokeniser, p: float = USUAL_P, seed: int = 0, queue: bool = False
    ) -> None:
        if not 0 <= p <= 1:
            raise MorphGraphError(f"The dropout p is {p}. Choose a number from 0 to 1.")
        if not 0 <= seed < 2**64:
            raise MorphGraphError(f"The seed is {seed}. Choose a whole number from 0 to 2⁶⁴ − 1.")
        super().__init__(tokeniser)
        self.p = p
        self.seed = seed
        self.queue = queue

    @property
    def name(self) -> str:
        """``BPE-dropout``, or ``BTE-dropout`` if a merge has three parts or more."""
        return f"{super().name}-dropout"

    @property
    def parameters(self) -> Mapping[str, object]:
        """``p`` and ``seed``, and ``queue`` where it is on."""
        return {"p": self.p, "seed": self.seed} | ({"queue": True} if self.queue else {})

    def segment(
        self, words: Words, sample: int = 0, threads: int | None = None
    ) -> MergeSegmentation:
        """Cut words at random, always in the same way for the same number of a ``sample``.

        ``closed_by`` holds positions in ``arrays``, the merges by rank.
        """
        from morphgraph.kernels.dropout import segment_dropping, segment_queueing

        if self.p == 0:  # merges that tie are gone through by rank below
            return segment(self.tokeniser.graph, words, threads)
        kernel = segment_queueing if self.queue else segment_dropping
        arrays = merge_arrays(self.tokeniser.graph)
        table, dense, widest = arrays.lookup
        closed_by = np.empty(len(words.atoms), np.int32)
        token_at = np.empty(len(words.atoms), np.int32)
        longest = int(np.diff(words.piece_offsets).max(initial=1))
        most = threads or usual_threads()
        count = max(1, min(most, len(words.atoms) // _ATOMS_PER_THREAD))
        bounds = [len(words) * block // count for block in range(count + 1)]

        def run(block: int) -> None:
            kernel(
                words.atoms,
                words.word_offsets,
                words.piece_offsets,
                bounds[block],
                bounds[block + 1],
                table,
                dense,
                arrays.results,
                arrays.part_offsets,
                widest,
                longest,
                float(self.p),
                np.uint64(self.seed),
                np.uint64(sample),
                closed_by,
                token_at,
            )

        if count == 1:
            run(0)
        else:
            with ThreadPoolExecutor(count) as pool:
                list(pool.map(run, range(count)))
        return MergeSegmentation(words, closed_by, token_at, arrays)

    @property
    def is_random(self) -> bool:
        """Whether a seed changes what comes out."""
        return 0 < self.p < 1

    def reseeded(self, seed: int) -> Dropout:
        """The same with another seed."""
        return Dropout(self.tokeniser, self.p, seed, self.queue)

    def samples(self, words: Words, k: int, threads: int | None = None) -> list[MergeSegmentation]:
        """The first ``k`` samples; the first of them is what `segment` gives."""
        return [self.segment(words, sample, threads) for sample in range(k)]

    def document(self) -> dict[str, Any]:
        """All that `from_document` needs, ready for JSON; the model in its present state."""
        return {
            "method": "dropout",
            **self.parameters,
            **model_document(self.tokeniser),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """The segmenter of a document; `FileFormatError` if it is not one of this method."""
        check_document(document, "dropout")
        p, seed = field(document, "p", (int, float)), field(document, "seed", int)
        return cls(tokeniser_of(document), p, seed, document.get("queue") is True)
