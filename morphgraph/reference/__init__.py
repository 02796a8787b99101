"""Gold segmentations: one reader per format, alignment, detection."""

from morphgraph.reading import MAX_BYTES
from morphgraph.reference.description import Description, describe
from morphgraph.reference.entry import Entry, Reference, Skipped
from morphgraph.reference.free_and_bound import Kind
from morphgraph.reference.joining import join_references
from morphgraph.reference.plain import write_plain
from morphgraph.reference.readers import FORMATS, detect_format, read_reference

__all__ = [
    "FORMATS",
    "MAX_BYTES",
    "Description",
    "Entry",
    "Kind",
    "Reference",
    "Skipped",
    "describe",
    "detect_format",
    "join_references",
    "read_reference",
    "write_plain",
]
