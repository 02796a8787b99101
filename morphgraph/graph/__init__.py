"""Merges, types, the alternating digraph between them, and edits that can be undone."""
