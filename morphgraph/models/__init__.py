"""Language models and their tokenisers: transplanting, training, under-trained types.

The functions are loaded when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["transplant", "undertrained"]

if TYPE_CHECKING:
    from morphgraph.models.transplanting import transplant
    from morphgraph.models.undertrained_types import undertrained
else:
    _HOMES = {
        "transplant": "morphgraph.models.transplanting",
        "undertrained": "morphgraph.models.undertrained_types",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__() -> list[str]:
        return __all__
