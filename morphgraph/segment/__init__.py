"""Every way to segment a word, and words as the kernels read them."""

from morphgraph.segment.bpe import MergeSegmentation, segment, segment_after, segment_without
from morphgraph.segment.reachability import unreachable_types
from morphgraph.segment.segmentation import Segmentation, Segmenter
from morphgraph.segment.words import UNKNOWN, Words

__all__ = [
    "UNKNOWN",
    "MergeSegmentation",
    "Segmentation",
    "Segmenter",
    "Words",
    "segment",
    "segment_after",
    "segment_without",
    "unreachable_types",
]
