"""Merges, types, the alternating digraph between them, and edits that can be undone."""

from morphgraph.graph.change import Change, Merge, Rewired
from morphgraph.graph.merge_graph import MergeGraph
from morphgraph.graph.merge_table import EditError

__all__ = ["Change", "EditError", "Merge", "MergeGraph", "Rewired"]
