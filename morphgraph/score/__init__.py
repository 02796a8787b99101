"""The one scorer: boundaries, metrics, uncertainty, breakdowns, vocabulary, comparison."""

SHARE_KEPT = 0.2
"""The share of entries that is kept aside by default."""
