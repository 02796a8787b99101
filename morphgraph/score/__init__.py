"""The one scorer: boundaries, metrics, uncertainty, breakdowns, vocabulary, comparison."""

SHARE_KEPT = 0.2
"""The share of the entries that is kept aside if no other is asked for."""
