"""Look inside a BPE tokeniser, see where it cuts across morphemes, knock out what is to blame."""

from morphgraph.core.version import __version__

__all__ = ["__version__"]
