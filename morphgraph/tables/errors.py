"""The words that a tokeniser cuts wrongly as CSV."""

from collections.abc import Iterable

from morphgraph.core.numbers import UNDEFINED
from morphgraph.score.errors import ErrorBrowser
from morphgraph.tables.writing import csv_bytes, harmless


def errors_csv(browser: ErrorBrowser, entries: Iterable[int]) -> bytes:
    """Some words with their gold segments, tokens and errors, one a row, and the signature."""
    signature = browser.outcome.signature(scores=f"{browser.scope} errors")
    names = ["word", "gold", "tokens", "marked", "kind", "wrong splits", "missed boundaries"]
    lines: list[list[object]] = [[*names, "frequency", "signature"]]
    weighted = browser.outcome.gold_set.frequencies is not None
    for entry in entries:
        row = browser.row(int(entry))
        texts = [harmless(text) for text in (row.word, row.gold, row.tokens, row.marked)]
        weight = f"{row.weight:g}" if weighted else UNDEFINED
        lines.append([*texts, row.kind, row.wrong, row.missed, weight, harmless(signature)])
    return csv_bytes(lines)
