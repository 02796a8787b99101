"""Evaluations: grids of cells described in one file, run anywhere, and resumable."""
