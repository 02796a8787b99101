"""The merge graph: types, merges, the alternating digraph of both, and undoable edits."""
