"""Every method by name, for all that stands above: also those that learn from gold.

`morphgraph.segment.registry` has those that segment, for what stands below.
"""

from morphgraph.segment.registry import METHODS, Listing

__all__ = ["METHODS"]

for _name in ("knockout", "rebpe"):
    METHODS[_name] = Listing("morphgraph.refine.learning", segments=False, learns=True)
