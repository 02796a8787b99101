"""Other remedies than those of morphgraph itself: nine methods, found by their entry points."""
