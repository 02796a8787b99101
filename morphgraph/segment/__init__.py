"""Every way to segment a word, and words as the kernels read them."""

from morphgraph.segment.bpe import Segmentation, segment
from morphgraph.segment.reachability import unreachable_types
from morphgraph.segment.words import UNKNOWN, Words

__all__ = ["UNKNOWN", "Segmentation", "Words", "segment", "unreachable_types"]
