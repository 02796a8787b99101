"""Language models and their tokenisers: transplanting, training, under-trained types.

The functions are loaded when they are first asked for.
"""

from typing import TYPE_CHECKING

from morphgraph.core.lazy import lazy_names

__all__ = ["transplant", "undertrained"]

if TYPE_CHECKING:
    from morphgraph_models.transplanting import transplant
    from morphgraph_models.undertrained_types import undertrained
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "transplant": "morphgraph_models.transplanting",
            "undertrained": "morphgraph_models.undertrained_types",
        },
    )


def __dir__() -> list[str]:
    return __all__
