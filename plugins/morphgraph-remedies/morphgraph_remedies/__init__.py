"""Other remedies than those of morphgraph itself: seven methods, found by their entry points."""
