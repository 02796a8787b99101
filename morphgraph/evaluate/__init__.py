"""Scores of a segmentation against a gold reference."""

from morphgraph.evaluate.boundaries import Benchmark, BoundaryScore
from morphgraph.evaluate.yardstick import Scope, Weighting

__all__ = ["Benchmark", "BoundaryScore", "Scope", "Weighting"]
