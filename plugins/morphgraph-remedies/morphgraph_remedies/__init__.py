"""Other remedies than those of morphgraph itself: four methods, found by their entry points."""
