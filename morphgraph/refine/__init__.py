"""What changes a tokeniser for the better: blame and knockout."""

from morphgraph.refine.blame import Blame, blame, candidate_types, threshold_curve

__all__ = ["Blame", "blame", "candidate_types", "threshold_curve"]
