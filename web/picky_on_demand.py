"""Picky BPE beside the open tokeniser: trained when it is asked for, and kept."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable

from morphgraph.corpus.counts import WordCounts
from morphgraph.tokeniser.words import Segmenter
from morphgraph.train.trainers import train

_PIPELINE = "plain"
_BYTES = 256
_MOST = 8
_trained: dict[tuple[bytes, int, float], Segmenter] = {}
"""The models of all sessions, the newest last."""
_lock = threading.Lock()


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
