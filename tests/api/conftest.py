"""The English demo, for tests that leave it as it is."""

import pytest

import morphgraph as mg


@pytest.fixture(scope="session")
def tokeniser():
    return mg.load("demo:en")


@pytest.fixture(scope="session")
def gold():
    return mg.read_gold("demo:en")
