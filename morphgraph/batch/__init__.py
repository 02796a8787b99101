"""Full evaluations: a grid of cells from one file, run anywhere, resumed after anything."""
