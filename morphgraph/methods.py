"""Every method by name, including those that learn from gold, for higher rooms.

`morphgraph.segment` lists those that segment, for lower rooms.
"""

from morphgraph.segment.method import METHODS, Listing

__all__ = ["METHODS"]

LEARNING = {
    "knockout": "morphgraph.refine.learning",
    "rebpe": "morphgraph.refine.learning",
    "morphbpe": "morphgraph.refine.morphbpe",
}
for _name, _module in LEARNING.items():
    METHODS[_name] = Listing(_module, segments=False, learns=True)
