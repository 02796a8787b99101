"""How many words are one token."""

from morphgraph.score.metrics import Metric, Tally
from morphgraph.score.uncertainty import Ratio


def share(tally: Tally) -> Ratio:
    """Words that are one token ÷ words."""
    return tally.share(~tally.is_cut)


SINGLE = Metric("Whole words", "Words that are one token ÷ words.", share, better=0)
