"""More formats of gold than those of morphgraph itself, found by their entry points."""
