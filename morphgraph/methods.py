"""Every method by name, including those that learn from gold, for higher rooms.

`morphgraph.segment.registry` has those that segment, for lower rooms.
"""

from morphgraph.segment.registry import METHODS, Listing

__all__ = ["METHODS"]

for _name in ("knockout", "rebpe"):
    METHODS[_name] = Listing("morphgraph.refine.learning", segments=False, learns=True)
