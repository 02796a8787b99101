"""The kernels for an exported tokeniser, used if morphgraph is installed.

An exported tokeniser has pieces from its own pre-tokeniser, and needs tokens with their bytes; here
such pieces are segmented together. It finds them by an entry point in pyproject.toml, whose name is
their version, that of `standalone.tokenization_morphgraph`: raise both if either side changes.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from morphgraph.formats.hugging_face import from_document
from morphgraph.kernels import INSIDE_TOKEN
from morphgraph.segment.bte import Bte
from morphgraph.segment.segmenter import Segmenter, segmenter_of
from morphgraph.tokeniser.words import INSIDE_CHARACTER, NO_GAP, UNKNOWN, Words

PieceToken = tuple[int, str, tuple[int, int]]
"""A token: its id, its type, and the bytes of the piece that it covers."""


class PieceKernel:
    """Segments pieces by the field ``model`` of an exported tokeniser, never at random.

    >>> vocabulary = {"u": 0, "n": 1, "d": 2, "o": 3, "un": 4}
    >>> kernel = PieceKernel({"vocab": vocabulary, "merges": [["u", "n"]]})
    >>> kernel(["undo", "unx"])
    [[(4, 'un', (0, 2)), (2, 'd', (2, 3)), (3, 'o', (3, 4))], None]
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._segmenter = _segmenter(model)
        vocabulary, self._types = self._segmenter.vocabulary, self._segmenter.types
        own = range(len(self._types))
        atoms = dict(zip(self._types, own, strict=True)) if vocabulary is None else vocabulary.atoms
        preprocessor = self._segmenter.preprocessor
        suffix = preprocessor.suffix
        self._inside = _by_character(atoms, "")
        self._last = _by_character(atoms, suffix)
        text = preprocessor.sentencepiece
        self._has_symbols = text is not None and bool(text.symbols)
        known: Mapping[str, int] = model["vocab"]
        self._ids = np.array([known.get(text, -1) for text in self._types], np.int64)

    def __call__(self, pieces: Sequence[str]) -> list[list[PieceToken] | None]:
        """Return the tokens of each piece; None for one with a character outside the alphabet."""
        if self._has_symbols or not all(pieces):
            return [None] * len(pieces)
        codes = np.frombuffer("".join(pieces).encode("utf-32-le"), np.uint32)
        offsets = np.append(0, np.cumsum([len(piece) for piece in pieces])).astype(np.int64)
        atoms = self._inside[codes]
        atoms[offsets[1:] - 1] = self._last[codes[offsets[1:] - 1]]
        known = np.minimum.reduceat(atoms, offsets[:-1]) >= 0
        atoms[atoms < 0] = UNKNOWN
        inside = np.full(len(atoms), INSIDE_CHARACTER, np.int32)
        inside[offsets[1:] - 1] = NO_GAP
        words = Words(("x",) * len(pieces), atoms, offsets, offsets, inside)
        token_at = self._segmenter.segment(words).token_at
        # A token begins after the end of the previous token or dropped part.
        ends = np.flatnonzero(token_at != INSIDE_TOKEN)
        starts = np.append(0, ends[:-1] + 1)
        kept = (token_at[ends] >= 0) & (token_at[ends] != UNKNOWN)
        ends, starts = ends[kept], starts[kept]
        numbers = token_at[ends]
        widths = 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)
        bytes_ = np.append(0, np.cumsum(widths))
        first = bytes_[offsets[np.searchsorted(offsets, ends, side="right") - 1]]
        types = map(self._types.__getitem__, numbers.tolist())
        spans = ((bytes_[at] - first).tolist() for at in (starts, ends + 1))
        rows = list(zip(self._ids[numbers].tolist(), types, zip(*spans, strict=True), strict=True))
        bounds = np.searchsorted(ends, offsets).tolist()
        return [
            rows[start:end] if whole else None
            for whole, (start, end) in zip(known.tolist(), pairwise(bounds), strict=True)
        ]


def _segmenter(model: Mapping[str, Any]) -> Segmenter:
    if "method" not in model:
        return Bte(from_document({"model": {**model, "type": "BTE"}}, "exported tokeniser", ""))
    return segmenter_of(model["method"]).undrawn


def _by_character(atoms: Mapping[str, int], suffix: str) -> npt.NDArray[np.int32]:
    """Return the atom of each character with a suffix, by code point; -1 if none."""
    atom_ids = np.full(0x110000, -1, np.int32)
    for text, number in atoms.items():
        if len(text) == len(suffix) + 1 and text.endswith(suffix):
            atom_ids[ord(text[0])] = number
    return atom_ids
