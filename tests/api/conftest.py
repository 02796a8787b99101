"""The English demo, for tests that leave it as it is."""

import pytest

import morphgraph as mg


@pytest.fixture(scope="session")
def tokeniser() -> mg.Tokeniser:
    return mg.load("demo:en")


@pytest.fixture(scope="session")
def gold() -> mg.GoldSet:
    return mg.read_gold("demo:en")
