"""Look inside a BPE tokeniser, see where it cuts across morphemes, knock out what is to blame.

All that a notebook needs is here, and loaded when it is first asked for:

>>> import morphgraph as mg
>>> tokeniser = mg.load("demo:en")
>>> tokeniser.tokenize("undesirable")
['Ġund', 'es', 'ir', 'able']
"""

from typing import TYPE_CHECKING

from morphgraph.core import __version__

if TYPE_CHECKING:
    from morphgraph.api import compare, load, read_gold, transplant, undertrained
    from morphgraph.core.errors import MorphGraphError

__all__ = [
    "MorphGraphError",
    "__version__",
    "compare",
    "load",
    "read_gold",
    "transplant",
    "undertrained",
]

_HOMES = {
    "MorphGraphError": "morphgraph.core.errors",
    "compare": "morphgraph.api",
    "load": "morphgraph.api",
    "read_gold": "morphgraph.api",
    "transplant": "morphgraph.api",
    "undertrained": "morphgraph.api",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
