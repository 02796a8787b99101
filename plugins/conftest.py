"""Tests of plug-ins have our fixtures and helpers; those of a plug-in that is missing are left out.

A plug-in's module is named as its distribution.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += map(str, (HERE.parent / "tests", HERE.parent, *HERE.glob("*/tests")))

from tests.conftest import (  # noqa: E402, F401
    data_folder,
    few_words,
    morphgraph,
    no_data_folder,
    own_main,
    running,
)
from tests.pages.conftest import app, state_folder  # noqa: E402, F401

collect_ignore = [
    file.parent.name
    for file in HERE.glob("*/pyproject.toml")
    if find_spec(file.parent.name.replace("-", "_")) is None
]
