"""The methods that a tokeniser is segmented by, by the names that its file has for them."""

from collections.abc import Mapping
from typing import Any

from .bte import Merging
from .dropout import Dropping
from .flota import Flota
from .greedy import Greedy
from .keep import Kept
from .picky import Picky
from .pieces import Pieces
from .unigram import Unigram

METHODS: dict[str, Any] = {
    "BPE": Merging,
    "BTE": Merging,
    "bpe": Merging,
    "dropout": Dropping,
    "first": Kept,
    "flota": Flota,
    "greedy": Greedy,
    "longest": Kept,
    "picky": Picky,
    "scaffold": Merging,
    "trimmed": Merging,
    "unigram": Unigram,
    "wordpiece": Greedy,
}


def method_of(model: Mapping[str, Any]) -> Pieces:
    """The method of a file's field ``model``; in its field ``of`` is the one that it builds on."""
    inner = [method_of({"vocab": model["vocab"], **model["of"]})] if "of" in model else []
    made: Pieces = METHODS[model["type"]](model, *inner)
    return made
