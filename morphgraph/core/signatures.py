"""What a file of some other kind is, by its first bytes; `signatures.csv` is the table."""

import csv
import re
from pathlib import Path

START = 4096
"""Bytes of a file that are looked at."""

with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _table:
    _SIGNATURES = list(csv.DictReader(_table))


def recognised(data: bytes, wanted: str) -> tuple[str, str]:
    """Return what a file is, if not the ``wanted`` "gold" or "tokeniser", and what to do.

    Both are empty if it may hold one.

    >>> recognised(b"%PDF-1.5", "gold")[0], recognised(b"undo\\tun do", "gold")[0]
    ('a PDF', '')
    """
    for row in _SIGNATURES:
        starts = row["starts"].encode()
        if row["of"] in ("any", wanted) and re.match(starts, data[:START], re.DOTALL):
            return row["what"], row["fix"]
    return "", ""
