"""BPE-dropout: random segmentations by the same merges."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from pydantic import Field

from morphgraph.core.errors import MorphGraphError
from morphgraph.core.files import document_field
from morphgraph.core.system import usual_threads
from morphgraph.core.text import shortened
from morphgraph.formats.export import ids_in
from morphgraph.formats.exported_model import ExportedModel
from morphgraph.graph.arrays import merge_arrays
from morphgraph.segment.bte import Bte, merging_model, saved_tokeniser
from morphgraph.segment.method import Method, Parameters
from morphgraph.segment.segmenter import Inventory
from morphgraph.tokeniser.merging import MergeSegmentation, run_blocks, segment
from morphgraph.tokeniser.tokeniser import BpeTokeniser
from morphgraph.tokeniser.words import Words

DRAWN_TO_CHECK = 300
"""The number of texts sampled before an export; sampling one by one is slow."""
_ATOMS_PER_THREAD = 50_000
"""The least number of atoms worth a second thread."""


class DropoutParameters(Parameters):
    """How often to leave out merges, and how to draw."""

    p: float = Field(
        default=0.1, ge=0, le=1, description="Probability that a merge is left out each time."
    )
    seed: int = Field(default=0, ge=0, lt=2**64, description="Where the random numbers begin.")
    queue: bool = Field(
        default=False, description="Draw as the tokenizers library does: fewer merges are lost."
    )

    @property
    def is_random(self) -> bool:
        return 0 < self.p < 1


_USUAL = DropoutParameters()


class Dropout(Bte):
    """BPE-dropout: at each step, applicable occurrences of merges are left out at random.

    An occurrence is left out with probability ``p``, drawn anew at each step; of the others, the
    lowest rank is applied, leftmost; a word is done when none remains. ``queue`` draws as the
    ``tokenizers`` library does: an occurrence left out returns as soon as another one, even an
    outdated one, leaves a queue, so fewer are lost. Merges with the same parts count as one. The
    result for a word depends only on ``seed``, the index of the sample and the word's index in the
    list. p = 0 is BPE, p = 1 gives atoms. Source: Provilkov et al. 2020.

    >>> from morphgraph.segment.bte import tokeniser_of_types
    >>> tokeniser = tokeniser_of_types("ab", ["a", "b", "ab"], ["ab"])
    >>> half = Dropout(tokeniser, p=0.5, seed=1)
    >>> words = half.encode(["ab"])
    >>> [len(sample.tokens(0)) for sample in half.samples(words, 8)]
    [1, 1, 2, 1, 2, 1, 2, 2]
    """

    method = "dropout"

    def __init__(
        self,
        tokeniser: BpeTokeniser,
        p: float = _USUAL.p,
        seed: int = _USUAL.seed,
        queue: bool = _USUAL.queue,
    ) -> None:
        super().__init__(tokeniser)
        self.is_random = DropoutParameters(p=p, seed=seed, queue=queue).is_random
        self.p, self.seed, self.queue = p, seed, queue

    @property
    def name(self) -> str:
        """``BPE-dropout``, or ``BTE-dropout`` if a merge has three or more parts."""
        return f"{super().name}-dropout"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"p": self.p, "seed": self.seed} | ({"queue": True} if self.queue else {})

    def segment(
        self, words: Words, sample: int = 0, threads: int | None = None
    ) -> MergeSegmentation:
        """Segment words at random, reproducibly for each index of a ``sample``.

        ``closed_by`` holds positions in ``arrays``, the merges by rank.
        """
        from morphgraph.kernels.segmenting import Omission, segment_pieces

        if self.p == 0:  # tied merges are visited by rank below
            return segment(self.tokeniser.graph, words, threads)
        arrays = merge_arrays(self.tokeniser.graph)
        merges = arrays.merges._replace(leaders=arrays.leaders[:0])
        draws = Omission(float(self.p), self.queue, np.uint64(self.seed), np.uint64(sample))
        both = np.empty((2, len(words.atoms)), np.int32)
        count = max(1, min(threads or usual_threads(), len(words.atoms) // _ATOMS_PER_THREAD))
        starts = words.word_offsets[[len(words) * block // count for block in range(count + 1)]]
        bounds = np.searchsorted(words.piece_offsets, starts).tolist()

        def run(first: int, last: int) -> None:
            pieces = words.atoms, words.word_offsets, words.piece_offsets, (first, last)
            segment_pieces(*pieces, merges, draws, np.empty(0, np.uint8), *both)

        run_blocks(run, bounds)
        return MergeSegmentation(words, both[0], both[1], arrays)

    @property
    def undrawn(self) -> Bte:
        return Bte(self.tokeniser)

    def samples(self, words: Words, k: int, threads: int | None = None) -> list[MergeSegmentation]:
        """Return the first ``k`` samples; the first of them is that of `segment`."""
        return [self.segment(words, sample, threads) for sample in range(k)]

    def reseeded(self, runs: int) -> list[Dropout]:
        seeds = range(self.seed + 1, self.seed + 1 + runs) if self.is_random else ()
        return [Dropout(self.tokeniser, self.p, seed, self.queue) for seed in seeds]

    def unreachable(self, inventory: Inventory) -> list[int] | None:
        return self.undrawn.unreachable(inventory)

    @classmethod
    def _read(cls, document: Mapping[str, Any]) -> Self:
        p = document_field(document, "p", (int, float))
        seed = document_field(document, "seed", int)
        return cls(saved_tokeniser(document), p, seed, document.get("queue") is True)

    def exported(self, unchanged: bool) -> ExportedModel:
        """Return its merges and parameters, compared without dropout and then with some samples."""
        if self.queue:
            raise MorphGraphError(
                "BPE-dropout with queue cannot be exported: the tokenizers library has it itself. "
                "Leave out queue, or export bpe and set tokenizer.backend_tokenizer.model.dropout."
            )
        exported = merging_model(self, unchanged)
        ids = self.undrawn.ids_in(exported.document)
        return replace(exported, ids=ids, differs=partial(_drawn_otherwise, self))


def _drawn_otherwise(dropout: Dropout, library: Any, method: Any, texts: Sequence[str]) -> str:
    """Describe texts for which the exported method draws other tokens; empty if none."""
    vocabulary = method.model["vocab"]
    ids = {n: vocabulary[text] for n, text in enumerate(dropout.types) if text in vocabulary}
    own, normalizer = library.pre_tokenizer, library.normalizer
    # Added tokens are cut out of a text before it has pieces, and nothing of them is drawn.
    added = [re.escape(token.content) for token in library.get_added_tokens_decoder().values()]
    between = re.compile("|".join(added) or "(?!)")
    texts = [part for text in texts for part in between.split(text) if part]
    method.training = True
    for text in texts[:: max(1, len(texts) // DRAWN_TO_CHECK)]:
        normal = text if normalizer is None else normalizer.normalize_str(text)
        pieces = [normal] if own is None else [piece for piece, _ in own.pre_tokenize_str(normal)]
        sample = method.sample(pieces)
        ours = ids_in(dropout.segment(dropout.encode([text], bare=True), sample), ids)[0]
        theirs = [token.id for tokens in method.draw(pieces, sample) for token in tokens]
        if ours != theirs:
            return f"for “{shortened(text.strip(), 60)}” other tokens are drawn"
    return ""


DROPOUT = Method(
    "dropout",
    "BPE-dropout",
    "As BPE, but each applicable occurrence of a merge is left out at random at each step.",
    Dropout,
    "merges",
    DropoutParameters,
    source="Provilkov et al. 2020",
    seconds=1.5,
    standalone="morphgraph.standalone.merges:Dropping",
)
