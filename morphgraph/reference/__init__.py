"""Gold segmentations: one reader per format, alignment, detection."""

from morphgraph.reading import MAX_BYTES
from morphgraph.reference.entry import Entry, Reference, Skipped
from morphgraph.reference.plain import write_plain
from morphgraph.reference.readers import FORMATS, detect_format, read_reference

__all__ = [
    "FORMATS",
    "MAX_BYTES",
    "Entry",
    "Reference",
    "Skipped",
    "detect_format",
    "read_reference",
    "write_plain",
]
