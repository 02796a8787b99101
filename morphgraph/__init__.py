"""Look inside a BPE tokeniser, see where it cuts across morphemes, knock out what is to blame."""

__version__ = "0.1.0"
