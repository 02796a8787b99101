"""How long tasks may take, in seconds on one core: a guess before a run, for its plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_TRAINING = {"picky": 6.0, "scaffold": 3.0, "unigram": 15.0, "unigram-prime": 15.0}
_METHODS = {"rebpe": 8.0, "knockout": 2.0, "dropout": 1.5}
_TEXT_PER_SECOND = 10e6


def counts(spec: Mapping[str, Any]) -> float:
    """Reading or counting words."""
    if spec["source"] != "text":
        return 1.0
    return 1.0 + sum(_size(path) for path in spec["paths"]) / _TEXT_PER_SECOND


def _size(path: str) -> int:
    found = Path(path)
    files = [file for file in found.rglob("*") if file.is_file()] if found.is_dir() else [found]
    return sum(file.stat().st_size for file in files)


def tokeniser(spec: Mapping[str, Any]) -> float:
    """Training, or reading a file."""
    if spec["source"] == "file":
        return 0.5
    types: int = spec["vocab_size"]
    return _TRAINING.get(spec["method"], 2.5) * max(1.0, types / 32_000)


def cell(spec: Mapping[str, Any]) -> float:
    """Segmenting and scoring."""
    tables = len(spec["scopes"]) * len(spec["weightings"]) if spec["reference"] else 0
    drawn = 0.15 * tables if spec["intervals"] else 0.02 * tables
    figures = 2.0 if spec["vocabulary"] else 0.0
    return _METHODS.get(spec["method"], 1.0) + drawn + figures
