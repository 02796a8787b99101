"""The comparison of runs as a table for people: filtered, with differences to the first run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from morphgraph.batch.names import metric_is_percent, metric_label
from morphgraph.text import shortened, visible
from web.text import signed

if TYPE_CHECKING:
    import pandas as pd

_NO_SCOPE = "no scope"


def scope_name(scope: str) -> str:
    """What people call a scope; figures of vocabularies and facts have none."""
    return scope or _NO_SCOPE


def filtered(
    compared: pd.DataFrame,
    first: str,
    *,
    metrics: Collection[str],
    scopes: Collection[str],
    only_different: bool,
) -> pd.DataFrame:
    """The rows of a comparison that are asked for.

    ``only_different``: without those in which every run has the value of the ``first``, or none
    has any.
    """
    from morphgraph.batch.comparing_runs import value_column

    keep = compared["metric"].isin(metrics) & compared["scope"].isin(scopes)
    found = compared[keep.astype(bool)]
    if not only_different:
        return found
    columns = [name for name in found.columns if name.startswith(value_column(""))]
    baseline = found[value_column(first)]
    same = [(found[n] == baseline) | (found[n].isna() & baseline.isna()) for n in columns]
    differs = ~same[0]
    for one in same[1:]:
        differs |= ~one
    return found[differs.astype(bool)]


def varying(compared: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """The columns that tell rows apart."""
    return [name for name in names if compared[name].nunique(dropna=False) > 1]


def shown_comparison(
    compared: pd.DataFrame, runs: Sequence[str]
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """A comparison as texts, the titles of its columns, and what is the same in all rows.

    Columns are called by numbers: names, values of the first run, then those of each other run
    with its difference to the first. Shares are in percent.
    """
    import pandas as pd

    from morphgraph.batch.comparing_runs import COMBINATION, difference_column, value_column
    from morphgraph.batch.report_data import text_of
    from morphgraph.batch.report_table import TITLES, value_text

    identity = [name for name in COMBINATION if name != "metric"]
    apart = varying(compared, identity) if len(compared) > 1 else []
    same = {
        TITLES[name]: text_of(compared[name].iloc[0])
        for name in identity
        if name not in apart and len(compared)
    }
    metrics = list(compared["metric"])
    columns: list[list[str]] = [[shortened(text_of(v), 80) for v in compared[n]] for n in apart]
    titles = [TITLES[name] for name in apart]
    columns.append([f"{metric_label(m)}{' %' if metric_is_percent(m) else ''}" for m in metrics])
    titles.append("Metric")
    for number, run in enumerate(runs):
        values = compared[value_column(run)]
        columns.append([value_text(m, v) for m, v in zip(metrics, values, strict=True)])
        titles.append(visible(run))
        if number:
            gaps = compared[difference_column(run)]
            columns.append([_difference(m, d) for m, d in zip(metrics, gaps, strict=True)])
            titles.append(f"Δ {visible(run)}")
    frame = pd.DataFrame({str(number): column for number, column in enumerate(columns)})
    constants = [f"{title.lower()} {text}" for title, text in same.items() if text]
    return frame, titles, constants


def _difference(metric: str, value: float) -> str:
    """A difference with its sign; of shares in percentage points, of counts in whole numbers."""
    from morphgraph.batch.names import named_metrics

    known = named_metrics().get(metric)
    if known is not None and known.form == "percent":
        return signed(100 * value)
    if known is not None and known.form == "count" and float(value).is_integer():
        return signed(value, 0)
    return signed(value, 3)


def named_apart(name: str, taken: Mapping[str, object]) -> str:
    """A name that is not taken, the same with a number behind it otherwise.

    >>> named_apart("a", {"a": 1, "a (2)": 2})
    'a (3)'
    """
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    return found
