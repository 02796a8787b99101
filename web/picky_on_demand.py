"""Picky BPE beside the open tokeniser: trained when it is asked for, and kept."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable

from morphgraph.core.errors import MorphGraphError
from morphgraph.corpus.counts import WordCounts
from morphgraph.segment.registry import Method, Parameter
from morphgraph.tokeniser.segmentation import Segmenter
from morphgraph.train.methods import METHODS, train

_PIPELINE = "plain"
_BYTES = 256
_MOST = 8
_trained: dict[tuple[bytes, int, float], Segmenter] = {}
"""The models of all sessions, the newest last."""
_lock = threading.Lock()


def _not_made_of_a_tokeniser(*_: object) -> Segmenter:
    raise MorphGraphError("Picky BPE is trained on word counts, not made of a tokeniser.")


PICKY = Method(
    "Picky BPE",
    "BPE that removes types again which occur in one other type only.",
    {
        "threshold": Parameter(
            METHODS["picky"].parameters["threshold"],
            0.0,
            1.0,
            "A type is removed if more than this share of it is inside one other type; 1 is BPE. "
            "Trained on the reference's word frequencies, to as many types as the open tokeniser.",
        )
    },
    _not_made_of_a_tokeniser,
)


def can_be_trained(counts: WordCounts | None, size: int) -> bool:
    """Whether there are counts to train on, and room for more types than the bytes."""
    return counts is not None and size > _BYTES


def trained_picky(
    counts: WordCounts, size: int, threshold: float, progress: Callable[[float], None]
) -> Segmenter:
    """Picky BPE of so many types, trained when it is first asked for on these very counts."""
    listed = "\n".join(f"{word}\t{count}" for word, count in counts.items())
    digest = hashlib.sha256(listed.encode("utf-8", "surrogatepass")).digest()
    wanted = (digest, size, threshold)
    with _lock:
        found = _trained.pop(wanted, None)
    if found is None:
        found = train(
            "picky",
            counts,
            size,
            pipeline=_PIPELINE,
            parameters={"threshold": threshold},
            progress=progress,
        )
    with _lock:
        _trained[wanted] = found
        while len(_trained) > _MOST:
            _trained.pop(next(iter(_trained)))
    return found
