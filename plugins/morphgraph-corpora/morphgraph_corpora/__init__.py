"""Texts of any size under one or several tokenisers, by file or language, as ``mg.corpora``.

The names are loaded when they are first asked for.
"""

from typing import TYPE_CHECKING

from morphgraph.core.lazy import lazy_names

__all__ = ["MeasuredCorpus", "measure"]

if TYPE_CHECKING:
    from morphgraph_corpora.measured import MeasuredCorpus, measure
else:
    __getattr__ = lazy_names(
        __name__, dict.fromkeys(("MeasuredCorpus", "measure"), "morphgraph_corpora.measured")
    )


def __dir__() -> list[str]:
    return __all__
