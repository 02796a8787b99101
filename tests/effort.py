"""How much the tests try: all of it in ``make soak``, a share in ``make test`` and ``make quick``.

``MORPHGRAPH_EFFORT`` names the share: ``quick``, ``usual`` (if it is not given) or ``soak``.
"""

import os

import pytest
from hypothesis import settings

EFFORT = os.environ.get("MORPHGRAPH_EFFORT", "usual")
SHARE = {"quick": 0.05, "usual": 0.1, "soak": 1.0}[EFFORT]


def share_of(number, least=1):
    """This many when soaking, a share of them otherwise, but never fewer than ``least``."""
    return max(round(number * SHARE), min(number, least))


def examples(number, least=10, **others):
    """Hypothesis's settings for this many examples when soaking, a share of them otherwise."""
    return settings(max_examples=share_of(number, least), **others)


def one_of(*cases):
    """Cases of a test that show the same in other settings: the first one always, all in a soak."""
    values = (case if isinstance(case, tuple) else (case,) for case in cases[1:])
    return [cases[0], *(pytest.param(*each, marks=pytest.mark.soak) for each in values)]


def all_but(cases, *long):
    """Cases of a test, of which these, which show the same as others do, are for a soak."""
    return [pytest.param(each, marks=pytest.mark.soak) if each in long else each for each in cases]


@pytest.fixture(autouse=True)
def few_words(monkeypatch):
    """Exports are compared on a share of the words and sentences."""
    monkeypatch.setattr("morphgraph.formats.export.WORDS_TO_CHECK", share_of(10_000))
    monkeypatch.setattr("morphgraph.formats.export.SENTENCES_TO_CHECK", share_of(1_000))
