"""The three tabs of the page of evaluations, and what they know of runs."""
