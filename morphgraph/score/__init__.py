"""The one scorer: boundaries, metrics, uncertainty, breakdowns, vocabulary, comparison."""
