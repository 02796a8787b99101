"""Every method by name, including those that learn from gold, for higher rooms.

`morphgraph.segment` lists those that segment, for lower rooms.
"""

from morphgraph.segment.method import METHODS, Listing

__all__ = ["METHODS"]

for _name in ("knockout", "rebpe"):
    METHODS[_name] = Listing("morphgraph.refine.learning", segments=False, learns=True)
